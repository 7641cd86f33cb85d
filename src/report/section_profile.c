/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Section `profile`: which functions the instructions of each variant went to, side by side, and what each has more or less than the baseline.
 * On exact QEMU devices from counted blocks (report/instructions.h): no sampling, no error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/instructions.h"
#include "report/section.h"

#define TOP 10
#define LEAST 0.005 /* what is printed as 0.00 is nothing */

struct side_by_side {
	struct insn_table *tables; /* one a row that was counted */
	size_t n;
	size_t baseline; /* index into tables; n = none */
};

/* What a line of the section's tables is: a value of the variant `table`. */
typedef double value_fn(const struct side_by_side *profile, size_t table, const char *function);

static const struct insn_line *find_line(const struct insn_table *table, const char *function)
{
	for (size_t i = 0; i < table->n; i++)
		if (!strcmp(table->lines[i].name, function))
			return &table->lines[i];
	return NULL;
}

static double level(const struct side_by_side *profile, size_t table, const char *function)
{
	const struct insn_line *line = find_line(&profile->tables[table], function);

	return line ? line->sum : 0;
}

static double all_functions(const struct insn_table *table)
{
	return table->counted[table->phases.n];
}

static double share(const struct side_by_side *profile, size_t table, const char *function)
{
	return 100 * level(profile, table, function) / all_functions(&profile->tables[table]);
}

static double difference(const struct side_by_side *profile, size_t table, const char *function)
{
	return level(profile, table, function) - level(profile, profile->baseline, function);
}

struct ranked {
	const char *name;
	double weight; /* its largest value in any variant */
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : strcmp(a->name, b->name);
}

/* All functions of all variants, those first that matter most somewhere; the caller frees. */
static struct ranked *rank(const struct side_by_side *profile, value_fn *value, size_t *n_out)
{
	struct strlist names = { NULL, 0 };
	struct ranked *ranked = NULL;
	size_t n = 0;

	for (size_t i = 0; i < profile->n; i++) {
		for (size_t k = 0; k < profile->tables[i].n; k++) {
			const char *name = profile->tables[i].lines[k].name;
			if (strlist_has(&names, name))
				continue;
			strlist_add(&names, name);
			ranked = array_grow(ranked, n, sizeof(*ranked));
			ranked[n] = (struct ranked){ name, 0 };
			for (size_t t = 0; t < profile->n; t++)
				ranked[n].weight = fmax(ranked[n].weight, fabs(value(profile, t, name)));
			n++;
		}
	}
	strlist_deinit(&names);
	if (n)
		qsort(ranked, n, sizeof(*ranked), compare_ranked);
	while (n && ranked[n - 1].weight < LEAST)
		n--;
	*n_out = n;
	return ranked;
}

static void add_value(struct section_table *table, double value, bool is_signed)
{
	strlist_addf(&table->cells, is_signed ? "%+.2f" : "%.2f", fabs(value) < LEAST ? 0.0 : value);
}

/* `skipped`: a table that has no column, being what the others are compared with; profile->n = none. */
static void add_table(const struct side_by_side *profile, char *title, value_fn *value, size_t skipped, struct section *out)
{
	struct section_table *table = section_add(out, title);
	size_t n = 0;
	struct ranked *ranked = rank(profile, value, &n);
	const bool is_signed = skipped < profile->n;
	AUTO_FREE double *shown = xcalloc(profile->n + 1, sizeof(*shown));

	strlist_add(&table->columns, "function");
	for (size_t t = 0; t < profile->n; t++)
		if (t != skipped)
			strlist_add(&table->columns, profile->tables[t].a->variant);
	for (size_t i = 0; i <= n; i++) {
		bool rest = i == TOP || i == n;
		if (i == n && n > TOP)
			break;
		if (rest && i < n)
			strlist_addf(&table->cells, "%zu more, none above %.2f", n - i, ranked[i].weight);
		else
			strlist_add(&table->cells, rest ? "all others" : ranked[i].name);
		for (size_t t = 0; t < profile->n; t++) {
			double sum = value == share ? 100 : all_functions(&profile->tables[t]);
			if (is_signed)
				sum -= all_functions(&profile->tables[skipped]);
			double one = rest ? sum - shown[t] : value(profile, t, ranked[i].name);
			shown[t] += one;
			if (t != skipped)
				add_value(table, one, is_signed);
		}
		if (rest)
			break;
	}
	free(ranked);
}

