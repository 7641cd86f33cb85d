/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A piece of anonymous memory to be measured. Private to the agent. */
#ifndef AGENT_REGION_H
#define AGENT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/workload_run.h"

enum region_fill {
	REGION_ZERO, /* a page of zeroes, written to so that it is one of its own */
	REGION_RANDOM, /* bytes that do not compress, the same in every boot */
};

struct region {
	char *start;
	size_t size, pages, page_size;
};

/* Its bytes rounded up to pages; 0, or -1 with the reason when that much memory is not available. */
int region_size(struct workload_run *run, uint64_t bytes, size_t *size_out);
/*
 * Maps `size` bytes, a multiple of the page size: the start at a multiple of 2 MiB, so that it always has its page tables for
 * itself and never one more, moved up by run->region_offset. What was mapped to find that place is unmapped again. `huge`: huge
 * pages are wanted (MADV_HUGEPAGE), else refused. 0, or -1 with the reason.
 */
int region_map(struct workload_run *run, size_t size, bool huge, struct region *region_out);
void region_unmap(struct region *region);
/* Writes all of it. */
void region_fill(const struct region *region, enum region_fill fill);
/* Reads one word of every page, in order, and says if all are what region_fill() wrote. */
bool region_read(const struct region *region, enum region_fill fill);
/*
 * How many of its pages are in memory, those among them that wait in the swap cache; -1 with errno. What a page's state is asked
 * of does not become resident by it.
 */
long region_resident(const struct region *region);
/* How many have left the page tables for swap, by /proc/self/pagemap, whether or not they wait in the swap cache; -1 with errno. */
long region_swapped(const struct region *region);

#endif
