/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/plan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "plan/bind.h"
#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"
#include "plan/plan_parts.h"

#define BOOTS_MAX 1000000
/* COMMAND_LINE_SIZE of arm64, with the NUL at its end. */
#define KERNEL_CMDLINE_SIZE 2048

struct expansion {
	const struct matrix *matrix;
	struct plan *plan;
	struct error *errors;
	bool incomplete; /* a series is missing: some rows are not known */
};

void series_summaries_free(struct series_summary *series, size_t n)
{
	for (size_t i = 0; series && i < n; i++) {
		for (size_t k = 0; k < series[i].n; k++)
			free(series[i].subjects[k]);
		free(series[i].subjects);
	}
	free(series);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->n_variants; i++)
		free(plan->variants[i].name);
	for (size_t i = 0; i < plan->n_images; i++)
		free(plan->images[i].name);
	for (size_t i = 0; i < plan->n_rows; i++) {
		free(plan->rows[i].name);
		free(plan->rows[i].booted_cmdline);
	}
	series_summaries_free(plan->series, plan->matrix->n_patches);
	free(plan->variants);
	free(plan->images);
	free(plan->rows);
	free(plan->boots);
	free(plan->digest);
	free(plan);
}

const struct workload_metric *plan_metric(const struct matrix *matrix, const char *name, const struct workload **workload_out)
{
	for (size_t i = 0; i < matrix->n_workloads; i++) {
		const struct workload *workload = &matrix->workloads[i];
		size_t len = strlen(workload->label);
		if (strncmp(name, workload->label, len) != 0 || name[len] != '.')
			continue;
		for (size_t k = 0; k < workload->kind->n_metrics; k++) {
			const struct workload_metric *metric = &workload->kind->metrics[k];
			AUTO_FREE char *suffix = xasprintf("%s.%s", metric->phase, metric->unit);
			if (strcmp(name + len + 1, suffix) != 0)
				continue;
			if (workload_out)
				*workload_out = workload;
			return metric;
		}
	}
	return NULL;
}

static bool step_exists(struct expansion *expansion, const struct matrix_line *line, unsigned step, size_t n)
{
	if (step <= n)
		return true;
	error_join(&expansion->errors, error_at(line->steps.pos, "there is no step %u: patches '%s' have %zu", step,
						expansion->matrix->patches[line->patches].name, n));
	return false;
}

/* The steps that a line asks for: *first_out to *last_out, or a list. False with an error. */
static bool resolve_steps(struct expansion *expansion, const struct matrix_line *line, unsigned **steps_out, size_t *n_out)
{
	size_t n = line->patches < 0 ? 0 : expansion->plan->series[line->patches].n;
	const struct steps *steps = &line->steps;
	unsigned first = steps->kind == STEPS_LAST ? (unsigned)n : steps->kind == STEPS_RANGE ? steps->first : 0;
	unsigned last = steps->kind == STEPS_RANGE ? steps->last : (unsigned)n;
	if (steps->kind == STEPS_LIST) {
		bool fine = true;
		for (size_t i = 0; i < steps->n; i++)
			fine &= step_exists(expansion, line, steps->list[i], n);
		if (!fine)
			return false;
		*steps_out = xmemdup(steps->list, steps->n * sizeof(*steps->list));
		*n_out = steps->n;
		return true;
	}
	if (!step_exists(expansion, line, last, n))
		return false;
	*n_out = last - first + 1;
	*steps_out = xcalloc(*n_out, sizeof(**steps_out));
	for (size_t i = 0; i < *n_out; i++)
		(*steps_out)[i] = first + (unsigned)i;
	return true;
}

static bool same_step(const struct plan_variant *a, const struct plan_variant *b)
{
	if (matrix_is_vanilla(a->patches, a->step))
		return matrix_is_vanilla(b->patches, b->step);
	return a->patches == b->patches && a->step == b->step;
}

