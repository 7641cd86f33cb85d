/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run's database (SQLite, run.db): what was planned, what was built, every boot attempt that counts and every sample. Only the
 * tool's main process writes it; each call that changes something is one transaction, on disk when the call returns.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/json.h"

#define STORE_VERSION 3 /* PRAGMA user_version */

struct store;

/* Opens, or makes, DIR/run.db for writing. A database of a newer version is refused. */
struct error *store_open(const char *path, struct store **store_out) MUST_CHECK;
struct error *store_open_readonly(const char *path, struct store **store_out) MUST_CHECK;
void store_close(struct store *store);
void cleanup_store(struct store **store);
#define AUTO_STORE CLEANUP(cleanup_store) struct store *

/* What does not change during a run: one JSON document (run/describe.c says what is in it). Set once; a second call replaces it. */
struct error *store_set_run(struct store *store, const struct jnode *description) MUST_CHECK;
/* NULL when none was set. The caller frees it. */
struct error *store_get_run(struct store *store, struct jnode **description_out) MUST_CHECK;
struct error *store_set_finished(struct store *store, int exit_status) MUST_CHECK;
/* False while the run is unfinished. */
struct error *store_get_finished(struct store *store, bool *finished_out, int *exit_status_out) MUST_CHECK;

/* One kernel of the run. Strings may be NULL. */
struct stored_image {
	const char *key;
	const char *status; /* "ok", "build-failed", "lab" */
	const char *reason; /* when not ok */
	const char *detail; /* JSON: build id, sha256s, tree, toolchain, release, times */
};
struct error *store_put_image(struct store *store, const struct stored_image *image) MUST_CHECK;
typedef struct error *store_image_fn(void *arg, const struct stored_image *image);
struct error *store_each_image(struct store *store, store_image_fn *fn, void *arg) MUST_CHECK;

/* One iteration's readings. */
struct stored_sample {
	const char *workload; /* label */
	int iteration; /* warm-ups negative */
	const char *const *names; /* n_readings names PHASE.UNIT, in the agent's order */
	const double *values;
	size_t n_readings;
};

/* The final outcome of one planned boot. Strings may be NULL. */
struct stored_boot {
	int64_t row; /* index in the run's description */
	int64_t block;
	const char *validity; /* sha256 over all that the numbers depend on (run/validity.h) */
	const char *status; /* boot_status_name() */
	const char *reason;
	const char *boot_id;
	const char *build_id;
	const char *booted_cmdline;
	const char *memcg;
	const char *cgroup;
	const char *identity; /* JSON */
	const char *console; /* path relative to the run folder */
	int64_t wall_ms;
	int64_t utc_s;
	const struct stored_sample *samples;
	size_t n_samples;
};
/* Calls `fn` once: what it changes is on disk as a whole when this returns without an error, and not at all otherwise. */
typedef struct error *store_group_fn(struct store *store, void *arg);
struct error *store_group(struct store *store, store_group_fn *fn, void *arg) MUST_CHECK;
/* Replaces what is stored for (row, block). Boot and samples go in together or not at all. */
struct error *store_put_boot(struct store *store, const struct stored_boot *boot) MUST_CHECK;
/*
 * Calls `fn` for each boot, by row and block, with its samples when `with_samples`, by workload and iteration. What it is given lives
 * until it returns, but samples of all boots that have the same readings have the same pointer `names`, and of one workload the same
 * `workload`.
 */
typedef struct error *store_boot_fn(void *arg, const struct stored_boot *boot);
struct error *store_each_boot(struct store *store, bool with_samples, store_boot_fn *fn, void *arg) MUST_CHECK;

/* What was executed in one phase of a workload, over all measured iterations of one boot (device/counts.h). */
struct stored_function {
	const char *name; /* "" = in no function that is known */
	bool kernel; /* else a process */
	uint64_t insns;
};
struct stored_block {
	uint64_t address, n, insns; /* n: how many instructions it has; insns: how many of them were executed in all */
};
struct stored_counts {
	const char *workload, *phase;
	uint64_t iterations, operations;
	const struct stored_function *functions; /* each name once for the kernel and once for processes */
	size_t n_functions;
	const struct stored_block *blocks; /* the same again, by place */
	size_t n_blocks;
};
/* Adds the counts of a boot that is stored and has none; they go with it when it is replaced. */
struct error *store_put_counts(struct store *store, int64_t row, int64_t block, const struct stored_counts *counts,
			       size_t n) MUST_CHECK;
/* Calls `fn` for each phase of the boot that was counted, in the order in which they were put. What it is given lives until it returns. */
typedef struct error *store_counts_fn(void *arg, const struct stored_counts *counts);
struct error *store_each_counts(struct store *store, int64_t row, int64_t block, store_counts_fn *fn, void *arg) MUST_CHECK;

/*
 * A decision on how many blocks a target is measured in, in the order in which they were made: number 0 is the first stage, the others are looks at what is
 * stored. All are kept: each look at the data has its price.
 */
struct stored_look {
	int64_t target; /* index in the run's description */
	int64_t number;
	int64_t seen; /* blocks that were complete when it was made */
	int64_t blocks; /* to be measured in all, as far as decided now */
	const char *reason;
	int64_t utc_s;
};
struct error *store_put_look(struct store *store, const struct stored_look *look) MUST_CHECK;
/* By target and number. */
typedef struct error *store_look_fn(void *arg, const struct stored_look *look);
struct error *store_each_look(struct store *store, store_look_fn *fn, void *arg) MUST_CHECK;

#endif
