/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A metric over all runs of a name: one line a run and row, oldest first. */
#ifndef REPORT_HISTORY_H
#define REPORT_HISTORY_H

#include "report/earlier.h"

struct history_line {
	char *date; /* "2026-12-01" */
	char *run; /* folder */
	char *kernel; /* version, or source, or "prebuilt" */
	char *variant;
	char *device; /* "phone big" */
	char *metric;
	char *unit;
	bool exact, higher_is_better;
	double value;
	size_t boots;
	struct report_difference baseline;
	bool anchor; /* the baseline of a random device: the others go through it, it has nothing to go through */
	bool has_before; /* there is a finished run before it, and the row is no anchor */
	struct earlier_difference before; /* to that run */
};

struct history {
	struct history_line *lines;
	size_t n;
};

struct history_request {
	const char *runs_dir;
	const char *name;
	const char *metric; /* NULL: the metrics of each run's gates, or else the first there is */
	bool arithmetic;
};

/* Runs that cannot be read end it: a history with holes misleads. Rows without the metric have no line. */
struct error *history_load(const struct history_request *request, struct history *out) MUST_CHECK;
void history_deinit(struct history *history);

/* `format`: text, csv or json; an error for others. */
struct error *history_write(const struct history *history, const char *format, struct strbuf *out) MUST_CHECK;

#endif
