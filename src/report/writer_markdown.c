/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Markdown with the tables of GitHub. Names are escaped so that CommonMark and python-markdown show them as they are: by a
 * backslash where both know it, else by a character reference (a '|' behind a backslash ends a cell for some readers).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/selftests.h"
#include "report/utf8.h"
#include "report/words.h"

static void add_text(struct strbuf *out, const char *text)
{
	for (uint32_t character; (character = utf8_next(&text)) != 0;) {
		if (character < ' ')
			strbuf_addch(out, ' ');
		else if (character < 0x80 && strchr("\\`*_[]", (int)character))
			strbuf_addf(out, "\\%c", (char)character);
		else if (character < 0x80 && strchr("<>&|~$", (int)character))
			strbuf_addf(out, "&#%u;", (unsigned)character);
		else
			utf8_add(out, character);
	}
}

/* A cell, with the bar before it. */
static void add_cell(struct strbuf *out, const char *text)
{
	strbuf_adds(out, "| ");
	add_text(out, text + strspn(text, " "));
	strbuf_addch(out, ' ');
}

/* Takes the text over. */
static void add_own_cell(struct strbuf *out, char *text)
{
	add_cell(out, text);
	free(text);
}

static void end_row(struct strbuf *out)
{
	strbuf_adds(out, "|\n");
}

/* The header and the line below it; the first `left` columns are texts, the others numbers. */
static void add_header(struct strbuf *out, const char *const *names, size_t n, size_t left)
{
	for (size_t i = 0; i < n; i++)
		add_cell(out, names[i]);
	end_row(out);
	for (size_t i = 0; i < n; i++)
		strbuf_adds(out, i < left ? "| :--- " : "| ---: ");
	end_row(out);
}

static void add_item(struct strbuf *out, const char *name, const char *text)
{
	if (!*text)
		return;
	strbuf_addf(out, "* %s: ", name);
	add_text(out, text);
	strbuf_addch(out, '\n');
}

static char *marked(char *text, const struct report_difference *difference)
{
	const char *mark = words_mark(difference);
	char *result = *mark ? xasprintf("%s %s", text, mark) : xstrdup(text);

	free(text);
	return result;
}

static void add_exact(struct strbuf *out, const struct report_difference *difference)
{
	add_own_cell(out, xasprintf("%+.1f", difference->exact.delta));
	add_own_cell(out, xasprintf("%.*f", difference->exact.spread < 0.095 ? 2 : 1, difference->exact.spread));
	add_own_cell(out, marked(xasprintf("%+.2f%%", 100 * difference->ratio), difference));
}

static void add_random(struct strbuf *out, const struct report_difference *difference)
{
	const struct interval *intervals[] = { &difference->ci95, &difference->ci95_family };

	add_own_cell(out, marked(words_percent(difference->ratio), difference));
	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		AUTO_FREE char *lo = words_percent(intervals[i]->lo);
		AUTO_FREE char *hi = words_percent(intervals[i]->hi);
		add_own_cell(out, xasprintf("%s to %s", lo, hi));
	}
}

static void add_difference(struct strbuf *out, const struct report_difference *difference, bool exact)
{
	if (!difference->present)
		for (size_t i = 0; i < 3; i++)
			add_cell(out, "");
	else if (exact)
		add_exact(out, difference);
	else
		add_random(out, difference);
}

static void add_row(struct strbuf *out, const struct report *report, const struct report_row *row, const char *name)
{
	const struct report_metric *metric = report_find_metric(row, name);
	const struct report_difference none = { .present = false };
	bool exact = report_row_exact(row);

	add_own_cell(out, words_row(report, row, false));
	add_own_cell(out, metric		  ? words_level(metric->mean)
			  : row->status == ROW_OK ? xstrdup("-")
						  : xstrdup(row_status_name(row->status)));
	add_own_cell(out, metric ? xasprintf("%zu", words_boots(row, metric)) : xstrdup(""));
	if (!exact)
		add_own_cell(out, metric ? words_cv(metric) : xstrdup(""));
	add_difference(out, metric ? &metric->baseline : &none, exact);
	add_difference(out, metric ? &metric->previous : &none, exact);
	end_row(out);
}

