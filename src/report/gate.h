/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts of a run's gates. */
#ifndef REPORT_GATE_H
#define REPORT_GATE_H

#include "report/model.h"

/*
 * Fills report->gates: one entry a gate and row it looks at.
 *  exact: PASS only when the value and its spread are within the limit, FAIL only when the value less its spread is beyond it.
 *  random: PASS when the one-sided upper bound at 5% / looks is within the limit; FAIL when the lower bound at 5% / looks / entries of that
 *  target is beyond it (any one failure fails the release, so all of a target's together fail a good one in at most 5%), and the
 *  effect is not below the floor that the controls set; `within` by two one-sided tests at the same levels.
 * In between NOT RESOLVED; without numbers, without comparability or with an invalid finding INVALID. Both say why.
 */
void gates_judge(struct report *report);

#endif
