/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "device/command_parts.h"
#include "device/console.h"
#include "device/initrd.h"
#include "device/settings.h"

/* Raised when what a boot is given changes: what was measured with the old is then measured again. */
#define COMMAND_RECIPE 1
/* How long `boot` may take to end once `off` has switched the device off. */
#define OFF_GRACE_MS 1000

/* The user's commands find what they need in their environment. */
static void fill_environment(const struct device_context *context, const struct lane_boot *boot, struct command_boot *state)
{
	const struct boot_request *request = boot->request;
	uint64_t memory = request->nuisance ? request->nuisance->memory : 0;
	/* Commands run in another folder than ours. */
	AUTO_FREE char *kernel = request->kernel_file ? path_absolute(request->kernel_file) : xstrdup("");
	AUTO_FREE char *agent = path_absolute(context->agent_arm64);

	strlist_addf(&state->env, "MEMCG_AB_DEVICE=%s", context->name);
	strlist_addf(&state->env, "MEMCG_AB_VARIANT=%s", request->variant);
	strlist_addf(&state->env, "MEMCG_AB_KERNEL=%s", kernel);
	strlist_addf(&state->env, "MEMCG_AB_INITRD=%s", state->initrd);
	strlist_addf(&state->env, "MEMCG_AB_CMDLINE=%s", boot->cmdline);
	strlist_addf(&state->env, "MEMCG_AB_AGENT=%s", agent);
	strlist_addf(&state->env, "MEMCG_AB_SETTINGS=%s", state->settings);
	strlist_addf(&state->env, "MEMCG_AB_DIR=%s", state->dir);
	if (memory)
		strlist_addf(&state->env, "MEMCG_AB_MEMORY=%" PRIu64, memory);
	else
		strlist_add(&state->env, "MEMCG_AB_MEMORY=");
}

/* Runs one of the user's commands to its end. `env` NULL: only the device's name. */
static struct error *run_hook(const struct device_context *context, const char *name, const char *command,
			      const struct strlist *env, struct strbuf *out)
{
	const struct command_settings *settings = &context->profile->command;
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	AUTO_FREE char *device = xasprintf("MEMCG_AB_DEVICE=%s", context->name);
	const char *const only_name[] = { device, NULL };
	AUTO_FREE const char **vector = env ? strlist_vector(env) : NULL;
	const struct proc_spec spec = {
		.argv = argv,
		.env = vector ? vector : only_name,
		.cwd = settings->dir,
		.deadline_ms = clock_deadline(settings->command_ms),
		.guard = context->guard,
	};

	return error_wrap(proc_run_ok(&spec, ERROR_LAB, out), "the command '%s'", name);
}

static char *command_check(const struct device_context *context)
{
	const struct command_settings *settings = &context->profile->command;

	if (!context->agent_arm64 || !file_is_regular(context->agent_arm64))
		return xasprintf("there is no arm64 agent at %s", context->agent_arm64 ? context->agent_arm64 : "(no path)");
	AUTO_ERROR error = settings->check ? run_hook(context, "check", settings->check, NULL, NULL) : NULL;
	return xstrdup(error ? error_message(error) : "");
}

static struct error *command_version(const struct device_context *context, char **version_out)
{
	const struct command_settings *settings = &context->profile->command;
	AUTO_STRBUF out = STRBUF_INIT;
	struct error *error = settings->version ? run_hook(context, "version", settings->version, NULL, &out) : NULL;

	if (error)
		return error;
	const char *text = out.len ? strbuf_str(&out) : "by commands";
	*version_out = xasprintf("%.*s; recipe %d", (int)strcspn(text, "\r\n"), text, COMMAND_RECIPE);
	return NULL;
}

static struct error *write_files(const struct lane_boot *boot, const struct command_boot *state)
{
	const struct command_settings *command = &boot->context->profile->command;
	const struct settings settings = {
		.counter = command->pmu ? "pmu" : "clock",
		.clock = command->clock,
		.finish = command->shell ? "exit" : "poweroff",
		.profile = boot->context->profile,
	};
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRBUF initrd = STRBUF_INIT;

	settings_write(&settings, boot->request, &text);
	struct error *error = initrd_build(boot->context->agent_arm64, strbuf_str(&text), boot->request->archives, &initrd);
	if (!error)
		error = file_write_atomic(state->initrd, initrd.data, initrd.len, 0644);
	if (!error)
		error = file_write_atomic(state->settings, text.data, text.len, 0644);
	return error;
}

/* Where the agent's records are read from. */
static struct child *reader_of(const struct lane_boot *boot)
{
	const struct command_settings *command = &boot->context->profile->command;
	struct command_boot *state = boot->state;

	return command->shell ? &state->shell : command->console ? &state->console : &state->machine;
}

static struct error *init_child(const struct command_boot *state, struct child *child, const char *program, const char *name)
{
	AUTO_FREE char *dir = path_join(state->dir, name);

	child_init(child, program, dir);
	return file_mkdirs(dir);
}

static struct error *init_boot(struct lane_boot *boot, struct command_boot *state)
{
	state->dir = path_absolute(boot->dir);
	state->initrd = path_join(state->dir, "initrd");
	state->settings = path_join(state->dir, "memcg-ab.conf");
	state->log = xasprintf("%s.commands%u", boot->request->console_path, boot->attempt);
	boot->state = state;
	fill_environment(boot->context, boot, state);
	/* Of a run that was killed: its kernel's death is none of this one's. */
	unlink(state->log);
	struct error *errors = NULL;
	error_join(&errors, init_child(state, &state->machine, "the command 'boot'", "boot"));
	error_join(&errors, init_child(state, &state->console, "the command 'console'", "console"));
	error_join(&errors, init_child(state, &state->shell, "the command 'shell'", "shell"));
	return errors;
}

