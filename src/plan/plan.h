/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A matrix expanded: which images, which variants (rows), which boots in which order. Pure. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/matrix.h"

/* What plan_expand must be told of a patches entry (from kernel/series): how many steps, and their patches' subjects. */
struct series_summary {
	char **subjects; /* subjects[k - 1] is step k's */
	size_t n;
	bool missing; /* the series could not be read: nothing is known of it */
};

/* One kernel to have: kernel x config x the device profile's fragment x patches x step. */
struct plan_image {
	const struct kernel *kernel;
	const struct config *config;
	const struct fragment *device_fragment; /* or NULL */
	const struct patches *patches; /* or NULL: then step is 0 */
	unsigned step;
	char *name; /* "[KERNEL/]CONFIG/STEP", and "@PROFILE" when the devices' fragments differ; for messages */
	bool salted; /* the baseline's kernel once more, with padding that moves its code (kernel/salt.h) */
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

/* Rows that the matrix does not name: the baseline once more, on random devices. */
enum row_control {
	CONTROL_NONE,
	CONTROL_AA, /* the baseline's image as one more variant: its difference is the harness's */
	CONTROL_REPLICATE, /* the baseline's second boot in each block, from three other variants on: counts as the baseline's */
	CONTROL_LAYOUT, /* the baseline rebuilt with its code moved: its difference is the code layout's */
};
const char *row_control_name(enum row_control control); /* "none", "aa", "replicate", "layout" */

/* One row of the report: a variant on a target. */
struct plan_row {
	char *name; /* the variant's; a control's has "#aa", "#replicate", "#layout" behind it */
	enum row_control control; /* then variant is the baseline */
	size_t variant;
	size_t target;
	ssize_t image; /* index, or -1 for a device without images */
	char *booted_cmdline; /* the device's command line + the variant's; nuisance padding comes on top */
};

struct plan_boot {
	size_t row;
	unsigned block; /* from 0 */
	unsigned position; /* in its block */
	size_t ordinal; /* in its target's order: when it is done */
	const struct nuisance *nuisance; /* NULL on a random device */
};

struct plan {
	const struct matrix *matrix;
	struct plan_variant *variants;
	size_t n_variants;
	struct plan_image *images; /* ladder order: a build folder can walk them one after another */
	size_t n_images;
	struct plan_row *rows; /* by target, then variant, then controls */
	size_t n_rows;
	struct plan_boot *boots; /* by target and ordinal */
	size_t n_boots;
	size_t baseline; /* variant */
	char *digest; /* sha256 over all that says which numbers are wanted (over gates only where looks stop on them): names the run */
	struct series_summary *series; /* one a matrix->patches, owned */
};

/*
 * Expands. `series` has one entry a matrix->patches entry and is taken over (also on failure). `only`: NULL, or a glob that variant names
 * must match (the baseline and what gates compare with stay). A baseline without /STEP is the lowest step there is. Errors, all at once:
 * steps out of range, no rows, equal rows, a baseline or a gate's row that is no row. With a series that is missing, what can be said
 * without it is, and *plan_out is left alone even if no error is found.
 */
struct error *plan_expand(const struct matrix *matrix, struct series_summary *series, const char *only,
			  struct plan **plan_out) MUST_CHECK;
void plan_free(struct plan *plan);
/* Blocks planned for a target: matrix->measure.blocks with its defaults and, on an exact device, its nuisances as the limit. */
unsigned plan_blocks(const struct matrix *matrix, size_t target);
/* Boots planned for a target: its rows times its blocks. */
size_t plan_target_boots(const struct plan *plan, size_t target);
/* After how many blocks the look is taken: number 1 to measure->looks; the last after all of them. */
unsigned plan_look(const struct measure *measure, unsigned number);
/* Frees an array of `n` summaries that plan_expand was not given. */
void series_summaries_free(struct series_summary *series, size_t n);
/* The metric called LABEL.PHASE.UNIT, measured or derived, and (if not NULL) its workload; NULL when there is none. */
const struct workload_metric *plan_metric(const struct matrix *matrix, const char *name,
					  const struct workload **workload_out); /* "pft.fault.insn" */

#endif
