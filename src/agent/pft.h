/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of workload pft (workload_pft.c says what it is): its team of workers, and how each measures a phase. Private to it. */
#ifndef AGENT_PFT_H
#define AGENT_PFT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/counter.h"
#include "agent/workload_run.h"

#define PFT_MAX_WORKERS 128

enum pft_phase { PFT_FAULT, PFT_TEARDOWN, PFT_N_PHASES };

struct pft_result {
	uint64_t kernel, user; /* instructions */
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns, wall_ns; /* of its thread; with the clock */
	uint64_t cpu_user_us, cpu_system_us;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
};

/* A worker's share of the region, and what it measured; processes keep it in shared memory. */
struct pft_worker {
	const struct pft *pft;
	char *start, *end; /* touched */
	bool failed;
	struct pft_result results[PFT_N_PHASES];
	uint64_t (*events)[N_EVENTS]; /* by phase, in memory of its own; NULL = none are asked for */
	char reason[WORKLOAD_REASON_MAX];
};

struct pft {
	const struct counter_plan *counter;
	bool clock;
	unsigned n; /* workers */
	bool processes;
	size_t page_size, line_size, cachelines;
	size_t pages; /* of all workers */
	char *region;
	size_t size;
	struct pft_team *team; /* in memory that processes share, as is what follows */
	uint64_t (*events)[PFT_N_PHASES][N_EVENTS]; /* by worker; NULL = none are asked for */
};

struct pft_team {
	pthread_barrier_t barrier;
	pthread_mutex_t gate; /* held until all threads are there */
	bool given_up; /* they are not: go home */
	struct pft_worker workers[PFT_MAX_WORKERS];
};

/* What a worker counted in a phase. */
struct counter_reading pft_counted(const struct pft_worker *worker, enum pft_phase phase);

/* Touches the worker's share and measures that, in the calling thread. */
void pft_measure_fault(struct pft_worker *worker, const struct counter *counter);
/* Unmaps the whole region and measures that. */
void pft_measure_teardown(struct pft_worker *worker, const struct counter *counter);

/* Makes the team of a mapped region, in memory that processes share. 0, or -1 with the reason in run->reason. */
int pft_team_make(struct workload_run *run, struct pft *pft);
/* Lets it measure both phases, as threads or as processes. Threads have unmapped the region afterwards unless it failed. */
int pft_team_run(struct workload_run *run, struct pft *pft);
void pft_team_free(struct pft *pft);

#endif
