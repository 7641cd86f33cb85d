/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several units behind one device: what they differ in is no difference of kernels, and no drift, step or outlier either. */
#ifndef REPORT_UNIT_LEVEL_H
#define REPORT_UNIT_LEVEL_H

#include "report/evidence.h"

/* Whether boots of the target ran on more than one unit. */
bool has_units(const struct evidence *evidence, size_t target);
/*
 * A row's boot means by block, each unit's scaled to the mean over all of them; of a target without units as they are. NAN stays NAN.
 * The caller frees.
 */
double *unit_level(const struct evidence *evidence, size_t target, const double *boots, size_t n_blocks);

#endif
