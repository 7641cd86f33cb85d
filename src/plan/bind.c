/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/bind.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan/units.h"

#define LISTED_MAX 12

char *bind_list_text(const char *const *names, size_t n)
{
	struct strbuf text = STRBUF_INIT;
	size_t shown = n > LISTED_MAX ? LISTED_MAX : n;
	for (size_t i = 0; i < shown; i++)
		strbuf_addf(&text, "%s%s", i ? ", " : "", names[i]);
	if (shown < n)
		strbuf_addf(&text, " and %zu more", n - shown);
	return strbuf_steal(&text);
}

void bind_names_add(struct bind_names *names, const char *name, struct pos pos)
{
	names->names = array_grow(names->names, names->n, sizeof(*names->names));
	names->positions = array_grow(names->positions, names->n, sizeof(*names->positions));
	names->names[names->n] = name;
	names->positions[names->n++] = pos;
}

void bind_names_deinit(struct bind_names *names)
{
	free(names->names);
	free(names->positions);
}

struct error *bind_unknown_name(struct pos pos, const char *what, const char *name, const struct bind_names *names,
				const char *none)
{
	if (!names->n)
		return error_at(pos, "there is no %s '%s': %s", what, name, none);
	const char *meant = str_suggest(name, names->names, names->n);
	if (!meant) {
		AUTO_FREE char *list = bind_list_text(names->names, names->n);
		struct error *error = error_at(pos, "there is no %s '%s' (there is: %s)", what, name, list);
		if (names->positions[0].file)
			error_note(error, names->positions[0], "'%s' is declared here", names->names[0]);
		return error;
	}
	struct error *error = error_at(pos, "there is no %s '%s' (did you mean '%s'?)", what, name, meant);
	for (size_t i = 0; i < names->n; i++) {
		if (names->names[i] == meant && names->positions[i].file)
			error_note(error, names->positions[i], "'%s' is declared here", meant);
	}
	return error;
}

static bool is_nothing(const struct yaml_node *node)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	if (node->kind != YAML_SCALAR || node->quoted)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++) {
		if (strcmp(node->text, nulls[i]) == 0)
			return true;
	}
	return false;
}

static bool wrong_kind(const struct yaml_node *node, const char *what, const char *wanted, struct error **errors)
{
	const char *found = is_nothing(node) ? "nothing" : yaml_kind_name(node->kind);
	error_join(errors, error_at(node->pos, "%s must be %s, not %s", what, wanted, found));
	return false;
}

bool bind_expect_mapping(const struct yaml_node *node, const char *what, struct error **errors)
{
	return node->kind == YAML_MAPPING || wrong_kind(node, what, yaml_kind_name(YAML_MAPPING), errors);
}

bool bind_expect_list(const struct yaml_node *node, const char *what, struct error **errors)
{
	return node->kind == YAML_SEQUENCE || wrong_kind(node, what, yaml_kind_name(YAML_SEQUENCE), errors);
}

bool bind_expect_text(const struct yaml_node *node, const char *what, struct error **errors)
{
	if (node->kind != YAML_SCALAR)
		return wrong_kind(node, what, yaml_kind_name(YAML_SCALAR), errors);
	if (!is_nothing(node))
		return true;
	error_join(errors, error_at(node->pos, "%s has no value (an empty text is written \"\")", what));
	return false;
}

bool bind_one_or_list(const struct yaml_node *node, const char *what, const struct yaml_node ***items_out, size_t *n_out,
		      struct error **errors)
{
	if (node->kind == YAML_MAPPING)
		return wrong_kind(node, what, "a text or a list of texts", errors);
	if (node->kind == YAML_SEQUENCE && !node->n) {
		error_join(errors, error_at(node->pos, "%s is an empty list: it names nothing", what));
		return false;
	}
	size_t n = node->kind == YAML_SEQUENCE ? node->n : 1;
	const struct yaml_node **items = xcalloc(n, sizeof(*items));
	bool fine = true;
	for (size_t i = 0; i < n; i++) {
		items[i] = node->kind == YAML_SEQUENCE ? node->items[i] : node;
		fine &= bind_expect_text(items[i], what, errors);
	}
	if (!fine) {
		free(items);
		return false;
	}
	*items_out = items;
	*n_out = n;
	return true;
}

