/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened in the group that a workload runs in, and its limit of swap. Private to the agent. */
#ifndef AGENT_GROUP_EVENTS_H
#define AGENT_GROUP_EVENTS_H

#include <stdint.h>

#include "agent/workload_run.h"

/* Since the group was made. NAN = this kernel does not tell. */
struct group_events {
	double hits; /* how often its hard limit was reached: v2 memory.events max, v1 memory.failcnt */
	double oom_kills; /* v2 memory.events oom_kill, v1 memory.oom_control */
	double peak_kib; /* the most that was charged: v2 memory.peak (since 5.19), v1 memory.max_usage_in_bytes */
};

/* All NAN where there is no group. `root`: in front of the group's path; "" = the machine itself. */
void group_events_read(const struct workload_run *run, struct group_events *events_out);
/* The number behind `key` in "key number" lines; NAN when it is not there. */
double group_events_value(const char *text, const char *key);
/*
 * A limit of swap, read back: v2 memory.swap.max; v1 memory.memsw.limit_in_bytes, which is of memory and swap together: `memory` is
 * added. 0, or -1 with the reason in run->reason.
 */
int group_set_swap_limit(struct workload_run *run, uint64_t memory, uint64_t swap);

#endif
