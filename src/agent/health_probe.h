/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the health readings around an iteration, outside of what is counted; private to the agent. Files, below the root:
 *
 *   throttled       /sys/class/thermal/cooling_deviceN/cur_state, of those whose type names the CPUs or that have no type:
 *                   a fan that runs or a charger that holds back takes nothing from them
 *   freq_changes    /sys/devices/system/cpu/cpufreq/policyN/stats/total_trans, of policies with a CPU it may run on
 *   swapped, thp    /proc/vmstat
 *   frequency       /sys/devices/system/cpu/cpufreq/policyN/scaling_cur_freq
 *   temperature     /sys/class/thermal/thermal_zoneN/temp
 *
 * migrations are asked of the machine, so that with a root there are none: perf's cpu-migrations or else
 * /proc/self/sched; neither with a single CPU, where there are none to count and an open event would cost instructions
 * whenever the counter is switched. What getrusage tells, and cpu_share, are the workload's own, since it alone can tell
 * its measured phases from the rest.
 *
 * The files stay open from one iteration to the next: what the kernel frees of a closed one it frees later, by RCU in the
 * middle of what is counted (0.1 to 0.2 instructions a page of pft).
 */
#ifndef AGENT_HEALTH_PROBE_H
#define AGENT_HEALTH_PROBE_H

#include <sched.h>

#include "agent/health.h"

enum health_source { HEALTH_VMSTAT, HEALTH_SCHED, HEALTH_COOLER, HEALTH_ZONE, HEALTH_TRANSITIONS, HEALTH_CUR_FREQ };

struct health_file {
	int fd;
	enum health_source source;
};

struct health_probe {
	const char *root;
	cpu_set_t cpus; /* the workload may run on */
	struct health_file *files;
	size_t n_files;
	int migrations_fd; /* -1: none */
	double before[N_HEALTH];
};

/*
 * Finds and opens the files. `root` must outlive the probe. `cpus`: those the workload may run on; NULL: the calling thread's,
 * or with a root all there are.
 */
void health_probe_open(struct health_probe *probe, const char *root, const cpu_set_t *cpus);
void health_probe_close(struct health_probe *probe);
void health_probe_before(struct health_probe *probe);
/* Fills in what this probe measures, and leaves the others of `values` alone. NAN: not offered. */
void health_probe_after(const struct health_probe *probe, double values[N_HEALTH]);

#endif
