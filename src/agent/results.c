/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "agent/node.h"
#include "agent/sysfile.h"

#define CLEARED_BYTES 4096
#define SMALLEST_BYTES 65536
#define SENT_WAIT_MS 30000

/* What stands behind `prefix`, or NULL. */
static const char *behind(const char *setting, const char *prefix)
{
	const size_t len = strlen(prefix);

	return strncmp(setting, prefix, len) ? NULL : setting + len;
}

static bool refuse(char *reason, size_t reason_size, const char *what, const char *name)
{
	snprintf(reason, reason_size, "%s '%s': %s", what, name, strerror(errno));
	return false;
}

/* Nothing of an earlier boot is left at its start, and it is big enough. */
static bool clear_start(int fd, const char *name, char *reason, size_t reason_size)
{
	static const char zeros[CLEARED_BYTES];
	const off_t size = lseek(fd, 0, SEEK_END);

	if (size >= 0 && size < SMALLEST_BYTES) {
		snprintf(reason, reason_size, "partition '%s' has %lld bytes, fewer than the %d that records may need", name,
			 (long long)size, SMALLEST_BYTES);
		return false;
	}
	if (size < 0 || pwrite(fd, zeros, sizeof(zeros), 0) != (ssize_t)sizeof(zeros) || fsync(fd) || lseek(fd, 0, SEEK_SET))
		return refuse(reason, reason_size, "cannot clear partition", name);
	return true;
}

static bool open_partition(struct results *results, const char *name, const char *root, unsigned wait_ms, char *reason,
			   size_t reason_size)
{
	char path[NODE_PATH_MAX];

	if (!node_partition(root, name, wait_ms, path, reason, reason_size))
		return false;

	/* O_EXCL on a block device: not while it is mounted or part of something. */
	int fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd < 0)
		return refuse(reason, reason_size, "cannot write partition", name);
	if (!clear_start(fd, name, reason, reason_size)) {
		close(fd);
		return false;
	}
	*results = (struct results){ RESULTS_TO_PARTITION, fd };
	return true;
}

static bool open_pmsg(struct results *results, const char *root, unsigned wait_ms, char *reason, size_t reason_size)
{
	char path[NODE_PATH_MAX];

	if (!node_character(root, "pmsg0", "/sys/class/pmsg/pmsg0", wait_ms, path, reason, reason_size))
		return false;

	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return refuse(reason, reason_size, "cannot write", "/dev/pmsg0");
	*results = (struct results){ RESULTS_TO_PMSG, fd };
	return true;
}

/* Has a host configured one of the USB device controllers? */
static bool host_is_there(const char *root)
{
	static const char class_dir[] = "/sys/class/udc";
	char path[NODE_PATH_MAX];
	bool found = false;
	DIR *dir = snprintf(path, sizeof(path), "%s%s", root, class_dir) < (int)sizeof(path) ? opendir(path) : NULL;

	for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s/state", class_dir, entry->d_name) >= (int)sizeof(path))
			continue;

		char *state = sysfile_line(root, path);

		found = state && !strcmp(state, "configured");
		free(state);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool wait_for_host(const char *root, unsigned wait_ms, char *reason, size_t reason_size)
{
	const long long deadline = node_clock_ms() + wait_ms;

	while (!host_is_there(root)) {
		if (node_clock_ms() >= deadline) {
			snprintf(reason, reason_size, "no USB host has configured the gadget within %g s", wait_ms / 1000.0);
			return false;
		}
		node_pause();
	}
	return true;
}

static bool make_raw(int fd)
{
	struct termios settings;

	if (tcgetattr(fd, &settings))
		return false;
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL;
	settings.c_cflag &= ~(tcflag_t)CRTSCTS;
	return !tcsetattr(fd, TCSANOW, &settings);
}

static bool open_tty(struct results *results, const char *name, const char *root, unsigned wait_ms, char *reason,
		     size_t reason_size)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	char class_dir[300], path[NODE_PATH_MAX];

	snprintf(class_dir, sizeof(class_dir), "/sys/class/tty/%.255s", base);
	if (!node_character(root, name, class_dir, wait_ms, path, reason, reason_size))
		return false;
	if (behind(base, "ttyGS") && !wait_for_host(root, wait_ms, reason, reason_size))
		return false;

	/* Without blocking: a host that stops reading must not stop the agent for ever (records_write() waits, with a deadline). */
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return refuse(reason, reason_size, "cannot open", name);
	if (!make_raw(fd)) {
		refuse(reason, reason_size, "cannot make a raw terminal of", name);
		close(fd);
		return false;
	}
	*results = (struct results){ RESULTS_TO_TTY, fd };
	return true;
}

bool results_open(struct results *results, const char *setting, int console_fd, const char *root, unsigned wait_ms, char *reason,
		  size_t reason_size)
{
	const char *partition = behind(setting, "block:"), *tty = behind(setting, "tty:");

	*results = (struct results){ RESULTS_TO_CONSOLE, console_fd };
	if (partition)
		return open_partition(results, partition, root, wait_ms, reason, reason_size);
	if (tty)
		return open_tty(results, tty, root, wait_ms, reason, reason_size);
	return strcmp(setting, "pmsg") != 0 || open_pmsg(results, root, wait_ms, reason, reason_size);
}

/* tcdrain() has no deadline, and a gadget's terminal drains only when its host reads. */
static bool wait_until_sent(int fd)
{
	const long long deadline = node_clock_ms() + SENT_WAIT_MS;
	int left;

	while (!ioctl(fd, TIOCOUTQ, &left) && left > 0) {
		if (node_clock_ms() >= deadline)
			return false;
		node_pause();
	}
	/* What has left the terminal's buffer is still in the controller's requests. */
	node_pause();
	return true;
}

/* The next record overwrites the NUL. At the very end of the partition there is no room for one, and no need. */
static bool end_text(int fd)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);

	if (at < 0 || (pwrite(fd, "", 1, at) != 1 && errno != ENOSPC))
		return false;
	return !fsync(fd);
}

bool results_flush(const struct results *results)
{
	switch (results->kind) {
	case RESULTS_TO_PARTITION:
		return end_text(results->fd);
	case RESULTS_TO_TTY:
		return wait_until_sent(results->fd);
	case RESULTS_TO_CONSOLE:
		/* What is still in a UART's buffer when the machine is switched off is lost. */
		return !isatty(results->fd) || !tcdrain(results->fd);
	case RESULTS_TO_PMSG:
		break;
	}
	return true;
}

void results_close(struct results *results)
{
	if (results->kind != RESULTS_TO_CONSOLE)
		close(results->fd);
	results->fd = -1;
}
