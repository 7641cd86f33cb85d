/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with a random target's data, and what to do about it. */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "report/evidence.h"

/*
 * Fills report->findings. They look at the metrics that are measured (derived ones follow from them) and at the gates'; m of them on
 * a target. A finding makes the target's verdicts invalid when
 *  - A/A: the baseline differs from itself at p < 0.001 / m;
 *  - drift (p < 0.001 / m) or a step (p <= 0.001 and more than 4 sds of the block means around it) of the baseline over blocks, and
 *    the order is sequential or a row lacks blocks: comparisons are then not paired, so the drift is in them;
 *  - unsteady iterations: in more than a quarter of the boots tested, and at least 4, there is a step within the boot at p < 0.01,
 *    and the median of those steps is above 1%: a boot's mean is then one of two regimes, and of no kernel.
 * So data without any of this are invalid in less than 1 of 1000 runs, whatever m is. Identity needs no finding: a void boot has no number.
 */
void findings_compute(struct report *report, const struct evidence *evidence);
void findings_free(struct report *report);
/* The first finding that makes the target invalid, or NULL. */
const struct report_finding *findings_invalid(const struct report *report, size_t target);

#endif
