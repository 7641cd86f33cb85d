/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

struct lock {
	int fd;
};

#define RETRY_MS 50

/* The holder's line, or NULL. */
static char *read_holder(int fd)
{
	char text[512];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return NULL;
	text[len] = '\0';
	return xstrdup(str_trim(text));
}

static struct error *open_lock(const char *path, int *fd_out)
{
	AUTO_FREE char *dir = path_dirname(path);
	struct error *error = file_mkdirs(dir);

	if (error)
		return error;
	/* No O_CLOEXEC: children hold the lock too, on purpose. */
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	if (fd < 0)
		return error_os(errno, "cannot open lock %s", path);
	*fd_out = fd;
	return NULL;
}

static void write_holder(int fd, const char *holder)
{
	AUTO_FREE char *line = xasprintf("%s\n", holder);

	/* For messages only: a lock whose holder cannot be written down still locks. */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, line, strlen(line), 0) < 0)
		return;
}

struct error *lock_take(const char *path, const char *holder, int64_t deadline_ms, struct lock **lock_out)
{
	int fd = -1;
	struct error *error = open_lock(path, &fd);

	if (error)
		return error;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			error = error_os(errno, "cannot lock %s", path);
		} else if (clock_ms() >= deadline_ms) {
			AUTO_FREE char *present = read_holder(fd);
			error = error_new(ERROR_LAB, "%s is held by %s", path, present ? present : "a process that left no name");
		}
		if (error) {
			close(fd);
			return error;
		}
		poll(NULL, 0, RETRY_MS);
	}
	write_holder(fd, holder);
	struct lock *lock = xmalloc(sizeof(*lock));
	lock->fd = fd;
	*lock_out = lock;
	return NULL;
}

void lock_release(struct lock *lock)
{
	if (!lock)
		return;
	/* Unlocks for children that inherited the descriptor as well: by now their work is done. */
	flock(lock->fd, LOCK_UN);
	close(lock->fd);
	free(lock);
}

void cleanup_lock(struct lock **lock)
{
	lock_release(*lock);
}

char *lock_holder(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return NULL;
	char *holder = read_holder(fd);
	return holder ? holder : xstrdup("a process that left no name");
}
