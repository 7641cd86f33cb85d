/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PMU of arm64 cores, as the kernel shows it. Each class of cores has a PMU of its own, a folder of
 * /sys/bus/event_source/devices with the cores it belongs to in `cpus`, perf's number of it in `type`, and in events/ a file for each
 * architected event that it says to have (PMCEID). perf's raw type is one of them, whichever comes first; and it takes an event
 * that a core does not have, and counts nothing of it. Private to the agent.
 */
#ifndef AGENT_PMU_H
#define AGENT_PMU_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMU_NAME_MAX 64

struct pmu {
	char name[PMU_NAME_MAX]; /* "armv8_pmuv3", "armv8_cortex_a76" */
	uint32_t type;
};

/* The PMU that all of `cpus` have. False with a one-line reason: there is none, or they have different ones. */
bool pmu_find(const char *root, const cpu_set_t *cpus, struct pmu *pmu_out, char *reason, size_t reason_size);
/* Does it have all of `events` (agent/events.h)? False with a reason that names the first that it has not. */
bool pmu_has_events(const char *root, const struct pmu *pmu, unsigned events, char *reason, size_t reason_size);

#endif
