/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML text (libyaml) as a tree of nodes that keep their positions. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/error.h"

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node;

struct yaml_pair {
	char *key;
	struct pos key_pos;
	struct yaml_node *value;
};

/* A tree: an alias is expanded into a copy of its anchor's nodes (positions of the anchor), so nodes are never shared. */
struct yaml_node {
	enum yaml_kind kind;
	struct pos pos;
	bool quoted; /* scalar in quotes, or a block scalar */
	char *text; /* scalar, UTF-8 */
	struct yaml_node **items; /* sequence */
	struct yaml_pair *pairs; /* mapping, in file order */
	size_t n; /* items or pairs */
};

/*
 * Parses one document. All that is wrong is reported at once where the syntax allows: duplicate keys (with a note at the
 * first), `<<`, keys that are no scalars, alias cycles, depth over 100, invalid UTF-8 (position from the byte offset), an empty
 * file, more than one document. `name` is the file name in positions. The caller frees *root_out with yaml_node_free.
 */
struct error *yaml_parse(const char *text, size_t len, const char *name, struct yaml_node **root_out) MUST_CHECK;
struct error *yaml_load(const char *path, struct yaml_node **root_out) MUST_CHECK;
/*
 * The same for those who look for more errors: where the syntax can be followed, *root_out is set along with errors, and what they
 * are about is left out of the tree (of duplicate keys the first stays).
 */
struct error *yaml_parse_partial(const char *text, size_t len, const char *name, struct yaml_node **root_out) MUST_CHECK;
struct error *yaml_load_partial(const char *path, struct yaml_node **root_out) MUST_CHECK;
/* (libyaml itself exports a function called yaml_free.) */
void yaml_node_free(struct yaml_node *root);
/* The value of `key`, or NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);
/* The pair of `key`, or NULL. */
const struct yaml_pair *yaml_pair(const struct yaml_node *mapping, const char *key);
const char *yaml_kind_name(enum yaml_kind kind); /* "a text", "a list", "a mapping" */

#endif
