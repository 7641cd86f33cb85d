/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory there is before the agent has done anything. */
#ifndef AGENT_MEMORY_H
#define AGENT_MEMORY_H

#include <stdbool.h>

#include "agent/conf.h"

/* In KiB, by /proc/meminfo's MemTotal, MemAvailable, Slab and Percpu (since 4.20); NAN = not told. */
struct memory {
	double total, available, slab, percpu;
};

/* Does a workload of the settings ask for it? */
bool memory_is_wanted(const struct conf *conf);
void memory_read(struct memory *memory_out, const char *root);

#endif
