/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `matrix`: which combinations are wanted. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"
#include "plan/units.h"

#define STEP_MAX 100000

struct line_entry {
	const struct yaml_node *kernel, *config, *cmdline, *steps;
	const struct yaml_node *patches;
};

static const struct bind_field line_fields[] = {
	BIND("kernel", BIND_ANY, struct line_entry, kernel),   BIND("config", BIND_ANY, struct line_entry, config),
	BIND("cmdline", BIND_ANY, struct line_entry, cmdline), BIND("patches", BIND_ANY, struct line_entry, patches),
	BIND("steps", BIND_ANY, struct line_entry, steps),
};
const struct bind_table line_keys = { "line", line_fields, ARRAY_SIZE(line_fields), false };

/* What a key of a line can name. */
struct choice {
	const char *key;
	struct bind_names names;
	const struct yaml_node *value; /* NULL = left out */
	struct pos line;
};

char *matrix_row_prefix(const struct kernel *kernel, const struct config *config, const struct cmdline *cmdline)
{
	return xasprintf("%s%s%s/%s", kernel->name, *kernel->name ? "/" : "", config->name, cmdline->name);
}

bool matrix_combines(const struct kernel *kernel, const struct config *config)
{
	return (kernel->kind == KERNEL_PREBUILT) == config->prebuilt;
}

static bool add_index(size_t **indices, size_t *n, size_t index)
{
	for (size_t i = 0; i < *n; i++) {
		if ((*indices)[i] == index)
			return false;
	}
	*indices = array_grow(*indices, *n, sizeof(**indices));
	(*indices)[(*n)++] = index;
	return true;
}

static bool select_only(struct matrix_loader *loader, const struct choice *choice, size_t **indices, size_t *n)
{
	if (choice->names.n == 1)
		return add_index(indices, n, 0);
	AUTO_FREE char *list = bind_list_text(choice->names.names, choice->names.n);
	if (choice->names.n)
		error_join(&loader->errors,
			   error_at(choice->line, "this line needs '%s', for there are several (%s)", choice->key, list));
	return false;
}

/* Reads a name, a list of names, or `all`; left out, the only one there is. False with an error, or when nothing could be named. */
static bool select_names(struct matrix_loader *loader, const struct choice *choice, size_t **indices, size_t *n)
{
	if (!choice->value)
		return select_only(loader, choice, indices, n);
	AUTO_FREE char *what = xasprintf("'%s'", choice->key);
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n_items;
	if (!bind_one_or_list(choice->value, what, &items, &n_items, &loader->errors))
		return false;
	bool fine = true;
	for (size_t i = 0; i < n_items; i++) {
		bool all = strcmp(items[i]->text, "all") == 0;
		bool found = false;
		bool again = false;
		for (size_t k = 0; k < choice->names.n; k++) {
			if (!all && strcmp(choice->names.names[k], items[i]->text) != 0)
				continue;
			found = true;
			again |= !add_index(indices, n, k);
		}
		if (again)
			error_join(&loader->errors,
				   error_at(items[i]->pos, "'%s' names some %s a second time", items[i]->text, choice->key));
		else if (!found && !all && choice->names.n) /* that none is declared was said before */
			error_join(&loader->errors, bind_unknown_name(items[i]->pos, choice->key, items[i]->text, &choice->names,
								      "none is declared"));
		fine = fine && found && !again;
	}
	return fine && *n;
}

static bool select_kernels(struct matrix_loader *loader, struct matrix_line *line, const struct yaml_node *value)
{
	const struct matrix *matrix = loader->matrix;
	struct choice choice = { .key = "kernel", .value = value, .line = line->pos };
	for (size_t i = 0; i < matrix->n_kernels; i++)
		bind_names_add(&choice.names, matrix->kernels[i].name, matrix->kernels[i].pos);
	bool fine = false;
	if (value && matrix->n_kernels == 1 && !*matrix->kernels[0].name)
		error_join(&loader->errors,
			   error_at(value->pos, "the matrix has one kernel, without a name: leave 'kernel' out"));
	else
		fine = select_names(loader, &choice, &line->kernels, &line->n_kernels);
	bind_names_deinit(&choice.names);
	return fine;
}

static bool has_kind(const struct matrix *matrix, const struct matrix_line *line, bool prebuilt)
{
	for (size_t i = 0; i < line->n_kernels; i++) {
		if ((matrix->kernels[line->kernels[i]].kind == KERNEL_PREBUILT) == prebuilt)
			return true;
	}
	return false;
}

