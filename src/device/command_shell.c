/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that is reached by a shell (ssh, or one on a console) once its own userspace is up. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "device/command_parts.h"

/* How often a shell is tried while the device boots, and how long one try may take. */
#define TRY_SLICE_MS 1000
#define TRY_MS 15000
#define REMOTE_AGENT "/tmp/memcg-ab-agent"
#define REMOTE_SETTINGS "/tmp/memcg-ab.conf"

/* `shell` gets what it is to run on the device as its last argument. */
static void shell_vector(const char *script, const char *remote, const char *argv_out[6])
{
	argv_out[0] = "/bin/sh";
	argv_out[1] = "-c";
	argv_out[2] = script;
	argv_out[3] = "memcg-ab";
	argv_out[4] = remote;
	argv_out[5] = NULL;
}

static char *shell_script(const struct lane_boot *boot)
{
	return xasprintf("%s \"$1\"", boot->context->profile->command.shell);
}

/* How one use of the shell went: NULL, or why not. */
static char *describe_use(bool ended, const struct proc_result *result, const char *messages)
{
	if (!ended)
		return xstrdup("it did not end in time");
	if (result->exit_status == 0)
		return NULL;
	AUTO_FREE char *last = child_last_line(messages);
	return xasprintf("it ended with status %d%s%s", result->exit_status, last ? ": " : "", last ? last : "");
}

/* Runs a command on the device with a file as its standard input (NULL = none); *why_not_out: NULL when it ended with 0 in time. */
static struct error *run_remote(const struct lane_boot *boot, const char *remote, const char *input, int64_t wait_ms,
				char **why_not_out)
{
	const struct command_boot *state = boot->state;
	AUTO_FREE char *script = shell_script(boot);
	AUTO_FREE char *messages = path_join(state->dir, "shell/tried");
	AUTO_FREE const char **env = strlist_vector(&state->env);
	AUTO_CLOSE int in_fd = input ? open(input, O_RDONLY | O_CLOEXEC) : -1;
	AUTO_CLOSE int messages_fd = open(messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	AUTO_PROC proc = NULL;
	const char *argv[6];
	struct proc_result result;
	bool ended = false;

	if (input && in_fd < 0)
		return error_os(errno, "cannot read %s", input);
	if (messages_fd < 0)
		return error_os(errno, "cannot write %s", messages);
	shell_vector(script, remote, argv);
	const struct proc_start start = {
		.argv = argv,
		.env = env,
		.cwd = boot->context->profile->command.dir,
		.in_fd = in_fd < 0 ? 0 : in_fd,
		.err_fd = messages_fd,
	};
	struct error *error = proc_start(&start, &proc);
	if (!error)
		error = proc_wait(proc, clock_deadline(wait_ms), boot->context->guard, &ended, &result);
	if (ended)
		proc = NULL;
	if (!error)
		*why_not_out = describe_use(ended, &result, messages);
	return error;
}

/* Nothing will come of this boot any more: the kernel has died, or the command that carries it has failed. */
static bool is_over(const struct lane_boot *boot)
{
	const struct command_boot *state = boot->state;
	AUTO_FREE char *death = command_death(boot);

	return death || child_failed(&state->machine, 0);
}

/* Waits until the device's shell answers; *why_not_out: NULL when it does. */
static struct error *await_shell(const struct lane_boot *boot, char **why_not_out)
{
	int64_t wait_ms = boot->context->profile->boot_timeout_ms, deadline = clock_deadline(wait_ms);

	for (;;) {
		AUTO_FREE char *why_not = NULL;
		struct error *error = run_remote(boot, "true", NULL, TRY_MS, &why_not);
		if (error || !why_not)
			return error;
		if (clock_ms() >= deadline || is_over(boot)) {
			*why_not_out = xasprintf("the command 'shell' did not reach the device within %g s: %s",
						 (double)wait_ms / 1000, why_not);
			return NULL;
		}
		error = guard_sleep(boot->context->guard, TRY_SLICE_MS);
		if (error)
			return error;
	}
}

static struct error *send_file(const struct lane_boot *boot, const char *file, const char *remote, char **why_not_out)
{
	AUTO_FREE char *command = xasprintf("cat >%s && chmod 700 %s", remote, remote);
	AUTO_FREE char *why_not = NULL;
	struct error *error = run_remote(boot, command, file, boot->context->profile->command.command_ms, &why_not);

	if (!error && why_not)
		*why_not_out = xasprintf("%s could not be sent to the device through the command 'shell': %s",
					 path_basename(file), why_not);
	return error;
}

/* A console that has ended. */
static struct error *open_nothing(int *fd_out)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	close(ends[1]);
	*fd_out = ends[0];
	return NULL;
}

struct error *command_start_agent(struct lane_boot *boot)
{
	struct command_boot *state = boot->state;
	AUTO_FREE char *script = shell_script(boot);
	const char *argv[6];

	struct error *error = await_shell(boot, &state->unreached);
	if (!error && !state->unreached)
		error = send_file(boot, boot->context->agent_arm64, REMOTE_AGENT, &state->unreached);
	if (!error && !state->unreached)
		error = send_file(boot, state->settings, REMOTE_SETTINGS, &state->unreached);
	if (error)
		return error;
	if (state->unreached)
		return open_nothing(&state->shell.console_fd);
	shell_vector(script, REMOTE_AGENT " " REMOTE_SETTINGS, argv);
	return command_start_piped(boot, &state->shell, argv);
}
