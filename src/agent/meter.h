/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts and times one phase of a workload: instructions and events by the counter, and where the clock is read wall time and the CPU
 * times of getrusage. The sum of the latter is as exact as the scheduler's clock; how it falls into user and system is
 * sampled at ticks, unless the kernel accounts it precisely (CONFIG_VIRT_CPU_ACCOUNTING_GEN). Private to the agent.
 */
#ifndef AGENT_METER_H
#define AGENT_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "agent/counter.h"
#include "agent/workload_run.h"

struct meter {
	struct counter counter;
	bool clock, tree;
	/* since meter_start() */
	struct rusage self, children;
	uint64_t start_ns;
	/* summed over all pieces between a start and a stop */
	struct counter_reading count;
	uint64_t elapsed_ns, user_ns, system_ns;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	bool failed;
	char reason[WORKLOAD_REASON_MAX];
};

/*
 * `tree`: with the children that are started and waited for in it; then it is good for one start and stop, since children's
 * instructions are never taken back. 0, or -1 with the reason in run->reason.
 */
int meter_open(struct meter *meter, struct workload_run *run, bool tree);
void meter_close(struct meter *meter);
void meter_start(struct meter *meter);
void meter_stop(struct meter *meter);
/* Sets it to zero. */
void meter_forget(struct meter *meter);
/*
 * Stores what was counted as PHASE's readings for each of `n` operations, adds it to User / System / Elapsed (phase "all") and
 * to the health readings, and sets the meter to zero. 0, or -1 with the reason in run->reason.
 */
int meter_report(struct meter *meter, struct workload_run *run, const char *phase, double n);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t meter_clock_ns(void);

#endif
