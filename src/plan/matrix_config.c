/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections `config` and `cmdline`. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"

#define PREBUILT "prebuilt"
/* COMMAND_LINE_SIZE of arm64 is 2048; the device's part and padding need room too. */
#define CMDLINE_MAX 1536

/* A config's own keys; every other key is an option of the kernel. */
struct config_entry {
	const struct yaml_node *fragments;
};

static const struct bind_field config_fields[] = {
	BIND("fragments", BIND_ANY, struct config_entry, fragments),
};
const struct bind_table config_keys = { "config", config_fields, ARRAY_SIZE(config_fields), true };

struct option_entry {
	const struct yaml_node *value;
	bool optional;
};

static const struct bind_field option_fields[] = {
	BIND("value", BIND_ANY, struct option_entry, value, .required = true),
	BIND("optional", BIND_BOOL, struct option_entry, optional),
};
const struct bind_table option_keys = { "option", option_fields, ARRAY_SIZE(option_fields), false };

bool matrix_same_config(const struct config *a, const struct config *b)
{
	return a->prebuilt == b->prebuilt && fragment_equal(a->fragment, b->fragment);
}

bool matrix_same_cmdline(const struct cmdline *a, const struct cmdline *b)
{
	return strcmp(a->text, b->text) == 0;
}

/* A text as .config has it. */
static char *quote(const char *text)
{
	struct strbuf quoted = STRBUF_INIT;
	strbuf_addch(&quoted, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_addch(&quoted, '\\');
		strbuf_addch(&quoted, *text);
	}
	strbuf_addch(&quoted, '"');
	return strbuf_steal(&quoted);
}

static bool is_tristate(const char *text)
{
	return strcmp(text, "y") == 0 || strcmp(text, "m") == 0 || strcmp(text, "n") == 0;
}

/* What someone meant who wrote a boolean of another language. */
static const char *meant_tristate(const char *text)
{
	static const char *const words[][2] = { { "yes", "y" }, { "true", "y" },  { "on", "y" },  { "Y", "y" },
						{ "no", "n" },	{ "false", "n" }, { "off", "n" }, { "N", "n" } };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i][0]) == 0)
			return words[i][1];
	}
	return NULL;
}

/*
 * y, m, n (in quotes too: some YAML writers quote them because YAML 1.1 takes them for booleans), a number, or a text in quotes.
 * The caller frees the value; NULL with an error.
 */
static char *option_value(struct matrix_loader *loader, const char *name, const struct yaml_node *node)
{
	if (!bind_expect_text(node, name, &loader->errors))
		return NULL;
	if (is_tristate(node->text))
		return xstrdup(node->text);
	if (node->quoted && !strchr(node->text, '\n'))
		return quote(node->text);
	if (*node->text != '"' && fragment_check_value(node->text))
		return xstrdup(node->text);
	const char *meant = meant_tristate(node->text);
	if (meant)
		error_join(&loader->errors,
			   error_at(node->pos,
				    "the value of %s must be y, m, n, a number or a text in quotes, not '%s' (did you mean %s?)",
				    name, node->text, meant));
	else
		error_join(&loader->errors,
			   error_at(node->pos,
				    "the value of %s must be y, m, n, a number or a text of one line in quotes, not '%s'", name,
				    node->text));
	return NULL;
}

static bool all_lower_case(const char *name)
{
	for (const char *c = name; *c; c++) {
		if (isupper((unsigned char)*c))
			return false;
	}
	return true;
}

static bool check_option_name(struct matrix_loader *loader, const struct yaml_pair *pair, const char *where)
{
	static const char prefix[] = "CONFIG_";
	struct error *error = NULL;
	if (str_starts(pair->key, prefix))
		error = error_at(pair->key_pos, "options stand without CONFIG_ here: write '%s'", pair->key + strlen(prefix));
	else if (all_lower_case(pair->key) && !isdigit((unsigned char)*pair->key))
		error = error_at(pair->key_pos, "unknown key '%s' in %s (known: fragments, and options in capitals)", pair->key,
				 where);
	else if (!fragment_check_name(pair->key))
		error = error_at(pair->key_pos, "'%s' is no option: its name is made of letters, digits and '_'", pair->key);
	error_join(&loader->errors, error);
	return !error;
}

static void read_option(struct matrix_loader *loader, struct fragment *fragment, const struct yaml_pair *pair, const char *where)
{
	if (!check_option_name(loader, pair, where))
		return;
	struct option_entry entry = { pair->value, false };
	AUTO_FREE char *what = xasprintf("option %s", pair->key);
	if (pair->value->kind == YAML_MAPPING && !bind_mapping(pair->value, &option_keys, what, &entry, &loader->errors))
		return;
	AUTO_FREE char *value = option_value(loader, pair->key, entry.value);
	if (value)
		fragment_add(fragment, pair->key, value, entry.optional, pair->key_pos);
}

