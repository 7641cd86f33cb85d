/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/mounts.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *type, *where;
} wanted[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "tmpfs", "/tmp" },
};

/* `above`: a folder of the file system that `where` is in while nothing is mounted there. */
static bool is_mounted(const char *above, const char *where)
{
	struct stat outer, here;

	return !stat(above, &outer) && !stat(where, &here) && outer.st_dev != here.st_dev;
}

static bool mount_once(const char *above, const char *where, const char *type)
{
	return is_mounted(above, where) || !mount("none", where, type, 0, NULL);
}

/* The kernel opens /dev/console for pid 1 before anything is mounted: an archive without that node leaves it without streams. */
static void open_streams(void)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
		return;

	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	for (int stream = 0; fd >= 0 && stream < 3; stream++)
		dup2(fd, stream);
	if (fd > 2)
		close(fd);
}

void mounts_make(void)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		mkdir(wanted[i].where, 0755);
		mount_once("/", wanted[i].where, wanted[i].type);
	}
	open_streams();
}

bool mounts_pstore(const char *where)
{
	return mount_once("/sys", where, "pstore");
}

bool mounts_configfs(const char *where)
{
	return mount_once("/sys", where, "configfs");
}