/* One workload on one device. */
static void add_tables(const struct side_by_side *profile, struct section *out)
{
	const struct insn_table *first = &profile->tables[0];
	const char *label = jnode_string(first->workload, "label", ""), *device = jnode_string(first->a->target, "device", "");
	const char *per = first->per ? first->per : "operation";

	add_table(profile, xasprintf("%s on %s: per cent of all instructions", label, device), share, profile->n, out);
	add_table(profile, xasprintf("%s on %s: instructions a %s", label, device, per), level, profile->n, out);
	if (profile->baseline < profile->n && profile->n > 1)
		add_table(profile,
			  xasprintf("%s on %s: instructions a %s more than %s", label, device, per,
				    profile->tables[profile->baseline].a->variant),
			  difference, profile->baseline, out);
}

static void note_sum(const struct insn_table *table, struct section *out)
{
	size_t all = table->phases.n;

	if (!table->good && out->n)
		strlist_addf(&out->tables[out->n - 1].notes,
			     "CHECK FAILED: the functions of %s come to %.2f, the guest's own counter said %.2f",
			     table->a->variant, table->counted[all], table->measured[all]);
}

static bool is_shown(const struct report *report, size_t row, size_t target)
{
	return !report->rows[row].control && report->rows[row].status == ROW_OK &&
	       report_row_target(&report->rows[row]) == target;
}

static void add_workload(const struct report *report, struct store *store, size_t target, const char *label, struct section *out)
{
	struct side_by_side profile = { .tables = xcalloc(report->n_rows + 1, sizeof(*profile.tables)),
					.baseline = report->n_rows };

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct insn_request request = { .a = row->variant,
						      .workload = label,
						      .device = jnode_string(row->target, "device", NULL) };
		if (!is_shown(report, i, target))
			continue;
		AUTO_ERROR error = insn_load(report, store, &request, &profile.tables[profile.n]);
		if (error)
			continue; /* this workload is of another kind, or this boot was not counted */
		if (row->baseline < 0 || (size_t)row->baseline == i)
			profile.baseline = profile.n;
		profile.n++;
	}
	if (profile.baseline > profile.n)
		profile.baseline = profile.n;
	if (profile.n)
		add_tables(&profile, out);
	for (size_t i = 0; i < profile.n; i++) {
		note_sum(&profile.tables[i], out);
		insn_table_deinit(&profile.tables[i]);
	}
	free(profile.tables);
}

static void add_targets(const struct report *report, struct store *store, struct section *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets"), *workloads = jnode_get(report->run, "workloads");

	for (size_t i = 0; i < jnode_size(targets); i++)
		for (size_t k = 0; k < jnode_size(workloads); k++)
			add_workload(report, store, i, jnode_string(jnode_item(workloads, k), "label", ""), out);
}

static void fill(const struct report *report, struct section *out)
{
	AUTO_FREE char *path = xasprintf("%s/%s/run.db", report->runs_dir, report->run_id);
	AUTO_STORE store = NULL;
	AUTO_ERROR error = store_open_readonly(path, &store);

	if (!error)
		add_targets(report, store, out);
	if (out->n)
		return;
	struct section_table *table = section_add(out, xstrdup("Instructions by function"));
	strlist_add(&table->notes,
		    error ? error_message(error)
			  : "no boot of this run was counted by function: that is done in the first boots on exact QEMU devices");
}

const struct report_section report_section_profile = { .name = "profile",
						       .description = "instructions by function, side by side",
						       .fill = fill };
