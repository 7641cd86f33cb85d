/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was said to a device and what it answered, kept for the person who asks in the morning. */
#ifndef DEVICE_JOURNAL_H
#define DEVICE_JOURNAL_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Appends one call to the file `path` (NULL = nowhere), in one write: "UTC program arguments: outcome, N ms", then each line of
 * `text` (what the program said; long texts lose their middle) with a tab before it. ERROR_LAB when it cannot be written.
 */
struct error *journal_add(const char *path, const char *const *argv, const char *outcome, int64_t wall_ms,
			  const char *text) MUST_CHECK;

#endif
