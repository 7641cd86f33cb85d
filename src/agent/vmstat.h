/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel counts of the whole machine's memory. Private to the agent. */
#ifndef AGENT_VMSTAT_H
#define AGENT_VMSTAT_H

#include <stdbool.h>
#include <stdint.h>

/* The number behind `name` in /proc/vmstat; 0 when this kernel does not have it. `root`: see sysfile.h. */
uint64_t vmstat_count(const char *root, const char *name);

/* Pages since boot. */
struct swap_counts {
	uint64_t in, out; /* also pages of zeroes, which 6.12 and later remember without a swap slot being written */
};

void vmstat_swap(const char *root, struct swap_counts *counts_out);
/* KiB behind `name` in /proc/meminfo; 0 when there is none. */
uint64_t vmstat_meminfo_kib(const char *root, const char *name);

#endif
