/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON documents (jansson). Keys keep the order in which they were set. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/error.h"
#include "base/strbuf.h"

struct jnode;

struct jnode *jnode_object(void);
struct jnode *jnode_array(void);
void jnode_free(struct jnode *node);
void cleanup_jnode(struct jnode **node);
#define AUTO_JNODE CLEANUP(cleanup_jnode) struct jnode *

/* Setters; `value` NULL gives null. jnode_set and jnode_append take ownership of `child`. */
void jnode_set_string(struct jnode *object, const char *key, const char *value);
void jnode_set_int(struct jnode *object, const char *key, int64_t value);
void jnode_set_real(struct jnode *object, const char *key, double value); /* not finite: null */
void jnode_set_bool(struct jnode *object, const char *key, bool value);
void jnode_set(struct jnode *object, const char *key, struct jnode *child);
void jnode_append(struct jnode *array, struct jnode *child);
void jnode_append_string(struct jnode *array, const char *value);
void jnode_append_int(struct jnode *array, int64_t value);
void jnode_append_real(struct jnode *array, double value);

/* Getters with a default for what is missing or of another type; results are borrowed. */
const char *jnode_string(const struct jnode *object, const char *key, const char *fallback);
int64_t jnode_int(const struct jnode *object, const char *key, int64_t fallback);
double jnode_real(const struct jnode *object, const char *key, double fallback); /* takes integers too */
bool jnode_bool(const struct jnode *object, const char *key, bool fallback);
struct jnode *jnode_get(const struct jnode *object, const char *key); /* NULL when missing */
size_t jnode_size(const struct jnode *array); /* 0 for what is no array */
struct jnode *jnode_item(const struct jnode *array, size_t i);
const char *jnode_item_string(const struct jnode *array, size_t i); /* NULL when it is no string */
double jnode_item_real(const struct jnode *array, size_t i);
bool jnode_is_object(const struct jnode *node);
/* Walks an object: returns the next key after `key` (the first for NULL), NULL at the end. */
const char *jnode_next_key(const struct jnode *object, const char *key);

/* Text without the final newline; indent 0 = one line. Reals are printed with 15 significant digits. */
void jnode_write(const struct jnode *node, int indent, struct strbuf *out);
/* `name` is for error positions. */
struct error *jnode_parse(const char *text, size_t len, const char *name, struct jnode **node_out) MUST_CHECK;
struct error *jnode_load(const char *path, struct jnode **node_out) MUST_CHECK;

#endif
