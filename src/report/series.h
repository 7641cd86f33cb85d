/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the iterations within a boot. */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "report/evidence.h"

/*
 * The permutation test is dear, so in very large runs only a part of the boots is tested, spread evenly over rows and blocks (golden
 * ratio sequence). Runs of usual size have all of theirs tested.
 */
struct series_share {
	double share; /* 0 to 1 */
	size_t n_blocks;
};
struct series_share series_share_of(const struct report *report);
bool series_share_has(const struct series_share *share, size_t row, size_t block);

/* A step (step_of) and dependence (dependence_of) in one boot's iterations, each at p < 0.01. */
void series_test(struct series_evidence *evidence, const double *y, size_t n);

#endif
