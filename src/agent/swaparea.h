/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A swap area of a workload's own, used before all others. Private to the agent. */
#ifndef AGENT_SWAPAREA_H
#define AGENT_SWAPAREA_H

#include "agent/disk.h"
#include "agent/workload_run.h"

struct swaparea {
	struct disk disk;
	bool on;
};

/*
 * Makes room for `bytes` on the disk that an OPTION_DISK's value names, and swaps there: highest priority, read back from
 * /proc/swaps. 0, or -1 with the reason in run->reason; swaparea_close() is to be called in both cases.
 */
int swaparea_open(struct swaparea *area, struct workload_run *run, const char *place, uint64_t bytes);
void swaparea_close(struct swaparea *area, struct workload_run *run);
/* The first page of an area of so many pages, the header included, as mkswap(8) writes it. */
void swaparea_header(unsigned char *page, size_t page_size, uint32_t pages);

#endif
