/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"

#define DEPTH_MAX 100
/* Aliases are expanded into copies, so a short text can ask for very many nodes. */
#define NODES_MAX 100000

struct build {
	yaml_document_t *document;
	const char *file; /* interned */
	struct error *errors;
	size_t nodes;
	bool too_many;
	int open[DEPTH_MAX]; /* libyaml's indices of the nodes from the root to the present one */
	size_t depth;
};

const char *yaml_kind_name(enum yaml_kind kind)
{
	static const char *const names[] = { "a text", "a list", "a mapping" };
	return names[kind];
}

/* libyaml counts from 0, in characters. */
static struct pos mark_pos(const char *file, yaml_mark_t mark)
{
	return (struct pos){ file, (int)mark.line + 1, (int)mark.column + 1 };
}

void yaml_node_free(struct yaml_node *root)
{
	if (!root)
		return;
	for (size_t i = 0; i < root->n; i++) {
		if (root->kind == YAML_SEQUENCE) {
			yaml_node_free(root->items[i]);
		} else {
			free(root->pairs[i].key);
			yaml_node_free(root->pairs[i].value);
		}
	}
	free(root->items);
	free(root->pairs);
	free(root->text);
	free(root);
}

static struct yaml_node *build_node(struct build *build, int index, struct pos near);

static struct yaml_node *new_node(enum yaml_kind kind, struct pos pos)
{
	struct yaml_node *node = xcalloc(1, sizeof(*node));
	node->kind = kind;
	node->pos = pos;
	return node;
}

static void build_scalar(struct build *build, const yaml_node_t *from, struct yaml_node *node)
{
	if (memchr(from->data.scalar.value, '\0', from->data.scalar.length))
		error_join(&build->errors, error_at(node->pos, "a text cannot hold a NUL character"));
	node->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = xstrndup((const char *)from->data.scalar.value, from->data.scalar.length);
}

static void build_sequence(struct build *build, const yaml_node_t *from, struct yaml_node *node)
{
	for (const yaml_node_item_t *item = from->data.sequence.items.start; item < from->data.sequence.items.top; item++) {
		struct yaml_node *child = build_node(build, *item, node->pos);
		if (!child)
			continue;
		node->items = array_grow(node->items, node->n, sizeof(*node->items));
		node->items[node->n++] = child;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct yaml_pair *const *x = a;
	const struct yaml_pair *const *y = b;
	int order = strcmp((*x)->key, (*y)->key);
	if (order)
		return order;
	return *x < *y ? -1 : *x > *y;
}

/* Reports every key that stands there again, and drops it. */
static void drop_duplicates(struct build *build, struct yaml_node *node)
{
	if (node->n < 2)
		return;
	AUTO_FREE const struct yaml_pair **sorted = xcalloc(node->n, sizeof(*sorted));
	AUTO_FREE bool *again = xcalloc(node->n, sizeof(*again));
	for (size_t i = 0; i < node->n; i++)
		sorted[i] = &node->pairs[i];
	qsort(sorted, node->n, sizeof(*sorted), by_key);
	const struct yaml_pair *first = sorted[0];
	for (size_t i = 1; i < node->n; i++) {
		if (strcmp(first->key, sorted[i]->key) != 0) {
			first = sorted[i];
			continue;
		}
		struct error *error = error_at(sorted[i]->key_pos, "key '%s' stands here for the second time", first->key);
		error_note(error, first->key_pos, "the first is here");
		error_join(&build->errors, error);
		again[sorted[i] - node->pairs] = true;
	}
	size_t kept = 0;
	for (size_t i = 0; i < node->n; i++) {
		if (!again[i]) {
			node->pairs[kept++] = node->pairs[i];
			continue;
		}
		free(node->pairs[i].key);
		yaml_node_free(node->pairs[i].value);
	}
	node->n = kept;
}

static void build_mapping(struct build *build, const yaml_node_t *from, struct yaml_node *node)
{
	for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start; pair < from->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(build->document, pair->key);
		struct pos key_pos = mark_pos(build->file, key->start_mark);
		if (key->type != YAML_SCALAR_NODE) {
			error_join(&build->errors, error_at(key_pos, "a key must be a text, not a list or a mapping"));
			continue;
		}
		const char *name = (const char *)key->data.scalar.value;
		if (strlen(name) != key->data.scalar.length) {
			error_join(&build->errors, error_at(key_pos, "a key cannot hold a NUL character"));
			continue;
		}
		if (strcmp(name, "<<") == 0 && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
			error_join(&build->errors, error_at(key_pos, "merge keys (<<) are not understood: write the keys out"));
			continue;
		}
		struct yaml_node *value = build_node(build, pair->value, key_pos);
		if (!value)
			continue;
		node->pairs = array_grow(node->pairs, node->n, sizeof(*node->pairs));
		node->pairs[node->n++] = (struct yaml_pair){ xstrdup(name), key_pos, value };
	}
	drop_duplicates(build, node);
}

