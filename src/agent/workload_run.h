/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a running workload is given and gives back; private to the agent. */
#ifndef AGENT_WORKLOAD_RUN_H
#define AGENT_WORKLOAD_RUN_H

#include "agent/conf.h"
#include "agent/counter.h"
#include "agent/health.h"
#include "agent/workload.h"

#define WORKLOAD_MAX_METRICS 64
#define WORKLOAD_REASON_MAX 128

/* What the environment did while it was measured, summed over the iterations. */
struct workload_checks {
	uint64_t pages; /* touched */
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
};

struct memory;
struct memcg;
struct records;

struct workload_run {
	const struct workload_kind *kind;
	const struct conf_workload *settings;
	struct counter_plan counter;
	bool clock; /* read the clock too */
	uint64_t region_offset; /* bytes, a multiple of 2 MiB */
	const struct memory *memory; /* when the agent started; NULL = not looked at */
	const char *root; /* in front of /proc and /sys; "" = the machine itself */
	const struct memcg *memcg; /* as it was found; NULL = not looked at */
	const char *place; /* where it runs: "none", "root", "child-v1", "child-v2" */
	struct undo *undo; /* for what it changes outside of itself */
	struct records *records; /* for what it has to say besides readings */
	/* A sign of life, where it takes long; NULL = nobody waits for one. */
	void (*alive)(void *arg);
	void *alive_arg;
	void *state; /* prepare()'s; finish() frees it */
	int iteration; /* from 0; warm-ups are negative, -1 is the last of them */
	double readings[WORKLOAD_MAX_METRICS]; /* in the order of kind->metrics; NAN = not read */
	/*
	 * Of this iteration; NAN = not offered. The workload's own part, over its measured phases: major_faults, both
	 * kinds of switches, cpu_share where it reads the clock.
	 */
	double health[N_HEALTH];
	struct workload_checks checks;
	char *compat; /* lines of a historic program, grown by iterate(); NULL = none; freed by workload_run_deinit() */
	char reason[WORKLOAD_REASON_MAX];
};

/*
 * The rows of a phase that is counted and timed, an operation being one `per`; those of its events (events.h), which are there where they
 * are asked for; and those of User / System / Elapsed.
 */
/* clang-format off */
#define WORKLOAD_EVENT_ROW(phase, per, unit) { phase, unit, per, false, NULL }
#define WORKLOAD_EVENTS(phase, per)                                               \
	WORKLOAD_EVENT_ROW(phase, per, "cycles_k"),                               \
	WORKLOAD_EVENT_ROW(phase, per, "l1d_misses_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "l1i_misses_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "l2d_misses_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "llc_misses_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "dtlb_misses_k"),                          \
	WORKLOAD_EVENT_ROW(phase, per, "itlb_misses_k"),                          \
	WORKLOAD_EVENT_ROW(phase, per, "dtlb_walks_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "itlb_walks_k"),                           \
	WORKLOAD_EVENT_ROW(phase, per, "branch_misses_k")
#define WORKLOAD_PHASE(phase, per)                                                \
	{ phase, "insn_k", per, false, NULL },                                    \
	{ phase, "insn_u", per, false, NULL },                                    \
	{ phase, "ns", per, false, NULL },                                        \
	{ phase, "insn", per, false, "sum:" phase ".insn_k," phase ".insn_u" },   \
	{ phase, "rate", per, true, "rate:" phase ".ns" },                        \
	WORKLOAD_EVENTS(phase, per)
#define WORKLOAD_TIMES                                                            \
	{ "all", "user_ns", NULL, false, NULL },                                  \
	{ "all", "system_ns", NULL, false, NULL },                                \
	{ "all", "elapsed_ns", NULL, false, NULL }
/* clang-format on */

extern const struct workload_kind workload_pft, workload_memory, workload_sparse_read, workload_file_read_cached,
	workload_tmpfs_write, workload_swapout, workload_swapin, workload_swapstorm, workload_fork_exit, workload_mmap_churn,
	workload_selftest, workload_exec;

/*
 * Checks a workload's settings against its kind's table: unknown options, values, values that do not go together.
 * False with a one-line reason.
 */
bool workload_check(const struct conf_workload *settings, char *reason, size_t reason_size);
/* The value of an option of a checked workload; its default when it is not given. */
const char *workload_value(const struct workload_run *run, const char *option);
uint64_t workload_count(const struct workload_run *run, const char *option);
/* Stores a reading of this iteration. */
void workload_set(struct workload_run *run, const char *phase, const char *unit, double value);
/* Adds to it; a reading that was not read counts as 0. */
void workload_add(struct workload_run *run, const char *phase, const char *unit, double value);
/* Stores what was counted in a phase of `n` operations: instructions, and the events that are counted. */
void workload_set_counts(struct workload_run *run, const char *phase, const struct counter_reading *reading, double n);
/* Appends a line to run->compat. */
void workload_add_compat(struct workload_run *run, const char *line);
/* Writes the reason why an iteration failed; returns -1. */
int workload_fail(struct workload_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void workload_run_deinit(struct workload_run *run);

#endif
