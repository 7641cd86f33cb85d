/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV: a header, then a line a row and metric; a row without metrics has one line with its status. Quoting as in RFC 4180,
 * lines end with a newline alone. Numbers have the digits that a double needs; what there is not is empty. Ratios are ratios
 * minus one.
 */
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "report/utf8.h"
#include "report/words.h"

static const char header[] =
	"run,variant,control,kernel,config,cmdline,step,device,cores,status,reason,metric,unit,better,kind,boots,mean,"
	"sd_boot,sd_iteration";
static const char *const difference_columns[] = {
	"ratio", "delta", "spread", "ci95_lo", "ci95_hi", "family_lo", "family_hi", "p", "p_adjusted", "detectable", "verdict",
};

static void add_text(struct strbuf *out, const char *text)
{
	bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';

	if (out->len && out->data[out->len - 1] != '\n')
		strbuf_addch(out, ',');
	if (quoted)
		strbuf_addch(out, '"');
	for (uint32_t character; (character = utf8_next(&text)) != 0;) {
		if (character == '"')
			strbuf_addch(out, '"');
		utf8_add(out, character);
	}
	if (quoted)
		strbuf_addch(out, '"');
}

static void add_number(struct strbuf *out, double value)
{
	AUTO_FREE char *text = isfinite(value) ? xasprintf("%.15g", value) : xstrdup("");

	add_text(out, text);
}

static void add_count(struct strbuf *out, int64_t value)
{
	AUTO_FREE char *text = xasprintf("%lld", (long long)value);

	add_text(out, text);
}

/* Circumstances, which are the same in many lines. */
static const char *const circumstances[] = {
	"base", "toolchain", "config_options", "booted_cmdline", "frequency", "iterations", "order", "seed", "patch", "command",
};

static void add_circumstances(const struct report *report, const struct report_row *row, const struct report_metric *metric,
			      struct strbuf *out)
{
	const struct jnode *measure = jnode_get(report->run, "measure"), *workloads = jnode_get(report->run, "workloads");
	const char *iterations = "";
	AUTO_FREE char *options = words_config(report, jnode_string(row->description, "config", ""));
	AUTO_FREE char *frequency = words_frequency(row->target);

	for (size_t i = 0; metric && i < jnode_size(workloads); i++)
		if (!strcmp(jnode_string(jnode_item(workloads, i), "label", ""), metric->label))
			iterations = jnode_string(jnode_get(jnode_item(workloads, i), "options"), "iterations", "");
	add_text(out, jnode_string(row->kernel, "version", ""));
	add_text(out, jnode_string(row->kernel, "toolchain", ""));
	add_text(out, options);
	add_text(out, jnode_string(row->description, "booted_cmdline", ""));
	add_text(out, frequency);
	add_text(out, iterations);
	add_text(out, jnode_string(measure, "order", ""));
	add_count(out, jnode_int(measure, "seed", jnode_int(report->run, "seed", 0)));
	add_text(out, jnode_string(row->description, "patch", ""));
	add_text(out, jnode_string(report->run, "command", ""));
}

static void add_row(const struct report *report, const struct report_row *row, struct strbuf *out)
{
	/* The first column is never empty, so that the next one knows that it is not the first. */
	add_text(out, report->run_id);
	add_text(out, row->variant);
	add_text(out, row->control == CONTROL_NONE ? "" : row_control_name(row->control));
	add_text(out, words_kernel_name(row));
	add_text(out, jnode_string(row->description, "config", ""));
	add_text(out, jnode_string(row->description, "cmdline", ""));
	add_count(out, jnode_int(row->description, "step", 0));
	add_text(out, jnode_string(row->target, "device", ""));
	add_text(out, jnode_string(row->target, "cores", "all"));
	add_text(out, row_status_name(row->status));
	add_text(out, row->reason ? row->reason : "");
}

static void add_difference(const struct report_difference *difference, bool exact, struct strbuf *out)
{
	const struct interval none = { NAN, NAN };
	const struct interval alone = exact || !difference->present ? none : difference->ci95;
	const struct interval family = exact || !difference->present ? none : difference->ci95_family;
	const double numbers[] = {
		difference->ratio,
		exact ? difference->exact.delta : NAN,
		exact ? difference->exact.spread : NAN,
		alone.lo,
		alone.hi,
		family.lo,
		family.hi,
		exact ? NAN : difference->random.p,
		exact ? NAN : difference->p_adjusted,
		exact ? NAN : difference->detectable,
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		add_number(out, difference->present ? numbers[i] : NAN);
	add_text(out, difference->present ? words_difference_verdict(difference) : "");
}

static void write_metric(const struct report *report, const struct report_row *row, const struct report_metric *metric,
			 struct strbuf *out)
{
	bool exact = report_row_exact(row);
	AUTO_FREE char *unit = words_metric_unit(metric->info);

	add_row(report, row, out);
	add_text(out, metric->name);
	add_text(out, unit);
	add_text(out, metric->info->higher_is_better ? "higher" : "lower");
	add_text(out, exact ? "exact" : "random");
	add_count(out, (int64_t)words_boots(row, metric));
	add_number(out, metric->mean);
	add_number(out, exact ? NAN : metric->sd_boot);
	add_number(out, exact ? NAN : metric->sd_iteration);
	add_difference(&metric->baseline, exact, out);
	add_difference(&metric->previous, exact, out);
	add_circumstances(report, row, metric, out);
	strbuf_addch(out, '\n');
}

static void write_header(struct strbuf *out)
{
	static const char *const references[] = { "baseline", "previous" };

	strbuf_adds(out, header);
	for (size_t i = 0; i < ARRAY_SIZE(references); i++)
		for (size_t k = 0; k < ARRAY_SIZE(difference_columns); k++)
			strbuf_addf(out, ",%s_%s", references[i], difference_columns[k]);
	for (size_t i = 0; i < ARRAY_SIZE(circumstances); i++)
		strbuf_addf(out, ",%s", circumstances[i]);
	strbuf_addch(out, '\n');
}

static void write(const struct report *report, struct strbuf *out)
{
	/* metric, unit, better, kind, boots, mean, both sds, and the differences */
	const size_t without_metric = 8 + 2 * ARRAY_SIZE(difference_columns);

	write_header(out);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		for (size_t k = 0; k < row->n_metrics; k++)
			write_metric(report, row, &row->metrics[k], out);
		if (row->n_metrics || !words_row_shown(row))
			continue;
		add_row(report, row, out);
		for (size_t k = 0; k < without_metric; k++)
			strbuf_addch(out, ',');
		add_circumstances(report, row, NULL, out);
		strbuf_addch(out, '\n');
	}
}

const struct report_writer report_writer_csv = { "csv", "a line a row and metric", write };
