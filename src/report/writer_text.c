/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text report, up to 100 columns: one table a target and workload, then gates and what the reader must know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"
#include "report/report.h"

#define COLUMNS 100
#define LEVEL_WIDTH 9
#define BASELINE_WIDTH 22
#define PREVIOUS_WIDTH 13
#define MAX_PHASES 2 /* more do not fit; csv and json have them all */

/* The phases of a workload that a table shows, all in one unit. */
struct columns {
	const struct workload_metric *phases[MAX_PHASES];
	size_t n;
	const char *unit;
};

static const char *unit_words(const char *unit)
{
	if (!strcmp(unit, "insn"))
		return "instructions";
	return !strcmp(unit, "ns") ? "nanoseconds" : unit;
}

static struct columns choose_columns(const struct workload_kind *kind, bool exact)
{
	struct columns columns = { .unit = exact ? "insn" : "ns" };

	for (size_t i = 0; i < kind->n_metrics && columns.n < MAX_PHASES; i++)
		if (!strcmp(kind->metrics[i].unit, columns.unit) && !metric_is_combined(&kind->metrics[i]))
			columns.phases[columns.n++] = &kind->metrics[i];
	return columns;
}

static char *size_text(const char *bytes)
{
	static const char units[] = "KMGT";
	unsigned long long value = strtoull(bytes, NULL, 10);
	size_t unit = 0;

	while (value && value % 1024 == 0 && unit < strlen(units)) {
		value /= 1024;
		unit++;
	}
	return unit ? xasprintf("%llu%c", value, units[unit - 1]) : xasprintf("%llu", value);
}

static void write_workload_title(const struct jnode *workload, struct strbuf *out)
{
	const struct jnode *options = jnode_get(workload, "options");
	const char *size = jnode_string(options, "size", NULL), *threads = jnode_string(options, "threads", NULL);

	strbuf_adds(out, jnode_string(workload, "label", ""));
	if (size) {
		AUTO_FREE char *text = size_text(size);
		strbuf_addf(out, " %s", text);
	}
	if (threads)
		strbuf_addf(out, " x%s", threads);
}

static void write_kernel_title(const struct report_row *row, struct strbuf *out)
{
	const struct jnode *kernel = row->kernel;
	const char *toolchain = jnode_string(kernel, "toolchain", NULL);

	if (!jnode_string(row->description, "image", NULL)) {
		strbuf_adds(out, "no kernel of ours");
		return;
	}
	if (!strcmp(jnode_string(kernel, "kind", ""), "prebuilt")) {
		strbuf_addf(out, "prebuilt %s", jnode_string(kernel, "arch", "arm64"));
		return;
	}
	strbuf_addf(out, "linux %s %s", jnode_string(kernel, "version", "?"), jnode_string(kernel, "arch", ""));
	if (toolchain)
		strbuf_addf(out, " %s", toolchain);
	if (jnode_string(kernel, "base_config", NULL))
		strbuf_addf(out, " %s", jnode_string(kernel, "base_config", ""));
}

static void write_title(const struct report *report, size_t target, const struct jnode *workload, const struct columns *columns,
			struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	const char *cores = jnode_string(description, "cores", "all");

	write_workload_title(workload, out);
	strbuf_adds(out, " | ");
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == description) {
			write_kernel_title(&report->rows[i], out);
			break;
		}
	strbuf_addf(out, " | %s%s%s %s | ", jnode_string(description, "device", ""), strcmp(cores, "all") ? " " : "",
		    strcmp(cores, "all") ? cores : "", jnode_string(description, "summary", ""));
	if (columns->n)
		strbuf_addf(out, "%s a %s, ", unit_words(columns->unit), columns->phases[0]->per);
	strbuf_addf(out, "%zu boots each\n", report->n_blocks);
}

/* "mm: memcg: add early checks" without its "subsystem: " words, which all steps of a series share. */
static const char *subject_core(const char *subject)
{
	for (;;) {
		size_t word = strcspn(subject, " :");
		if (!word || strncmp(subject + word, ": ", 2) || !subject[word + 2])
			return subject;
		subject += word + 2;
	}
}

