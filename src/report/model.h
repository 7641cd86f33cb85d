/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's results, computed from its store: what every writer prints. */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "agent/workload.h"
#include "base/json.h"
#include "plan/plan.h"
#include "stats/compare.h"
#include "stats/exact.h"
#include "stats/health.h"
#include "stats/level.h"
#include "store/store.h"

/* A difference to another row: `exact` on an exact device, `random` on the others. */
struct report_difference {
	bool present;
	struct exact_difference exact;
	struct comparison random;
	double p_adjusted; /* Holm, within its family: all rows of a target against the baseline, or against the previous step, in one metric */
	struct interval ci95; /* by itself; with declared looks over all of them (1 - 5% / looks) */
	struct interval ci95_family; /* holds for the whole family at once (Bonferroni), looks likewise */
	double ratio; /* minus one */
	double detectable; /* the smallest ratio minus one that these boots resolve at 80% */
	bool resolved; /* exact: beyond its spread; random: adjusted p within what the looks leave of 5% */
	bool resolved_alone; /* random: the unadjusted interval excludes none, Holm's does not */
	bool below_floor; /* random: resolved, yet smaller than what the controls moved (A/A, code layout): no claim */
};

/* One metric of one row. */
struct report_metric {
	char *name; /* LABEL.PHASE.UNIT */
	const char *label; /* the workload's, points into the run's description */
	const struct workload_metric *info;
	double *boots; /* n_blocks means (warm-ups left out; of a block's two baseline boots their mean), NAN where there is none */
	double *all; /* n_all boot means: the same, but replicates by themselves */
	size_t *all_blocks; /* n_all: the block of each */
	size_t n_all;
	struct boot_moments *moments; /* n_all */
	struct exact_level exact; /* on an exact device */
	/* Of `all`. A rate's means, of iterations and of boots, are harmonic, or arithmetic with --mean=arith. */
	struct level level;
	double mean; /* what is printed: exact.mean or level.mean */
	double sd_boot, sd_iteration; /* random: fractions of the mean */
	struct report_difference baseline, previous;
	double robust; /* random: ratio of medians to the baseline minus one; NAN without */
};

enum row_status { ROW_OK, ROW_BUILD_FAILED, ROW_BOOT_FAILED, ROW_VOID, ROW_LAB };
const char *row_status_name(enum row_status status);

struct report_row {
	const struct jnode *description; /* run/describe.c: rows[i] */
	const struct jnode *target;
	const struct jnode *kernel;
	const char *variant;
	enum row_status status;
	char *reason; /* when not ok: one line */
	size_t boots; /* that count */
	size_t lost; /* random: boots that the lab lost or that are void, on a row that stands on its others */
	struct report_metric *metrics; /* none unless ok */
	size_t n_metrics;
	ssize_t baseline, previous; /* rows, or -1 */
	enum row_control
		control; /* its name has "#aa", "#replicate", "#layout" behind it; a replicate's boots count as the baseline's */
	size_t dropped; /* samples left out for a recorded physical cause */
	size_t samples; /* that were taken, without warm-ups */
	char *cgroup; /* where the workloads ran */
	struct jnode *image; /* detail of the stored image, or NULL */
};

const char *verdict_name(enum verdict verdict); /* "pass", "fail", "not-resolved", "invalid" */

struct report_gate {
	const char *metric;
	size_t row;
	char *against; /* "baseline", "previous", a variant, or a run */
	bool equivalence; /* within +-limit, else worse by at most limit */
	double limit;
	/*
	 * Worse by, as a ratio minus one; negative = better; NAN when invalid. Of a random metric that is better when it is larger
	 * (a rate) the inverse is meant: 6% less work in a time is 6.4% worse, as its time is.
	 */
	double value;
	double spread; /* of value, exact; NAN otherwise */
	struct interval ci95; /* of value, random: the one-sided 95% bounds; NAN otherwise */
	double detectable; /* random, when not resolved */
	size_t boots_needed; /* random, when not resolved: boots a variant that would tell the value from the limit at 80%; 0 = unknown */
	enum verdict verdict;
	char *reason; /* why it is invalid or not resolved, one line; or NULL */
};

