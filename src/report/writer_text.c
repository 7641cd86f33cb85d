/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text report, up to 100 columns: tables by target and workload, then gates, findings and what the reader must know. */
#include "report/writer_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/plain.h"
#include "report/report.h"

int text_fitting(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len <= max)
		return (int)len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return (int)max;
}

void text_pad(struct strbuf *out, size_t line_start, size_t column)
{
	while (out->len - line_start < column)
		strbuf_addch(out, ' ');
}

void text_end_line(struct strbuf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

bool text_row_start(const struct report *report, const struct report_row *row, size_t width, struct strbuf *out)
{
	size_t start = out->len;
	const char *status = row_status_name(row->status);
	AUTO_FREE char *label = words_row(report, row, false);

	strbuf_addf(out, "%.*s", text_fitting(label, width - 1), label);
	text_pad(out, start, width);
	if (row->status == ROW_OK)
		return false;
	strbuf_addf(out, " %s: %.*s", status, text_fitting(row->reason, TEXT_COLUMNS - width - strlen(status) - 3), row->reason);
	text_end_line(out);
	return true;
}

static void write_kernel(const struct report_row *row, struct strbuf *out)
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

void text_title(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	AUTO_FREE char *what = words_workload(workload);
	AUTO_FREE char *where = words_target(description);

	strbuf_addf(out, "%s | ", what);
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == description) {
			write_kernel(&report->rows[i], out);
			break;
		}
	strbuf_addf(out, " | %s %s", where, jnode_string(description, "summary", ""));
}

static void write_table(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);

	if (!workload_find(jnode_string(workload, "kind", "")))
		return;
	if (jnode_bool(description, "exact", false))
		text_exact_table(report, target, workload, out);
	else
		text_random_tables(report, target, workload, out);
	text_selftests(report, target, jnode_string(workload, "label", ""), out);
}

static void write_gate(const struct report *report, const struct report_gate *gate, struct strbuf *out)
{
	const char *variant = report->rows[gate->row].variant;
	AUTO_FREE char *value = words_gate_value(gate);
	AUTO_FREE char *reason = words_gate_reason(gate);

	AUTO_STRBUF text = STRBUF_INIT;

	if (gate->equivalence)
		strbuf_addf(&text, "%s of %s within +-%g%% of %s", gate->metric, variant, 100 * gate->limit, gate->against);
	else
		strbuf_addf(&text, "%s of %s worse than %s by <= %g%%", gate->metric, variant, gate->against, 100 * gate->limit);
	strbuf_addf(&text, ": %s", words_verdict(gate->verdict));
	if (*value)
		strbuf_addf(&text, " (%s)", value);
	plain_fill(out, TEXT_COLUMNS, "gate ", 2, strbuf_str(&text));
	if (reason)
		plain_fill(out, TEXT_COLUMNS, "  ", 2, reason);
}

static void write_findings(const struct report *report, struct strbuf *out)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		const char *lead = finding->invalid ? "INVALID: " : finding->kind == FINDING_SELFTEST ? "FAIL: " : "note: ";
		plain_fill(out, TEXT_COLUMNS, lead, 2, finding->text);
	}
}

/* Whether anybody has seen the profiles of real devices work. */
static void write_verified(const struct report *report, struct strbuf *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets");

	for (size_t i = 0; i < jnode_size(targets); i++) {
		const char *verified = jnode_string(jnode_item(targets, i), "verified", NULL);
		AUTO_FREE char *name = words_target(jnode_item(targets, i));
		AUTO_FREE char *lead = xasprintf("%s: profile verified: ", name);
		if (verified)
			plain_fill(out, TEXT_COLUMNS, lead, 2, verified);
	}
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
	const char *command = jnode_string(report->run, "command", NULL);

	for (size_t target = 0; target < jnode_size(targets); target++)
		for (size_t i = 0; i < jnode_size(workloads); i++)
			write_table(report, target, jnode_item(workloads, i), out);
	for (size_t i = 0; i < report->n_gates; i++)
		write_gate(report, &report->gates[i], out);
	write_findings(report, out);
	write_verified(report, out);
	write_remarks(report, out);
	write_dropped(report, out);
	strbuf_addf(out, "run: %s%s\n", report->run_id, report->finished ? "" : " (not finished)");
	if (command)
		strbuf_addf(out, "command: %s\n", command);
}

const struct report_writer report_writer_text = { "text", "tables of up to 100 columns", write };
