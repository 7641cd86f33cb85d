/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/records_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/strbuf.h"

static bool collect_line(void *arg, const char *line, size_t len)
{
	struct strbuf *lines = arg;

	strbuf_add(lines, line, len);
	return true;
}

/* The bytes of `text`, to be read from the start. */
static bool fill(int fd, const struct strbuf *text)
{
	for (size_t at = 0; at < text->len;) {
		ssize_t n = write(fd, text->data + at, text->len - at);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			at += (size_t)n;
	}
	return lseek(fd, 0, SEEK_SET) == 0;
}

struct error *records_file_open(enum records_medium medium, const void *data, size_t len, const char *nonce, int *fd_out,
				struct sift_counts *counts_out)
{
	AUTO_STRBUF lines = STRBUF_INIT;

	sift_records(data, medium == RECORDS_PARTITION ? strnlen(data, len) : len, nonce, collect_line, &lines, counts_out);
	AUTO_CLOSE int fd = memfd_create("memcg-ab-records", MFD_CLOEXEC);
	if (fd < 0 || !fill(fd, &lines))
		return error_os(errno, "cannot keep records in memory");
	*fd_out = fd;
	fd = -1;
	return NULL;
}
