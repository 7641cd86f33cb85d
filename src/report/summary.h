/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `report --from-summary FILE`: what a published table of means, sds and counts allows to be said. The file:
 *
 *	title: what was published, and where
 *	metric: fault rate
 *	unit: faults/s			# a row may have its own
 *	better: higher			# or lower
 *	boot_spread: [0.1%, 0.5%]	# optional: sds of boot means to judge by, when it is not known how far boots differ
 *	rows:
 *	  - {name: before, mean: 12.5, sd: 2%, n: 30}
 *	  - {name: after, mean: 12.1, sd: 0.3, n: 30, against: before}
 *
 * mean is arithmetic; `drop: 6%` or `change: -6%` stand for it: against the first row, whose mean is 1 when it has none. sd
 * is that of the n runs (of each run, not of the mean), in the unit or as a part of the mean. `boots: 1` says that the n runs
 * came from so many boots; without it they count as independent. `against` names one row or several that the row is compared
 * with; where no row has it, all are compared with the first. The first comparisons of the rows are one family (Holm), the
 * second ones another, and so on. `printed: -10.4%` is the change that was published; it is held against the data.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "base/error.h"
#include "base/strbuf.h"

/* Appends the text report of the file to `out`; errors, all at once, leave it alone. */
struct error *summary_write(const char *path, struct strbuf *out) MUST_CHECK;

#endif
