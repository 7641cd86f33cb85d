/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live line: on a terminal rewritten in place, elsewhere a line every half minute. On stderr. */
#ifndef RUN_PROGRESS_H
#define RUN_PROGRESS_H

#include <stdio.h>

#include "base/mem.h"

struct progress {
	FILE *stream;
	bool terminal;
	int64_t started_ms;
	int64_t shown_ms; /* when a line was last written */
	bool open; /* a line without its newline stands on the terminal */
};

struct progress progress_start(FILE *stream);
/* Shows `text` with the time since the start; unless `now`, at most every 0.2 s on a terminal and every 30 s elsewhere. */
void progress_show(struct progress *progress, bool now, const char *text);
/* Clears the live line, before other output. */
void progress_clear(struct progress *progress);
/* "1m20s", "2h05m"; the caller frees. */
char *duration_text(int64_t ms);

#endif
