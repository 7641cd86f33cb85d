/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/bind.h"
#include "plan/units.h"
#include "report/summary_parts.h"

#define COUNT_MAX 1e9
#define VALUE_MAX 1e30
#define CHANGE_MAX 1000

static const char *const better_words[] = { "lower", "higher", NULL };
static const double usual_spreads[] = { 0.001, 0.002, 0.005, 0.01 };

struct top {
	struct summary summary;
	const struct yaml_node *spreads, *rows;
};

static const struct bind_field top_fields[] = {
	BIND("title", BIND_TEXT, struct top, summary.title, .required = true),
	BIND("metric", BIND_TEXT, struct top, summary.metric, .required = true),
	BIND("unit", BIND_TEXT, struct top, summary.unit, .required = true),
	BIND("better", BIND_WORD, struct top, summary.better, .required = true, .words = better_words),
	BIND("boot_spread", BIND_LIST, struct top, spreads),
	BIND("rows", BIND_LIST, struct top, rows, .required = true),
};
static const struct bind_table top_keys = { "summary", top_fields, ARRAY_SIZE(top_fields), false };

struct entry {
	struct summary_row row;
	const struct yaml_node *sd, *against;
	double drop, change; /* ratios; NAN when not given */
};

static const struct bind_field row_fields[] = {
	BIND("name", BIND_TEXT, struct entry, row.name, .required = true),
	BIND("unit", BIND_TEXT, struct entry, row.unit),
	BIND("mean", BIND_REAL, struct entry, row.mean, .min = 1e-30, .max = VALUE_MAX),
	BIND("drop", BIND_RATIO, struct entry, drop, .min = -CHANGE_MAX, .max = 0.999999),
	BIND("change", BIND_RATIO, struct entry, change, .min = -0.999999, .max = CHANGE_MAX),
	BIND("sd", BIND_ANY, struct entry, sd, .required = true),
	BIND("n", BIND_COUNT, struct entry, row.n, .required = true, .min = 2, .max = COUNT_MAX),
	BIND("boots", BIND_COUNT, struct entry, row.boots, .min = 1, .max = COUNT_MAX),
	BIND("printed", BIND_RATIO, struct entry, row.printed, .min = -0.999999, .max = CHANGE_MAX),
	BIND("against", BIND_ANY, struct entry, against),
};
static const struct bind_table row_keys = { "row", row_fields, ARRAY_SIZE(row_fields), false };

struct loader {
	struct summary *summary;
	struct entry *entries;
	const struct yaml_node *rows; /* n of them as entries */
	struct error *errors;
};

static struct pos value_pos(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *value = yaml_get(node, key);
	return value ? value->pos : node->pos;
}

/* "row 'after'", or "row 3" while it has no name. */
static char *row_label(const struct yaml_node *node, size_t index)
{
	const struct yaml_node *name = node->kind == YAML_MAPPING ? yaml_get(node, "name") : NULL;

	if (name && name->kind == YAML_SCALAR && *name->text)
		return xasprintf("row '%s'", name->text);
	return xasprintf("row %zu", index + 1);
}

static void load_spreads(struct loader *loader, const struct yaml_node *list)
{
	static const struct bind_field field = { .type = BIND_RATIO, .size = sizeof(double), .min = 0, .max = 1 };
	struct summary *summary = loader->summary;

	if (!list) {
		memcpy(summary->spreads, usual_spreads, sizeof(usual_spreads));
		summary->n_spreads = ARRAY_SIZE(usual_spreads);
		return;
	}
	if (!list->n || list->n > SUMMARY_SPREADS_MAX) {
		error_join(&loader->errors, error_at(list->pos, "'boot_spread' has %zu values: write 1 to %d, or leave it out",
						     list->n, SUMMARY_SPREADS_MAX));
		return;
	}
	for (size_t i = 0; i < list->n; i++)
		if (bind_value(list->items[i], &field, "a boot spread", &summary->spreads[summary->n_spreads], &loader->errors))
			summary->n_spreads++;
}

