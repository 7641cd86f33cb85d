/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/instructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/instructions_inlined.h"

#define COUNTED_BLOCK 0 /* run/session.h: the first block's boots are counted */
/* How far the sum of all functions may be from the guest's own count: of it, and at least in instructions an operation. */
#define MOST_OFF 0.005
#define LEAST_OFF 0.05
#define NOTHING 1e-9
#define PROCESSES "(processes)"

static const char *name_of(const struct stored_function *function)
{
	if (!function->kernel)
		return PROCESSES;
	return *function->name ? function->name : "(no function)";
}

static bool is_of_device(const struct report_row *row, const char *device)
{
	return !row->control && (!device || !strcmp(jnode_string(row->target, "device", ""), device));
}

/* "memcg/disabled" begins "memcg/disabled/3", and not "memcg/disabled2/0". */
static bool begins(const char *name, const char *row)
{
	size_t len = strlen(name);

	return !strncmp(name, row, len) && row[len] == '/';
}

/* The rows that `name` is, or else those that it begins. */
static size_t match_rows(const struct report *report, const char *name, const char *device, const struct report_row **rows)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++)
		if (is_of_device(&report->rows[i], device) && !strcmp(name, report->rows[i].variant))
			rows[n++] = &report->rows[i];
	for (size_t i = 0; i < report->n_rows && (!n || strcmp(rows[0]->variant, name) != 0); i++)
		if (is_of_device(&report->rows[i], device) && begins(name, report->rows[i].variant))
			rows[n++] = &report->rows[i];
	return n;
}

static struct error *no_row(const struct report *report, const char *name, const char *device)
{
	AUTO_FREE const char **names = xcalloc(report->n_rows + 1, sizeof(*names));
	AUTO_STRBUF all = STRBUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		if (!is_of_device(&report->rows[i], device))
			continue;
		names[n++] = report->rows[i].variant;
		strbuf_addf(&all, "%s%s", n > 1 ? ", " : "", report->rows[i].variant);
	}
	if (!n)
		return error_new(ERROR_INPUT, "the run has no device '%s'", device);
	const char *meant = str_suggest(name, names, n);
	return error_new(ERROR_INPUT, "there is no variant '%s'%s%s%s: there are %s", name, meant ? " (did you mean '" : "",
			 meant ? meant : "", meant ? "'?)" : "", strbuf_str(&all));
}

static struct error *several_rows(const char *name, const struct report_row *const *rows, size_t n)
{
	AUTO_STRBUF all = STRBUF_INIT;
	bool alike = !strcmp(rows[0]->variant, rows[1]->variant);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", alike ? jnode_string(rows[i]->target, "device", "") : rows[i]->variant);
	if (alike)
		return error_new(ERROR_INPUT, "'%s' was measured on several devices, choose one with --device: %s", name,
				 strbuf_str(&all));
	return error_new(ERROR_INPUT, "'%s' may be any of %s", name, strbuf_str(&all));
}

struct error *insn_find_row(const struct report *report, const char *name, const char *device, const struct report_row **row_out)
{
	AUTO_FREE const struct report_row **rows = xcalloc(report->n_rows + 1, sizeof(const struct report_row *));
	size_t n = match_rows(report, name, device, rows);

	if (!n)
		return no_row(report, name, device);
	if (n > 1)
		return several_rows(name, rows, n);
	*row_out = rows[0];
	return NULL;
}

/* Adds up one row's counts. */
struct adding {
	struct insn_table *table;
	const struct insn_request *request;
	const struct report_row *row;
	struct insn_names *names; /* NULL: whole functions */
	double sign;
	bool first; /* the row that decides on the workload and its phases */
	size_t n_phases; /* of the row that were used */
};

static struct insn_line *find_line(struct insn_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (!strcmp(table->lines[i].name, name))
			return &table->lines[i];
	table->lines = array_grow(table->lines, table->n, sizeof(*table->lines));
	table->lines[table->n] = (struct insn_line){ .name = xstrdup(name) };
	return &table->lines[table->n++];
}

static const struct jnode *find_workload(const struct report *report, const char *label)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");

	for (size_t i = 0; i < jnode_size(workloads); i++)
		if (!strcmp(jnode_string(jnode_item(workloads, i), "label", ""), label))
			return jnode_item(workloads, i);
	return NULL;
}