/* Each kernel of the line must go with a config, and each config with a kernel. */
static bool check_pairs(struct matrix_loader *loader, const struct matrix_line *line, struct pos pos)
{
	const struct matrix *matrix = loader->matrix;
	bool built = has_kind(matrix, line, false);
	bool prebuilt = has_kind(matrix, line, true);
	bool built_config = false;
	bool prebuilt_config = false;
	for (size_t i = 0; i < line->n_configs; i++) {
		bool is = matrix->configs[line->configs[i]].prebuilt;
		built_config |= !is;
		prebuilt_config |= is;
	}
	struct error *error = NULL;
	if (prebuilt && !prebuilt_config)
		error = error_at(pos, "this names nothing for prebuilt kernels, whose config cannot be chosen: leave 'config' "
				      "out or name 'prebuilt'");
	else if (!prebuilt && prebuilt_config)
		error = error_at(pos, "config 'prebuilt' names nothing here: no kernel of this line is prebuilt");
	else if (!built && built_config)
		error = error_at(pos, "these configs name nothing: all kernels of this line are prebuilt");
	else if (built && !built_config)
		error = error_at(pos, "config 'prebuilt' names nothing for the kernels of this line that are built");
	error_join(&loader->errors, error);
	return !error;
}

static bool is_all(const struct yaml_node *value)
{
	return value && value->kind == YAML_SCALAR && strcmp(value->text, "all") == 0;
}

static bool select_configs(struct matrix_loader *loader, struct matrix_line *line, const struct yaml_node *value)
{
	const struct matrix *matrix = loader->matrix;
	bool built = has_kind(matrix, line, false);
	bool prebuilt = has_kind(matrix, line, true);
	bool implied = !value || is_all(value);
	struct choice choice = { .key = "config", .value = value, .line = line->pos };
	size_t declared = matrix->n_configs;
	if (declared && matrix->configs[declared - 1].prebuilt && implied)
		declared--;
	for (size_t i = 0; i < declared; i++)
		bind_names_add(&choice.names, matrix->configs[i].name, matrix->configs[i].pos);
	bool fine = true;
	if (built || !implied)
		fine = select_names(loader, &choice, &line->configs, &line->n_configs);
	if (prebuilt && implied)
		add_index(&line->configs, &line->n_configs, matrix->n_configs - 1);
	bind_names_deinit(&choice.names);
	return fine && check_pairs(loader, line, value ? value->pos : line->pos);
}

static bool select_cmdlines(struct matrix_loader *loader, struct matrix_line *line, const struct yaml_node *value)
{
	const struct matrix *matrix = loader->matrix;
	struct choice choice = { .key = "cmdline", .value = value, .line = line->pos };
	for (size_t i = 0; i < matrix->n_cmdlines; i++)
		bind_names_add(&choice.names, matrix->cmdlines[i].name, matrix->cmdlines[i].pos);
	bool fine = select_names(loader, &choice, &line->cmdlines, &line->n_cmdlines);
	bind_names_deinit(&choice.names);
	return fine;
}

static bool bad_steps(struct matrix_loader *loader, const struct yaml_node *node, const char *text)
{
	error_join(&loader->errors,
		   error_at(node->pos, "'steps' must be all, last, a number, a list of numbers, or a range such as 1-3, not '%s'",
			    text));
	return false;
}

static bool read_step(struct matrix_loader *loader, const struct yaml_node *node, struct steps *steps)
{
	uint64_t step;
	if (node->kind != YAML_SCALAR || !units_count(node->text, &step) || step > STEP_MAX)
		return bad_steps(loader, node, node->kind == YAML_SCALAR ? node->text : yaml_kind_name(node->kind));
	for (size_t i = 0; i < steps->n; i++) {
		if (steps->list[i] == step) {
			error_join(&loader->errors, error_at(node->pos, "step %s is named a second time", node->text));
			return false;
		}
	}
	steps->list = array_grow(steps->list, steps->n, sizeof(*steps->list));
	steps->list[steps->n++] = (unsigned)step;
	return true;
}

static bool read_range(struct matrix_loader *loader, const struct yaml_node *node, struct steps *steps)
{
	const char *dash = strchr(node->text, '-');
	AUTO_FREE char *low = xstrndup(node->text, (size_t)(dash - node->text));
	uint64_t first, last;
	if (!units_count(low, &first) || !units_count(dash + 1, &last) || last > STEP_MAX)
		return bad_steps(loader, node, node->text);
	if (first > last) {
		error_join(&loader->errors, error_at(node->pos, "the range %s is empty: its end is below its start", node->text));
		return false;
	}
	steps->kind = STEPS_RANGE;
	steps->first = (unsigned)first;
	steps->last = (unsigned)last;
	return true;
}

