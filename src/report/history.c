/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/history.h"

#include <stdlib.h>
#include <string.h>

#include "report/measure.h"
#include "report/words.h"
#include "run/folder.h"

static char *date_of(const struct report *report)
{
	const char *started = jnode_string(report->run, "started", "");

	if (strlen(started) < strlen("20261201"))
		return xstrdup("-");
	return xasprintf("%.4s-%.2s-%.2s", started, started + 4, started + 6);
}

static const char *kernel_of(const struct report_row *row)
{
	return jnode_string(row->kernel, "version", jnode_string(row->kernel, "source", "prebuilt"));
}

static void add_line(struct history *history, const struct report *report, size_t index, const char *name,
		     const struct report *before)
{
	const struct report_row *row = &report->rows[index];
	const struct report_metric *metric = report_find_metric(row, name);

	if (!metric || row->control != CONTROL_NONE)
		return;
	history->lines = array_grow(history->lines, history->n, sizeof(*history->lines));
	struct history_line *line = &history->lines[history->n++];
	*line = (struct history_line){
		.date = date_of(report),
		.run = xstrdup(strrchr(report->run_id, '/') + 1),
		.kernel = xstrdup(kernel_of(row)),
		.variant = xstrdup(row->variant),
		.device = words_target(row->target),
		.metric = xstrdup(name),
		.unit = words_metric_unit(metric->info),
		.exact = report_row_exact(row),
		.higher_is_better = metric->info->higher_is_better,
		.value = metric->mean,
		.boots = words_boots(row, metric),
		.baseline = metric->baseline,
		.anchor = !report_row_exact(row) && row->baseline == (ssize_t)index,
	};
	line->has_before = before && !line->anchor;
	if (line->has_before)
		earlier_compare(report, index, name, before, NULL, &line->before);
}

static void add_metric(struct history *history, const struct report *report, const char *name, const struct report *before)
{
	for (size_t i = 0; i < report->n_rows; i++)
		add_line(history, report, i, name, before);
}

static const char *first_metric(const struct report *report)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].n_metrics)
			return report->rows[i].metrics[0].name;
	return NULL;
}

static void add_run(struct history *history, const struct report *report, const char *metric, const struct report *before)
{
	const struct jnode *gates = jnode_get(report->run, "gates");
	AUTO_STRLIST names = { NULL, 0 };

	for (size_t i = 0; !metric && i < jnode_size(gates); i++) {
		const char *name = jnode_string(jnode_item(gates, i), "metric", "");
		if (!strlist_has(&names, name))
			strlist_add(&names, name);
	}
	if (!names.n && (metric || first_metric(report)))
		strlist_add(&names, metric ? metric : first_metric(report));
	for (size_t i = 0; i < names.n; i++)
		add_metric(history, report, names.items[i], before);
}

struct error *history_load(const struct history_request *request, struct history *out)
{
	const struct report_options options = { .arithmetic = request->arithmetic, .runs_dir = request->runs_dir };
	struct history history = { NULL, 0 };
	AUTO_STRLIST dirs = { NULL, 0 };
	AUTO_REPORT before = NULL;
	struct error *error = NULL;

	run_folders(request->runs_dir, request->name, &dirs);
	if (!dirs.n)
		return error_new(ERROR_INPUT, "there are no runs of '%s' in %s", request->name, request->runs_dir);
	for (size_t i = dirs.n; !error && i-- > 0;) {
		struct report *report = NULL;
		error = report_measure(dirs.items[i], &options, &report);
		if (error)
			break;
		add_run(&history, report, request->metric, before);
		if (!report->finished) {
			report_free(report);
			continue;
		}
		report_free(before);
		before = report;
	}
	if (!error && !history.n)
		error = error_new(ERROR_INPUT, "no run of '%s' has %s", request->name,
				  request->metric ? request->metric : "a number");
	if (error) {
		history_deinit(&history);
		return error;
	}
	*out = history;
	return NULL;
}

void history_deinit(struct history *history)
{
	for (size_t i = 0; i < history->n; i++) {
		struct history_line *line = &history->lines[i];
		char *texts[] = { line->date,	line->run,    line->kernel, line->variant,
				  line->device, line->metric, line->unit,   line->before.reason };
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			free(texts[k]);
	}
	free(history->lines);
	*history = (struct history){ NULL, 0 };
}