static const struct report_metric *find_metric(const struct report_row *row, const char *workload, const char *phase)
{
	AUTO_FREE char *name = xasprintf("%s.%s.insn", workload, phase);

	return report_find_metric(row, name);
}

/* Is this phase asked for? The first row's first counted workload is the one where none is named. */
static bool is_wanted(struct adding *adding, const struct stored_counts *counts)
{
	struct insn_table *table = adding->table;
	const struct insn_request *request = adding->request;
	const char *label = table->workload ? jnode_string(table->workload, "label", "") : request->workload;

	if (label && strcmp(counts->workload, label) != 0)
		return false;
	if (request->phase && strcmp(counts->phase, request->phase) != 0)
		return false;
	if (!counts->operations || !find_metric(adding->row, counts->workload, counts->phase))
		return false;
	if (!table->workload)
		table->workload = find_workload(table->report, counts->workload);
	return table->workload && (adding->first || strlist_has(&table->phases, counts->phase));
}

static size_t phase_index(struct insn_table *table, const char *phase)
{
	for (size_t i = 0; i < table->phases.n; i++)
		if (!strcmp(table->phases.items[i], phase))
			return i;
	strlist_add(&table->phases, phase);
	return table->phases.n - 1;
}

/* A line's values by phase have room for as many as a workload can have metrics. */
static void add_to_line(struct insn_line *line, size_t n_phases, size_t phase, double value)
{
	if (!line->values)
		line->values = xcalloc(n_phases, sizeof(*line->values));
	line->values[phase] += value;
}

#define INSN_BYTES 4 /* of arm64 */

static void add(struct adding *adding, const char *name, size_t room, size_t phase, double value)
{
	add_to_line(find_line(adding->table, name), room, phase, value);
	adding->table->counted[phase] += value;
}

static void add_functions(struct adding *adding, const struct stored_counts *counts, size_t room, size_t phase)
{
	for (size_t i = 0; i < counts->n_functions; i++)
		add(adding, name_of(&counts->functions[i]), room, phase,
		    adding->sign * (double)counts->functions[i].insns / (double)counts->operations);
}

/* Of a block each instruction by itself: a piece of an inlined function begins anywhere in it. */
static void add_blocks(struct adding *adding, const struct stored_counts *counts, size_t room, size_t phase)
{
	for (size_t i = 0; i < counts->n_blocks; i++) {
		const struct stored_block *block = &counts->blocks[i];
		double value = adding->sign * (double)block->insns / (double)counts->operations;
		/* The upper half of the addresses is the kernel's. */
		if (!(block->address >> 63)) {
			add(adding, PROCESSES, room, phase, value);
			continue;
		}
		for (uint64_t k = 0; k < block->n; k++) {
			AUTO_FREE char *name = insn_names_at(adding->names, block->address + k * INSN_BYTES);
			add(adding, name, room, phase, value / (double)block->n);
		}
	}
}

static struct error *add_counts(void *arg, const struct stored_counts *counts)
{
	struct adding *adding = arg;
	struct insn_table *table = adding->table;

	if (!is_wanted(adding, counts))
		return NULL;
	size_t phase = phase_index(table, counts->phase);
	const struct report_metric *metric = find_metric(adding->row, counts->workload, counts->phase);
	size_t room = workload_find(jnode_string(table->workload, "kind", ""))->n_metrics + 1;
	if (!table->counted) {
		table->counted = xcalloc(room, sizeof(*table->counted));
		table->measured = xcalloc(room, sizeof(*table->measured));
	}
	if (adding->names)
		add_blocks(adding, counts, room, phase);
	else
		add_functions(adding, counts, room, phase);
	table->measured[phase] += adding->sign * metric->boots[COUNTED_BLOCK];
	table->per = metric->info->per;
	table->iterations = counts->iterations;
	adding->n_phases++;
	return NULL;
}

static struct error *nothing_counted(const struct adding *adding)
{
	const struct insn_request *request = adding->request;
	const struct report_row *row = adding->row;