static bool read_steps(struct matrix_loader *loader, const struct yaml_node *node, struct steps *steps)
{
	steps->pos = node->pos;
	steps->kind = STEPS_LIST;
	if (node->kind == YAML_SEQUENCE) {
		bool fine = node->n > 0;
		if (!fine)
			error_join(&loader->errors, error_at(node->pos, "'steps' is an empty list: it names nothing"));
		for (size_t i = 0; i < node->n; i++)
			fine &= read_step(loader, node->items[i], steps);
		return fine;
	}
	if (!bind_expect_text(node, "'steps'", &loader->errors))
		return false;
	if (strchr(node->text, '-'))
		return read_range(loader, node, steps);
	if (isdigit((unsigned char)*node->text))
		return read_step(loader, node, steps);
	if (strcmp(node->text, "all") != 0 && strcmp(node->text, "last") != 0)
		return bad_steps(loader, node, node->text);
	steps->kind = *node->text == 'a' ? STEPS_ALL : STEPS_LAST;
	return true;
}

static bool read_patches(struct matrix_loader *loader, struct matrix_line *line, const struct line_entry *entry)
{
	const struct matrix *matrix = loader->matrix;
	line->patches = -1;
	line->steps = (struct steps){ .kind = STEPS_ALL, .pos = line->pos };
	if (!entry->patches) {
		if (entry->steps)
			error_join(&loader->errors, error_at(entry->steps->pos, "'steps' has no meaning without 'patches'"));
		return !entry->steps;
	}
	if (!bind_expect_text(entry->patches, "'patches'", &loader->errors))
		return false;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < matrix->n_patches; i++) {
		bind_names_add(&names, matrix->patches[i].name, matrix->patches[i].pos);
		if (strcmp(matrix->patches[i].name, entry->patches->text) == 0)
			line->patches = (ssize_t)i;
	}
	if (line->patches < 0 && (names.n || !bind_has(loader->root, &matrix_keys, "patches")))
		error_join(&loader->errors, bind_unknown_name(entry->patches->pos, "patches entry", entry->patches->text, &names,
							      "none is declared (`patches:`)"));
	bool fine = !entry->steps || read_steps(loader, entry->steps, &line->steps);
	for (size_t i = 0; i < line->n_kernels; i++) {
		const struct kernel *kernel = &matrix->kernels[line->kernels[i]];
		if (kernel->kind != KERNEL_PREBUILT)
			continue;
		error_join(&loader->errors,
			   error_at(entry->patches->pos, "patches cannot be applied to %s%s%s: it is prebuilt",
				    *kernel->name ? "kernel '" : "the kernel", kernel->name, *kernel->name ? "'" : ""));
		fine = false;
	}
	return fine && line->patches >= 0;
}

static void free_line(struct matrix_line *line)
{
	free(line->kernels);
	free(line->configs);
	free(line->cmdlines);
	free(line->steps.list);
}

/* Adds the line to the matrix if it is sound. */
static void read_line(struct matrix_loader *loader, const struct yaml_node *node)
{
	struct matrix *matrix = loader->matrix;
	struct matrix_line line = { .pos = node->pos };
	struct line_entry entry = { 0 };
	bool fine = bind_mapping(node, &line_keys, "this line", &entry, &loader->errors);
	if (node->kind != YAML_MAPPING)
		return;
	bool kernels = select_kernels(loader, &line, entry.kernel);
	fine &= kernels;
	/* Which configs can be meant depends on the kernels. */
	if (kernels)
		fine &= select_configs(loader, &line, entry.config);
	fine &= select_cmdlines(loader, &line, entry.cmdline);
	fine &= read_patches(loader, &line, &entry);
	if (fine)
		matrix->lines[matrix->n_lines++] = line;
	else
		free_line(&line);
}

static void require_section(struct matrix_loader *loader, const char *section, const char *advice)
{
	if (!bind_has(loader->root, &matrix_keys, section))
		error_join(&loader->errors, error_at(loader->root->pos, "the matrix needs '%s': %s", section, advice));
}

static bool only_prebuilt(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_kernels; i++) {
		if (matrix->kernels[i].kind != KERNEL_PREBUILT)
			return false;
	}
	return matrix->n_kernels;
}

void matrix_read_lines(struct matrix_loader *loader)
{
	if (matrix_needs_kernel(loader) && !only_prebuilt(loader->matrix))
		require_section(loader, "config", "names and their options, such as {nomemcg: {MEMCG: n}}");
	require_section(loader, "cmdline", "names and their texts, such as {plain: \"\"}");
	if (!loader->lines)
		return;
	size_t n = loader->lines->n;
	if (!n)
		error_join(&loader->errors, error_at(loader->lines->pos, "'matrix' has no line: it names nothing"));
	loader->matrix->lines = xcalloc(n + 1, sizeof(*loader->matrix->lines));
	for (size_t i = 0; i < n; i++)
		read_line(loader, loader->lines->items[i]);
}
