/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files on their way into a payload's archive. Paths have no leading '/'. */
#ifndef KERNEL_PAYLOAD_FILES_H
#define KERNEL_PAYLOAD_FILES_H

#include <sys/types.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"

struct payload_file {
	char *path;
	mode_t mode; /* with type bits; S_IFREG or S_IFLNK */
	struct strbuf data; /* or the link's target */
};

/* A zeroed one is empty. */
struct payload_files {
	struct payload_file *items;
	size_t n;
};

void payload_files_deinit(struct payload_files *files);
/* One more; it replaces what is at that path. */
void payload_files_add(struct payload_files *files, const char *path, mode_t mode, const void *data, size_t len);
/* The file that was added as `from`, once more as `path`; ERROR_LAB when there is none. */
struct error *payload_files_copy(struct payload_files *files, const char *from, const char *path) MUST_CHECK;
/* The host's file `from`, or all below the folder `from`, at `path`. Special files are ERROR_INPUT. */
struct error *payload_files_take(struct payload_files *files, const char *from, const char *path) MUST_CHECK;
/* Names, modes and contents in the order of paths. */
void payload_files_hash(struct payload_files *files, struct hash *hash);
/* A cpio with the folders that they need; equal files give equal bytes, in whatever order they came. */
struct error *payload_files_pack(struct payload_files *files, struct strbuf *out) MUST_CHECK;

#endif
