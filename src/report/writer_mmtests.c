/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compare table of mmtests, a table a target and metric: a line a statistic of the boot means, a column a row, the baseline
 * first. The per cent are those of the printed figures against the first column, positive = better. In the line of the mean,
 * "*" stands around what is resolved and parentheses around what is not; the other lines are not tested. A column is headed by
 * VERSION-VARIANT, in two lines that part at the first '-', as mmtests does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

enum statistic { STAT_MIN, STAT_MEAN, STAT_STDDEV, STAT_COEFFVAR, STAT_MAX, N_STATS };

/* One row of the report. */
struct column {
	char *head[2];
	const struct report_row *row;
	const struct report_metric *metric; /* NULL: its status stands in the cells */
	double values[N_STATS];
	char *cells[N_STATS];
	size_t width;
};

static void set_head(struct column *column)
{
	const struct report_row *row = column->row;
	AUTO_FREE char *name = xasprintf("%s-%s", jnode_string(row->kernel, "version", "linux"), row->variant);
	size_t first = strcspn(name, "-");

	column->head[0] = xstrndup(name, first);
	column->head[1] = xstrdup(name + first + 1);
}

static void set_values(struct column *column)
{
	const struct level *level = &column->metric->level;
	double mean = column->metric->mean;

	column->values[STAT_MIN] = level->min;
	column->values[STAT_MEAN] = mean;
	column->values[STAT_STDDEV] = level->sd;
	column->values[STAT_COEFFVAR] = 100 * level->sd / mean;
	column->values[STAT_MAX] = level->max;
}

/* By how many per cent `value` is better than `reference`; of nothing there are no per cent, and mmtests then says 100 or -99. */
static double better_by(double value, double reference, bool higher)
{
	if (value == reference)
		return 0;
	if (reference == 0)
		return higher ? 100 : -99;
	return (higher ? 1 : -1) * 100 * (value / reference - 1);
}

static char *cell_text(const struct column *column, const struct column *first, enum statistic statistic)
{
	double value = column->values[statistic], reference = first->metric ? first->values[statistic] : NAN;
	bool higher = column->metric->info->higher_is_better && statistic != STAT_STDDEV && statistic != STAT_COEFFVAR;
	const struct report_difference *difference = &column->metric->baseline;
	bool marked = statistic == STAT_MEAN && difference->present && difference->resolved && !difference->below_floor;

	if (isnan(value))
		return xstrdup("-            ");
	if (isnan(reference))
		return xasprintf("%.4f            ", value);
	return xasprintf("%.4f %c%7.2f%%%c", value, marked ? '*' : '(', better_by(value, reference, higher), marked ? '*' : ')');
}

static void set_cells(struct column *column, const struct column *first)
{
	for (size_t k = 0; k < N_STATS; k++) {
		column->cells[k] = column->metric
					   ? cell_text(column, first, (enum statistic)k)
					   : xstrdup(column->row->status == ROW_OK ? "-" : row_status_name(column->row->status));
		column->width = strlen(column->cells[k]) > column->width ? strlen(column->cells[k]) : column->width;
	}
	for (size_t k = 0; k < ARRAY_SIZE(column->head); k++)
		column->width = strlen(column->head[k]) > column->width ? strlen(column->head[k]) : column->width;
}

/* The target's rows, the baseline first. */
static size_t make_columns(const struct report *report, const struct jnode *target, const char *metric, struct column *columns)
{
	size_t n = 0;

	for (int baseline = 1; baseline >= 0; baseline--)
		for (size_t i = 0; i < report->n_rows; i++) {
			const struct report_row *row = &report->rows[i];
			if (row->target != target || !words_row_shown(row) || (row->baseline == (ssize_t)i) != baseline)
				continue;
			columns[n] = (struct column){ .row = row, .metric = report_find_metric(row, metric) };
			set_head(&columns[n]);
			if (columns[n].metric)
				set_values(&columns[n]);
			n++;
		}
	for (size_t i = 0; i < n; i++)
		set_cells(&columns[i], &columns[0]);
	return n;
}

/* "fault.rate-4": what mmtests calls operation and clients. */
static char *operation(const struct jnode *workload, const struct workload_metric *metric)
{
	const struct jnode *options = jnode_get(workload, "options");
	const char *threads = jnode_string(options, "threads", NULL), *processes = jnode_string(options, "processes", "0");
	const char *clients = strcmp(processes, "0") ? processes : threads;

	return xasprintf("%s.%s%s%s", metric->phase, metric->unit, clients ? "-" : "", clients ? clients : "");
}

