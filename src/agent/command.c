/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/node.h"

static void run_child(const char *const argv[], int out)
{
	int nothing = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s", argv[0], strerror(errno));
	_exit(127);
}

/* Until the other end is closed; false when that takes too long. What does not fit is thrown away. */
static bool read_all(int fd, long long deadline, char *said, size_t size)
{
	size_t len = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		long long left = deadline - node_clock_ms();
		char rest[256];

		if (left <= 0)
			return false;
		if (poll(&ready, 1, (int)left) <= 0)
			continue;

		const bool full = len + 1 >= size;
		ssize_t n = full ? read(fd, rest, sizeof(rest)) : read(fd, said + len, size - len - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		len += full ? 0 : (size_t)n;
		said[len] = '\0';
	}
}

static bool wait_for(pid_t child, long long deadline, int *status_out)
{
	pid_t gone;

	while ((gone = waitpid(child, status_out, WNOHANG)) == 0 && node_clock_ms() < deadline)
		node_pause();
	return gone == child;
}

static void cut_end(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
}

bool command_run(const char *const argv[], unsigned deadline_ms, char *said, size_t size)
{
	const long long deadline = node_clock_ms() + deadline_ms;
	int out[2], status = 0;

	said[0] = '\0';
	if (pipe2(out, O_CLOEXEC)) {
		snprintf(said, size, "no pipe: %s", strerror(errno));
		return false;
	}

	pid_t child = fork();

	if (!child)
		run_child(argv, out[1]);
	close(out[1]);
	if (child < 0) {
		snprintf(said, size, "no process: %s", strerror(errno));
		close(out[0]);
		return false;
	}
	setpgid(child, child);

	bool ended = read_all(out[0], deadline, said, size) && wait_for(child, deadline, &status);

	close(out[0]);
	if (!ended) {
		kill(-child, SIGKILL);
		waitpid(child, NULL, 0);
		snprintf(said, size, "%s has not ended after %u ms", argv[0], deadline_ms);
		return false;
	}
	cut_end(said);
	if (status && !*said)
		snprintf(said, size, "%s failed, wait status %d", argv[0], status);
	return status == 0;
}