/* Its own, or of the first row by `drop` or `change`; the first row is 1 when it says nothing. */
static void load_mean(struct loader *loader, size_t index, const char *label)
{
	struct entry *entry = &loader->entries[index];
	const struct yaml_node *node = loader->rows->items[index];
	double first = loader->entries[0].row.mean;
	int given = !isnan(entry->row.mean) + !isnan(entry->drop) + !isnan(entry->change);
	bool tried = yaml_get(node, "mean") || yaml_get(node, "drop") || yaml_get(node, "change");

	if (given > 1 || (!given && !tried && index)) {
		error_join(&loader->errors, error_at(node->pos, "%s needs one of 'mean', 'drop' and 'change'%s", label,
						     given ? ", not several" : ""));
		return;
	}
	if (!index && (!isnan(entry->drop) || !isnan(entry->change))) {
		error_join(&loader->errors, error_at(node->pos,
						     "%s is the first: the others drop or change against it, it has a "
						     "'mean' or counts as 1",
						     label));
		return;
	}
	if (!index && !given && !tried)
		entry->row.mean = 1;
	if (!isnan(entry->drop))
		entry->row.mean = first * (1 - entry->drop);
	if (!isnan(entry->change))
		entry->row.mean = first * (1 + entry->change);
}

static void load_sd(struct loader *loader, struct entry *entry, const char *label)
{
	AUTO_FREE char *what = xasprintf("'sd' of %s", label);
	double value;

	if (!entry->sd || !bind_expect_text(entry->sd, what, &loader->errors))
		return;
	bool part = str_ends(entry->sd->text, "%");
	if (!(part ? units_ratio(entry->sd->text, &value) : units_real(entry->sd->text, &value)) || value < 0 ||
	    value > VALUE_MAX) {
		error_join(&loader->errors,
			   error_at(entry->sd->pos, "%s must be a number in the unit, or such as 2%% of the mean, not '%s'", what,
				    entry->sd->text));
		return;
	}
	entry->row.sd = part ? value * entry->row.mean : value;
}

static void check_boots(struct loader *loader, size_t index, const char *label)
{
	const struct summary_row *row = &loader->entries[index].row;

	if (row->boots > row->n && row->n)
		error_join(&loader->errors,
			   error_at(value_pos(loader->rows->items[index], "boots"),
				    "'boots' of %s cannot be more than its %llu runs", label, (unsigned long long)row->n));
}

static void check_name(struct loader *loader, size_t index)
{
	const char *name = loader->entries[index].row.name;

	for (size_t i = 0; name && i < index; i++) {
		if (!loader->entries[i].row.name || strcmp(loader->entries[i].row.name, name) != 0)
			continue;
		struct error *error = error_at(value_pos(loader->rows->items[index], "name"), "there are two rows '%s'", name);
		error_note(error, value_pos(loader->rows->items[i], "name"), "the first is here");
		error_join(&loader->errors, error);
		return;
	}
}

static bool already_against(const struct summary_row *row, size_t other)
{
	for (size_t i = 0; i < row->n_against; i++)
		if (row->against[i] == other)
			return true;
	return false;
}

static void add_against(struct loader *loader, size_t index, const struct yaml_node *node, const char *label)
{
	struct summary_row *row = &loader->entries[index].row;
	AUTO_NAMES names = { 0 };
	size_t n = loader->rows->n;

	for (size_t i = 0; i < n; i++) {
		const char *name = loader->entries[i].row.name;
		if (!name)
			continue;
		bind_names_add(&names, name, value_pos(loader->rows->items[i], "name"));
		if (strcmp(name, node->text) != 0)
			continue;
		if (i == index)
			error_join(&loader->errors, error_at(node->pos, "%s cannot be compared with itself", label));
		else if (already_against(row, i))
			error_join(&loader->errors, error_at(node->pos, "%s is compared with '%s' twice", label, name));
		else
			row->against[row->n_against++] = i;
		return;
	}
	error_join(&loader->errors, bind_unknown_name(node->pos, "row", node->text, &names, "no row has a name"));
}

