/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks over all lines of `matrix`, as far as they need not know how many steps a series has; plan.c checks the rest. */
#include <stdlib.h>
#include <string.h>

#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"

/* One kernel, config and command line of one line. */
struct combination {
	size_t kernel, config, cmdline;
	size_t same[3]; /* the first kernel, config and command line that equal these */
	size_t line;
	size_t order; /* in the file */
};

struct combinations {
	struct combination *items;
	size_t n;
};

static size_t line_size(const struct matrix_line *line)
{
	return line->n_kernels * line->n_configs * line->n_cmdlines;
}

/* False with an error when there are too many to look at. */
static bool check_size(struct matrix_loader *loader)
{
	size_t total = 0;
	for (size_t i = 0; i < loader->matrix->n_lines; i++) {
		total += line_size(&loader->matrix->lines[i]);
		if (total > MATRIX_ROWS_MAX) {
			error_join(&loader->errors, error_at(loader->matrix->lines[i].pos,
							     "the matrix asks for more than %d rows", MATRIX_ROWS_MAX));
			return false;
		}
	}
	return true;
}

static size_t first_kernel(const struct matrix *matrix, size_t index)
{
	size_t i = 0;
	while (i < index && !matrix_same_kernel(&matrix->kernels[i], &matrix->kernels[index]))
		i++;
	return i;
}

static size_t first_config(const struct matrix *matrix, size_t index)
{
	size_t i = 0;
	while (i < index && !matrix_same_config(&matrix->configs[i], &matrix->configs[index]))
		i++;
	return i;
}

static size_t first_cmdline(const struct matrix *matrix, size_t index)
{
	size_t i = 0;
	while (i < index && !matrix_same_cmdline(&matrix->cmdlines[i], &matrix->cmdlines[index]))
		i++;
	return i;
}

/* What is in error has no content to compare: then only a thing itself is the same. */
static void add_combination(const struct matrix_loader *loader, struct combinations *all, size_t line, size_t kernel,
			    size_t config, size_t cmdline)
{
	const struct matrix *matrix = loader->matrix;
	if (!matrix_combines(&matrix->kernels[kernel], &matrix->configs[config]))
		return;
	all->items = array_grow(all->items, all->n, sizeof(*all->items));
	all->items[all->n] = (struct combination){
		.kernel = kernel,
		.config = config,
		.cmdline = cmdline,
		.same = { kernel, config, cmdline },
		.line = line,
		.order = all->n,
	};
	struct combination *added = &all->items[all->n++];
	if (!loader->sound)
		return;
	added->same[0] = first_kernel(matrix, kernel);
	added->same[1] = first_config(matrix, config);
	added->same[2] = first_cmdline(matrix, cmdline);
}

static struct combinations combine_lines(const struct matrix_loader *loader)
{
	const struct matrix *matrix = loader->matrix;
	struct combinations all = { NULL, 0 };
	for (size_t i = 0; i < matrix->n_lines; i++) {
		const struct matrix_line *line = &matrix->lines[i];
		for (size_t k = 0; k < line->n_kernels; k++) {
			for (size_t c = 0; c < line->n_configs; c++) {
				for (size_t l = 0; l < line->n_cmdlines; l++)
					add_combination(loader, &all, i, line->kernels[k], line->configs[c], line->cmdlines[l]);
			}
		}
	}
	return all;
}

/* All that could be: for a matrix some of whose lines are in error. */
static struct combinations combine_all(const struct matrix_loader *loader)
{
	const struct matrix *matrix = loader->matrix;
	struct combinations all = { NULL, 0 };
	if (matrix->n_kernels * matrix->n_configs > MATRIX_ROWS_MAX)
		return all;
	if (matrix->n_kernels * matrix->n_configs * matrix->n_cmdlines > MATRIX_ROWS_MAX)
		return all;
	for (size_t k = 0; k < matrix->n_kernels; k++) {
		for (size_t c = 0; c < matrix->n_configs; c++) {
			for (size_t l = 0; l < matrix->n_cmdlines; l++)
				add_combination(loader, &all, 0, k, c, l);
		}
	}
	return all;
}

