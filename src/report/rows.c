/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"

static void add_metric(struct report *report, struct report_row *row, const char *label, const struct workload_metric *info)
{
	row->metrics = array_grow(row->metrics, row->n_metrics, sizeof(*row->metrics));
	struct report_metric *metric = &row->metrics[row->n_metrics++];
	*metric = (struct report_metric){
		.name = xasprintf("%s.%s.%s", label, info->phase, info->unit),
		.label = label,
		.info = info,
		.boots = xcalloc(report->n_blocks, sizeof(*metric->boots)),
		.moments = xcalloc(report->n_blocks, sizeof(*metric->moments)),
		.mean = NAN,
		.sd_boot = NAN,
		.sd_iteration = NAN,
		.robust = NAN,
	};
	for (size_t b = 0; b < report->n_blocks; b++)
		metric->boots[b] = NAN;
}

static void add_metrics(struct report *report, struct report_row *row, const struct jnode *workload)
{
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));

	for (size_t i = 0; kind && i < kind->n_metrics; i++)
		add_metric(report, row, jnode_string(workload, "label", ""), &kind->metrics[i]);
}

static enum row_control control_of_name(const char *name)
{
	static const enum row_control controls[] = { CONTROL_AA, CONTROL_REPLICATE, CONTROL_LAYOUT };

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
		if (!strcmp(row_control_name(controls[i]), name))
			return controls[i];
	return CONTROL_NONE;
}

struct error *rows_describe(struct report *report)
{
	const struct jnode *rows = jnode_get(report->run, "rows"), *workloads = jnode_get(report->run, "workloads");
	const struct jnode *targets = jnode_get(report->run, "targets");

	report->n_rows = jnode_size(rows);
	report->rows = xcalloc(report->n_rows, sizeof(*report->rows));
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		row->description = jnode_item(rows, i);
		row->kernel = jnode_item(jnode_get(report->run, "kernels"), (size_t)jnode_int(row->description, "kernel", 0));
		row->variant = jnode_string(row->description, "variant", "");
		row->baseline = jnode_int(row->description, "baseline", -1);
		row->previous = jnode_int(row->description, "previous", -1);
		row->control = control_of_name(jnode_string(row->description, "control", "none"));
		if (report_row_target(row) >= jnode_size(targets) || row->baseline >= (ssize_t)report->n_rows ||
		    row->previous >= (ssize_t)report->n_rows)
			return error_new(ERROR_LAB, "run %s: its description is damaged", report->run_id);
		row->target = jnode_item(targets, report_row_target(row));
		for (size_t k = 0; k < jnode_size(workloads); k++)
			add_metrics(report, row, jnode_item(workloads, k));
	}
	return NULL;
}

static void free_metric(struct report_metric *metric)
{
	free(metric->name);
	free(metric->boots);
	free(metric->all);
	free(metric->all_blocks);
	free(metric->moments);
}

static void free_metrics(struct report_row *row)
{
	for (size_t i = 0; i < row->n_metrics; i++)
		free_metric(&row->metrics[i]);
	free(row->metrics);
	row->metrics = NULL;
	row->n_metrics = 0;
}

void rows_free(struct report *report)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		free_metrics(&report->rows[i]);
		free(report->rows[i].reason);
		free(report->rows[i].cgroup);
		jnode_free(report->rows[i].image);
	}
	free(report->rows);
}

enum row_status row_status_of_name(const char *name)
{
	for (enum row_status status = ROW_OK; status <= ROW_LAB; status++)
		if (!strcmp(row_status_name(status), name))
			return status;
	return ROW_LAB;
}

void row_worsen(struct report_row *row, enum row_status status, const char *reason)
{
	if (row->status != ROW_OK && row->status <= status)
		return;
	free(row->reason);
	row->status = status;
	row->reason = xstrdup(reason ? reason : "no reason was recorded");
}

/* On the boots that count, once all are in. */
static void settle_status(const struct report *report, struct report_row *row, const struct row_evidence *evidence)
{
	size_t planned = report_target_blocks(report, report_row_target(row));

	if (row->status != ROW_OK)
		return;
	if (evidence->stored < planned) {
		AUTO_FREE char *reason = xasprintf("%zu of %zu boots done: the run is not finished", evidence->stored, planned);
		row_worsen(row, ROW_LAB, reason);
		return;
	}
	row->lost = evidence->lost;
	if (row->boots == planned || (!report_row_exact(row) && row->boots >= 2 && 2 * row->boots >= planned))
		return;
	AUTO_FREE char *reason = xasprintf("%zu of %zu boots count: %s", row->boots, planned,
					   evidence->missing_reason ? evidence->missing_reason : "no reason was recorded");
	row_worsen(row, evidence->missing_status == ROW_OK ? ROW_LAB : evidence->missing_status, reason);
	row->lost = 0;
}

