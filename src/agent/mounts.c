/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/mounts.h"

#include <fcntl.h>
#include <stdbool.h>
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

static bool is_mounted(const char *where)
{
	struct stat above, here;

	return !stat("/", &above) && !stat(where, &here) && above.st_dev != here.st_dev;
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
		if (!is_mounted(wanted[i].where))
			mount("none", wanted[i].where, wanted[i].type, 0, NULL);
	}
	open_streams();
}
