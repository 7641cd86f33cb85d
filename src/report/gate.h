/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts of a run's gates. */
#ifndef REPORT_GATE_H
#define REPORT_GATE_H

#include "report/model.h"

/*
 * Fills report->gates: one entry a gate and row it looks at. PASS only when the value and its spread are within the limit, FAIL only when
 * the value less its spread is beyond it; in between, or on a device whose numbers scatter, NOT RESOLVED; without numbers INVALID.
 */
void report_judge_gates(struct report *report);

#endif