static void write_metric(const struct report *report, size_t index, const struct jnode *workload,
			 const struct workload_metric *metric, struct strbuf *out)
{
	static const char *const exact_names[] = { "row",    "mean",	    "boots",  "vs baseline", "spread",
						   "change", "vs previous", "spread", "change" };
	static const char *const random_names[] = { "row",    "mean",	       "boots",	      "CV",	"vs baseline",
						    "95% CI", "95% CI of all", "vs previous", "95% CI", "95% CI of all" };
	const struct jnode *target = jnode_item(jnode_get(report->run, "targets"), index);
	AUTO_FREE char *name = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);
	AUTO_FREE char *unit = words_metric_unit(metric);
	AUTO_FREE char *scatter = words_scatter(report, index, name);

	strbuf_adds(out, "\n#### ");
	add_text(out, name);
	strbuf_addf(out, " (%s, %s)\n\n", unit, words_better(metric));
	if (jnode_bool(target, "exact", false))
		add_header(out, exact_names, ARRAY_SIZE(exact_names), 1);
	else
		add_header(out, random_names, ARRAY_SIZE(random_names), 1);
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == target && words_row_shown(&report->rows[i]))
			add_row(out, report, &report->rows[i], name);
	strbuf_addch(out, '\n');
	for (const char *mark = WORDS_MARKS; *mark; mark++) {
		AUTO_FREE char *meaning = words_mark_line(report, index, name, *mark);
		AUTO_FREE char *text = xasprintf("%c %s", *mark, meaning ? meaning : "");
		if (meaning)
			add_item(out, "Mark", text);
	}
	if (scatter)
		add_item(out, "Scatter", scatter);
}

static void write_rows(const struct report *report, const struct jnode *target, struct strbuf *out)
{
	static const char *const names[] = { "row", "config", "command line", "patch", "status" };

	add_header(out, names, ARRAY_SIZE(names), ARRAY_SIZE(names));
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != target || !words_row_shown(row))
			continue;
		const char *config = jnode_string(row->description, "config", "");
		AUTO_FREE char *options = words_config(report, config);
		add_cell(out, row->variant);
		add_cell(out, *options ? options : config);
		add_cell(out, words_cmdline(row));
		add_cell(out, jnode_string(row->description, "patch", ""));
		add_own_cell(out, row->status == ROW_OK
					  ? xstrdup("ok")
					  : xasprintf("%s: %s", row_status_name(row->status), row->reason ? row->reason : ""));
		end_row(out);
	}
}

static void write_kernels(const struct report *report, const struct jnode *target, struct strbuf *out)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != target || !words_first_of_kernel(report, i))
			continue;
		AUTO_FREE char *kernel = words_kernel(row);
		add_item(out, "Kernel", kernel);
		add_item(out, "From", jnode_string(row->kernel, "origin", ""));
	}
}

static void write_workload(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	AUTO_FREE const struct workload_metric **metrics = words_metrics(report, target, workload, WORDS_LONG);
	AUTO_FREE char *title = words_workload(workload);
	AUTO_FREE char *options = words_options(workload);
	AUTO_FREE char *measure = words_measure(report, target, workload);
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));

	strbuf_adds(out, "\n### ");
	add_text(out, title);
	strbuf_adds(out, "\n\n");
	add_item(out, "Test", kind ? kind->summary : "");
	add_item(out, "Options", options);
	add_item(out, "Measured", measure);
	for (size_t k = 0; metrics[k]; k++)
		write_metric(report, target, workload, metrics[k], out);
}

