/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tmpfs of a workload's own that holds a copy of a folder. Private to the agent. */
#ifndef AGENT_TREECOPY_H
#define AGENT_TREECOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/workload_run.h"

struct treecopy {
	char dir[64];
	bool mounted;
};

/*
 * Mounts a tmpfs of at most `bytes` and copies all of `from` into it: folders, files, symbolic links, with their modes. 0, or -1 with the
 * reason in run->reason; treecopy_close() is to be called in both cases.
 */
int treecopy_open(struct treecopy *copy, struct workload_run *run, const char *from, uint64_t bytes);
void treecopy_close(struct treecopy *copy, struct workload_run *run);

#endif
