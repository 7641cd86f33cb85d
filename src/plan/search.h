/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where files are that a lab, matrix or profile names. A path (with a '/') is relative to the file it stands in. A profile, a
 * fragment and a base config can also be named: a name (without '/') is looked up beside the lab file in profiles/, then in
 * PREFIX/share/memcg-ab/profiles.
 */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "base/strbuf.h"
#include "base/yaml.h"

struct search {
	const char *lab_path; /* NULL when there is no lab file */
	const char *share_dir; /* PREFIX/share/memcg-ab */
};

/*
 * The file that the text `node` means; `suffix` (".yaml" or "") is added to names. `what` is "profile", "fragment", ... The caller
 * frees *path_out, a path as short as the one of the file it stands in. The error says where it was looked for.
 */
struct error *search_file(const struct search *search, const struct yaml_node *node, const char *what, const char *suffix,
			  char **path_out) MUST_CHECK;
/* Names in both folders that end with `suffix`, without it, sorted and each once; for "" all but *.yaml. */
void search_names(const struct search *search, const char *suffix, struct strlist *names_out);
/* A path in the text `node`, without any look-up, seen from where the file it stands in is seen from. The caller frees it. */
char *search_path(const struct yaml_node *node);
/* The same, made absolute. */
char *search_absolute(const struct yaml_node *node);

#endif