/* A rate's mean over equal work is the harmonic one. */
static double mean_of_two(const struct report *report, const struct report_metric *metric, double a, double b)
{
	if (metric_is_rate(metric->info) && !report->arithmetic)
		return 2 / (1 / a + 1 / b);
	return (a + b) / 2;
}

/* What a list of boots is made in: room for all of a row and its replicate. */
struct boot_list {
	double *means;
	struct boot_moments *moments;
	size_t *blocks;
	size_t n;
};

static void append_block(struct boot_list *list, const struct report_metric *metric, size_t block)
{
	if (isnan(metric->boots[block]))
		return;
	list->moments[list->n] = metric->moments[block];
	list->blocks[list->n] = block;
	list->means[list->n++] = metric->boots[block];
}

/* From numbers by block to the list of boots; `second` (or NULL) is the same metric of the row's replicate. */
static void gather(const struct report *report, struct report_metric *metric, const struct report_metric *second)
{
	struct boot_list list = { xcalloc(2 * report->n_blocks, sizeof(*list.means)),
				  xcalloc(2 * report->n_blocks, sizeof(*list.moments)),
				  xcalloc(2 * report->n_blocks, sizeof(*list.blocks)), 0 };

	for (size_t b = 0; b < report->n_blocks; b++) {
		append_block(&list, metric, b);
		if (second)
			append_block(&list, second, b);
	}
	for (size_t b = 0; second && b < report->n_blocks; b++)
		if (isnan(metric->boots[b]))
			metric->boots[b] = second->boots[b];
		else if (!isnan(second->boots[b]))
			metric->boots[b] = mean_of_two(report, metric, metric->boots[b], second->boots[b]);
	free(metric->moments);
	metric->moments = list.moments;
	metric->all = list.means;
	metric->all_blocks = list.blocks;
	metric->n_all = list.n;
}

static void measure_level(const struct report *report, const struct report_row *row, struct report_metric *metric)
{
	const size_t whole[] = { 0, metric->n_all };
	struct components components;

	level_of(metric->all, metric->n_all, &metric->level);
	if (report_row_exact(row)) {
		exact_level(metric->boots, report->n_blocks, &metric->exact);
		metric->mean = metric->exact.mean;
		return;
	}
	if (metric_is_rate(metric->info) && !report->arithmetic)
		metric->level.mean = harmonic_mean(metric->all, metric->n_all);
	metric->mean = metric->level.mean;
	components_of(metric->moments, whole, 1, 1, &components);
	metric->sd_boot = components.sd_between;
	metric->sd_iteration = components.sd_within;
}

/* Metrics that no boot has (ns under icount) are left out; so are all of a row that does not stand. */
static void settle_metrics(const struct report *report, struct report_row *row, const struct report_row *replicate)
{
	size_t kept = 0;

	if (row->status != ROW_OK) {
		free_metrics(row);
		return;
	}
	for (size_t i = 0; i < row->n_metrics; i++) {
		struct report_metric *metric = &row->metrics[i];
		gather(report, metric, replicate ? &replicate->metrics[i] : NULL);
		if (!metric->n_all) {
			free_metric(metric);
			continue;
		}
		measure_level(report, row, metric);
		row->metrics[kept++] = *metric;
	}
	row->n_metrics = kept;
}

static struct report_row *replicate_of(const struct report *report, size_t baseline)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].control == CONTROL_REPLICATE && report->rows[i].baseline == (ssize_t)baseline)
			return &report->rows[i];
	return NULL;
}

void rows_settle(struct report *report, const struct evidence *evidence)
{
	for (size_t i = 0; i < report->n_rows; i++)
		settle_status(report, &report->rows[i], &evidence->rows[i]);
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i], *replicate = NULL;
		if (row->control == CONTROL_REPLICATE)
			continue;
		if (row->baseline == (ssize_t)i)
			replicate = replicate_of(report, i);
		/* It is the same kernel. */
		if (replicate && (replicate->status == ROW_BUILD_FAILED || replicate->status == ROW_BOOT_FAILED))
			row_worsen(row, replicate->status, replicate->reason);
		settle_metrics(report, row, replicate);
	}
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].control == CONTROL_REPLICATE)
			free_metrics(&report->rows[i]);
}
