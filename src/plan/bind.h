/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * YAML mappings into structs, driven by tables: a row says which key, what kind of value, within which bounds, and which member
 * gets it. Whatever is wrong is appended to a list of errors, each at its place; a member whose value is wrong or missing keeps
 * what it had, so that defaults are set before and settings can be laid over each other.
 */
#ifndef PLAN_BIND_H
#define PLAN_BIND_H

#include "base/strbuf.h"
#include "base/yaml.h"

enum bind_type {
	BIND_TEXT, /* char *, replaced */
	BIND_NAME, /* char *, replaced: see bind_check_name */
	BIND_BOOL, /* bool: true or false */
	BIND_COUNT, /* unsigned or uint64_t; also int, with a maximum that fits */
	BIND_SIZE, /* uint64_t, bytes */
	BIND_TIME, /* int64_t, milliseconds */
	BIND_REAL, /* double */
	BIND_RATIO, /* double: 8% or 0.08 */
	BIND_WORD, /* int: index in `words` */
	BIND_TEXTS, /* struct strlist, replaced: one text or a list of texts */
	BIND_MAPPING, /* const struct yaml_node *: a mapping, for the caller to go on with */
	BIND_LIST, /* const struct yaml_node *: a list */
	BIND_ANY, /* const struct yaml_node * */
};

struct bind_field {
	const char *key;
	enum bind_type type;
	size_t offset;
	size_t size; /* of the member */
	bool required;
	double min, max; /* COUNT, SIZE, TIME, REAL, RATIO: both inclusive; max 0 = no bound but the type's */
	const char *const *words; /* WORD: NULL-terminated */
};

#define BIND(key_, type_, struct_, member_, ...)                                                                                 \
	{                                                                                                                        \
		.key = (key_), .type = (type_), .offset = offsetof(struct_, member_), .size = sizeof(((struct_ *)0)->member_),   \
		__VA_ARGS__                                                                                                      \
	}

struct bind_table {
	const char *name; /* its definition in the schema file */
	const struct bind_field *fields;
	size_t n;
	bool open; /* other keys are names that the caller deals with */
};

/* Fills `out` from `node`. `where` names the mapping in messages: "kernel 'old'", "this gate". False when something was wrong. */
bool bind_mapping(const struct yaml_node *node, const struct bind_table *table, const char *where, void *out,
		  struct error **errors);
/* True when `key` is there, or an unknown key that is a misspelling of it, which is an error of its own. */
bool bind_has(const struct yaml_node *node, const struct bind_table *table, const char *key);
/* One value. `what` names it in messages: "'size' of workload 'pft'". */
bool bind_value(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out, struct error **errors);

/* True for a mapping (a list); else an error that says what `what` must be. */
bool bind_expect_mapping(const struct yaml_node *node, const char *what, struct error **errors);
bool bind_expect_list(const struct yaml_node *node, const char *what, struct error **errors);
/* A text or a list of texts: the nodes, at least one. `items_out` is an array of *n_out that the caller frees; false with an error. */
bool bind_one_or_list(const struct yaml_node *node, const char *what, const struct yaml_node ***items_out, size_t *n_out,
		      struct error **errors);
/* A scalar with something in it (quoted texts may be empty). */
bool bind_expect_text(const struct yaml_node *node, const char *what, struct error **errors);
/* Letters, digits, '_', '.', '+' and '-', at most 64, beginning with a letter, a digit or '_'; not "all". `what`: "the name of a config". */
bool bind_check_name(const char *name, struct pos pos, const char *what, struct error **errors);

/* Candidates for a name, for messages about one that is not among them. */
struct bind_names {
	const char **names;
	struct pos *positions;
	size_t n;
};
void bind_names_add(struct bind_names *names, const char *name, struct pos pos);
void bind_names_deinit(struct bind_names *names);
#define AUTO_NAMES CLEANUP(bind_names_deinit) struct bind_names
/*
 * The error for a `what` ("config") called `name` that is not declared: with the name that was meant, or all there are, and a note
 * where. `none` is the advice when there are none at all.
 */
struct error *bind_unknown_name(struct pos pos, const char *what, const char *name, const struct bind_names *names,
				const char *none) MUST_CHECK;
/* "a, b, c and 4 more" */
char *bind_list_text(const char *const *names, size_t n);

#endif
