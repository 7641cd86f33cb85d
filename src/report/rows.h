/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a run: from its description, and what becomes of them when all boots are in. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/evidence.h"

/* Fills report->rows from report->run: every metric that the workloads can give, without numbers. */
struct error *rows_describe(struct report *report) MUST_CHECK;
void rows_free(struct report *report);
enum row_status row_status_of_name(const char *name); /* ROW_LAB for what is none */
/* The first failure is the one that is named; a kernel's own fault outweighs a void or a lab one. */
void row_worsen(struct report_row *row, enum row_status status, const char *reason);

/*
 * When all boots are in: a replicate's go to its baseline, rows get their status, metrics without numbers go, and the others their levels.
 * On an exact target a row needs every boot. On a random one it stands on the boots that count as long as they are at least half of those
 * planned and two (lab and void ones are then counted in row->lost); one that a kernel failed still fails the row. A row that is owed
 * boots has no numbers: whoever looks before the end is tempted to stop there.
 */
void rows_settle(struct report *report, const struct evidence *evidence);

#endif
