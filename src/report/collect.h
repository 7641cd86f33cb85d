/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store's boots, read in one pass and made into boot means; samples are not kept. */
#ifndef REPORT_COLLECT_H
#define REPORT_COLLECT_H

#include "report/evidence.h"

/*
 * Fills the rows' boots, moments, samples, dropped, cgroup, image and (where they are final at once) statuses, and the evidence.
 * A sample with a recorded physical cause (agent/health.h) is left out, by the same rule on every row; a boot that keeps less than
 * half of its samples in any workload does not count.
 */
struct error *collect_boots(struct report *report, struct store *store, struct evidence *evidence) MUST_CHECK;

#endif
