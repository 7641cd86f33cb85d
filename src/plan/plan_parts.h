/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files plan*.c share while a matrix is expanded. */
#ifndef PLAN_PLAN_PARTS_H
#define PLAN_PLAN_PARTS_H

#include "plan/plan.h"

/* From the variants: the images in ladder order, and a row for each variant on each target. */
void plan_add_rows(struct plan *plan);
/* From the rows: the boots, each block in an order drawn from the matrix' seed. */
void plan_add_boots(struct plan *plan);
/* From all of it. */
char *plan_digest(const struct plan *plan);

#endif
