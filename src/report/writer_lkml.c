/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mail for a kernel list: plain ASCII, 75 columns. A target's rows once, then a table a metric; every line of another's making
 * (names, subjects, reasons) is indented, since git am takes a line that starts with "---" or "diff -" for the end of the
 * message.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/plain.h"
#include "report/report.h"
#include "report/words.h"

#define WIDTH 75
#define FACT_INDENT 11
#define LABEL_MIN 16 /* a narrower label says nothing: it gets a line of its own */

enum { CELL_MEAN, CELL_CV, CELL_BASELINE, CELL_PREVIOUS, N_CELLS };

struct line {
	char *label;
	char *cells[N_CELLS]; /* "" = nothing to say */
};

struct table {
	struct line *lines; /* the first is the header */
	size_t n;
	size_t widths[N_CELLS]; /* 0 = the column is not shown */
	size_t label; /* width; 0 = on a line of its own */
};

static void write_fact(struct strbuf *out, const char *name, const char *text)
{
	AUTO_FREE char *lead = xasprintf("  %-*s", FACT_INDENT - 2, name);

	plain_fill(out, WIDTH, lead, FACT_INDENT, text);
}

/* "+6.01%" without its per cent sign. */
static char *bare_percent(double ratio)
{
	char *text = words_percent(ratio);
	size_t len = strlen(text);

	if (len && text[len - 1] == '%')
		text[len - 1] = '\0';
	return text;
}

static char *difference_text(const struct report_difference *difference, bool exact)
{
	const char *mark = words_mark(difference);

	if (!difference->present)
		return xstrdup("");
	if (exact)
		/* A spread that would be printed as nothing gets a digit more. */
		return xasprintf("%+.1f +-%.*f %+.2f%%%s", difference->exact.delta, difference->exact.spread < 0.095 ? 2 : 1,
				 difference->exact.spread, 100 * difference->ratio, *mark ? mark : " ");
	AUTO_FREE char *ratio = words_percent(difference->ratio);
	AUTO_FREE char *lo = bare_percent(difference->ci95.lo);
	AUTO_FREE char *hi = bare_percent(difference->ci95.hi);
	return xasprintf("%s [%s,%s]%s", ratio, lo, hi, *mark ? mark : " ");
}

static void fill_line(struct line *line, const struct report *report, const struct report_row *row,
		      const struct report_metric *metric)
{
	AUTO_FREE char *label = words_row(report, row, true);

	line->label = plain_ascii(label);
	for (size_t i = 0; i < N_CELLS; i++)
		line->cells[i] = NULL;
	if (!metric) {
		line->cells[CELL_MEAN] = xstrdup(row->status == ROW_OK ? "-" : row_status_name(row->status));
	} else {
		bool exact = report_row_exact(row);
		line->cells[CELL_MEAN] = words_level(metric->mean);
		if (!exact)
			line->cells[CELL_CV] = words_cv(metric);
		line->cells[CELL_BASELINE] = difference_text(&metric->baseline, exact);
		line->cells[CELL_PREVIOUS] = difference_text(&metric->previous, exact);
	}
	for (size_t i = 0; i < N_CELLS; i++)
		if (!line->cells[i])
			line->cells[i] = xstrdup("");
}

static void lay_out(struct table *table)
{
	size_t cells = 0, labels = 0;

	for (size_t k = 0; k < N_CELLS; k++) {
		bool said = false;
		for (size_t i = 0; i < table->n; i++) {
			size_t len = strlen(table->lines[i].cells[k]);
			said = said || (i && len);
			table->widths[k] = len > table->widths[k] ? len : table->widths[k];
		}
		table->widths[k] = said ? table->widths[k] : 0;
		cells += said ? table->widths[k] + 1 : 0;
	}
	for (size_t i = 0; i < table->n; i++)
		labels = strlen(table->lines[i].label) > labels ? strlen(table->lines[i].label) : labels;
	if (cells + labels <= WIDTH)
		table->label = labels;
	else
		table->label = cells + LABEL_MIN <= WIDTH ? WIDTH - cells : 0;
}

static void end_line(struct strbuf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

static void print_table(const struct table *table, struct strbuf *out)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct line *line = &table->lines[i];
		if (table->label)
			strbuf_addf(out, "%-*.*s", (int)table->label, (int)table->label, line->label);
		else if (*line->label)
			strbuf_addf(out, "%.*s\n", WIDTH, line->label);
		for (size_t k = 0; k < N_CELLS; k++)
			if (table->widths[k])
				strbuf_addf(out, " %*s", (int)table->widths[k], line->cells[k]);
		end_line(out);
	}
}

static void free_table(struct table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->lines[i].label);
		for (size_t k = 0; k < N_CELLS; k++)
			free(table->lines[i].cells[k]);
	}
	free(table->lines);
}

static struct line header_line(bool exact)
{
	return (struct line){
		.label = xstrdup(""),
		.cells = {
			[CELL_MEAN] = xstrdup("mean"),
			[CELL_CV] = xstrdup("CV"),
			[CELL_BASELINE] = xstrdup(exact ? "vs base +-spread " : "vs base [95% CI] "),
			[CELL_PREVIOUS] = xstrdup(exact ? "vs previous " : "vs previous [95% CI] "),
		},
	};
}

