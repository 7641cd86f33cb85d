/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "report/metrics.h"
#include "report/plain.h"
#include "report/writer_text.h"

#define LABEL_WIDTH 27
#define LEVEL_WIDTH 10
#define CV_WIDTH 7
#define DIFFERENCE_WIDTH 28
#define RATE_LEVEL_WIDTH 9
#define RATE_DIFFERENCE_WIDTH 27
#define RATES 2
#define VS_BASELINE "vs baseline [95% CI]  "

/* "+6.01% [+5.65, +6.37] ?" */
static char *difference_text(const struct report_difference *difference)
{
	if (!difference->present)
		return xstrdup("");
	const char *mark = words_mark(difference);
	return xasprintf("%+.2f%% [%+.2f, %+.2f] %s", 100 * difference->ratio, 100 * difference->ci95.lo,
			 100 * difference->ci95.hi, *mark ? mark : " ");
}

/* Times and instructions, one table each; combined phases only where a gate asks. */
static bool has_table(const struct report *report, const struct jnode *workload, const struct workload_metric *metric)
{
	AUTO_FREE char *name = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);

	for (size_t i = 0; i < report->n_gates; i++)
		if (!strcmp(report->gates[i].metric, name))
			return true;
	return !metric_is_rate(metric) && !metric_is_combined(metric) && !metric_is_event(metric);
}

static void write_metric_row(const struct report_metric *metric, struct strbuf *out)
{
	if (!metric) {
		strbuf_addf(out, "%*s", LEVEL_WIDTH, "-");
		text_end_line(out);
		return;
	}
	AUTO_FREE char *level = words_level(metric->mean);
	AUTO_FREE char *baseline = difference_text(&metric->baseline);
	AUTO_FREE char *previous = difference_text(&metric->previous);
	AUTO_FREE char *cv = words_cv(metric);
	strbuf_addf(out, "%*s%*s%*s%*s", LEVEL_WIDTH, level, CV_WIDTH, cv, DIFFERENCE_WIDTH, baseline, DIFFERENCE_WIDTH,
		    previous);
	text_end_line(out);
}

static void write_metric_table(const struct report *report, size_t target, const struct jnode *workload,
			       const struct workload_metric *info, struct strbuf *out)
{
	AUTO_FREE char *unit = words_metric_unit(info);
	const char *label = jnode_string(workload, "label", "");
	/* Amounts are all of one phase and in one unit. */
	AUTO_FREE char *name = metric_is_amount(info) ? xasprintf("%s.%s.%s", label, info->phase, info->unit)
						      : xasprintf("%s.%s, %s", label, info->phase, unit);

	strbuf_addf(out, "%-*.*s%*s%*s%*s%*s", LABEL_WIDTH, LABEL_WIDTH, name, LEVEL_WIDTH, "mean", CV_WIDTH, "CV",
		    DIFFERENCE_WIDTH, VS_BASELINE, DIFFERENCE_WIDTH, "vs previous [95% CI]  ");
	text_end_line(out);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) == target && words_row_shown(row) && !text_row_start(report, row, LABEL_WIDTH, out))
			write_metric_row(words_find(row, workload, info), out);
	}
}

static bool rate_is_combined(const struct workload_metric **shown, const struct workload_metric *rate)
{
	for (size_t i = 0; shown[i]; i++) {
		AUTO_FREE char *name = xasprintf("%s.%s", shown[i]->phase, shown[i]->unit);
		if (!strcmp(name, metric_rate_of(rate)))
			return metric_is_combined(shown[i]);
	}
	return false;
}

static size_t choose_rates(const struct workload_metric **shown, const struct workload_metric **rates)
{
	size_t n = 0;

	for (size_t i = 0; shown[i] && n < RATES; i++)
		if (metric_is_rate(shown[i]) && !rate_is_combined(shown, shown[i]))
			rates[n++] = shown[i];
	return n;
}

