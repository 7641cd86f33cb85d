/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's results, computed from its store: what every writer prints. */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "agent/workload.h"
#include "base/json.h"
#include "stats/exact.h"
#include "store/store.h"

/* One metric of one row. */
struct report_metric {
	char *name; /* LABEL.PHASE.UNIT */
	const char *label; /* the workload's, points into the run's description */
	const struct workload_metric *info;
	double *boots; /* n_blocks boot means (warm-ups left out), NAN where there is none */
	struct exact_level level;
	struct exact_difference baseline, previous; /* only with the flags below */
	bool has_baseline, has_previous;
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
	struct report_metric *metrics; /* none unless ok */
	size_t n_metrics;
	ssize_t baseline, previous; /* rows, or -1 */
	char *cgroup; /* where the workloads ran */
	struct jnode *image; /* detail of the stored image, or NULL */
};

enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_NOT_RESOLVED, GATE_INVALID };
const char *gate_verdict_name(enum gate_verdict verdict); /* "pass", "fail", "not-resolved", "invalid" */

struct report_gate {
	const char *metric;
	size_t row;
	const char *against; /* "baseline" or "previous" */
	double limit; /* worse by at most */
	double value; /* worse by, as a ratio minus one; negative = better; NAN when invalid */
	double spread; /* of value */
	enum gate_verdict verdict;
};

struct report {
	struct jnode *run; /* the description */
	char *run_id; /* NAME/FOLDER */
	size_t n_blocks;
	struct report_row *rows;
	size_t n_rows;
	struct report_gate *gates;
	size_t n_gates;
	bool finished;
	int exit_status; /* design.md, Command line; as if finished */
};

/* Reads and computes. `dir` is the run folder. The caller frees. */
struct error *report_load(const char *dir, struct report **report_out) MUST_CHECK;
void report_free(struct report *report);
void cleanup_report(struct report **report);
#define AUTO_REPORT CLEANUP(cleanup_report) struct report *

const struct report_metric *report_find_metric(const struct report_row *row, const char *name);
/* Only exact targets are measured without noise; others get no verdict from differences over nuisances. */
bool report_row_exact(const struct report_row *row);

#endif
