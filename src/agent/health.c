/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/health.h"

#include <string.h>

#define PHASE "health."

const struct health_reading health_readings[N_HEALTH] = {
	[HEALTH_THROTTLED] = { "throttled", "state", "highest state of a cooling device of the CPUs, before or after", true },
	[HEALTH_FREQ_CHANGES] = { "freq_changes", "count", "frequency changes of the CPUs it may run on", true },
	[HEALTH_MAJOR_FAULTS] = { "major_faults", "count", "page faults of the measured phases that waited for a disk", true },
	[HEALTH_SWAPPED] = { "swapped", "page", "pages swapped in or out, by anybody", true },
	[HEALTH_THP] = { "thp", "count", "huge pages put to use, by anybody", true },
	[HEALTH_CPU_SHARE] = { "cpu_share", "ratio", "CPU time of the measured phases / their wall time, over all workers",
			       false },
	[HEALTH_VOLUNTARY_SWITCHES] = { "voluntary_switches", "count",
					"context switches of the measured phases, because it waited", false },
	[HEALTH_INVOLUNTARY_SWITCHES] = { "involuntary_switches", "count",
					  "context switches of the measured phases, because another was to run", false },
	[HEALTH_MIGRATIONS] = { "migrations", "count",
				"moves to another CPU; of the first thread alone where perf_event_open is refused", false },
	[HEALTH_FREQUENCY] = { "frequency", "kHz", "highest of the CPUs it may run on, after", false },
	[HEALTH_TEMPERATURE] = { "temperature", "mdegC", "of the hottest thermal zone, after", false },
};

const struct health_reading *health_find(const char *name)
{
	for (size_t i = 0; i < N_HEALTH; i++) {
		if (!strcmp(health_readings[i].name, name))
			return &health_readings[i];
	}
	return NULL;
}

static bool is_above_zero(const char *cause, const char *const *names, const double *values, size_t n)
{
	const size_t len = strlen(PHASE);

	for (size_t i = 0; i < n; i++) {
		if (!strncmp(names[i], PHASE, len) && !strcmp(names[i] + len, cause))
			return values[i] > 0;
	}
	return false;
}

const char *health_void_cause(const struct workload_kind *kind, const char *const *names, const double *values, size_t n)
{
	for (const char *const *cause = kind->voids; cause && *cause; cause++) {
		if (is_above_zero(*cause, names, values, n))
			return *cause;
	}
	return NULL;
}