static char *row_label(const struct report *report, const struct report_row *row)
{
	const struct jnode *description = row->description;
	bool baseline = row->baseline >= 0 && &report->rows[row->baseline] == row;
	int64_t step = jnode_int(description, "step", 0);

	if (step && row->previous >= 0)
		return xasprintf("  + %lld %s", (long long)step, subject_core(jnode_string(description, "patch", "")));
	const char *kernel = jnode_string(row->kernel, "name", "");
	AUTO_FREE char *place =
		step ? xasprintf(" step %lld", (long long)step) : xstrdup(jnode_int(description, "steps", 0) ? " vanilla" : "");
	return xasprintf("%s%s%s/%s%s%s", kernel, *kernel ? "/" : "", jnode_string(description, "config", ""),
			 jnode_string(description, "cmdline", ""), place, baseline ? " (baseline)" : "");
}

/* Bytes of `text` that fit `max`, cut between characters: compilers quote in UTF-8. */
static int fitting(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len <= max)
		return (int)len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return (int)max;
}

static void pad_to(struct strbuf *out, size_t line_start, size_t column)
{
	while (out->len - line_start < column)
		strbuf_addch(out, ' ');
}

/* "+123.1 +-0.2 +7.75%", a "~" behind what is not resolved. */
static char *difference_text(const struct exact_difference *difference, bool percent)
{
	struct strbuf text = STRBUF_INIT;

	/* A spread that would be printed as nothing gets a digit more. */
	strbuf_addf(&text, "%+.1f +-%.*f", difference->delta, difference->spread < 0.095 ? 2 : 1, difference->spread);
	if (percent)
		strbuf_addf(&text, " %+.2f%%", 100 * difference->ratio);
	if (!difference->resolved)
		strbuf_adds(&text, " ~");
	return strbuf_steal(&text);
}

static void write_cells(const struct report_row *row, const struct jnode *workload, const struct columns *columns,
			struct strbuf *out)
{
	for (size_t i = 0; i < columns->n; i++) {
		AUTO_FREE char *name =
			xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), columns->phases[i]->phase, columns->unit);
		const struct report_metric *metric = report_find_metric(row, name);
		if (!metric) {
			strbuf_addf(out, "%*s", LEVEL_WIDTH, "-");
			continue;
		}
		AUTO_FREE char *baseline = metric->has_baseline ? difference_text(&metric->baseline, true) : xstrdup("");
		AUTO_FREE char *previous = metric->has_previous ? difference_text(&metric->previous, false) : xstrdup("");
		strbuf_addf(out, "%*.1f%*s", LEVEL_WIDTH, metric->level.mean, BASELINE_WIDTH, baseline);
		if (!i)
			strbuf_addf(out, "%*s", PREVIOUS_WIDTH, previous);
	}
}

static void trim_line(struct strbuf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

static size_t label_width(const struct columns *columns)
{
	size_t cells = columns->n * (LEVEL_WIDTH + BASELINE_WIDTH) + PREVIOUS_WIDTH;

	return cells < COLUMNS - 20 ? COLUMNS - cells : 20;
}

static void write_header(const struct columns *columns, const char *baseline, struct strbuf *out)
{
	size_t start = out->len;
	AUTO_FREE char *versus = xasprintf("vs %.*s", BASELINE_WIDTH - 6, baseline);

	pad_to(out, start, label_width(columns));
	for (size_t i = 0; i < columns->n; i++) {
		strbuf_addf(out, "%*s%*s", LEVEL_WIDTH, columns->phases[i]->phase, BASELINE_WIDTH, versus);
		if (!i)
			strbuf_addf(out, "%*s", PREVIOUS_WIDTH, "vs previous");
	}
	trim_line(out);
}

static void write_row(const struct report *report, const struct report_row *row, const struct jnode *workload,
		      const struct columns *columns, struct strbuf *out)
{
	size_t start = out->len, width = label_width(columns);
	AUTO_FREE char *label = row_label(report, row);

	const char *status = row_status_name(row->status);

	strbuf_addf(out, "%.*s", fitting(label, width - 1), label);
	pad_to(out, start, width);
	if (row->status == ROW_OK)
		write_cells(row, workload, columns, out);
	else
		strbuf_addf(out, " %s: %.*s", status, fitting(row->reason, COLUMNS - width - strlen(status) - 3), row->reason);
	trim_line(out);
}

static void write_table(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));

	if (!kind)
		return;
	struct columns columns = choose_columns(kind, jnode_bool(description, "exact", false));
	write_title(report, target, workload, &columns, out);
	write_header(&columns, jnode_string(report->run, "baseline", ""), out);
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == description)
			write_row(report, &report->rows[i], workload, &columns, out);
}

