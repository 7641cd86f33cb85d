/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/node.h"

#define LOOK_MS 100 /* a program that leaves others behind holding its output is seen to end within this */
#define ALIVE_MS 5000
#define NOT_STARTED 127

struct reader {
	const struct program *program;
	struct program_end *end;
	char line[PROGRAM_TAIL + 1];
	size_t len;
};

/* The last of all that was said: what does not fit goes from the front. */
static void keep(struct program_end *end, const char *text)
{
	const size_t add = strlen(text) + 1;
	size_t have = strlen(end->tail);

	while (have && have + add > PROGRAM_TAIL) {
		const char *newline = strchr(end->tail, '\n');
		const size_t cut = newline ? (size_t)(newline - end->tail) + 1 : have;

		memmove(end->tail, end->tail + cut, have - cut + 1);
		have -= cut;
	}
	if (add <= PROGRAM_TAIL) {
		memcpy(end->tail + have, text, add - 1);
		memcpy(end->tail + have + add - 1, "\n", 2);
	}
}

static void end_line(struct reader *reader)
{
	reader->line[reader->len] = '\0';
	keep(reader->end, reader->line);
	if (reader->program->line)
		reader->program->line(reader->program->arg, reader->line);
	reader->len = 0;
}

static void take(struct reader *reader, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n' || reader->len + 2 > PROGRAM_TAIL)
			end_line(reader);
		if (data[i] != '\n' && data[i])
			reader->line[reader->len++] = data[i];
	}
}

/* What is there now; false when the other end is closed. */
static bool read_some(struct reader *reader, int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char data[4096];

	if (poll(&ready, 1, wait_ms) <= 0)
		return true;

	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0)
		take(reader, data, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void run_child(const struct program *program, int out, int go)
{
	char word;
	int nothing = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	/* The parent says when; when it has gone nothing more is to be done. */
	if (read(go, &word, 1) != 1)
		_exit(NOT_STARTED);
	if (chdir(program->dir)) {
		dprintf(STDERR_FILENO, "cannot be in folder %s: %s\n", program->dir, strerror(errno));
		_exit(NOT_STARTED);
	}
	execvpe(program->argv[0], (char *const *)program->argv, (char *const *)program->env);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", program->argv[0], strerror(errno));
	_exit(NOT_STARTED);
}

/* Reads until the process has ended, or the deadline passes: then false. */
static bool follow(struct reader *reader, pid_t pid, int fd)
{
	const struct program *program = reader->program;
	const long long deadline = node_clock_ms() + program->deadline_ms;
	long long alive = node_clock_ms() + ALIVE_MS;
	bool open = true;
	pid_t gone;

	while ((gone = waitpid(pid, &reader->end->status, WNOHANG)) == 0) {
		const long long now = node_clock_ms();

		if (now >= deadline)
			return false;
		if (program->alive && now >= alive) {
			program->alive(program->arg);
			alive = now + ALIVE_MS;
		}
		/* With its output closed it is about to end. */
		if (open)
			open = read_some(reader, fd, LOOK_MS);
		else
			node_pause();
	}
	return gone == pid;
}

static void finish(struct reader *reader, pid_t pid, int fd)
{
	if (!follow(reader, pid, fd)) {
		reader->end->timed_out = true;
		kill(-pid, SIGKILL);
		waitpid(pid, &reader->end->status, 0);
	}
	/* What it left behind in its group goes with it; what they had said is read. */
	kill(-pid, SIGKILL);
	while (waitpid(-pid, NULL, 0) > 0)
		;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read_some(reader, fd, 0) && poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0) > 0)
		;
	if (reader->len)
		end_line(reader);
}

static void start(const struct program *program, struct program_end *end, const int out[2], const int go[2])
{
	struct reader reader = { .program = program, .end = end };
	pid_t pid = fork();

	if (!pid) {
		/* Else the child would hold open what it waits on. */
		close(go[1]);
		run_child(program, out[1], go[0]);
	}
	close(out[1]);
	close(go[0]);
	if (pid < 0) {
		snprintf(end->reason, sizeof(end->reason), "no process: %s", strerror(errno));
		close(go[1]);
		return;
	}
	setpgid(pid, pid);
	end->started = !program->started || program->started(program->arg, pid);
	if (end->started && write(go[1], "", 1) != 1)
		end->started = false;
	close(go[1]);
	finish(&reader, pid, out[0]);
}

void program_run(const struct program *program, struct program_end *end)
{
	int out[2], go[2];

	*end = (struct program_end){ 0 };
	if (pipe2(out, O_CLOEXEC)) {
		snprintf(end->reason, sizeof(end->reason), "no pipe: %s", strerror(errno));
		return;
	}
	if (pipe2(go, O_CLOEXEC)) {
		snprintf(end->reason, sizeof(end->reason), "no pipe: %s", strerror(errno));
		close(out[1]);
	} else {
		start(program, end, out, go);
	}
	close(out[0]);
}

void program_tell(const struct program *program, const struct program_end *end, char *text, size_t size)
{
	if (!end->started)
		snprintf(text, size, "%s", end->reason);
	else if (end->timed_out)
		snprintf(text, size, "no end within %g s", program->deadline_ms / 1000.0);
	else if (WIFSIGNALED(end->status))
		snprintf(text, size, "signal %d", WTERMSIG(end->status));
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(end->status));
}