static bool same_row(const struct plan_variant *a, const struct plan_variant *b)
{
	return same_step(a, b) && matrix_same_kernel(a->kernel, b->kernel) && matrix_same_config(a->config, b->config) &&
	       matrix_same_cmdline(a->cmdline, b->cmdline);
}

/* Several ladders, or one whose step 0 is not vanilla: k alone would not say which. */
static bool needs_patches_name(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_patches; i++) {
		if (matrix->patches[i].n_stack > 1)
			return true;
	}
	return matrix->n_patches > 1;
}

static char *variant_name(const struct matrix *matrix, const struct plan_variant *variant)
{
	AUTO_FREE char *prefix = matrix_row_prefix(variant->kernel, variant->config, variant->cmdline);
	if (!matrix_is_vanilla(variant->patches, variant->step) && needs_patches_name(matrix))
		return xasprintf("%s/%s.%u", prefix, variant->patches->name, variant->step);
	return xasprintf("%s/%u", prefix, variant->step);
}

/*
 * An earlier row that is equal is an error, unless both are the vanilla kernel at the foot of two series: then it is one row, in
 * both ladders.
 */
static void add_variant(struct expansion *expansion, const struct plan_variant *variant, const struct matrix_line *line)
{
	struct plan *plan = expansion->plan;
	for (size_t i = 0; i < plan->n_variants; i++) {
		const struct plan_variant *other = &plan->variants[i];
		if (!same_row(variant, other))
			continue;
		if (variant->patches != other->patches && variant->patches && other->patches)
			return;
		AUTO_FREE char *name = variant_name(expansion->matrix, variant);
		struct error *error = error_at(line->pos, "rows are equal: %s is asked for twice", name);
		error_note(error, other->pos, "the other line is here");
		error_join(&expansion->errors, error);
		return;
	}
	plan->variants = array_grow(plan->variants, plan->n_variants, sizeof(*plan->variants));
	plan->variants[plan->n_variants] = *variant;
	plan->variants[plan->n_variants++].name = variant_name(expansion->matrix, variant);
}

static void add_steps(struct expansion *expansion, const struct matrix_line *line, struct plan_variant variant,
		      const unsigned *steps, size_t n)
{
	const struct series_summary *series = line->patches < 0 ? NULL : &expansion->plan->series[line->patches];
	for (size_t i = 0; i < n; i++) {
		variant.step = steps[i];
		variant.subject = series && steps[i] ? series->subjects[steps[i] - 1] : NULL;
		add_variant(expansion, &variant, line);
	}
}

static void add_line(struct expansion *expansion, const struct matrix_line *line)
{
	const struct matrix *matrix = expansion->matrix;
	AUTO_FREE unsigned *steps = NULL;
	size_t n;
	if (line->patches >= 0 && expansion->plan->series[line->patches].missing) {
		expansion->incomplete = true;
		return;
	}
	if (!resolve_steps(expansion, line, &steps, &n))
		return;
	if (n * line->n_kernels * line->n_configs * line->n_cmdlines + expansion->plan->n_variants > MATRIX_ROWS_MAX) {
		error_join(&expansion->errors, error_at(line->pos, "the matrix asks for more than %d rows", MATRIX_ROWS_MAX));
		return;
	}
	struct plan_variant variant = { .previous = -1, .pos = line->pos };
	if (line->patches >= 0) {
		variant.patches = &matrix->patches[line->patches];
		variant.n_steps = (unsigned)expansion->plan->series[line->patches].n;
	}
	for (size_t k = 0; k < line->n_kernels; k++) {
		variant.kernel = &matrix->kernels[line->kernels[k]];
		for (size_t c = 0; c < line->n_configs; c++) {
			variant.config = &matrix->configs[line->configs[c]];
			for (size_t l = 0; l < line->n_cmdlines && matrix_combines(variant.kernel, variant.config); l++) {
				variant.cmdline = &matrix->cmdlines[line->cmdlines[l]];
				add_steps(expansion, line, variant, steps, n);
			}
		}
	}
}