/* A test a line, a row a column. */
static void write_selftests(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const char *label = jnode_string(workload, "label", "");
	AUTO_FREE const char **names = xcalloc(report->n_rows + 1, sizeof(*names));
	AUTO_FREE size_t *rows = xcalloc(report->n_rows + 1, sizeof(*rows));
	size_t n = 0;
	bool begun = false;

	names[0] = "test";
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) != target || !words_row_shown(row) || row->status != ROW_OK)
			continue;
		rows[n++] = i;
		names[n] = row->variant;
	}
	for (size_t i = 0; i < report->n_selftests; i++) {
		const struct report_selftest *selftest = &report->selftests[i];
		if (strcmp(selftest->label, label))
			continue;
		if (!begun) {
			strbuf_addch(out, '\n');
			add_header(out, names, n + 1, n + 1);
		}
		begun = true;
		add_cell(out, *selftest->test ? selftest->test : "(the program)");
		for (size_t k = 0; k < n; k++) {
			bool regressed = selftest_regressed(report, selftest, rows[k]);
			add_cell(out, regressed ? "FAIL" : selftest_outcome(selftest, rows[k]));
		}
		end_row(out);
	}
}

static void write_target(const struct report *report, size_t index, struct strbuf *out)
{
	const struct jnode *target = jnode_item(jnode_get(report->run, "targets"), index);
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	AUTO_FREE char *name = words_target(target);
	AUTO_FREE char *device = words_device(target);
	AUTO_FREE char *frequency = words_frequency(target);

	strbuf_adds(out, "\n## ");
	add_text(out, name);
	strbuf_adds(out, "\n\n");
	write_kernels(report, target, out);
	add_item(out, "Device", device);
	add_item(out, "Cores", jnode_string(target, "cores", "all"));
	add_item(out, "Frequency", frequency);
	add_item(out, "Command line of all rows", jnode_string(target, "cmdline", ""));
	add_item(out, "A/A", words_no_aa(report, index) ? words_no_aa(report, index) : "in each table");
	if (words_invalid(report, index))
		add_item(out, "INVALID", "no verdict counts, see the notes");
	strbuf_addch(out, '\n');
	write_rows(report, target, out);
	for (size_t i = 0; i < jnode_size(workloads); i++) {
		write_workload(report, index, jnode_item(workloads, i), out);
		write_selftests(report, index, jnode_item(workloads, i), out);
	}
}

static void write_gates(const struct report *report, struct strbuf *out)
{
	static const char *const names[] = { "gate", "verdict", "worse by", "why" };

	if (!report->n_gates)
		return;
	strbuf_adds(out, "\n## Gates\n\n");
	add_header(out, names, ARRAY_SIZE(names), ARRAY_SIZE(names));
	for (size_t i = 0; i < report->n_gates; i++) {
		const struct report_gate *gate = &report->gates[i];
		AUTO_FREE char *reason = words_gate_reason(gate);
		add_own_cell(out, words_gate(report, gate));
		add_cell(out, words_verdict(gate->verdict));
		add_own_cell(out, words_gate_value(gate));
		add_cell(out, reason ? reason : "");
		end_row(out);
	}
}

static void write_findings(const struct report *report, struct strbuf *out)
{
	if (report->n_findings)
		strbuf_adds(out, "\n## Notes\n\n");
	for (size_t i = 0; i < report->n_findings; i++) {
		AUTO_FREE char *text = words_finding(report, &report->findings[i]);
		add_item(out, "Note", text);
	}
}

static void write(const struct report *report, struct strbuf *out)
{
	strbuf_adds(out, "# ");
	add_text(out, report->run_id);
	strbuf_adds(out, report->finished ? "\n" : " (not finished)\n");
	for (size_t i = 0; i < jnode_size(jnode_get(report->run, "targets")); i++)
		write_target(report, i, out);
	write_gates(report, out);
	write_findings(report, out);
	strbuf_adds(out, "\n## Reproduce\n\n");
	add_item(out, "Command", jnode_string(report->run, "command", ""));
	add_item(out, "Tool", jnode_string(report->run, "tool", ""));
}

const struct report_writer report_writer_markdown = { "markdown", "tables as GitHub shows them", write };
