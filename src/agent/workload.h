/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of workloads: what each can be told and what it measures. The plan validates a matrix against it on the
 * host, the agent runs it on the device. libc only; built for the host and for arm64.
 */
#ifndef AGENT_WORKLOAD_H
#define AGENT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_SIZE, /* bytes; the matrix may write 64M */
	OPTION_COUNT,
	OPTION_WORD, /* one of `words` */
	OPTION_BOOL, /* 0 or 1 */
	OPTION_TEXT, /* `min` to `max` bytes on one line */
	OPTION_DISK, /* one of `words`, or "block:" and a GPT partition's name or a node's path (node.h) */
};

struct workload_option {
	const char *name;
	enum option_type type;
	uint64_t min, max; /* SIZE, COUNT; TEXT: of its length */
	const char *fallback; /* as text in canonical form: bytes, number, word, 0 or 1 */
	const char *const *words; /* WORD, DISK; NULL-terminated */
	const char *help;
};

/* One reading of a sample. Its metric is LABEL.PHASE.UNIT. */
struct workload_metric {
	const char *phase; /* "fault" */
	const char *unit; /* "insn", "insn_k", "insn_u", "ns", "rate"; of an amount its name, "total_kib" */
	const char *
		per; /* "page": insn/page, ns/page; rate is page/s. NULL: an amount, in what its unit ends with: _kib, _ns, _pages */
	bool higher_is_better;
	/*
	 * NULL for what the agent reads; else how the host derives it from the sample's other readings: "sum:A,B" (A
	 * and B are PHASE.UNIT), "rate:A" (1e9 / A).
	 */
	const char *derived;
};

struct conf_workload;
struct workload_run; /* src/agent, private: what a running workload is given */

struct workload_kind {
	const char *name; /* "pft" */
	const char *summary;
	const struct workload_option *options;
	size_t n_options;
	const struct workload_metric *metrics;
	size_t n_metrics;
	/* NULL, or by enum workload_common: what a common option is when it is not given; NULL = its own default. */
	const char *const *common;
	const char *const *voids; /* health readings (health.h) that void a sample when above 0; NULL-terminated */
	/*
	 * NULL, or says why option values that are each good do not go together (NULL = they do). `values` in
	 * canonical form, in the order of `options`, then of workload_common_options.
	 */
	const char *(*conflict)(const char *const *values);
	/*
	 * It does things to the machine beyond its own memory (disks, swap, mounts, limits): with counter=model, where the numbers
	 * are told, nothing of it is run.
	 */
	bool needs_machine;
	/* It runs programs that the host builds from the tree of the kernel that is measured. */
	bool needs_tree;
	/*
	 * NULL, or makes once what all iterations need (into run->state), before the cgroup is entered; 0, or -1 with the reason in
	 * run->reason. finish() is called after the cgroup is left, also when prepare() failed half-way.
	 */
	int (*prepare)(struct workload_run *run);
	void (*finish)(struct workload_run *run);
	/* Runs one iteration; 0, or -1 with the reason in run->reason. */
	int (*iterate)(struct workload_run *run);
};

/* What `values` begins with behind a kind's own options: the places of the common options. */
enum workload_common { COMMON_ITERATIONS, COMMON_WARMUP, COMMON_CGROUP, COMMON_HIERARCHY, COMMON_KMEM, N_WORKLOAD_COMMON };

/* Options that every workload takes: iterations (5), warmup (2), cgroup (auto|child|root), hierarchy (auto|v1|v2), kmem (auto|on|off). */
extern const struct workload_option workload_common_options[];
extern const size_t workload_n_common_options;

extern const struct workload_kind *const workload_kinds[];
extern const size_t workload_n_kinds;
const struct workload_kind *workload_find(const char *name); /* NULL when there is none */
/* The option of that name, of the kind's own or of the common ones; NULL when there is none. */
const struct workload_option *workload_find_option(const struct workload_kind *kind, const char *name);
/* What an option of the kind, its own or a common one, is when it is not given. */
const char *workload_fallback(const struct workload_kind *kind, const struct workload_option *option);
/* Does the value of an OPTION_DISK name a real disk rather than one in memory? */
bool workload_is_block(const char *value);
/* Is `value` good for the option, in canonical form (bytes, number, word, 0 or 1)? */
bool workload_value_ok(const struct workload_option *option, const char *value);
/* How many iterations its settings ask for, warm-ups included; 0 when they are not good. */
uint64_t workload_samples(const struct conf_workload *settings);
/* Does the agent read it whatever counts here: no instructions and no time, but pages or KiB? */
bool workload_is_amount(const struct workload_metric *metric);
/* The text of a reading's unit: "insn/page", "ns/page", "page/s"; of an amount "KiB", "ns", "pages". */
void workload_unit_text(const struct workload_metric *metric, char *text, size_t size);

#endif