/* A row's name, or what stands before its /STEP: the lowest step there is. -1 when there is none. */
static ssize_t find_baseline(const struct plan *plan, const char *name)
{
	ssize_t best = -1;
	for (size_t i = 0; i < plan->n_variants; i++) {
		const struct plan_variant *variant = &plan->variants[i];
		if (strcmp(variant->name, name) == 0)
			return (ssize_t)i;
		AUTO_FREE char *prefix = matrix_row_prefix(variant->kernel, variant->config, variant->cmdline);
		if (strcmp(prefix, name) == 0 && (best < 0 || variant->step < plan->variants[best].step))
			best = (ssize_t)i;
	}
	return best;
}

static struct error *unknown_row(struct pos pos, const char *what, const char *text, const struct plan *plan)
{
	AUTO_FREE const char **names = xcalloc(plan->n_variants + 1, sizeof(*names));
	for (size_t i = 0; i < plan->n_variants; i++)
		names[i] = plan->variants[i].name;
	AUTO_FREE char *list = bind_list_text(names, plan->n_variants);
	const char *meant = str_suggest(text, names, plan->n_variants);
	if (meant)
		return error_at(pos, "%s '%s' is no row of this matrix (did you mean '%s'?)", what, text, meant);
	return error_at(pos, "%s '%s' is no row of this matrix (rows are: %s)", what, text, list);
}

static void choose_baseline(struct expansion *expansion)
{
	const struct matrix *matrix = expansion->matrix;
	struct plan *plan = expansion->plan;
	if (!matrix->baseline)
		return;
	ssize_t found = find_baseline(plan, matrix->baseline);
	if (found < 0)
		error_join(&expansion->errors, unknown_row(matrix->baseline_pos, "baseline", matrix->baseline, plan));
	else
		plan->baseline = (size_t)found;
}

static ssize_t find_variant(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_variants; i++) {
		if (strcmp(plan->variants[i].name, name) == 0)
			return (ssize_t)i;
	}
	return -1;
}

/* The row that a gate names, or NULL. */
static const char *gate_row(const struct gate *gate)
{
	return gate->against == GATE_ROW ? gate->row : gate->against == GATE_RUN ? gate->anchor : NULL;
}

static void check_gates(struct expansion *expansion)
{
	const struct matrix *matrix = expansion->matrix;
	for (size_t i = 0; i < matrix->n_gates; i++) {
		const struct gate *gate = &matrix->gates[i];
		const char *name = gate_row(gate);
		if (name && find_variant(expansion->plan, name) < 0)
			error_join(&expansion->errors,
				   unknown_row(gate->against_pos, gate->against == GATE_ROW ? "'row'" : "'anchor'", name,
					       expansion->plan));
	}
}

/* What other rows are compared with is measured too. */
static bool is_reference(const struct plan *plan, size_t variant)
{
	bool named = variant == plan->baseline;
	for (size_t i = 0; !named && i < plan->matrix->n_gates; i++) {
		const char *name = gate_row(&plan->matrix->gates[i]);
		named = name && strcmp(name, plan->variants[variant].name) == 0;
	}
	return named;
}

/* Drops the variants that `only` does not match, all but references. */
static void keep_only(struct expansion *expansion, const char *only)
{
	struct plan *plan = expansion->plan;
	size_t kept = 0;
	size_t matched = 0;
	size_t baseline = plan->baseline;
	AUTO_FREE bool *keep = xcalloc(plan->n_variants, sizeof(*keep));
	for (size_t i = 0; i < plan->n_variants; i++) {
		bool matches = fnmatch(only, plan->variants[i].name, 0) == 0;
		matched += matches;
		keep[i] = matches || is_reference(plan, i);
	}
	if (!matched) {
		struct error *error = unknown_row(NO_POS, "--only", only, plan);
		error_join(&expansion->errors, error);
		return;
	}
	for (size_t i = 0; i < plan->n_variants; i++) {
		if (i == baseline)
			plan->baseline = kept;
		if (keep[i])
			plan->variants[kept++] = plan->variants[i];
		else
			free(plan->variants[i].name);
	}
	plan->n_variants = kept;
}