/* Of each a level and its difference to the baseline. */
static void write_short_row(const struct report_row *row, const struct jnode *workload, const struct workload_metric **metrics,
			    size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct report_metric *metric = words_find(row, workload, metrics[i]);
		AUTO_FREE char *level = metric ? words_level(metric->mean) : xstrdup("-");
		AUTO_FREE char *baseline = metric ? difference_text(&metric->baseline) : xstrdup("");
		strbuf_addf(out, "%*s%*s", RATE_LEVEL_WIDTH, level, RATE_DIFFERENCE_WIDTH, baseline);
	}
	text_end_line(out);
}

/* Two metrics at most side by side, a column headed by its phase. */
static void write_short_table(const struct report *report, size_t target, const struct jnode *workload, const char *name,
			      const struct workload_metric **metrics, size_t n, struct strbuf *out)
{
	strbuf_addf(out, "%-*.*s", LABEL_WIDTH, LABEL_WIDTH, name);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%*s%*s", RATE_LEVEL_WIDTH, metrics[i]->phase, RATE_DIFFERENCE_WIDTH, VS_BASELINE);
	text_end_line(out);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) == target && row->status == ROW_OK && words_row_shown(row)) {
			text_row_start(report, row, LABEL_WIDTH, out);
			write_short_row(row, workload, metrics, n, out);
		}
	}
}

/* Work in time: what benchmarks print; of time per operation it is the inverse, so 6% less is 6.4% more time. */
static void write_rates(const struct report *report, size_t target, const struct jnode *workload,
			const struct workload_metric **shown, struct strbuf *out)
{
	const struct workload_metric *rates[RATES];
	size_t n = choose_rates(shown, rates);

	if (!n)
		return;
	AUTO_FREE char *name = xasprintf("%s, %ss in a second", jnode_string(workload, "label", ""), rates[0]->per);
	write_short_table(report, target, workload, name, rates, n, out);
}

/* What was counted beside instructions: a table an event, its phases side by side. */
static void write_events(const struct report *report, size_t target, const struct jnode *workload,
			 const struct workload_metric **shown, struct strbuf *out)
{
	for (enum event event = 0; event < N_EVENTS; event++) {
		const struct workload_metric *phases[RATES];
		size_t n = 0;
		for (size_t i = 0; shown[i] && n < RATES; i++)
			if (event_of_unit(shown[i]->unit) == event && !metric_is_combined(shown[i]))
				phases[n++] = shown[i];
		if (!n)
			continue;
		AUTO_FREE char *name = xasprintf("%s, %s:k", jnode_string(workload, "label", ""), event_infos[event].name);
		write_short_table(report, target, workload, name, phases, n, out);
	}
}

/* The largest effect that some row would miss. */
static double worst_detectable(const struct report *report, const struct report_floor *floor)
{
	double worst = NAN;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct report_metric *metric = report_find_metric(row, floor->metric);
		if (report_row_target(row) == floor->target && metric && metric->baseline.present)
			worst = fmax(worst, metric->baseline.detectable);
	}
	return worst;
}

static const char *method_of(const struct report *report, const struct report_floor *floor)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct report_metric *metric = report_find_metric(row, floor->metric);
		if (report_row_target(row) == floor->target && metric && metric->baseline.present)
			return compare_method_name(metric->baseline.random.method);
	}
	return "none";
}

static void write_components(const struct components *components, struct strbuf *out)
{
	if (isnan(components->sd_between))
		return;
	strbuf_addf(out, "; boots scatter by %.2f%%", 100 * components->sd_between);
	if (isnan(components->sd_within))
		return;
	strbuf_addf(out, ", iterations by %.2f%%", 100 * components->sd_within);
	if (!isnan(components->icc))
		strbuf_addf(out, " (intraclass correlation %.2f)", components->icc);
	if (components->best_iterations)
		strbuf_addf(out, ", best about %zu iterations a boot", components->best_iterations);
}