/* What is wrong with the data, and what to do about it; report/findings.h says what makes a target's verdicts invalid. */
enum finding_kind {
	FINDING_AA, /* the A/A pair differs at p < 0.001: invalid */
	FINDING_FLOOR, /* A/A or layout: the floor below which no claim is made */
	FINDING_DRIFT,
	FINDING_STEP, /* of the baseline over blocks */
	FINDING_UNSTEADY, /* iterations within boots */
	FINDING_DEPENDENCE,
	FINDING_MODES,
	FINDING_OUTLIERS,
	FINDING_DROPPED,
	FINDING_MEDIAN, /* medians tell another story */
	FINDING_ORDER, /* sequential order was asked for */
	FINDING_UNITS, /* which units of the device did which blocks */
	FINDING_ENVIRONMENT, /* something could not be made quiet on the device, or did not stay so */
	FINDING_UNVERIFIED, /* the device's profile has never been seen to work */
	FINDING_SIGN, /* count and time of one phase differ in opposite directions */
	FINDING_SELFTEST, /* one of the kernel's own tests passed on vanilla and does not on a step: the run fails */
	FINDING_MEAN, /* arithmetic and harmonic means differ by more than a quarter of the half-width */
};
struct report_finding {
	enum finding_kind kind;
	size_t target;
	char *metric; /* or NULL */
	bool invalid; /* no verdict of this target counts */
	char *text; /* what was seen, with its numbers, and what to do */
};

/* One of the kernel's own tests, or a program with them as a whole. */
struct report_selftest {
	char *label; /* the workload's */
	char *test; /* "" = the program */
	char **said; /* by row: "pass", "fail: why", "skip: why"; NULL = nothing */
};

/* One of several units of a target's device, and what it did. */
struct report_unit {
	size_t target;
	char *name;
	size_t boots;
	size_t *blocks;
	size_t n_blocks;
};

/* By random target and metric: what the controls moved, how the baseline went over the blocks, and what scatters. */
struct report_floor {
	size_t target;
	char *metric;
	struct comparison aa, layout; /* COMPARE_NONE without */
	double floor; /* a ratio minus one >= 0; the larger of those of A/A and layout that differ at p < 0.05 */
	struct trend drift; /* over the baseline's block means */
	struct step_change step;
	bool units; /* boots ran on several units: only blocks that both rows have are compared, block by block */
	bool paired; /* that, or the baseline drifts (p < 0.05): rows that have all blocks are compared block by block */
	/* Pooled over all rows. best_iterations takes an iteration's cost from stored times; 0 also when they are not known. */
	struct components components;
};

struct report {
	struct jnode *run; /* the description */
	char *run_id; /* NAME/FOLDER */
	char *runs_dir; /* where runs are kept */
	size_t n_blocks; /* the most that any target has */
	struct report_row *rows;
	size_t n_rows;
	struct report_gate *gates;
	size_t n_gates;
	struct report_finding *findings;
	size_t n_findings;
	struct report_floor *floors;
	size_t n_floors;
	struct report_selftest *selftests;
	size_t n_selftests;
	struct report_unit *units;
	size_t n_units;
	size_t looks_taken; /* of declared looks */
	double alpha; /* each random comparison is judged, and its intervals hold, at 5% / looks declared */
	bool arithmetic; /* --mean=arith */
	bool finished;
	int exit_status; /* design.md, Command line; as if finished */
};

struct report_options {
	bool arithmetic; /* rates by their arithmetic mean, as in the 2021 thread */
	const char *runs_dir; /* where a gate's earlier run is looked up by NAME; NULL = two folders above the run's */
};

/* Reads and computes, gates and all. `dir` is the run folder; options NULL = all defaults. The caller frees. */
struct error *report_load(const char *dir, const struct report_options *options, struct report **report_out) MUST_CHECK;
void report_free(struct report *report);
void cleanup_report(struct report **report);
#define AUTO_REPORT CLEANUP(cleanup_report) struct report *

const struct report_metric *report_find_metric(const struct report_row *row, const char *name);
/* The row's target, as an index; its planned blocks. */
size_t report_row_target(const struct report_row *row);
size_t report_target_blocks(const struct report *report, size_t target);
/* NULL when there is none. */
const struct report_floor *report_find_floor(const struct report *report, size_t target, const char *metric);
/* Only exact targets are measured without noise; others get no verdict from differences over nuisances. */
bool report_row_exact(const struct report_row *row);

#endif
