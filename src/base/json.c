/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* A struct jnode is a json_t under another name. */
static json_t *in(const struct jnode *node)
{
	return (json_t *)node;
}

static struct jnode *out(json_t *json)
{
	return (struct jnode *)json;
}

struct jnode *jnode_object(void)
{
	return out(json_object());
}

struct jnode *jnode_array(void)
{
	return out(json_array());
}

void jnode_free(struct jnode *node)
{
	json_decref(in(node));
}

void cleanup_jnode(struct jnode **node)
{
	jnode_free(*node);
}

/* JSON text is UTF-8; bytes that are not (console noise) are kept readable as U+FFFD. */
static json_t *make_string(const char *value)
{
	json_t *string = json_string(value);
	if (string)
		return string;
	struct strbuf clean = STRBUF_INIT;
	for (; *value; value++) {
		if ((unsigned char)*value < 0x80)
			strbuf_addch(&clean, *value);
		else
			strbuf_adds(&clean, "\xef\xbf\xbd");
	}
	string = json_string(strbuf_str(&clean));
	strbuf_deinit(&clean);
	return string;
}

void jnode_set_string(struct jnode *object, const char *key, const char *value)
{
	json_object_set_new(in(object), key, value ? make_string(value) : json_null());
}

void jnode_set_int(struct jnode *object, const char *key, int64_t value)
{
	json_object_set_new(in(object), key, json_integer(value));
}

void jnode_set_real(struct jnode *object, const char *key, double value)
{
	json_object_set_new(in(object), key, isfinite(value) ? json_real(value) : json_null());
}

void jnode_set_bool(struct jnode *object, const char *key, bool value)
{
	json_object_set_new(in(object), key, json_boolean(value));
}

void jnode_set(struct jnode *object, const char *key, struct jnode *child)
{
	json_object_set_new(in(object), key, child ? in(child) : json_null());
}

void jnode_append(struct jnode *array, struct jnode *child)
{
	json_array_append_new(in(array), child ? in(child) : json_null());
}

void jnode_append_string(struct jnode *array, const char *value)
{
	json_array_append_new(in(array), value ? make_string(value) : json_null());
}

void jnode_append_int(struct jnode *array, int64_t value)
{
	json_array_append_new(in(array), json_integer(value));
}

void jnode_append_real(struct jnode *array, double value)
{
	json_array_append_new(in(array), isfinite(value) ? json_real(value) : json_null());
}

const char *jnode_string(const struct jnode *object, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(in(object), key);

	return json_is_string(value) ? json_string_value(value) : fallback;
}

int64_t jnode_int(const struct jnode *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(in(object), key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double jnode_real(const struct jnode *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(in(object), key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

bool jnode_bool(const struct jnode *object, const char *key, bool fallback)
{
	const json_t *value = json_object_get(in(object), key);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

struct jnode *jnode_get(const struct jnode *object, const char *key)
{
	return out(json_object_get(in(object), key));
}

size_t jnode_size(const struct jnode *array)
{
	return json_array_size(in(array));
}

struct jnode *jnode_item(const struct jnode *array, size_t i)
{
	return out(json_array_get(in(array), i));
}

const char *jnode_item_string(const struct jnode *array, size_t i)
{
	return json_string_value(json_array_get(in(array), i));
}

double jnode_item_real(const struct jnode *array, size_t i)
{
	return json_number_value(json_array_get(in(array), i));
}

bool jnode_is_object(const struct jnode *node)
{
	return json_is_object(in(node));
}

const char *jnode_next_key(const struct jnode *object, const char *key)
{
	void *at = key ? json_object_iter_next(in(object), json_object_iter_at(in(object), key)) : json_object_iter(in(object));

	return at ? json_object_iter_key(at) : NULL;
}

static int append(const char *data, size_t len, void *arg)
{
	strbuf_add(arg, data, len);
	return 0;
}

void jnode_write(const struct jnode *node, int indent, struct strbuf *text)
{
	size_t flags = JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY | (indent ? JSON_INDENT(indent) : JSON_COMPACT);

	json_dump_callback(in(node), append, text, flags);
}

struct error *jnode_parse(const char *text, size_t len, const char *name, struct jnode **node_out)
{
	json_error_t problem;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &problem);

	if (!json)
		return error_at((struct pos){ intern(name), problem.line, problem.column }, "bad JSON: %s", problem.text);
	*node_out = out(json);
	return NULL;
}

struct error *jnode_load(const char *path, struct jnode **node_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);

	return error ? error : jnode_parse(strbuf_str(&text), text.len, path, node_out);
}
