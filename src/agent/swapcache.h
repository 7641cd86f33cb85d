/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was written to a real disk stays in the swap cache as clean pages, and comes back from there without being read. RAM disks
 * and zram write at once, so that nothing of it is left. Private to the agent.
 */
#ifndef AGENT_SWAPCACHE_H
#define AGENT_SWAPCACHE_H

#include "agent/region.h"
#include "agent/workload_run.h"

/*
 * Has the kernel reclaim those pages of the region, but for `left` of them (what the agent itself swaps in brings neighbours with
 * it): in a group by a limit, else by locking so much memory that there is no other left. 60 s at most. 0, or -1 with the reason in
 * run->reason.
 */
int swapcache_drop(struct workload_run *run, const struct region *region, long left);

#endif
