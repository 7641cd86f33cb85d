/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a workload holds its own work against before it reports a number; private to the agent. All: 0, or -1 with the reason. */
#ifndef AGENT_CHECKS_H
#define AGENT_CHECKS_H

#include <stdint.h>

#include "agent/workload_run.h"

/* So many minor faults for so many pieces of `bytes` each: a thousandth more, and what its own stack and data may add, are let pass. */
int checks_faults(struct workload_run *run, uint64_t faults, uint64_t pieces, uint64_t bytes);
/* `done` pages were swapped `way` ("in", "out") and `wanted` should have been, up to `slack` more. */
int checks_swapped(struct workload_run *run, const char *way, uint64_t done, uint64_t wanted, uint64_t slack);
/* The group's charge (bytes) may be at most its limit. */
int checks_limit(struct workload_run *run, uint64_t charged, uint64_t limit);
/* A group that was charged `before` bytes has taken `added` more on itself, but for what is still held in advance. */
int checks_charge(struct workload_run *run, uint64_t before, uint64_t after, uint64_t added);
/* All `pages` of a file are cached, or are known to have been reclaimed since. */
int checks_cached(struct workload_run *run, uint64_t cached, uint64_t reclaimed, uint64_t pages);

#endif
