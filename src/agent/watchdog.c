/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/node.h"

#define FEED_MS 5000
#define STOP_MS 2000

static const char food[] = "1", magic_close[] = "V"; /* any byte but V feeds it (the kernel's watchdog-api document) */

/* How often: five seconds, or a third of the time that it has. */
static int interval_of(int fd)
{
	int seconds = 0;

	if (ioctl(fd, WDIOC_GETTIMEOUT, &seconds) || seconds <= 0 || seconds > 3 * FEED_MS / 1000)
		return FEED_MS;
	return seconds * 1000 / 3;
}

/* In the feeder: until the agent says that it is enough, or is no more. */
static void feed(int fd, int end_fd)
{
	const int interval = interval_of(fd);
	struct pollfd end = { .fd = end_fd, .events = POLLIN };
	char word;

	do {
		if (write(fd, food, 1) != 1)
			_exit(1);
	} while (poll(&end, 1, interval) <= 0);
	if (read(end_fd, &word, 1) == 1)
		_exit(write(fd, magic_close, 1) == 1 ? 0 : 1);
	_exit(1);
}

bool watchdog_start(struct watchdog *watchdog, const char *path, char *reason, size_t reason_size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int end[2] = { -1, -1 };

	*watchdog = (struct watchdog){ .end_fd = -1 };
	if (fd < 0 || pipe2(end, O_CLOEXEC))
		goto failed;

	pid_t feeder = fork();

	if (feeder < 0)
		goto failed;
	if (!feeder) {
		close(end[1]);
		feed(fd, end[0]);
	}
	close(fd);
	close(end[0]);
	*watchdog = (struct watchdog){ feeder, end[1] };
	return true;

failed:
	snprintf(reason, reason_size, "cannot feed %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (end[0] >= 0) {
		close(end[0]);
		close(end[1]);
	}
	return false;
}

void watchdog_stop(struct watchdog *watchdog)
{
	const long long deadline = node_clock_ms() + STOP_MS;

	if (!watchdog->feeder)
		return;
	if (write(watchdog->end_fd, magic_close, 1) < 0)
		kill(watchdog->feeder, SIGKILL);
	close(watchdog->end_fd);
	while (waitpid(watchdog->feeder, NULL, WNOHANG) == 0 && node_clock_ms() < deadline)
		node_pause();
	*watchdog = (struct watchdog){ .end_fd = -1 };
}
