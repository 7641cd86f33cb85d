/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory at boot: what the kernel leaves when the agent starts (phase boot). It was read once, before anything else was done, so
 * that all samples of a boot are the same. MemTotal is what is left of the RAM after the kernel's code, its static data and
 * struct page; MemAvailable also counts what boot has allocated since.
 */
#include <math.h>

#include "agent/memory.h"
#include "agent/workload_run.h"

static int iterate(struct workload_run *run)
{
	const struct memory *memory = run->memory;

	/* sim is told the numbers */
	if (run->counter.kind == COUNTER_MODEL)
		return 0;
	if (!memory || isnan(memory->total))
		return workload_fail(run, "/proc/meminfo has no MemTotal");
	workload_set(run, "boot", "total_kib", memory->total);
	workload_set(run, "boot", "available_kib", memory->available);
	workload_set(run, "boot", "slab_kib", memory->slab);
	workload_set(run, "boot", "percpu_kib", memory->percpu);
	return 0;
}

static const struct workload_metric metrics[] = {
	{ "boot", "total_kib", NULL, true, NULL },
	{ "boot", "available_kib", NULL, true, NULL },
	{ "boot", "slab_kib", NULL, false, NULL },
	{ "boot", "percpu_kib", NULL, false, NULL },
};

static const char *const voids[] = { NULL };

const struct workload_kind workload_memory = {
	.name = "memory",
	.summary = "memory that is left at boot",
	.metrics = metrics,
	.n_metrics = sizeof(metrics) / sizeof(metrics[0]),
	.voids = voids,
	.iterate = iterate,
};
