/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What else happened while an iteration ran: RESULT records LABEL.health.NAME.ITERATION, readings like any others. What a
 * kernel or device does not offer is not reported, rather than as 0. libc only; built for the host and for arm64.
 */
#ifndef AGENT_HEALTH_H
#define AGENT_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/workload.h"

enum health {
	HEALTH_THROTTLED,
	HEALTH_FREQ_CHANGES,
	HEALTH_MAJOR_FAULTS,
	HEALTH_SWAPPED,
	HEALTH_THP,
	HEALTH_CPU_SHARE,
	HEALTH_VOLUNTARY_SWITCHES,
	HEALTH_INVOLUNTARY_SWITCHES,
	HEALTH_MIGRATIONS,
	HEALTH_FREQUENCY,
	HEALTH_TEMPERATURE,
	N_HEALTH,
};

struct health_reading {
	const char *name; /* "throttled" */
	const char *unit; /* as in the record */
	const char *help;
	bool cause; /* a physical cause: above 0 it voids the samples of the workloads that name it (workload_kind.voids) */
};

extern const struct health_reading health_readings[N_HEALTH];
/* NULL when there is none of that name. */
const struct health_reading *health_find(const char *name);
/*
 * The name of the first of the kind's causes that a sample has above 0 ("throttled", not to be freed); NULL when the
 * sample counts. `names` (PHASE.UNIT, as in the store: "health.throttled") and `values` are all of its n readings; a
 * reading that is missing is not held against it.
 */
const char *health_void_cause(const struct workload_kind *kind, const char *const *names, const double *values, size_t n);

#endif