/* What stands behind a table's intervals. */
static void write_basis(const struct report *report, const struct report_floor *floor, struct strbuf *out)
{
	AUTO_FREE char *lead = xasprintf("%s: ", floor->metric);
	AUTO_FREE char *aa = words_control(report, floor->target, CONTROL_AA, floor->metric);
	AUTO_FREE char *layout = words_control(report, floor->target, CONTROL_LAYOUT, floor->metric);
	double detectable = worst_detectable(report, floor);
	AUTO_STRBUF text = STRBUF_INIT;

	strbuf_addf(&text, "A/A %s; layout %s", aa ? aa : words_no_aa(report, floor->target), layout ? layout : "not measured");
	if (floor->floor > 0)
		strbuf_addf(&text, "; floor %.2f%%", 100 * floor->floor);
	if (!isnan(detectable))
		strbuf_addf(&text, "; detects %.2f%% at 80%%", 100 * detectable);
	strbuf_addf(&text, " (%s)", method_of(report, floor));
	write_components(&floor->components, &text);
	plain_fill(out, TEXT_COLUMNS, lead, 2, strbuf_str(&text));
}

static bool uses_mark(const struct report *report, size_t target, const char *mark)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		for (size_t k = 0; report_row_target(row) == target && k < row->n_metrics; k++) {
			const struct report_metric *metric = &row->metrics[k];
			if ((metric->baseline.present && !strcmp(words_mark(&metric->baseline), mark)) ||
			    (metric->previous.present && !strcmp(words_mark(&metric->previous), mark)))
				return true;
		}
	}
	return false;
}

static void write_marks(const struct report *report, size_t target, struct strbuf *out)
{
	static const struct {
		const char *mark, *meaning;
	} marks[] = {
		{ "~", "not resolved" },
		{ "?", "resolved alone, not after Holm over the family" },
		{ "^", "resolved, yet below the floor that the controls set: no claim" },
	};
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (uses_mark(report, target, marks[i].mark))
			strbuf_addf(&text, "%s%s %s", text.len ? "; " : "", marks[i].mark, marks[i].meaning);
	if (text.len)
		plain_fill(out, TEXT_COLUMNS, "", 2, strbuf_str(&text));
}

/* Names that the rows of the target use, and what they stand for. */
static void write_names(const struct report *report, size_t target, struct strbuf *out)
{
	AUTO_STRLIST said = { NULL, 0 };
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) != target || row->control != CONTROL_NONE)
			continue;
		const char *config = jnode_string(row->description, "config", "");
		const char *cmdline = jnode_string(row->description, "cmdline", "");
		AUTO_FREE char *options = words_config(report, config);
		AUTO_FREE char *config_text = xasprintf("%s: %s", config, options);
		AUTO_FREE char *cmdline_text = xasprintf("%s: \"%s\"", cmdline, words_cmdline(row));
		if (*options && !strlist_has(&said, config_text))
			strlist_add(&said, config_text);
		if (!strlist_has(&said, cmdline_text))
			strlist_add(&said, cmdline_text);
	}
	for (size_t i = 0; i < said.n; i++)
		strbuf_addf(&text, "%s%s", i ? "; " : "", said.items[i]);
	if (text.len)
		plain_fill(out, TEXT_COLUMNS, "", 2, strbuf_str(&text));
}

static void write_head(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	AUTO_FREE char *frequency = words_frequency(description);
	AUTO_FREE char *measure = words_measure(report, target, workload);

	text_title(report, target, workload, out);
	strbuf_addf(out, " | frequency %s\n", frequency);
	plain_fill(out, TEXT_COLUMNS, "", 2, measure);
	write_names(report, target, out);
	if (report->arithmetic)
		strbuf_adds(out, "rates by their arithmetic means, as asked\n");
}

void text_random_tables(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	AUTO_FREE const struct workload_metric **shown = words_metrics(report, target, workload, WORDS_LONG);

	write_head(report, target, workload, out);
	for (size_t i = 0; shown[i]; i++)
		if (has_table(report, workload, shown[i]))
			write_metric_table(report, target, workload, shown[i], out);
	write_rates(report, target, workload, shown, out);
	write_events(report, target, workload, shown, out);
	for (size_t i = 0; shown[i]; i++) {
		AUTO_FREE char *name =
			xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), shown[i]->phase, shown[i]->unit);
		const struct report_floor *floor = report_find_floor(report, target, name);
		if (floor && has_table(report, workload, shown[i]))
			write_basis(report, floor, out);
	}
	write_marks(report, target, out);
}