static struct error *command_deploy(struct lane_boot *boot)
{
	const struct command_settings *command = &boot->context->profile->command;
	struct command_boot *state = xcalloc(1, sizeof(*state));

	struct error *error = init_boot(boot, state);
	if (!error && !boot->request->kernel_file)
		error = error_new(ERROR_LAB, "there is no Image to boot");
	if (!error)
		error = lane_check_agent(boot->context, boot->context->agent_arm64);
	if (!error)
		error = write_files(boot, state);
	if (!error && command->deploy)
		error = run_hook(boot->context, "deploy", command->deploy, &state->env, NULL);
	return error;
}

static struct error *start_with(const struct lane_boot *boot, struct child *child, const char *const *argv, const int out[2])
{
	const struct command_boot *state = boot->state;
	AUTO_STRLIST list = { NULL, 0 };

	for (size_t i = 0; argv[i]; i++)
		strlist_add(&list, argv[i]);
	return child_start_in(child, &list, &state->env, boot->context->profile->command.dir, out);
}

struct error *command_start_piped(const struct lane_boot *boot, struct child *child, const char *const *argv)
{
	int out[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	return start_with(boot, child, argv, out);
}

/* What is not read as it comes goes into a file: a pipe that nobody reads would stop the machine. */
static struct error *start_logged(const struct lane_boot *boot, struct child *child, const char *const *argv)
{
	const struct command_boot *state = boot->state;
	int out[2] = { -1, open(state->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) };

	if (out[1] < 0)
		return error_os(errno, "cannot write %s", state->log);
	return start_with(boot, child, argv, out);
}

static struct error *start_command(const struct lane_boot *boot, struct child *child, const char *command)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };

	return child == reader_of(boot) ? command_start_piped(boot, child, argv) : start_logged(boot, child, argv);
}

static struct error *command_boot(struct lane_boot *boot)
{
	const struct command_settings *command = &boot->context->profile->command;
	struct command_boot *state = boot->state;

	/* It listens before there is something to hear. */
	struct error *error = command->console ? start_command(boot, &state->console, command->console) : NULL;
	return error ? error : start_command(boot, &state->machine, command->boot);
}

static struct error *command_console(struct lane_boot *boot, int *fd_out)
{
	struct error *error = boot->context->profile->command.shell ? command_start_agent(boot) : NULL;

	if (!error)
		*fd_out = reader_of(boot)->console_fd;
	return error;
}

char *command_death(const struct lane_boot *boot)
{
	const struct command_boot *state = boot->state;
	AUTO_CONSOLE console = console_new(boot->cmdline);
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR nothing = file_read(state->log, &text);

	if (nothing)
		return NULL;
	console_feed(console, text.data, text.len);
	console_finish(console);
	/* A kernel that starts another one (kexec) is no death. */
	return console->panic || console->oops ? console_death(console) : NULL;
}

static void note_failure(struct lane_ending *ending, const char *message)
{
	if (ending->failed)
		return;
	ending->failed = true;
	ending->message = xstrdup(message);
}

/* A child's ending is the device's failure where it counts. */
static void end_child(struct child *child, int64_t grace_ms, bool counts, struct lane_ending *ending_out)
{
	struct lane_ending ending = { 0 };

	child_end(child, grace_ms, &ending);
	if (counts && ending.failed)
		note_failure(ending_out, ending.message);
	ending_out->stopped |= ending.stopped;
	free(ending.message);
}

/* Whatever prints the console may be ended by the device's going off, so all that counts is how it is before. */
static void end_children(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	const struct command_settings *command = &boot->context->profile->command;
	struct command_boot *state = boot->state;
	bool reads_machine = reader_of(boot) == &state->machine;
	bool started = state->machine.proc;
	bool failed = child_failed(&state->machine, reads_machine ? grace_ms : 0);

	end_child(&state->shell, grace_ms, true, ending_out);
	end_child(&state->console, command->shell ? 0 : grace_ms, !command->shell, ending_out);
	AUTO_ERROR error = command->off && started ? run_hook(boot->context, "off", command->off, &state->env, NULL) : NULL;
	if (command->off && !error)
		end_child(&state->machine, OFF_GRACE_MS, failed, ending_out);
	else
		end_child(&state->machine, reads_machine ? grace_ms : 0, true, ending_out);
	if (error) {
		note_failure(ending_out, error_message(error));
		log_warning("%s: %s", boot->context->name, error_message(error));
	}
}

static void command_power(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct command_boot *state = boot->state;

	end_children(boot, grace_ms, ending_out);
	if (state->unreached)
		note_failure(ending_out, state->unreached);
	/* Nothing shows then that a kernel was started at all. */
	if (!boot->heard && !ending_out->failed) {
		AUTO_FREE char *silent = xasprintf("nothing at all came from %s", reader_of(boot)->program);
		note_failure(ending_out, silent);
	}
	char *death = boot->finished ? NULL : command_death(boot);
	if (death) {
		/* The kernel's own words are better than what followed from its death. */
		free(ending_out->message);
		*ending_out = (struct lane_ending){ .stopped = ending_out->stopped, .death = death };
	}
	struct stat log;
	if (!stat(state->log, &log) && !log.st_size)
		unlink(state->log);
	strlist_deinit(&state->env);
	free(state->dir);
	free(state->initrd);
	free(state->settings);
	free(state->log);
	free(state->unreached);
	free(state);
}

const struct lane_ops command_lane_ops = {
	.boot_id_repeats = true,
	.check = command_check,
	.version = command_version,
	.deploy = command_deploy,
	.boot = command_boot,
	.console = command_console,
	.power = command_power,
};