static int by_what_they_are(const void *a, const void *b)
{
	const struct combination *x = a;
	const struct combination *y = b;
	for (size_t i = 0; i < ARRAY_SIZE(x->same); i++) {
		if (x->same[i] != y->same[i])
			return x->same[i] < y->same[i] ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

/* True when the line surely has this step, whatever the length of its series. */
static bool has_step(const struct matrix_line *line, unsigned step)
{
	switch (line->steps.kind) {
	case STEPS_ALL:
		return true;
	case STEPS_LAST:
		return false;
	case STEPS_RANGE:
		return step >= line->steps.first && step <= line->steps.last;
	case STEPS_LIST:
		for (size_t i = 0; i < line->steps.n; i++) {
			if (line->steps.list[i] == step)
				return true;
		}
	}
	return false;
}

static bool has_vanilla(const struct matrix *matrix, const struct matrix_line *line)
{
	if (line->patches < 0)
		return true;
	return has_step(line, 0) && matrix_is_vanilla(&matrix->patches[line->patches], 0);
}

static bool steps_meet(const struct matrix_line *a, const struct matrix_line *b)
{
	if (a->steps.kind == STEPS_ALL || b->steps.kind == STEPS_ALL)
		return true;
	if (a->steps.kind == STEPS_LAST || b->steps.kind == STEPS_LAST)
		return a->steps.kind == b->steps.kind;
	if (a->steps.kind == STEPS_RANGE && b->steps.kind == STEPS_RANGE)
		return a->steps.first <= b->steps.last && b->steps.first <= a->steps.last;
	const struct matrix_line *list = a->steps.kind == STEPS_LIST ? a : b;
	const struct matrix_line *other = list == a ? b : a;
	for (size_t i = 0; i < list->steps.n; i++) {
		if (has_step(other, list->steps.list[i]))
			return true;
	}
	return false;
}

/*
 * True when both lines ask for one row. Vanilla, which `all` has by itself, may be shared by the ladders of two series: it is one
 * row then.
 */
static bool lines_meet(const struct matrix *matrix, const struct matrix_line *a, const struct matrix_line *b)
{
	if (a->patches == b->patches)
		return a->patches < 0 || steps_meet(a, b);
	if (!has_vanilla(matrix, a) || !has_vanilla(matrix, b))
		return false;
	bool two_ladders = a->patches >= 0 && b->patches >= 0;
	return !two_ladders || (a->steps.kind != STEPS_ALL && b->steps.kind != STEPS_ALL);
}

static void report_equal(struct matrix_loader *loader, const struct combination *first, const struct combination *second)
{
	const struct matrix *matrix = loader->matrix;
	AUTO_FREE char *a = matrix_row_prefix(&matrix->kernels[first->kernel], &matrix->configs[first->config],
					      &matrix->cmdlines[first->cmdline]);
	AUTO_FREE char *b = matrix_row_prefix(&matrix->kernels[second->kernel], &matrix->configs[second->config],
					      &matrix->cmdlines[second->cmdline]);
	const struct matrix_line *line = &matrix->lines[second->line];
	const struct matrix_line *other = &matrix->lines[first->line];
	struct error *error;
	if (strcmp(a, b) != 0)
		error = error_at(line->pos, "rows %s and %s are equal: the same kernel, options and command line", a, b);
	else if ((line->patches < 0) != (other->patches < 0))
		error = error_at(line->pos,
				 "rows are equal: %s without patches is asked for twice (`steps: all` has it as step 0; "
				 "leave it out with a list or range of steps)",
				 b);
	else
		error = error_at(line->pos, "rows are equal: %s is asked for twice", b);
	if (first->line != second->line)
		error_note(error, other->pos, "the other line is here");
	error_join(&loader->errors, error);
}

/* One error a line that repeats what stands before it. */
static void check_equal_rows(struct matrix_loader *loader, struct combinations *all)
{
	const struct matrix *matrix = loader->matrix;
	AUTO_FREE bool *reported = xcalloc(matrix->n_lines + 1, sizeof(*reported));
	if (all->n)
		qsort(all->items, all->n, sizeof(*all->items), by_what_they_are);
	for (size_t i = 0; i < all->n; i++) {
		const struct combination *first = &all->items[i];
		for (size_t k = i + 1; k < all->n && !memcmp(all->items[k].same, first->same, sizeof(first->same)); k++) {
			const struct combination *second = &all->items[k];
			if (reported[second->line] ||
			    !lines_meet(matrix, &matrix->lines[first->line], &matrix->lines[second->line]))
				continue;
			report_equal(loader, first, second);
			reported[second->line] = true;
		}
	}
}

/* What a baseline may begin with is [KERNEL/]CONFIG/CMDLINE of a row; /STEP may follow. */
static void check_baseline(struct matrix_loader *loader, const struct combinations *all)
{
	const struct matrix *matrix = loader->matrix;
	const char *baseline = matrix->baseline;
	AUTO_STRLIST prefixes = { NULL, 0 };
	for (size_t i = 0; i < all->n; i++) {
		const struct combination *item = &all->items[i];
		AUTO_FREE char *prefix = matrix_row_prefix(&matrix->kernels[item->kernel], &matrix->configs[item->config],
							   &matrix->cmdlines[item->cmdline]);
		size_t len = strlen(prefix);
		if (strncmp(baseline, prefix, len) == 0 && (!baseline[len] || (baseline[len] == '/' && baseline[len + 1])))
			return;
		strlist_add(&prefixes, prefix);
	}
	if (!prefixes.n)
		return;
	const char *const *names = (const char *const *)prefixes.items;
	const char *meant = str_suggest(baseline, names, prefixes.n);
	AUTO_FREE char *list = bind_list_text(names, prefixes.n);
	if (meant)
		error_join(&loader->errors,
			   error_at(matrix->baseline_pos, "baseline '%s' is no row of this matrix (did you mean '%s'?)", baseline,
				    meant));
	else
		error_join(&loader->errors,
			   error_at(matrix->baseline_pos, "baseline '%s' is no row of this matrix (rows begin with: %s)",
				    baseline, list));
}

/* Rows of a device with its own kernel differ in the command line alone: what else a row's name says would be untrue. */
void matrix_check_stock(struct matrix_loader *loader)
{
	const struct matrix *matrix = loader->matrix;
	const struct device *device = NULL;
	for (size_t i = 0; !device && i < matrix->n_targets; i++) {
		if (matrix->targets[i].device->profile->stock)
			device = matrix->targets[i].device;
	}
	if (!device)
		return;
	static const char *const sections[] = { "kernel", "kernels" };
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct yaml_pair *pair = yaml_pair(loader->root, sections[i]);
		if (pair)
			error_join(&loader->errors,
				   error_at(pair->key_pos,
					    "device '%s' boots its own kernel ('image: stock'): leave '%s' out, or measure the "
					    "devices that need it in a matrix of their own",
					    device->name, pair->key));
	}
	for (size_t i = 0; i < matrix->n_configs; i++) {
		const struct config *config = &matrix->configs[i];
		if (config->fragment->n)
			error_join(&loader->errors,
				   error_at(config->pos,
					    "device '%s' boots its own kernel ('image: stock'): config '%s' cannot change it",
					    device->name, config->name));
	}
	for (size_t i = 0; i < matrix->n_lines; i++) {
		if (matrix->lines[i].patches >= 0)
			error_join(&loader->errors,
				   error_at(matrix->lines[i].pos,
					    "device '%s' boots its own kernel ('image: stock'): no patches can be applied to it",
					    device->name));
	}
}

void matrix_check_rows(struct matrix_loader *loader)
{
	if (!check_size(loader))
		return;
	const struct matrix *matrix = loader->matrix;
	struct combinations all = combine_lines(loader);
	check_equal_rows(loader, &all);
	if (matrix->baseline && loader->lines) {
		if (matrix->n_lines != loader->lines->n) {
			free(all.items);
			all = combine_all(loader);
		}
		check_baseline(loader, &all);
	}
	free(all.items);
}
