/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a workload's common options hierarchy= and kmem= ask of the machine: neither can be changed for one workload. The
 * controller is on the hierarchy that took it first, and kernel memory is accounted unless the command line said
 * cgroup.memory=nokmem (or, up to 5.x, the kernel was built without). Private to the agent.
 */
#ifndef AGENT_PLACEMENT_H
#define AGENT_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/conf.h"
#include "agent/memcg.h"
#include "agent/records.h"
#include "agent/workload_run.h"

/* The hierarchy that pid 1 should mount the controller on: that of the first workload that asks for one, else memcg_version=. */
const char *placement_hierarchy(const struct conf *conf);
/*
 * Is it as the workload's options ask? With memcg off all is well. Whether kernel memory is accounted is tried only where it is
 * asked for, and told as IDENTITY kmem.LABEL on|off. False with a one-line reason.
 */
bool placement_check(const struct memcg *memcg, const struct workload_run *run, struct records *records, char *reason,
		     size_t reason_size);
/*
 * By how much a group's charge grew while 256 pipes were opened, 100 pages and more of kernel memory: FACT_YES above the 32 pages
 * that a CPU charges in advance twice over, FACT_NO up to that, else unknown.
 */
enum fact placement_kmem_of(uint64_t before, uint64_t after);

#endif
