/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"

#define STOP_GRACE_MS 1000
#define LOOK_SLICE_MS 20

void child_init(struct child *child, const char *program, const char *dir)
{
	*child = (struct child){ .program = program, .messages = path_join(dir, "messages"), .console_fd = -1 };
}

struct error *child_start(struct child *child, const struct strlist *argv, const int console[2])
{
	return child_start_in(child, argv, NULL, NULL, console);
}

struct error *child_start_in(struct child *child, const struct strlist *argv, const struct strlist *env, const char *cwd,
			     const int console[2])
{
	AUTO_CLOSE int out_fd = console[1];
	AUTO_CLOSE int messages_fd = open(child->messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	AUTO_FREE const char **vector = strlist_vector(argv);
	AUTO_FREE const char **environment = env ? strlist_vector(env) : NULL;

	child->console_fd = console[0];
	if (messages_fd < 0)
		return error_os(errno, "cannot write %s", child->messages);
	const struct proc_start start = {
		.argv = vector, .env = environment, .cwd = cwd, .out_fd = out_fd, .err_fd = messages_fd
	};
	return proc_start(&start, &child->proc);
}

char *child_last_line(const char *file)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR error = file_read(file, &text);

	if (error)
		return NULL;
	AUTO_FREE char *copy = strbuf_steal(&text);
	char *trimmed = str_trim(copy);
	char *newline = strrchr(trimmed, '\n');
	char *last = newline ? str_trim(newline + 1) : trimmed;
	return last[0] ? xstrdup(last) : NULL;
}

static void describe_end(const struct child *child, const struct proc_result *result, struct lane_ending *ending)
{
	AUTO_FREE char *message = child_last_line(child->messages);
	/* QEMU catches SIGTERM, SIGINT and SIGHUP, says so in these words and ends with status 0. */
	bool terminated = message && strstr(message, "terminating on signal");

	if (result->signal)
		ending->message =
			xasprintf("%s was killed by signal %d (%s)", child->program, result->signal, strsignal(result->signal));
	else if ((result->exit_status || terminated) && message)
		ending->message = xasprintf("%s ended with status %d: %s", child->program, result->exit_status, message);
	else if (result->exit_status)
		ending->message = xasprintf("%s ended with status %d and said nothing", child->program, result->exit_status);
	ending->failed = ending->message;
}

bool child_failed(const struct child *child, int64_t wait_ms)
{
	int64_t deadline = clock_deadline(wait_ms);

	while (child->proc) {
		siginfo_t info = { .si_pid = 0 };
		/* It is left to be reaped later: that ends its whole process group. */
		if (waitid(P_PID, (id_t)proc_pid(child->proc), &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info.si_pid)
			return info.si_code != CLD_EXITED || info.si_status;
		if (clock_ms() >= deadline)
			return false;
		error_free(guard_sleep(NO_GUARD, LOOK_SLICE_MS));
	}
	return false;
}

void child_end(struct child *child, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct proc_result result;
	bool ended = false;

	if (child->proc) {
		/* Without a guard: it ends now, one way or the other. */
		error_free(proc_wait(child->proc, clock_deadline(grace_ms), NO_GUARD, &ended, &result));
		if (ended)
			describe_end(child, &result, ending_out);
		else
			proc_stop(child->proc, STOP_GRACE_MS);
		ending_out->stopped = !ended;
	}
	cleanup_close(&child->console_fd);
	free(child->messages);
}
