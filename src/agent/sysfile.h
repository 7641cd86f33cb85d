/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small files of /proc, /sys and cgroupfs. `root` is put in front of `path`; "" is the machine itself. */
#ifndef AGENT_SYSFILE_H
#define AGENT_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The whole file with a NUL behind it, which the caller frees; its length without that in `len_out` (may be NULL).
 * NULL with errno when it cannot be read.
 */
char *sysfile_read(const char *root, const char *path, size_t *len_out);
/* The same without trailing white space. */
char *sysfile_line(const char *root, const char *path);
/* Writes all of `text` at once into a file that exists; false with errno. */
bool sysfile_write(const char *path, const char *text);

#endif