static void load_against(struct loader *loader, size_t index, const char *label)
{
	struct entry *entry = &loader->entries[index];
	AUTO_FREE char *what = xasprintf("'against' of %s", label);
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;

	if (!entry->against || !bind_one_or_list(entry->against, what, &items, &n, &loader->errors))
		return;
	if (n > SUMMARY_AGAINST_MAX) {
		error_join(&loader->errors,
			   error_at(entry->against->pos, "%s names %zu rows: at most %d", what, n, SUMMARY_AGAINST_MAX));
		return;
	}
	for (size_t i = 0; i < n; i++)
		add_against(loader, index, items[i], label);
}

static void load_comparisons(struct loader *loader)
{
	size_t n = loader->rows->n;
	bool some = false;

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *label = row_label(loader->rows->items[i], i);
		some |= loader->entries[i].against != NULL;
		load_against(loader, i, label);
	}
	for (size_t i = 1; i < n && !some; i++)
		loader->entries[i].row.n_against = 1; /* the first row */
}

static void load_rows(struct loader *loader)
{
	size_t n = loader->rows->n;

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *label = row_label(loader->rows->items[i], i);
		struct entry *entry = &loader->entries[i];
		entry->row.mean = entry->drop = entry->change = entry->row.printed = NAN;
		if (!bind_mapping(loader->rows->items[i], &row_keys, label, entry, &loader->errors) &&
		    loader->rows->items[i]->kind != YAML_MAPPING)
			continue;
		load_mean(loader, i, label);
		load_sd(loader, entry, label);
		check_boots(loader, i, label);
		check_name(loader, i);
	}
	load_comparisons(loader);
}

static void take_rows(struct loader *loader)
{
	struct summary *summary = loader->summary;

	summary->n_rows = loader->rows->n;
	summary->rows = xcalloc(summary->n_rows, sizeof(*summary->rows));
	for (size_t i = 0; i < summary->n_rows; i++)
		summary->rows[i] = loader->entries[i].row;
}

static void check_rows(struct loader *loader)
{
	size_t n = loader->rows->n;

	if (n < 2 || n > SUMMARY_ROWS_MAX) {
		error_join(&loader->errors,
			   error_at(loader->rows->pos, "'rows' has %zu entries: a comparison takes 2, and %d is the most", n,
				    SUMMARY_ROWS_MAX));
		return;
	}
	loader->entries = xcalloc(n, sizeof(*loader->entries));
	load_rows(loader);
	take_rows(loader);
	free(loader->entries);
}

static void load(const struct yaml_node *root, struct loader *loader)
{
	struct top top = { .summary = { 0 } };

	bind_mapping(root, &top_keys, "a summary file", &top, &loader->errors);
	*loader->summary = top.summary;
	if (root->kind != YAML_MAPPING)
		return;
	load_spreads(loader, top.spreads);
	loader->rows = top.rows;
	if (loader->rows)
		check_rows(loader);
}

static void deinit(struct summary *summary)
{
	for (size_t i = 0; i < summary->n_rows; i++) {
		free(summary->rows[i].name);
		free(summary->rows[i].unit);
	}
	free(summary->rows);
	free(summary->title);
	free(summary->metric);
	free(summary->unit);
}

struct error *summary_write(const char *path, struct strbuf *out)
{
	struct yaml_node *root = NULL;
	struct summary summary = { 0 };
	struct loader loader = { .summary = &summary };

	loader.errors = yaml_load_partial(path, &root);
	if (root)
		load(root, &loader);
	if (!loader.errors)
		summary_text(&summary, out);
	yaml_node_free(root);
	deinit(&summary);
	return loader.errors;
}
