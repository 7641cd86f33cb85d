/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"

struct patches_entry {
	const struct yaml_node *series, *git, *on;
	char *range;
};

static const struct bind_field patches_fields[] = {
	BIND("series", BIND_ANY, struct patches_entry, series),
	BIND("git", BIND_ANY, struct patches_entry, git),
	BIND("range", BIND_TEXT, struct patches_entry, range),
	BIND("on", BIND_ANY, struct patches_entry, on),
};
const struct bind_table patches_keys = { "patches", patches_fields, ARRAY_SIZE(patches_fields), false };

/* Entries that name each other can ask for very many copies, and go very deep. */
#define STACK_MAX 100

/* Entries name each other by `on`, in any order, so they are completed by walking along these names. */
enum walk_state { WAITING, OPEN, DONE };

struct walk {
	struct matrix_loader *loader;
	enum walk_state *states;
	struct bind_names names;
	size_t depth;
};

bool matrix_is_vanilla(const struct patches *patches, unsigned step)
{
	return !patches || (!step && patches->n_stack <= 1);
}

void matrix_free_patches(struct patches *patches)
{
	for (size_t i = 0; i < patches->n_stack; i++) {
		free(patches->stack[i].path);
		free(patches->stack[i].range);
	}
	free(patches->stack);
	free(patches->name);
}

static void push(struct walk *walk, struct patches *patches, const struct patch_source *source)
{
	if (patches->n_stack == STACK_MAX) {
		error_join(&walk->loader->errors,
			   error_at(source->pos, "patches '%s' are made of more than %d sources", patches->name, STACK_MAX));
		return;
	}
	patches->stack = array_grow(patches->stack, patches->n_stack, sizeof(*patches->stack));
	patches->stack[patches->n_stack] = *source;
	patches->stack[patches->n_stack].path = xstrdup(source->path);
	patches->stack[patches->n_stack++].range = source->range ? xstrdup(source->range) : NULL;
}

static void push_path(struct walk *walk, struct patches *patches, const struct yaml_node *node, const char *what)
{
	AUTO_FREE char *path = search_path(node);
	if (!*node->text || !file_exists(path)) {
		error_join(&walk->loader->errors, error_at(node->pos, "%s: there is no file or folder %s", what, path));
		return;
	}
	AUTO_FREE char *absolute = path_absolute(path);
	push(walk, patches, &(struct patch_source){ .kind = PATCHES_PATH, .path = absolute, .pos = node->pos });
}

static void complete(struct walk *walk, size_t index);

/* One entry of `on`: another entry's name, or a path. */
static void push_base(struct walk *walk, size_t index, const struct yaml_node *node)
{
	struct matrix *matrix = walk->loader->matrix;
	for (size_t i = 0; i < matrix->n_patches; i++) {
		if (strcmp(matrix->patches[i].name, node->text) != 0)
			continue;
		if (walk->states[i] == OPEN) {
			error_join(&walk->loader->errors,
				   error_at(node->pos, "patches '%s' would stand on themselves", node->text));
			return;
		}
		if (walk->depth == STACK_MAX) {
			error_join(&walk->loader->errors,
				   error_at(node->pos, "patches stand on each other more than %d deep", STACK_MAX));
			return;
		}
		walk->depth++;
		complete(walk, i);
		walk->depth--;
		for (size_t k = 0; k < matrix->patches[i].n_stack; k++)
			push(walk, &matrix->patches[index], &matrix->patches[i].stack[k]);
		return;
	}
	AUTO_FREE char *path = search_path(node);
	if (*node->text && file_exists(path))
		push_path(walk, &matrix->patches[index], node, "'on'");
	else
		error_join(&walk->loader->errors, bind_unknown_name(node->pos, "patches entry or path", node->text, &walk->names,
								    "no other is declared"));
}

