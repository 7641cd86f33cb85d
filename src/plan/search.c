/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/bind.h"

/* profiles/ beside the lab file, then of the installation; the caller frees the strings. */
static size_t folders(const struct search *search, char *out[2])
{
	size_t n = 0;
	if (search->lab_path)
		out[n++] = path_relative_to_file(search->lab_path, "profiles");
	if (search->share_dir)
		out[n++] = path_join(search->share_dir, "profiles");
	return n;
}

static void add_names(const char *folder, const char *suffix, struct strlist *names)
{
	AUTO_STRLIST files = { NULL, 0 };
	/* A folder that is not there offers nothing: that is no error. */
	error_free(file_list(folder, &files));
	for (size_t i = 0; i < files.n; i++) {
		/* Profiles and fragments lie in the same folder. */
		if (!str_ends(files.items[i], suffix) || (!*suffix && str_ends(files.items[i], ".yaml")))
			continue;
		AUTO_FREE char *name = xstrndup(files.items[i], strlen(files.items[i]) - strlen(suffix));
		if (!strlist_has(names, name))
			strlist_add(names, name);
	}
}

void search_names(const struct search *search, const char *suffix, struct strlist *names_out)
{
	char *dirs[2];
	size_t n = folders(search, dirs);
	for (size_t i = 0; i < n; i++) {
		add_names(dirs[i], suffix, names_out);
		free(dirs[i]);
	}
	strlist_sort(names_out);
}

static struct error *not_found(const struct search *search, const struct yaml_node *node, const char *what, const char *suffix)
{
	AUTO_STRLIST found = { NULL, 0 };
	search_names(search, suffix, &found);
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < found.n; i++)
		bind_names_add(&names, found.items[i], NO_POS);
	struct error *error = bind_unknown_name(node->pos, what, node->text, &names, "no folder of profiles is there");

	char *dirs[2];
	size_t n = folders(search, dirs);
	for (size_t i = 0; i < n; i++) {
		error_note(error, NO_POS, "looked for %s/%s%s", dirs[i], node->text, suffix);
		free(dirs[i]);
	}
	AUTO_FREE char *beside = path_relative_to_file(node->pos.file, node->text);
	if (file_is_regular(beside))
		error_note(error, NO_POS, "the file beside this one is written ./%s", node->text);
	return error;
}

struct error *search_file(const struct search *search, const struct yaml_node *node, const char *what, const char *suffix,
			  char **path_out)
{
	if (strchr(node->text, '/')) {
		AUTO_FREE char *path = path_relative_to_file(node->pos.file, node->text);
		if (!file_is_regular(path))
			return error_at(node->pos, "there is no %s %s", what, path);
		*path_out = take_ptr(path);
		return NULL;
	}
	AUTO_FREE char *file = xasprintf("%s%s", node->text, suffix);
	AUTO_FREE char *found = NULL;
	char *dirs[2];
	size_t n = folders(search, dirs);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *path = path_join(dirs[i], file);
		if (*node->text && !found && file_is_regular(path))
			found = take_ptr(path);
		free(dirs[i]);
	}
	if (!found)
		return not_found(search, node, what, suffix);
	*path_out = take_ptr(found);
	return NULL;
}

char *search_path(const struct yaml_node *node)
{
	return path_relative_to_file(node->pos.file, node->text);
}

char *search_absolute(const struct yaml_node *node)
{
	AUTO_FREE char *path = search_path(node);
	return path_absolute(path);
}
