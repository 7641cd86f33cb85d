/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "report/metrics.h"
#include "report/writer_text.h"

#define LEVEL_WIDTH 9
#define AMOUNT_WIDTH 10
#define AMOUNT_BASELINE_WIDTH 21
#define BASELINE_WIDTH 22
#define PREVIOUS_WIDTH 13
#define MAX_PHASES 2 /* more do not fit; csv and json have them all */
#define UNIT "insn"

/* The phases of a workload that a table shows: their instructions, or amounts. */
struct columns {
	const struct workload_metric *phases[MAX_PHASES];
	size_t n;
	bool amounts;
};

/* Of time there is none on an exact device. */
static bool is_time(const struct workload_metric *metric)
{
	size_t len = strlen(metric->unit);

	return len > 3 && !strcmp(metric->unit + len - 3, "_ns");
}

static bool is_column(const struct workload_metric *metric)
{
	if (metric_is_amount(metric))
		return !is_time(metric);
	return !strcmp(metric->unit, UNIT) && !metric_is_combined(metric);
}

/* From the metric *next on, which becomes where the next table starts: amounts and instructions each have their own. */
static struct columns choose_columns(const struct workload_kind *kind, size_t *next)
{
	struct columns columns = { .n = 0 };

	for (; *next < kind->n_metrics && columns.n < MAX_PHASES; ++*next) {
		const struct workload_metric *metric = &kind->metrics[*next];
		if (!is_column(metric))
			continue;
		if (columns.n && metric_is_amount(metric) != columns.amounts)
			break;
		columns.amounts = metric_is_amount(metric);
		columns.phases[columns.n++] = metric;
	}
	return columns;
}

/* "fault"; of an amount "total" for total_kib, as all of them are of one phase. */
static char *column_name(const struct workload_metric *metric)
{
	if (!metric_is_amount(metric))
		return xstrdup(metric->phase);
	return xstrndup(metric->unit, strcspn(metric->unit, "_"));
}

/* "+123.1 +-0.2 +7.75%", a "~" behind what is not resolved. */
static char *difference_text(const struct report_difference *difference, bool percent, bool whole)
{
	const struct exact_difference *exact = &difference->exact;
	struct strbuf text = STRBUF_INIT;

	if (!difference->present)
		return xstrdup("");
	/* A spread that would be printed as nothing gets a digit more. */
	if (whole)
		strbuf_addf(&text, "%+.0f +-%.0f", exact->delta, exact->spread);
	else
		strbuf_addf(&text, "%+.1f +-%.*f", exact->delta, exact->spread < 0.095 ? 2 : 1, exact->spread);
	/* Of nothing there is no part. */
	if (percent && isfinite(exact->ratio))
		strbuf_addf(&text, " %+.2f%%", 100 * exact->ratio);
	if (!exact->resolved)
		strbuf_adds(&text, " ~");
	return strbuf_steal(&text);
}

static int level_width(const struct columns *columns)
{
	return columns->amounts ? AMOUNT_WIDTH : LEVEL_WIDTH;
}

static int baseline_width(const struct columns *columns)
{
	return columns->amounts ? AMOUNT_BASELINE_WIDTH : BASELINE_WIDTH;
}

static void write_cells(const struct report_row *row, const struct jnode *workload, const struct columns *columns,
			struct strbuf *out)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_metric *metric = words_find(row, workload, columns->phases[i]);
		if (!metric) {
			strbuf_addf(out, "%*s", level_width(columns), "-");
			continue;
		}
		AUTO_FREE char *baseline = difference_text(&metric->baseline, true, columns->amounts);
		AUTO_FREE char *previous = difference_text(&metric->previous, false, columns->amounts);
		/* Wide ones keep a blank before them. */
		strbuf_addf(out, "%*.*f %*s", level_width(columns), columns->amounts ? 0 : 1, metric->mean,
			    baseline_width(columns) - 1, baseline);
		if (!i)
			strbuf_addf(out, " %*s", PREVIOUS_WIDTH - 1, previous);
	}
}

