/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of instructions by function. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/instructions.h"
#include "report/writer_text.h"

#define NAME_COLUMNS 40
#define VALUE_COLUMNS 10

/* One phase is its own sum. */
static size_t n_columns(const struct insn_table *table)
{
	return table->phases.n == 1 ? 1 : table->phases.n + 1;
}

static void write_line(const struct insn_table *table, const char *name, const double *values, int digits, struct strbuf *out)
{
	size_t start = out->len;

	strbuf_addf(out, "%.*s", text_fitting(name, NAME_COLUMNS - 1), name);
	text_pad(out, start, NAME_COLUMNS);
	for (size_t i = 0; i < n_columns(table); i++)
		strbuf_addf(out, table->b ? "%+*.*f" : "%*.*f", VALUE_COLUMNS, digits, values[i]);
	strbuf_addch(out, '\n');
}

static void write_head(const struct insn_table *table, struct strbuf *out)
{
	const char *per = table->per ? table->per : "operation";
	size_t target = report_row_target(table->a), start;

	text_title(table->report, target, table->workload, out);
	strbuf_addf(out, "\ninstructions a %s by function, %s%s%s: %llu iterations of the first block's boot%s\n", per,
		    table->b ? table->b->variant : table->a->variant, table->b ? " minus " : "",
		    table->b ? table->a->variant : "", (unsigned long long)table->iterations, table->b ? "s" : "");
	start = out->len;
	text_pad(out, start, NAME_COLUMNS);
	for (size_t i = 0; i < table->phases.n; i++)
		strbuf_addf(out, "%*s", VALUE_COLUMNS, table->phases.items[i]);
	if (table->phases.n > 1)
		strbuf_addf(out, "%*s", VALUE_COLUMNS, "sum");
	strbuf_addch(out, '\n');
}

/* A line's values, its sum behind them; the caller frees. */
static double *with_sum(const struct insn_table *table, const struct insn_line *line)
{
	double *values = xcalloc(table->phases.n + 1, sizeof(*values));

	for (size_t i = 0; i < table->phases.n; i++)
		values[i] = line->values[i];
	values[table->phases.n] = line->sum;
	return values;
}

/* What the lines that are not shown come to. */
static void write_rest(const struct insn_table *table, size_t from, struct strbuf *out)
{
	AUTO_FREE double *rest = xcalloc(table->phases.n + 1, sizeof(*rest));
	double most = 0;

	for (size_t i = from; i < table->n; i++) {
		AUTO_FREE double *values = with_sum(table, &table->lines[i]);
		for (size_t k = 0; k <= table->phases.n; k++)
			rest[k] += values[k];
		most = fmax(most, fabs(table->lines[i].sum));
	}
	AUTO_FREE char *name = xasprintf("%zu more, none above %.2f", table->n - from, most);
	write_line(table, name, rest, 2, out);
}

static void write_text(const struct insn_table *table, struct strbuf *out)
{
	size_t shown = table->top && table->top < table->n ? table->top : table->n, all = table->phases.n;

	write_head(table, out);
	for (size_t i = 0; i < shown; i++) {
		AUTO_FREE double *values = with_sum(table, &table->lines[i]);
		write_line(table, table->lines[i].name, values, 2, out);
	}
	if (shown < table->n)
		write_rest(table, shown, out);
	write_line(table, "all functions", table->counted, 2, out);
	write_line(table, "the guest's own counter", table->measured, 2, out);
	strbuf_addf(out, "%s: the functions' sum is %+.3f off the counter's %.2f (%.3f%%); 0.5%% or 0.05 may be\n",
		    table->good ? "check" : "CHECK FAILED", table->counted[all] - table->measured[all], table->measured[all],
		    table->measured[all] != 0 ? 100 * fabs(table->counted[all] / table->measured[all] - 1) : 0.0);
}

static struct jnode *values_json(const struct insn_table *table, const double *values, double sum)
{
	struct jnode *object = jnode_object();

	for (size_t i = 0; i < table->phases.n; i++)
		jnode_set_real(object, table->phases.items[i], values[i]);
	if (table->phases.n > 1)
		jnode_set_real(object, "sum", sum);
	return object;
}

static struct jnode *lines_json(const struct insn_table *table)
{
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < table->n; i++) {
		struct jnode *item = jnode_object();
		jnode_set_string(item, "function", table->lines[i].name);
		jnode_set(item, "insn", values_json(table, table->lines[i].values, table->lines[i].sum));
		jnode_append(list, item);
	}
	return list;
}

static void write_json(const struct insn_table *table, struct strbuf *out)
{
	AUTO_JNODE root = jnode_object();
	size_t all = table->phases.n;

	jnode_set_string(root, "schema", "memcg-ab/instructions/1");
	jnode_set_string(root, "run", table->report->run_id);
	jnode_set_string(root, "device", jnode_string(table->a->target, "device", NULL));
	jnode_set_string(root, "workload", jnode_string(table->workload, "label", NULL));
	jnode_set_string(root, "per", table->per);
	jnode_set_string(root, "variant", table->b ? table->b->variant : table->a->variant);
	jnode_set_string(root, "minus", table->b ? table->a->variant : NULL);
	jnode_set_int(root, "iterations", (int64_t)table->iterations);
	jnode_set(root, "functions", lines_json(table));
	jnode_set(root, "counted", values_json(table, table->counted, table->counted[all]));
	jnode_set(root, "measured", values_json(table, table->measured, table->measured[all]));
	jnode_set_bool(root, "good", table->good);
	jnode_write(root, 2, out);
	strbuf_addch(out, '\n');
}

struct error *insn_write(const struct insn_table *table, const char *format, struct strbuf *out)
{
	if (!strcmp(format, "json"))
		write_json(table, out);
	else if (!strcmp(format, "text"))
		write_text(table, out);
	else
		return error_new(ERROR_INPUT, "unknown format '%s': there are text, json", format);
	return NULL;
}
