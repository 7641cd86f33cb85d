/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences between rows: what the controls moved, then every row against its baseline and its previous step. */
#ifndef REPORT_DIFFERENCE_H
#define REPORT_DIFFERENCE_H

#include "report/floor.h"

/*
 * Fills report->floors, then the rows' differences. On a random target two rows are compared by Welch over all boots; block by block
 * when the baseline drifts in that metric and both rows have every block; by Stein's second stage when the run has a target half-width.
 */
void differences_compute(struct report *report, const struct evidence *evidence);
/* `metric` of `row` against the same metric of another row of the same random target, as described above. */
void differences_compare(const struct report *report, const struct report_row *row, const struct report_metric *reference,
			 const struct report_metric *metric, struct comparison *out);

#endif
