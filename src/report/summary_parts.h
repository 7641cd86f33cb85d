/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A published table, loaded (summary.c) and written (summary_text.c). */
#ifndef REPORT_SUMMARY_PARTS_H
#define REPORT_SUMMARY_PARTS_H

#include "base/error.h"
#include "base/strbuf.h"

#define SUMMARY_ROWS_MAX 100
#define SUMMARY_AGAINST_MAX 8
#define SUMMARY_SPREADS_MAX 5

struct summary_row {
	char *name;
	char *unit; /* NULL = the table's */
	double mean, sd; /* sd: in the unit */
	uint64_t n;
	uint64_t boots; /* that the n runs came from; 0 = not said */
	double printed; /* published change against the first of `against`, a ratio minus one; NAN = none */
	size_t against[SUMMARY_AGAINST_MAX]; /* rows */
	size_t n_against;
};

struct summary {
	char *title, *metric, *unit;
	int better; /* 0 = lower, 1 = higher */
	double spreads[SUMMARY_SPREADS_MAX];
	size_t n_spreads;
	struct summary_row *rows;
	size_t n_rows;
};

void summary_text(const struct summary *summary, struct strbuf *out);

#endif
