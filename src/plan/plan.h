/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A matrix expanded: which images, which variants (rows), which boots in which order. Pure. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/matrix.h"

/* What plan_expand must be told of a patches entry (from kernel/series): how many steps, and their patches' subjects. */
struct series_summary {
	char **subjects; /* subjects[k - 1] is step k's */
	size_t n;
};

/* One kernel to have: kernel x config x the device profile's fragment x patches x step. */
struct plan_image {
	const struct kernel *kernel;
	const struct config *config;
	const struct fragment *device_fragment; /* or NULL */
	const struct patches *patches; /* or NULL: then step is 0 */
	unsigned step;
	char *name; /* "[KERNEL/]CONFIG/STEP", and "@PROFILE" when the devices' fragments differ; for messages */
	size_t ladder; /* images of one ladder differ in patches and step alone: one build folder can walk to all of them */
	struct pos pos; /* the matrix line that first asked for it */
};

struct plan_variant {
	/*
	 * [KERNEL/]CONFIG/CMDLINE/STEP. STEP is 0 where nothing is applied; else k, or PATCHES.k when the matrix names several patches
	 * or a series stands on another (then its step 0 is not vanilla).
	 */
	char *name;
	const struct kernel *kernel;
	const struct config *config;
	const struct cmdline *cmdline;
	const struct patches *patches; /* or NULL; a step 0 that two ladders share has the first one's */
	unsigned step;
	unsigned n_steps; /* of its series; 0 without patches */
	const char *subject; /* of step's patch; NULL at step 0 */
	ssize_t previous; /* the row that "vs previous" refers to (same but for the next lower step present, which may be vanilla of another line), or -1 */
	struct pos pos;
};

/* One row of the report: a variant on a target. */
struct plan_row {
	size_t variant;
	size_t target;
	ssize_t image; /* index, or -1 for a device without images */
	char *booted_cmdline; /* the device's command line + the variant's; nuisance padding comes on top */
};

struct plan_boot {
	size_t row;
	unsigned block; /* from 0 */
	unsigned position; /* in the block's drawn order */
	const struct nuisance *nuisance; /* NULL on a random device */
};

struct plan {
	const struct matrix *matrix;
	struct plan_variant *variants;
	size_t n_variants;
	struct plan_image *images; /* ladder order: a build folder can walk them one after another */
	size_t n_images;
	struct plan_row *rows; /* by target, then variant */
	size_t n_rows;
	struct plan_boot *boots; /* by target, block, position */
	size_t n_boots;
	size_t baseline; /* variant */
	char *digest; /* sha256 over all that says which numbers are wanted (not over gates): names the run */
	struct series_summary *series; /* one a matrix->patches, owned */
};

/*
 * Expands. `series` has one entry a matrix->patches entry and is taken over (also on failure). `only`: NULL, or a glob that variant names
 * must match (the baseline stays). A baseline without /STEP is the lowest step there is. Errors, all at once: steps out of range,
 * no rows, equal rows, a baseline that is no row.
 */
struct error *plan_expand(const struct matrix *matrix, struct series_summary *series, const char *only,
			  struct plan **plan_out) MUST_CHECK;
void plan_free(struct plan *plan);
/* Frees an array of `n` summaries that plan_expand was not given. */
void series_summaries_free(struct series_summary *series, size_t n);
/* The metric called LABEL.PHASE.UNIT, measured or derived, and (if not NULL) its workload; NULL when there is none. */
const struct workload_metric *plan_metric(const struct matrix *matrix, const char *name,
					  const struct workload **workload_out); /* "pft.fault.insn" */

#endif