static void write_gate(const struct report *report, const struct report_gate *gate, struct strbuf *out)
{
	static const char *const words[] = {
		[GATE_PASS] = "PASS", [GATE_FAIL] = "FAIL", [GATE_NOT_RESOLVED] = "NOT RESOLVED", [GATE_INVALID] = "INVALID"
	};

	strbuf_addf(out, "gate %s of %s worse than %s by <= %g%%: %s", gate->metric, report->rows[gate->row].variant,
		    gate->against, 100 * gate->limit, words[gate->verdict]);
	if (!isnan(gate->value))
		strbuf_addf(out, " (%+.2f%% +-%.2f%%)", 100 * gate->value, 100 * gate->spread);
	strbuf_addch(out, '\n');
}

/* What happened on the way to a row and belongs with its number. */
static void write_remarks(const struct report *report, struct strbuf *out)
{
	const struct jnode *kernels = jnode_get(report->run, "kernels");

	for (size_t i = 0; i < jnode_size(kernels); i++) {
		const struct jnode *kernel = jnode_item(kernels, i);
		const char *source = jnode_string(kernel, "source", NULL), *wanted = jnode_string(kernel, "wanted", NULL);
		if (jnode_string(kernel, "origin", NULL))
			strbuf_addf(out, "source: %s\n", jnode_string(kernel, "origin", ""));
		if (source && wanted && strcmp(source, wanted))
			strbuf_addf(out, "note: %s could not be had, %s stands in for it\n", wanted, source);
	}
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->status != ROW_OK)
			strbuf_addf(out, "%s: %s: %s\n", row->variant, row_status_name(row->status), row->reason);
		if (jnode_string(row->description, "note", NULL))
			strbuf_addf(out, "%s: %s\n", row->variant, jnode_string(row->description, "note", ""));
	}
}

/* Optional options that a kernel does not have; most rows drop the same ones, so each is said once. */
static void write_dropped(const struct report *report, struct strbuf *out)
{
	AUTO_STRLIST said = { NULL, 0 };

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct jnode *dropped = jnode_get(report->rows[i].description, "dropped");
		for (size_t k = 0; k < jnode_size(dropped); k++) {
			const char *line = jnode_item_string(dropped, k);
			if (strlist_has(&said, line))
				continue;
			strlist_add(&said, line);
			strbuf_addf(out, "optional option left out: %s\n", line);
		}
	}
}

static void write(const struct report *report, struct strbuf *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets"), *workloads = jnode_get(report->run, "workloads");

	for (size_t target = 0; target < jnode_size(targets); target++)
		for (size_t i = 0; i < jnode_size(workloads); i++)
			write_table(report, target, jnode_item(workloads, i), out);
	for (size_t i = 0; i < report->n_gates; i++)
		write_gate(report, &report->gates[i], out);
	write_remarks(report, out);
	write_dropped(report, out);
	strbuf_addf(out, "run: %s%s\n", report->run_id, report->finished ? "" : " (not finished)");
}

const struct report_writer report_writer_text = { "text", "tables of up to 100 columns", write };