	if (row->status != ROW_OK)
		return error_new(ERROR_INPUT, "%s was not measured: %s", row->variant,
				 row->reason ? row->reason : row_status_name(row->status));
	if (!report_row_exact(row))
		return error_new(ERROR_INPUT,
				 "instructions are told apart by function on exact QEMU devices alone, and %s is none",
				 jnode_string(row->target, "device", "the device"));
	if (request->workload || request->phase)
		return error_new(ERROR_INPUT, "no instructions of %s%s%s were counted by function in %s",
				 request->workload ? request->workload : "any workload", request->phase ? ", phase " : "",
				 request->phase ? request->phase : "", row->variant);
	return error_new(
		ERROR_INPUT,
		"the instructions of %s were not counted by function: the run is of an older memcg-ab, QEMU takes no plugins, or "
		"the run warned of it",
		row->variant);
}

static struct error *add_row(struct store *store, struct adding *adding)
{
	size_t row = (size_t)(adding->row - adding->table->report->rows);
	struct error *error = NULL;

	if (adding->request->images)
		error = insn_names_read(&(struct insn_kernel){ .images = adding->request->images,
							       .key = jnode_string(adding->row->description, "image", ""),
							       .build_id = jnode_string(adding->row->image, "build_id", ""),
							       .variant = adding->row->variant },
					&adding->names);
	if (!error)
		error = store_each_counts(store, (int64_t)row, COUNTED_BLOCK, add_counts, adding);

	if (!error && (!adding->n_phases || adding->n_phases != adding->table->phases.n))
		error = nothing_counted(adding);
	insn_names_free(adding->names);
	return error;
}

/* Largest first. */
static int compare_lines(const void *left, const void *right)
{
	const struct insn_line *a = left, *b = right;
	double difference = fabs(b->sum) - fabs(a->sum);

	return difference < 0 ? -1 : difference > 0 ? 1 : strcmp(a->name, b->name);
}

static bool agrees(double counted, double measured)
{
	return fabs(counted - measured) <= fmax(MOST_OFF * fabs(measured), LEAST_OFF);
}

static void finish(struct insn_table *table)
{
	size_t n_phases = table->phases.n, kept = 0;

	for (size_t i = 0; i < table->n; i++) {
		struct insn_line *line = &table->lines[i];
		bool something = false;
		for (size_t k = 0; k < n_phases; k++) {
			line->sum += line->values[k];
			something = something || fabs(line->values[k]) > NOTHING;
		}
		if (something) {
			table->lines[kept++] = *line;
			continue;
		}
		free(line->name);
		free(line->values);
	}
	table->n = kept;
	if (kept)
		qsort(table->lines, kept, sizeof(*table->lines), compare_lines);
	table->good = true;
	for (size_t k = 0; k < n_phases; k++) {
		table->counted[n_phases] += table->counted[k];
		table->measured[n_phases] += table->measured[k];
		table->good = table->good && agrees(table->counted[k], table->measured[k]);
	}
	table->good = table->good && agrees(table->counted[n_phases], table->measured[n_phases]);
}

static struct error *load_rows(struct store *store, const struct insn_request *request, struct insn_table *table)
{
	struct adding a = { .table = table, .request = request, .row = table->a, .sign = table->b ? -1 : 1, .first = true };
	struct adding b = { .table = table, .request = request, .row = table->b, .sign = 1 };
	struct error *error = add_row(store, &a);

	if (!error && table->b)
		error = add_row(store, &b);
	return error;
}

struct error *insn_load(const struct report *report, struct store *store, const struct insn_request *request,
			struct insn_table *table_out)
{
	struct insn_table table = { .report = report, .top = request->top };
	struct error *error = insn_find_row(report, request->a, request->device, &table.a);

	if (request->b)
		error_join(&error, insn_find_row(report, request->b, request->device, &table.b));
	if (!error && request->workload && !find_workload(report, request->workload))
		error = error_new(ERROR_INPUT, "the run has no workload '%s'", request->workload);
	if (!error)
		error = load_rows(store, request, &table);
	if (error) {
		insn_table_deinit(&table);
		return error;
	}
	finish(&table);
	*table_out = table;
	return NULL;
}

void insn_table_deinit(struct insn_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->lines[i].name);
		free(table->lines[i].values);
	}
	free(table->lines);
	free(table->counted);
	free(table->measured);
	strlist_deinit(&table->phases);
	*table = (struct insn_table){ .report = NULL };
}
