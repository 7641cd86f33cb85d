/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Anonymous folios of 64 KiB, on kernels that have them (since 6.8): /sys/kernel/mm/transparent_hugepage/hugepages-64kB. Quiet
 * environments switch them off. Private to the agent.
 */
#ifndef AGENT_FOLIO_H
#define AGENT_FOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/workload_run.h"

#define FOLIO_LARGE_BYTES 65536

/* Allows them where madvise() asks for them; 0, or -1 with the reason, also on a kernel without. */
int folio_allow(struct workload_run *run);
/* Puts back what was before. */
void folio_forbid(struct workload_run *run);
/* One of their counts ("anon_fault_alloc", "swpout"); 0 when this kernel does not have it. */
uint64_t folio_count(const struct workload_run *run, const char *name);

#endif
