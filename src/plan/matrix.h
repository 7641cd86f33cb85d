/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The matrix file: kernels, configs, command lines, patches, and which combinations of them are wanted. */
#ifndef PLAN_MATRIX_H
#define PLAN_MATRIX_H

#include "agent/workload.h"
#include "plan/fragment.h"
#include "plan/lab.h"

enum kernel_kind { KERNEL_KBUILD, KERNEL_COMMAND, KERNEL_PREBUILT };

/*
 * Where no device needs an image, a matrix may leave the kernels out: then there is one of KERNEL_KBUILD with neither sources nor
 * toolchain nor base_config, of which no image is ever planned.
 */
struct kernel {
	char *name; /* "" when the matrix has one unnamed kernel: then it is no part of variant names */
	enum kernel_kind kind;
	const struct source **sources; /* kbuild, command: alternatives, the first that can be had is taken */
	size_t n_sources;
	const struct toolchain *toolchain; /* kbuild (NULL for the others) */
	char *arch; /* "arm64" */
	char *base_config; /* "allnoconfig", "tinyconfig", "*defconfig", or an absolute file path */
	bool base_is_target; /* base_config is a make target */
	char *command; /* command: run by /bin/sh in the tree, with MEMCG_AB_TREE, MEMCG_AB_FRAGMENT, MEMCG_AB_OUT set */
	struct strlist outputs; /* command: files the command leaves, relative to MEMCG_AB_OUT; vmlinux and .config among them */
	char *prebuilt_image; /* prebuilt: absolute path of the Image */
	char *prebuilt_vmlinux; /* NULL = not given: the build id comes from the Image */
	char *prebuilt_config; /* NULL = from IKCONFIG */
	struct pos pos;
};

struct config {
	char *name;
	struct fragment *fragment; /* first the fragments it names, then the options of the matrix */
	bool prebuilt; /* the implicit config "prebuilt", last in the list: the one that prebuilt kernels have, without options */
	struct pos pos;
};

struct cmdline {
	char *name;
	char *text;
	struct pos pos;
};

/* One source of patches. */
struct patch_source {
	enum { PATCHES_PATH, PATCHES_RANGE } kind; /* a folder or mbox; or a commit range */
	char *path; /* absolute: folder, mbox, or the git repository of the range */
	char *range; /* "A..B" */
	struct pos pos;
};

/*
 * A stack: the last source is the series that is measured, those before it are applied first: what it stands `on` (with what that
 * stands on), then the others of a list of series.
 */
struct patches {
	char *name;
	struct patch_source *stack;
	size_t n_stack; /* the last one has the steps */
	struct pos pos;
};

enum steps_kind { STEPS_ALL, STEPS_LAST, STEPS_LIST, STEPS_RANGE };

struct steps {
	enum steps_kind kind;
	unsigned *list; /* LIST */
	size_t n;
	unsigned first, last; /* RANGE */
	struct pos pos;
};

/* One line of `matrix:`: a product of lists, of which those pairs count that matrix_combines lets through. */
struct matrix_line {
	size_t *kernels, *configs, *cmdlines; /* indices */
	size_t n_kernels, n_configs, n_cmdlines;
	ssize_t patches; /* index, or -1 */
	struct steps steps;
	struct pos pos;
};

struct target {
	const struct device *device;
	char *cores; /* "all", "big", "mid", "little", or a list: "4-7" */
	struct pos pos;
};

struct workload {
	char *label;
	const struct workload_kind *kind;
	char **values; /* kind->options' values, then the common options', in canonical text form */
	struct pos pos;
};

/* What goes to the device with each boot: a file or folder of the host's, or a Debian package's content. */
struct payload_item {
	char *path; /* absolute; NULL for a package */
	char *to; /* where it is on the device: absolute */
	char *package;
	char *suite; /* NULL = this machine's own */
	struct pos pos;
};

enum gate_against { GATE_BASELINE, GATE_PREVIOUS, GATE_ROW, GATE_RUN };
enum gate_kind { GATE_WORSE_BY, GATE_WITHIN };

struct gate {
	char *metric; /* LABEL.PHASE.UNIT, known to exist */
	enum gate_against against; /* vs: baseline | previous | {row: ROW} | {run: RUN, anchor: ROW} */
	char *row; /* ROW: a variant's name; NULL otherwise */
	char *run; /* RUN: NAME, or an absolute folder; NULL otherwise */
	char *anchor; /* RUN: the row measured in both that stands for the device's state; NULL = the baseline */
	struct pos against_pos; /* of the name that is referred to */
	enum gate_kind kind;
	double limit; /* worse_by: 0.08 = at most 8% worse; within: equivalent within +-8% */
	enum { GATE_STEPS_ALL, GATE_STEPS_LAST } steps;
	struct pos pos;
};

/*
 * RANDOM: each block's order is drawn. ABBA: that of the blocks 0, 2, 4, ...; each other one is the reverse of the block before it.
 * SEQUENTIAL: all boots of the first row, then all of the next: drift over the run is taken for a difference.
 */
enum measure_order { ORDER_RANDOM, ORDER_ABBA, ORDER_SEQUENTIAL };
const char *measure_order_name(enum measure_order order); /* "random", "abba", "sequential" */

/* Random devices take all of it; exact ones blocks (at most one a nuisance: a second identical boot proves nothing), seed and order. */
struct measure {
	unsigned
		blocks; /* how many; the most with half_width; the last look with looks. Default 12, 100 with half_width (on exact devices 3: plan_blocks) */
	bool blocks_given;
	uint64_t seed; /* default 1 */
	enum measure_order order;
	double half_width; /* target half-width of the 95% intervals of every comparison, a ratio (0.005 = 0.5%); 0 = none. Stein's two stages */
	unsigned pilot; /* blocks of the first stage; default 8. Counts only with half_width */
	unsigned looks; /* declared looks, evenly spaced over blocks (plan_look), each at 5% / looks; 0 = none */
	bool aa, layout; /* controls; default true */
	bool layout_given; /* layout: true holds on exact devices too when it is written */
	struct pos pos;
};

struct matrix {
	char *path; /* as it was given */
	char *name;
	const struct lab *lab;
	struct kernel *kernels;
	size_t n_kernels;
	struct config *configs;
	size_t n_configs;
	struct cmdline *cmdlines;
	size_t n_cmdlines;
	struct patches *patches;
	size_t n_patches;
	struct matrix_line *lines;
	size_t n_lines;
	struct target *targets;
	size_t n_targets;
	struct workload *workloads;
	size_t n_workloads;
	struct payload_item *payload;
	size_t n_payload;
	struct gate *gates;
	size_t n_gates;
	struct measure measure;
	char *baseline; /* as written, or NULL = the first row */
	struct pos baseline_pos;
};

/*
 * Loads and validates a matrix against its lab (which must outlive it): names, types, ranges, units, combinations. All errors
 * at once, each with file:line:column and what to do. `lab` NULL (it could not be loaded): what needs no lab is checked, so that
 * the errors of both can be shown together; *matrix_out is then left alone even if no error is found.
 */
struct error *matrix_load(const char *path, const struct lab *lab, struct matrix **matrix_out) MUST_CHECK;
void matrix_free(struct matrix *matrix);
/* Prebuilt kernels go with the config "prebuilt" alone, the others with all other configs. */
bool matrix_combines(const struct kernel *kernel, const struct config *config);

#endif
