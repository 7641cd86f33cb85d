/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 4096
#define MAX_SIZE ((size_t)64 << 20)

/* These files have no size to ask for: reads until nothing comes. */
static char *read_all(int fd, size_t *len_out)
{
	size_t room = FIRST_ROOM, len = 0;
	char *data = malloc(room);

	while (data) {
		ssize_t n = read(fd, data + len, room - len - 1);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || room > MAX_SIZE) {
			free(data);
			return NULL;
		}
		len += (size_t)n;
		if (room - len < 2) {
			char *grown = realloc(data, room *= 2);

			if (!grown)
				free(data);
			data = grown;
		}
	}
	if (!data)
		return NULL;
	data[len] = '\0';
	if (len_out)
		*len_out = len;
	return data;
}

char *sysfile_read(const char *root, const char *path, size_t *len_out)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full)) {
		errno = ENAMETOOLONG;
		return NULL;
	}

	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return NULL;

	char *data = read_all(fd, len_out);
	int error = errno;

	close(fd);
	errno = error;
	return data;
}

char *sysfile_line(const char *root, const char *path)
{
	size_t len;
	char *data = sysfile_read(root, path, &len);

	if (!data)
		return NULL;
	while (len && strchr(" \t\r\n", data[len - 1]))
		data[--len] = '\0';
	return data;
}

bool sysfile_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return false;

	ssize_t written = write(fd, text, strlen(text));
	int error = errno;

	close(fd);
	errno = error;
	return written == (ssize_t)strlen(text);
}
