/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One boot's records out of bytes that may hold others': a partition or a pstore record outlives the boot that wrote it, and
 * other programs write to pmsg too. Each HELLO carries its boot's nonce ("0.1.0/NONCE" in place of the version), so what
 * follows a HELLO belongs to that boot, up to the next. libc only; used on both sides.
 */
#ifndef AGENT_SIFT_H
#define AGENT_SIFT_H

#include <stdbool.h>
#include <stddef.h>

#define SIFT_NONCE_LEN 16 /* lower-case hex digits */

struct sift_counts {
	size_t own; /* intact records of the boot that was asked for */
	size_t foreign; /* of others, or with no HELLO before them */
};

/* Takes one line with its newline, `len` bytes; false stops. */
typedef bool sift_emit(void *arg, const char *line, size_t len);

bool sift_valid_nonce(const char *nonce);
/*
 * Gives each intact record (wire.h) of the boot of `nonce` to `emit`, in order and without what stood before it on its line;
 * NULL: of every boot. A NUL ends a line as a newline does. False when `emit` said so.
 */
bool sift_records(const char *data, size_t len, const char *nonce, sift_emit *emit, void *arg, struct sift_counts *counts_out);

#endif
