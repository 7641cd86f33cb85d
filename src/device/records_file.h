/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that did not come over a console but lay somewhere: a results partition, or a pstore record. */
#ifndef DEVICE_RECORDS_FILE_H
#define DEVICE_RECORDS_FILE_H

#include "agent/sift.h"
#include "base/error.h"

enum records_medium {
	RECORDS_PARTITION, /* text from its start up to the first NUL */
	RECORDS_PSTORE, /* a ring: all of it counts, other programs' bytes and the notice that pstore appends are passed over */
};

/*
 * Makes a file in memory that console_read() takes like a console which closes at its end: the intact records of the boot of
 * `nonce` (sift.h) among the `len` bytes of `data`. What other boots left is not in it; `counts_out` tells how much of either
 * there was. The caller closes *fd_out. ERROR_OS when there is no memory for it.
 */
struct error *records_file_open(enum records_medium medium, const void *data, size_t len, const char *nonce, int *fd_out,
				struct sift_counts *counts_out) MUST_CHECK;

#endif