/* The row one rung down: the same but for the highest step below. */
static ssize_t find_previous(const struct plan *plan, const struct plan_variant *variant)
{
	ssize_t best = -1;
	for (size_t i = 0; variant->step && i < plan->n_variants; i++) {
		const struct plan_variant *other = &plan->variants[i];
		if (other->kernel != variant->kernel || other->config != variant->config || other->cmdline != variant->cmdline)
			continue;
		bool foot = matrix_is_vanilla(other->patches, other->step) && matrix_is_vanilla(variant->patches, 0);
		if (!foot && (other->patches != variant->patches || other->step >= variant->step))
			continue;
		if (best < 0 || other->step > plan->variants[best].step)
			best = (ssize_t)i;
	}
	return best;
}

static void check_cmdlines(struct expansion *expansion)
{
	const struct plan *plan = expansion->plan;
	for (size_t i = 0; i < plan->n_rows; i++) {
		const struct plan_row *row = &plan->rows[i];
		const struct profile *profile = expansion->matrix->targets[row->target].device->profile;
		if (row->control)
			continue; /* it has the baseline's */
		size_t len = strlen(row->booted_cmdline);
		for (size_t k = 0; k < profile->n_nuisances; k++) {
			size_t padded = strlen(row->booted_cmdline) + 1 + profile->nuisances[k].pad;
			len = padded > len ? padded : len;
		}
		if (len >= KERNEL_CMDLINE_SIZE)
			error_join(&expansion->errors,
				   error_at(plan->variants[row->variant].cmdline->pos,
					    "the command line of %s on %s would have %zu characters: the kernel takes %d",
					    plan->variants[row->variant].name,
					    expansion->matrix->targets[row->target].device->name, len, KERNEL_CMDLINE_SIZE - 1));
	}
}

static bool too_many_boots(struct expansion *expansion)
{
	const struct matrix *matrix = expansion->matrix;
	size_t boots = 0;
	for (size_t t = 0; t < matrix->n_targets; t++)
		boots += plan_target_boots(expansion->plan, t);
	if (boots <= BOOTS_MAX)
		return false;
	error_join(&expansion->errors,
		   error_at(matrix->measure.pos, "the matrix asks for %zu boots, more than %d", boots, BOOTS_MAX));
	return true;
}

static void expand(struct expansion *expansion, const char *only)
{
	const struct matrix *matrix = expansion->matrix;
	struct plan *plan = expansion->plan;
	for (size_t i = 0; i < matrix->n_lines; i++)
		add_line(expansion, &matrix->lines[i]);
	if (expansion->errors || expansion->incomplete)
		return;
	choose_baseline(expansion);
	check_gates(expansion);
	if (only)
		keep_only(expansion, only);
	if (expansion->errors)
		return;
	for (size_t i = 0; i < plan->n_variants; i++)
		plan->variants[i].previous = find_previous(plan, &plan->variants[i]);
	plan_add_rows(plan);
	check_cmdlines(expansion);
	if (too_many_boots(expansion))
		return;
	plan_add_boots(plan);
	plan->digest = plan_digest(plan);
}

struct error *plan_expand(const struct matrix *matrix, struct series_summary *series, const char *only, struct plan **plan_out)
{
	struct expansion expansion = { .matrix = matrix, .plan = xcalloc(1, sizeof(*expansion.plan)) };
	expansion.plan->matrix = matrix;
	expansion.plan->series = series;
	expand(&expansion, only);
	if (expansion.errors || expansion.incomplete) {
		plan_free(expansion.plan);
		return expansion.errors;
	}
	*plan_out = expansion.plan;
	return NULL;
}