bool bind_check_name(const char *name, struct pos pos, const char *what, struct error **errors)
{
	bool fine = *name == '_' || isalnum((unsigned char)*name);
	for (const char *c = name; *c && fine; c++)
		fine = isalnum((unsigned char)*c) || strchr("_.+-", *c);
	struct error *error = NULL;
	if (!*name)
		error = error_at(pos, "%s cannot be empty", what);
	else if (strchr(name, '/'))
		error = error_at(pos, "'%s' cannot be %s: names hold no '/'", name, what);
	else if (!fine)
		error = error_at(pos,
				 "'%s' cannot be %s: names are made of letters, digits, '_', '.', '+' and '-', "
				 "and begin with a letter, a digit or '_'",
				 name, what);
	else if (strlen(name) > 64)
		error = error_at(pos, "%s can have 64 characters, not %zu", what, strlen(name));
	else if (strcmp(name, "all") == 0)
		error = error_at(pos, "'all' cannot be %s: it stands for all of them", what);
	error_join(errors, error);
	return !error;
}

static bool out_of_range(const struct yaml_node *node, const struct bind_field *field, const char *what, char *low, char *high,
			 struct error **errors)
{
	struct error *error;
	if (field->max)
		error = error_at(node->pos, "%s must be from %s to %s, not %s", what, low, high, node->text);
	else
		error = error_at(node->pos, "%s must be at least %s, not %s", what, low, node->text);
	error_join(errors, error);
	free(low);
	free(high);
	return false;
}

static bool in_range(double value, const struct bind_field *field)
{
	return value >= field->min && (!field->max || value <= field->max);
}

static bool not_a(const struct yaml_node *node, const char *what, const char *wanted, struct error **errors)
{
	error_join(errors, error_at(node->pos, "%s must be %s, not '%s'", what, wanted, node->text));
	return false;
}

static bool bind_count(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
		       struct error **errors)
{
	uint64_t value;
	if (node->quoted || !units_count(node->text, &value))
		return not_a(node, what, node->quoted ? "a whole number without quotes" : "a whole number", errors);
	if (!in_range((double)value, field))
		return out_of_range(node, field, what, xasprintf("%.0f", field->min), xasprintf("%.0f", field->max), errors);
	if (field->size == sizeof(value)) {
		memcpy(out, &value, sizeof(value));
		return true;
	}
	if (value > UINT32_MAX)
		return not_a(node, what, "a smaller number", errors);
	uint32_t small = (uint32_t)value;
	memcpy(out, &small, sizeof(small));
	return true;
}

static bool bind_size(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
		      struct error **errors)
{
	uint64_t value;
	if (!units_size(node->text, &value))
		return not_a(node, what, "a size such as 64M (units K, M, G, T)", errors);
	if (!in_range((double)value, field))
		return out_of_range(node, field, what, units_size_text((uint64_t)field->min),
				    units_size_text((uint64_t)field->max), errors);
	memcpy(out, &value, sizeof(value));
	return true;
}

static bool bind_time(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
		      struct error **errors)
{
	int64_t value;
	if (!units_time(node->text, &value))
		return not_a(node, what, "a time such as 10s (units ms, s, min, h)", errors);
	if (!in_range((double)value, field))
		return out_of_range(node, field, what, units_time_text((int64_t)field->min), units_time_text((int64_t)field->max),
				    errors);
	memcpy(out, &value, sizeof(value));
	return true;
}

static bool bind_real(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
		      struct error **errors)
{
	double value;
	bool ratio = field->type == BIND_RATIO;
	if (ratio ? !units_ratio(node->text, &value) : node->quoted || !units_real(node->text, &value))
		return not_a(node, what, ratio ? "a ratio such as 8% or 0.08" : "a number", errors);
	if (!in_range(value, field))
		return ratio ? out_of_range(node, field, what, xasprintf("%g%%", field->min * 100),
					    xasprintf("%g%%", field->max * 100), errors)
			     : out_of_range(node, field, what, xasprintf("%g", field->min), xasprintf("%g", field->max), errors);
	memcpy(out, &value, sizeof(value));
	return true;
}

static bool bind_bool(const struct yaml_node *node, const char *what, void *out, struct error **errors)
{
	bool value = strcmp(node->text, "true") == 0;
	if (node->quoted || (!value && strcmp(node->text, "false") != 0))
		return not_a(node, what, "true or false", errors);
	memcpy(out, &value, sizeof(value));
	return true;
}

static bool bind_word(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
		      struct error **errors)
{
	size_t n = 0;
	for (; field->words[n]; n++) {
		if (strcmp(field->words[n], node->text) != 0)
			continue;
		int value = (int)n;
		memcpy(out, &value, sizeof(value));
		return true;
	}
	AUTO_FREE char *list = bind_list_text(field->words, n);
	const char *meant = str_suggest(node->text, field->words, n);
	if (meant)
		error_join(errors, error_at(node->pos, "%s must be one of %s, not '%s' (did you mean '%s'?)", what, list,
					    node->text, meant));
	else
		error_join(errors, error_at(node->pos, "%s must be one of %s, not '%s'", what, list, node->text));
	return false;
}

