/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many blocks a target needs, decided from what is stored (run/stages.h asks). */
#ifndef REPORT_STOPPING_H
#define REPORT_STOPPING_H

#include "run/stages.h"

/*
 * With `half_width`: the largest of Stein's sizes over the target's comparisons (vs baseline and vs previous) in the gates' metrics, or in all that
 * are not rates where there is no gate, from the sds of the first stage's paired log differences. With `looks`: none more once every gate of
 * the target has passed or failed at its share of 5%, else all up to the next look.
 */
struct error *report_decide_stage(const char *dir, size_t target, struct stage_decision *decision_out) MUST_CHECK;

#endif
