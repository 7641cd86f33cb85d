/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory files of the group that a workload runs in. Private to the agent. */
#ifndef AGENT_GROUP_H
#define AGENT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/workload_run.h"

/* HARD: reached, the group reclaims and in the end is short of memory. SOFT (v2's memory.high; on v1 as HARD): it reclaims, no more. */
enum group_limit { GROUP_HARD, GROUP_SOFT };

#define GROUP_NO_LIMIT UINT64_MAX

/* 0 when the workload runs in a group that can have a limit; else -1 with the reason in run->reason. */
int group_can_limit(struct workload_run *run);
/*
 * Writes the limit and reads it back; what is charged beyond it is reclaimed meanwhile, in the calling thread. 0, or -1 with the
 * reason in run->reason.
 */
int group_set_limit(struct workload_run *run, enum group_limit which, uint64_t bytes);
/* Bytes charged to it; -1 with the reason in run->reason when that is not told. */
int group_usage(struct workload_run *run, uint64_t *bytes_out);

#endif