static void push_range(struct walk *walk, struct patches *patches, const struct yaml_node *node,
		       const struct patches_entry *entry)
{
	struct matrix_loader *loader = walk->loader;
	if (!entry->range) {
		error_join(&loader->errors,
			   error_at(node->pos, "patches '%s' need 'range' beside 'git': two commits as A..B", patches->name));
		return;
	}
	const char *dots = strstr(entry->range, "..");
	if (!dots || dots == entry->range || !dots[2] || dots[2] == '.') {
		error_join(&loader->errors,
			   error_at(yaml_get(node, "range")->pos, "'range' must be two commits as A..B, not '%s'", entry->range));
		return;
	}
	if (!bind_expect_text(entry->git, "'git'", &loader->errors))
		return;
	AUTO_FREE char *path = search_path(entry->git);
	if (!file_is_dir(path)) {
		error_join(&loader->errors, error_at(entry->git->pos, "'git': there is no folder %s", path));
		return;
	}
	AUTO_FREE char *absolute = path_absolute(path);
	push(walk, patches,
	     &(struct patch_source){ .kind = PATCHES_RANGE, .path = absolute, .range = entry->range, .pos = entry->git->pos });
}

static void push_series(struct walk *walk, struct patches *patches, const struct yaml_node *node)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, "'series'", &items, &n, &walk->loader->errors))
		return;
	for (size_t i = 0; i < n; i++)
		push_path(walk, patches, items[i], "'series'");
}

static void push_on(struct walk *walk, size_t index, const struct yaml_node *node)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, "'on'", &items, &n, &walk->loader->errors))
		return;
	for (size_t i = 0; i < n; i++)
		push_base(walk, index, items[i]);
}

static void complete(struct walk *walk, size_t index)
{
	struct matrix_loader *loader = walk->loader;
	const struct yaml_node *node = loader->patches->pairs[index].value;
	struct patches *patches = &loader->matrix->patches[index];
	if (walk->states[index] != WAITING)
		return;
	walk->states[index] = OPEN;
	AUTO_FREE char *where = xasprintf("patches '%s'", patches->name);
	struct patches_entry entry = { 0 };
	if (bind_mapping(node, &patches_keys, where, &entry, &loader->errors)) {
		if (entry.on)
			push_on(walk, index, entry.on);
		if (entry.series && entry.git)
			error_join(&loader->errors, error_at(yaml_pair(node, "git")->key_pos,
							     "%s have 'series' and 'git': they are one of them", where));
		else if (entry.git)
			push_range(walk, patches, node, &entry);
		else if (entry.series)
			push_series(walk, patches, entry.series);
		else if (!bind_has(node, &patches_keys, "series") && !bind_has(node, &patches_keys, "git"))
			error_join(&loader->errors,
				   error_at(node->pos, "%s need 'series' (a path), or 'git' and 'range'", where));
		if (entry.range && !entry.git)
			error_join(&loader->errors,
				   error_at(yaml_pair(node, "range")->key_pos, "'range' has no meaning without 'git'"));
	}
	free(entry.range);
	walk->states[index] = DONE;
}

void matrix_read_patches(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	size_t n = loader->patches ? loader->patches->n : 0;
	matrix->patches = xcalloc(n + 1, sizeof(*matrix->patches));
	struct walk walk = { .loader = loader, .states = xcalloc(n + 1, sizeof(*walk.states)) };
	for (size_t i = 0; i < n; i++) {
		const struct yaml_pair *pair = &loader->patches->pairs[i];
		bind_check_name(pair->key, pair->key_pos, "the name of a patches entry", &loader->errors);
		matrix->patches[matrix->n_patches++] = (struct patches){ .name = xstrdup(pair->key), .pos = pair->key_pos };
		bind_names_add(&walk.names, matrix->patches[i].name, pair->key_pos);
	}
	for (size_t i = 0; i < n; i++)
		complete(&walk, i);
	bind_names_deinit(&walk.names);
	free(walk.states);
}