static void write_metric(const struct report *report, size_t target, const struct jnode *workload,
			 const struct workload_metric *metric, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	bool exact = jnode_bool(description, "exact", false);
	struct table table = { .lines = xcalloc(report->n_rows + 1, sizeof(*table.lines)) };
	AUTO_FREE char *unit = words_metric_unit(metric);
	AUTO_FREE char *name = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);
	AUTO_FREE char *title = xasprintf("%s, %s, %s", name, unit, words_better(metric));
	AUTO_FREE char *scatter = words_scatter(report, target, name);

	table.lines[table.n++] = header_line(exact);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != description || !words_row_shown(row))
			continue;
		fill_line(&table.lines[table.n++], report, row, report_find_metric(row, name));
	}
	lay_out(&table);
	strbuf_addch(out, '\n');
	plain_fill(out, WIDTH, "", 2, title);
	print_table(&table, out);
	for (const char *mark = WORDS_MARKS; *mark; mark++) {
		const char lead[] = { *mark, ' ', '\0' };
		AUTO_FREE char *meaning = words_mark_line(report, target, name, *mark);
		if (meaning)
			plain_fill(out, WIDTH, lead, 2, meaning);
	}
	if (scatter)
		plain_fill(out, WIDTH, "", 2, scatter);
	free_table(&table);
}

static void write_workload(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	AUTO_FREE const struct workload_metric **metrics = words_metrics(report, target, workload, WORDS_SHORT);
	AUTO_FREE char *options = words_options(workload);
	AUTO_FREE char *measure = words_measure(report, target, workload);
	AUTO_FREE char *test = xasprintf("%s: %s", jnode_string(workload, "label", ""), kind ? kind->summary : "");

	strbuf_adds(out, "Test\n");
	plain_fill(out, WIDTH, "  ", 4, test);
	write_fact(out, "options", options);
	write_fact(out, "measured", measure);
	for (size_t k = 0; metrics[k]; k++)
		write_metric(report, target, workload, metrics[k], out);
}

static void write_target(const struct report *report, size_t target, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	AUTO_FREE char *name = words_target(description);
	AUTO_FREE char *what = words_device(description);
	AUTO_FREE char *frequency = words_frequency(description);
	AUTO_FREE char *device = xasprintf("%s%s%s; cores %s; frequency: %s", name, *what ? ": " : "", what,
					   jnode_string(description, "cores", "all"), frequency);

	strbuf_addf(out, "%sMeasured on\n", target ? "\n" : "");
	for (size_t i = 0; i < report->n_rows; i++) {
		if (report->rows[i].target != description || !words_first_of_kernel(report, i))
			continue;
		AUTO_FREE char *kernel = words_kernel(&report->rows[i]);
		write_fact(out, "kernel", kernel);
		if (jnode_string(report->rows[i].kernel, "origin", NULL))
			write_fact(out, "from", jnode_string(report->rows[i].kernel, "origin", ""));
	}
	write_fact(out, "device", device);
	if (*jnode_string(description, "cmdline", ""))
		write_fact(out, "cmdline", jnode_string(description, "cmdline", ""));
	if (words_no_aa(report, target))
		write_fact(out, "A/A", words_no_aa(report, target));
	if (words_invalid(report, target))
		write_fact(out, "INVALID", "no verdict counts, see the notes");
	strbuf_adds(out, "Rows\n");
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != description || (row->control != CONTROL_NONE && row->status == ROW_OK))
			continue;
		AUTO_FREE char *facts = words_row_facts(report, row);
		plain_fill(out, WIDTH, "  ", 4, facts);
	}
	for (size_t i = 0; i < jnode_size(workloads); i++)
		write_workload(report, target, jnode_item(workloads, i), out);
}

static void write_gates(const struct report *report, struct strbuf *out)
{
	if (report->n_gates)
		strbuf_adds(out, "\nGates\n");
	for (size_t i = 0; i < report->n_gates; i++) {
		const struct report_gate *gate = &report->gates[i];
		AUTO_FREE char *claim = words_gate(report, gate);
		AUTO_FREE char *value = words_gate_value(gate);
		AUTO_FREE char *reason = words_gate_reason(gate);
		AUTO_STRBUF text = STRBUF_INIT;
		strbuf_addf(&text, "%s: %s", words_verdict(gate->verdict), claim);
		if (*value)
			strbuf_addf(&text, ": %s", value);
		if (reason)
			strbuf_addf(&text, "; %s", reason);
		plain_fill(out, WIDTH, "  ", 4, strbuf_str(&text));
	}
}

static void write(const struct report *report, struct strbuf *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets");

	for (size_t target = 0; target < jnode_size(targets); target++)
		write_target(report, target, out);
	write_gates(report, out);
	if (report->n_findings)
		strbuf_adds(out, "\nNotes\n");
	for (size_t i = 0; i < report->n_findings; i++) {
		AUTO_FREE char *text = words_finding(report, &report->findings[i]);
		plain_fill(out, WIDTH, "  ", 4, text);
	}
	strbuf_adds(out, "\nReproduce with\n");
	plain_command(out, WIDTH, 2, jnode_string(report->run, "command", "memcg-ab run"));
	AUTO_FREE char *run = xasprintf("(memcg-ab %s, run %s%s)", jnode_string(report->run, "tool", "?"), report->run_id,
					report->finished ? "" : ", not finished");
	plain_fill(out, WIDTH, "  ", 4, run);
}

const struct report_writer report_writer_lkml = { "lkml", "plain ASCII, 75 columns, for a cover letter", write };