static bool bind_texts(const struct yaml_node *node, const char *what, struct strlist *out, struct error **errors)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, what, &items, &n, errors))
		return false;
	strlist_deinit(out);
	*out = (struct strlist){ NULL, 0 };
	for (size_t i = 0; i < n; i++)
		strlist_add(out, items[i]->text);
	return true;
}

static bool replace_text(char **out, const char *text)
{
	free(*out);
	*out = xstrdup(text);
	return true;
}

static bool bind_scalar(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out,
			struct error **errors)
{
	if (!bind_expect_text(node, what, errors))
		return false;
	switch (field->type) {
	case BIND_NAME:
		return bind_check_name(node->text, node->pos, what, errors) && replace_text(out, node->text);
	case BIND_BOOL:
		return bind_bool(node, what, out, errors);
	case BIND_COUNT:
		return bind_count(node, field, what, out, errors);
	case BIND_SIZE:
		return bind_size(node, field, what, out, errors);
	case BIND_TIME:
		return bind_time(node, field, what, out, errors);
	case BIND_REAL:
	case BIND_RATIO:
		return bind_real(node, field, what, out, errors);
	case BIND_WORD:
		return bind_word(node, field, what, out, errors);
	default:
		return replace_text(out, node->text);
	}
}

bool bind_value(const struct yaml_node *node, const struct bind_field *field, const char *what, void *out, struct error **errors)
{
	switch (field->type) {
	case BIND_TEXTS:
		return bind_texts(node, what, out, errors);
	case BIND_MAPPING:
		if (!bind_expect_mapping(node, what, errors))
			return false;
		break;
	case BIND_LIST:
		if (!bind_expect_list(node, what, errors))
			return false;
		break;
	case BIND_ANY:
		break;
	default:
		return bind_scalar(node, field, what, out, errors);
	}
	memcpy(out, &node, sizeof(node));
	return true;
}

static const struct bind_field *find_field(const struct bind_table *table, const char *key)
{
	for (size_t i = 0; i < table->n; i++) {
		if (strcmp(table->fields[i].key, key) == 0)
			return &table->fields[i];
	}
	return NULL;
}

/* The key of the table that an unknown one most likely meant, or NULL. */
static const char *meant_key(const struct bind_table *table, const char *key)
{
	AUTO_FREE const char **keys = xcalloc(table->n, sizeof(*keys));
	for (size_t i = 0; i < table->n; i++)
		keys[i] = table->fields[i].key;
	return str_suggest(key, keys, table->n);
}

bool bind_has(const struct yaml_node *node, const struct bind_table *table, const char *key)
{
	if (node->kind != YAML_MAPPING)
		return false;
	for (size_t i = 0; i < node->n; i++) {
		const char *found = node->pairs[i].key;
		if (!find_field(table, found))
			found = table->open ? NULL : meant_key(table, found);
		if (found && strcmp(found, key) == 0)
			return true;
	}
	return false;
}

static struct error *unknown_key(const struct yaml_pair *pair, const struct bind_table *table, const char *where)
{
	const char *meant = meant_key(table, pair->key);
	if (meant)
		return error_at(pair->key_pos, "unknown key '%s' in %s (did you mean '%s'?)", pair->key, where, meant);
	AUTO_FREE const char **keys = xcalloc(table->n, sizeof(*keys));
	for (size_t i = 0; i < table->n; i++)
		keys[i] = table->fields[i].key;
	AUTO_FREE char *list = bind_list_text(keys, table->n);
	return error_at(pair->key_pos, "unknown key '%s' in %s (known: %s)", pair->key, where, list);
}

bool bind_mapping(const struct yaml_node *node, const struct bind_table *table, const char *where, void *out,
		  struct error **errors)
{
	if (!bind_expect_mapping(node, where, errors))
		return false;
	bool fine = true;
	for (size_t i = 0; i < node->n; i++) {
		const struct yaml_pair *pair = &node->pairs[i];
		const struct bind_field *field = find_field(table, pair->key);
		if (field) {
			AUTO_FREE char *what = xasprintf("'%s' of %s", field->key, where);
			fine &= bind_value(pair->value, field, what, (char *)out + field->offset, errors);
		} else if (!table->open) {
			error_join(errors, unknown_key(pair, table, where));
			fine = false;
		}
	}
	for (size_t i = 0; i < table->n; i++) {
		if (!table->fields[i].required || yaml_get(node, table->fields[i].key))
			continue;
		if (!bind_has(node, table, table->fields[i].key))
			error_join(errors, error_at(node->pos, "%s needs '%s'", where, table->fields[i].key));
		fine = false;
	}
	return fine;
}
