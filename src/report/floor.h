/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By random target and metric: drift of the baseline, variance components, and what the controls moved. */
#ifndef REPORT_FLOOR_H
#define REPORT_FLOOR_H

#include "report/evidence.h"

#define REPORT_ALPHA 0.05 /* of a comparison, before the looks' share */
#define REPORT_POWER 0.8 /* of a detectable effect */
#define REPORT_DRIFT_LEVEL 0.05 /* from here on rows are compared block by block */

/* Lists report->floors, one a random target and metric that its baseline has, with drift, step and components. */
void floors_compute(struct report *report, const struct evidence *evidence);
/* Once the rows are compared with their baseline: takes the controls' differences over, and sets the floors. */
void floors_set(struct report *report);
/* The baseline's metric that a floor is about; NULL when its row does not stand. */
const struct report_metric *floor_baseline(const struct report *report, const struct report_floor *floor);
void floors_free(struct report *report);

#endif