static void read_fragments(struct matrix_loader *loader, struct fragment *into, const struct yaml_node *node)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, "'fragments'", &items, &n, &loader->errors))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!loader->lab && !strchr(items[i]->text, '/'))
			continue;
		AUTO_FREE char *path = NULL;
		struct fragment *fragment = NULL;
		struct error *error = search_file(&loader->search, items[i], "fragment", "", &path);
		if (!error)
			error = error_place(fragment_load(path, &fragment), items[i]->pos);
		if (!error)
			fragment_append(into, fragment);
		fragment_free(fragment);
		error_join(&loader->errors, error);
	}
}

static void read_config(struct matrix_loader *loader, const struct yaml_pair *pair)
{
	struct config *config = &loader->matrix->configs[loader->matrix->n_configs++];
	*config = (struct config){ .name = xstrdup(pair->key), .fragment = fragment_new(), .pos = pair->key_pos };
	AUTO_FREE char *where = xasprintf("config '%s'", pair->key);
	if (strcmp(pair->key, PREBUILT) == 0)
		error_join(&loader->errors,
			   error_at(pair->key_pos,
				    "'" PREBUILT "' is the name of the config of prebuilt kernels: choose another"));
	else
		bind_check_name(pair->key, pair->key_pos, "the name of a config", &loader->errors);
	struct config_entry entry = { NULL };
	if (!bind_mapping(pair->value, &config_keys, where, &entry, &loader->errors))
		return;
	if (entry.fragments)
		read_fragments(loader, config->fragment, entry.fragments);
	for (size_t i = 0; i < pair->value->n; i++) {
		if (strcmp(pair->value->pairs[i].key, "fragments") != 0)
			read_option(loader, config->fragment, &pair->value->pairs[i], where);
	}
}

static const struct kernel *first_prebuilt(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_kernels; i++) {
		if (matrix->kernels[i].kind == KERNEL_PREBUILT)
			return &matrix->kernels[i];
	}
	return NULL;
}

static bool is_stock(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_targets; i++) {
		if (matrix->targets[i].device->profile->stock)
			return true;
	}
	return false;
}

/* Where nothing is built, all rows have what the devices have. */
static void add_device_config(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	matrix->configs[matrix->n_configs++] = (struct config){ .name = xstrdup(is_stock(matrix) ? "stock" : "none"),
								.fragment = fragment_new(),
								.pos = loader->root->pos };
}

void matrix_read_configs(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	size_t n = loader->config ? loader->config->n : 0;
	if (loader->config && !n)
		error_join(&loader->errors, error_at(loader->config->pos, "'config' declares none"));
	matrix->configs = xcalloc(n + 1, sizeof(*matrix->configs));
	for (size_t i = 0; i < n; i++)
		read_config(loader, &loader->config->pairs[i]);
	const struct kernel *prebuilt = first_prebuilt(matrix);
	if (!prebuilt && !bind_has(loader->root, &matrix_keys, "config") && !matrix_needs_kernel(loader))
		add_device_config(loader);
	if (prebuilt)
		matrix->configs[matrix->n_configs++] = (struct config){
			.name = xstrdup(PREBUILT), .fragment = fragment_new(), .prebuilt = true, .pos = prebuilt->pos
		};
}

static void check_cmdline(struct matrix_loader *loader, const struct yaml_node *node, const char *what)
{
	for (const char *c = node->text; *c; c++) {
		if (iscntrl((unsigned char)*c)) {
			error_join(&loader->errors, error_at(node->pos, "%s must be one line without tabs", what));
			break;
		}
	}
	if (strlen(node->text) > CMDLINE_MAX)
		error_join(&loader->errors, error_at(node->pos, "%s has %zu characters: %d fit beside the device's own", what,
						     strlen(node->text), CMDLINE_MAX));
}

void matrix_read_cmdlines(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	size_t n = loader->cmdline ? loader->cmdline->n : 0;
	if (loader->cmdline && !n)
		error_join(&loader->errors, error_at(loader->cmdline->pos, "'cmdline' declares none"));
	matrix->cmdlines = xcalloc(n + 1, sizeof(*matrix->cmdlines));
	for (size_t i = 0; i < n; i++) {
		const struct yaml_pair *pair = &loader->cmdline->pairs[i];
		struct cmdline *cmdline = &matrix->cmdlines[matrix->n_cmdlines++];
		*cmdline = (struct cmdline){ .name = xstrdup(pair->key), .text = xstrdup(""), .pos = pair->key_pos };
		bind_check_name(pair->key, pair->key_pos, "the name of a cmdline", &loader->errors);
		AUTO_FREE char *what = xasprintf("cmdline '%s'", pair->key);
		if (!bind_expect_text(pair->value, what, &loader->errors))
			continue;
		check_cmdline(loader, pair->value, what);
		free(cmdline->text);
		AUTO_FREE char *text = xstrdup(pair->value->text);
		cmdline->text = xstrdup(str_trim(text));
	}
}
