/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was written to a real disk stays in the swap cache as clean pages, and comes back from there without being read. RAM disks
 * and zram write at once, so that nothing of it is left. Private to the agent.
 */
#ifndef AGENT_SWAPCACHE_H
#define AGENT_SWAPCACHE_H

#include "agent/workload_run.h"

/*
 * Has the kernel reclaim until the swap cache is empty, by raising vm.min_free_kbytes for a while (20 s at most); 0, or -1 with the
 * reason in run->reason.
 */
int swapcache_drop(struct workload_run *run);

#endif