static size_t label_width(const struct columns *columns)
{
	size_t cells = columns->n * (size_t)(level_width(columns) + baseline_width(columns)) + PREVIOUS_WIDTH;

	return cells < TEXT_COLUMNS - 20 ? TEXT_COLUMNS - cells : 20;
}

static void write_header(const struct columns *columns, const char *baseline, struct strbuf *out)
{
	AUTO_FREE char *versus = xasprintf("vs %.*s", baseline_width(columns) - 6, baseline);

	text_pad(out, out->len, label_width(columns));
	for (size_t i = 0; i < columns->n; i++) {
		AUTO_FREE char *name = column_name(columns->phases[i]);
		strbuf_addf(out, "%*s%*s", level_width(columns), name, baseline_width(columns), versus);
		if (!i)
			strbuf_addf(out, "%*s", PREVIOUS_WIDTH, "vs previous");
	}
	text_end_line(out);
}

static void write_rows(const struct report *report, size_t target, const struct jnode *workload, const struct columns *columns,
		       struct strbuf *out)
{
	write_header(columns, jnode_string(report->run, "baseline", ""), out);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) != target || !words_row_shown(row) ||
		    text_row_start(report, row, label_width(columns), out))
			continue;
		write_cells(row, workload, columns, out);
		text_end_line(out);
	}
}

static void write_unit(const struct columns *columns, struct strbuf *out)
{
	AUTO_FREE char *unit = columns->amounts ? words_metric_unit(columns->phases[0]) : NULL;

	if (unit)
		strbuf_addf(out, "%s, ", unit);
	else if (columns->n)
		strbuf_addf(out, "%s a %s, ", words_unit(UNIT), columns->phases[0]->per);
}

/* Below a table of instructions: what the amounts are counted in. */
static void write_amounts_title(const struct jnode *workload, const struct columns *columns, struct strbuf *out)
{
	AUTO_FREE char *unit = words_metric_unit(columns->phases[0]);

	strbuf_addf(out, "%s | %s\n", jnode_string(workload, "label", ""), unit);
}

/* The phases in which some row has the event. */
static struct columns choose_event(const struct report *report, size_t target, const struct jnode *workload, enum event event)
{
	AUTO_FREE const struct workload_metric **shown = words_metrics(report, target, workload, WORDS_LONG);
	struct columns columns = { .n = 0 };

	for (size_t i = 0; shown[i] && columns.n < MAX_PHASES; i++)
		if (event_of_unit(shown[i]->unit) == event && !metric_is_combined(shown[i]))
			columns.phases[columns.n++] = shown[i];
	return columns;
}

/* What was counted beside instructions: a table an event. */
static void write_events(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	for (enum event event = 0; event < N_EVENTS; event++) {
		const struct columns columns = choose_event(report, target, workload, event);
		if (!columns.n)
			continue;
		strbuf_addf(out, "%s | %s:k a %s\n", jnode_string(workload, "label", ""), event_infos[event].name,
			    columns.phases[0]->per);
		write_rows(report, target, workload, &columns, out);
	}
}

/* Amounts, which have no cost, all get their tables; of instructions the first phases. */
void text_exact_table(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out)
{
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	size_t next = 0;
	struct columns columns = choose_columns(kind, &next);

	text_title(report, target, workload, out);
	strbuf_adds(out, " | ");
	write_unit(&columns, out);
	strbuf_addf(out, "%zu boots each\n", report_target_blocks(report, target));
	write_rows(report, target, workload, &columns, out);
	bool named = columns.amounts;
	while ((columns = choose_columns(kind, &next)).n) {
		if (!columns.amounts)
			continue;
		if (!named)
			write_amounts_title(workload, &columns, out);
		named = true;
		write_rows(report, target, workload, &columns, out);
	}
	write_events(report, target, workload, out);
}
