/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On which cores the workloads may run: this process' affinity, and a version 1 cpuset, which would overrule it. */
#ifndef AGENT_AFFINITY_H
#define AGENT_AFFINITY_H

#include <sched.h>

#include "agent/hold.h"

/*
 * Moves this process to the root cpuset where cpusets of version 1 are mounted (Android's /dev/cpuset; below a root of a test its
 * files are written), then ties it to `cpus`; threads and processes that it starts inherit both. Below a root nothing is
 * asked of the machine, and what proc/self/status says is believed. Held under the keys cpuset and affinity. It lasts until the
 * process ends.
 */
void affinity_hold(struct holds *holds, const cpu_set_t *cpus);

#endif