static void print_columns(const struct report *report, const struct workload_metric *metric, const char *name,
			  const struct column *columns, size_t n, struct strbuf *out)
{
	bool harmonic = !strcmp(metric->unit, "rate") && !report->arithmetic;
	const char *const names[N_STATS] = { "Min", harmonic ? "Hmean" : "Amean", "Stddev", "CoeffVar", "Max" };
	int label = (int)strlen(name) + 10;

	for (size_t k = 0; k < ARRAY_SIZE(columns->head); k++) {
		strbuf_addf(out, "%*s", label, "");
		for (size_t i = 0; i < n; i++)
			strbuf_addf(out, " %*s", (int)columns[i].width, columns[i].head[k]);
		strbuf_addch(out, '\n');
	}
	for (size_t k = 0; k < N_STATS; k++) {
		strbuf_addf(out, "%-9s %s", names[k], name);
		for (size_t i = 0; i < n; i++)
			strbuf_addf(out, " %*s", (int)columns[i].width, columns[i].cells[k]);
		while (out->data[out->len - 1] == ' ')
			out->data[--out->len] = '\0';
		strbuf_addch(out, '\n');
	}
}

static void write_metric(const struct report *report, size_t target, const struct jnode *workload,
			 const struct workload_metric *metric, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	struct column *columns = xcalloc(report->n_rows, sizeof(*columns));
	AUTO_FREE char *full = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);
	AUTO_FREE char *unit = words_metric_unit(metric);
	AUTO_FREE char *name = operation(workload, metric);
	AUTO_FREE char *title = words_workload(workload);
	AUTO_FREE char *device = words_target(description);
	AUTO_FREE char *measure = words_measure(report, target, workload);
	size_t n = make_columns(report, description, full, columns);

	strbuf_addf(out, "\n%s, %s on %s: %s\n", title, unit, device, measure);
	print_columns(report, metric, name, columns, n, out);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(columns[i].head); k++)
			free(columns[i].head[k]);
		for (size_t k = 0; k < N_STATS; k++)
			free(columns[i].cells[k]);
	}
	free(columns);
}

/* What the columns are; mmtests leaves that to the reader. */
static void write_target(const struct report *report, size_t target, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	AUTO_FREE char *name = words_target(description);
	AUTO_FREE char *machine = words_device(description);
	AUTO_FREE char *frequency = words_frequency(description);

	strbuf_addf(out, "%s%s: %s; cores %s; frequency: %s\n", target ? "\n" : "", name, machine,
		    jnode_string(description, "cores", "all"), frequency);
	if (*jnode_string(description, "cmdline", ""))
		strbuf_addf(out, "cmdline: %s\n", jnode_string(description, "cmdline", ""));
	if (words_no_aa(report, target))
		strbuf_addf(out, "A/A: %s\n", words_no_aa(report, target));
	if (words_invalid(report, target))
		strbuf_adds(out, "INVALID: no verdict counts\n");
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != description || !words_row_shown(row))
			continue;
		AUTO_FREE char *kernel = words_kernel(row);
		AUTO_FREE char *facts = words_row_facts(report, row);
		if (words_first_of_kernel(report, i))
			strbuf_addf(out, "kernel %s\n", kernel);
		strbuf_addf(out, "  %s\n", facts);
	}
}

static void write(const struct report *report, struct strbuf *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets"), *workloads = jnode_get(report->run, "workloads");

	for (size_t target = 0; target < jnode_size(targets); target++) {
		write_target(report, target, out);
		for (size_t i = 0; i < jnode_size(workloads); i++) {
			const struct jnode *workload = jnode_item(workloads, i);
			AUTO_FREE const struct workload_metric **metrics = words_metrics(report, target, workload, WORDS_LONG);
			for (size_t k = 0; metrics[k]; k++)
				write_metric(report, target, workload, metrics[k], out);
		}
	}
	strbuf_addf(out, "\nrun %s%s: %s\n", report->run_id, report->finished ? "" : " (not finished)",
		    jnode_string(report->run, "command", ""));
}

const struct report_writer report_writer_mmtests = { "mmtests", "the compare table of mmtests", write };