/* True unless the node lies inside itself or too deep. `near` is where the alias or the node is. */
static bool may_descend(struct build *build, int index, struct pos pos, struct pos near)
{
	for (size_t i = 0; i < build->depth; i++) {
		if (build->open[i] != index)
			continue;
		struct error *error = error_at(near, "an alias cannot stand inside the value that it repeats");
		error_note(error, pos, "that value begins here");
		error_join(&build->errors, error);
		return false;
	}
	if (build->depth < DEPTH_MAX)
		return true;
	error_join(&build->errors, error_at(pos, "values are nested more than %d deep", DEPTH_MAX));
	return false;
}

/* libyaml gives every node the tag of its kind unless the text has another. */
static bool has_foreign_tag(const yaml_node_t *node)
{
	static const char *const tags[] = {
		[YAML_SCALAR_NODE] = YAML_STR_TAG,
		[YAML_SEQUENCE_NODE] = YAML_SEQ_TAG,
		[YAML_MAPPING_NODE] = YAML_MAP_TAG,
	};
	return strcmp((const char *)node->tag, tags[node->type]) != 0;
}

/* NULL when an error was recorded in place of the node. */
static struct yaml_node *build_node(struct build *build, int index, struct pos near)
{
	const yaml_node_t *from = yaml_document_get_node(build->document, index);
	struct pos pos = mark_pos(build->file, from->start_mark);
	if (build->too_many)
		return NULL;
	if (++build->nodes > NODES_MAX) {
		build->too_many = true;
		error_join(&build->errors,
			   error_at(near, "the file, its aliases written out, has more than %d values", NODES_MAX));
		return NULL;
	}
	if (!may_descend(build, index, pos, near))
		return NULL;
	if (has_foreign_tag(from))
		error_join(&build->errors, error_at(pos, "tags (%s) are not understood: leave it out", (const char *)from->tag));

	static const enum yaml_kind kinds[] = {
		[YAML_SCALAR_NODE] = YAML_SCALAR,
		[YAML_SEQUENCE_NODE] = YAML_SEQUENCE,
		[YAML_MAPPING_NODE] = YAML_MAPPING,
	};
	struct yaml_node *node = new_node(kinds[from->type], pos);
	build->open[build->depth++] = index;
	if (node->kind == YAML_SCALAR)
		build_scalar(build, from, node);
	else if (node->kind == YAML_SEQUENCE)
		build_sequence(build, from, node);
	else
		build_mapping(build, from, node);
	build->depth--;
	return node;
}

/* Length of the well-formed UTF-8 character at `s` (Unicode, table 3-7), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	if (s[0] < 0x80)
		return 1;
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || left < len)
		return 0;
	unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return len;
}

/* Appends the text with '_' for every bad byte; one error a line that has some. */
static struct error *mend_utf8(const char *text, size_t len, const char *file, struct strbuf *out)
{
	struct error *errors = NULL;
	struct pos pos = { file, 1, 1 };
	int bad_line = 0;
	for (size_t i = 0; i < len;) {
		size_t step = utf8_length((const unsigned char *)text + i, len - i);
		if (step)
			strbuf_add(out, text + i, step);
		else
			strbuf_addch(out, '_');
		if (!step && pos.line != bad_line) {
			error_join(&errors, error_at(pos, "byte 0x%02x is not UTF-8", (unsigned char)text[i]));
			bad_line = pos.line;
		}
		if (text[i] == '\n') {
			pos.line++;
			pos.col = 1;
		} else {
			pos.col++;
		}
		i += step ? step : 1;
	}
	return errors;
}

/* The reader's errors have no mark, only the byte's offset. */
static struct pos offset_pos(const char *file, const char *text, size_t len, size_t offset)
{
	struct pos pos = { file, 1, 1 };
	for (size_t i = 0; i < offset && i < len; i++) {
		if (text[i] == '\n') {
			pos.line++;
			pos.col = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			pos.col++;
		}
	}
	return pos;
}

static struct error *syntax_error(const yaml_parser_t *parser, const char *text, size_t len, const char *file)
{
	if (parser->error == YAML_READER_ERROR) {
		return error_at(offset_pos(file, text, len, parser->problem_offset), "character 0x%02x is not allowed here",
				(unsigned)parser->problem_value);
	}
	struct pos pos = mark_pos(file, parser->problem_mark);
	size_t at = parser->problem_mark.index;
	const char *problem = parser->problem ? parser->problem : "the text cannot be read";
	/* The index counts characters; where it misses the tab because of others before it, only the hint is lost. */
	const char *hint = at < len && text[at] == '\t' ? " (a tab: YAML is indented with blanks)" : "";
	struct error *error = error_at(pos, "%s%s", problem, hint);
	if (parser->context)
		error_note(error, mark_pos(file, parser->context_mark), "%s", parser->context);
	return error;
}

/* An error when another document follows. */
static struct error *expect_end(yaml_parser_t *parser, const char *text, size_t len, const char *file)
{
	yaml_document_t document;
	if (!yaml_parser_load(parser, &document))
		return syntax_error(parser, text, len, file);
	const yaml_node_t *root = yaml_document_get_root_node(&document);
	struct error *error = NULL;
	if (root)
		error = error_at(mark_pos(file, document.start_mark), "a second document begins here: a file holds one");
	yaml_document_delete(&document);
	return error;
}

static struct error *parse_document(yaml_parser_t *parser, const char *text, size_t len, const char *file,
				    struct yaml_node **root_out)
{
	yaml_document_t document;
	if (!yaml_parser_load(parser, &document))
		return syntax_error(parser, text, len, file);
	struct build build = { .document = &document, .file = file };
	struct yaml_node *root = NULL;
	if (yaml_document_get_root_node(&document))
		root = build_node(&build, 1, mark_pos(file, document.start_mark));
	else
		build.errors = error_at((struct pos){ file, 1, 1 }, "the file is empty");
	yaml_document_delete(&document);

	if (root)
		error_join(&build.errors, expect_end(parser, text, len, file));
	if (build.too_many) {
		yaml_node_free(root);
		root = NULL;
	}
	if (root)
		*root_out = root;
	return build.errors;
}

struct error *yaml_parse_partial(const char *text, size_t len, const char *name, struct yaml_node **root_out)
{
	const char *file = intern(name);
	AUTO_STRBUF mended = STRBUF_INIT;
	struct error *errors = mend_utf8(text, len, file, &mended);
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		abort(); /* out of memory */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)strbuf_str(&mended), mended.len);
	error_join(&errors, parse_document(&parser, strbuf_str(&mended), mended.len, file, root_out));
	yaml_parser_delete(&parser);
	return errors;
}

struct error *yaml_parse(const char *text, size_t len, const char *name, struct yaml_node **root_out)
{
	struct yaml_node *root = NULL;
	struct error *errors = yaml_parse_partial(text, len, name, &root);
	if (errors) {
		yaml_node_free(root);
		return errors;
	}
	*root_out = root;
	return NULL;
}

struct error *yaml_load_partial(const char *path, struct yaml_node **root_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);
	if (error)
		return error;
	return yaml_parse_partial(strbuf_str(&text), text.len, path, root_out);
}

struct error *yaml_load(const char *path, struct yaml_node **root_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);
	if (error)
		return error;
	return yaml_parse(strbuf_str(&text), text.len, path, root_out);
}

const struct yaml_pair *yaml_pair(const struct yaml_node *mapping, const char *key)
{
	if (mapping->kind != YAML_MAPPING)
		return NULL;
	for (size_t i = 0; i < mapping->n; i++) {
		if (strcmp(mapping->pairs[i].key, key) == 0)
			return &mapping->pairs[i];
	}
	return NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
	const struct yaml_pair *pair = yaml_pair(mapping, key);
	return pair ? pair->value : NULL;
}
