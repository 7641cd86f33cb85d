/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/gate.h"
#include "report/metrics.h"

static const char *const status_names[] = {
	[ROW_OK] = "ok",   [ROW_BUILD_FAILED] = "build-failed", [ROW_BOOT_FAILED] = "boot-failed", [ROW_VOID] = "void",
	[ROW_LAB] = "lab",
};

const char *row_status_name(enum row_status status)
{
	return status_names[status];
}

static enum row_status status_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(status_names); i++)
		if (!strcmp(status_names[i], name))
			return (enum row_status)i;
	return ROW_LAB;
}

bool report_row_exact(const struct report_row *row)
{
	return jnode_bool(row->target, "exact", false);
}

const struct report_metric *report_find_metric(const struct report_row *row, const char *name)
{
	for (size_t i = 0; i < row->n_metrics; i++)
		if (!strcmp(row->metrics[i].name, name))
			return &row->metrics[i];
	return NULL;
}

/* One workload of the run, and the metrics it gives. */
static void add_metrics(struct report *report, struct report_row *row, const struct jnode *workload)
{
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	const char *label = jnode_string(workload, "label", "");

	for (size_t i = 0; kind && i < kind->n_metrics; i++) {
		row->metrics = array_grow(row->metrics, row->n_metrics, sizeof(*row->metrics));
		struct report_metric *metric = &row->metrics[row->n_metrics++];
		*metric = (struct report_metric){
			.name = xasprintf("%s.%s.%s", label, kind->metrics[i].phase, kind->metrics[i].unit),
			.label = label,
			.info = &kind->metrics[i],
			.boots = xcalloc(report->n_blocks, sizeof(double)),
		};
		for (size_t b = 0; b < report->n_blocks; b++)
			metric->boots[b] = NAN;
	}
}

static struct error *add_rows(struct report *report)
{
	const struct jnode *rows = jnode_get(report->run, "rows"), *workloads = jnode_get(report->run, "workloads");

	report->n_rows = jnode_size(rows);
	report->rows = xcalloc(report->n_rows, sizeof(*report->rows));
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		row->description = jnode_item(rows, i);
		row->target = jnode_item(jnode_get(report->run, "targets"), (size_t)jnode_int(row->description, "target", 0));
		row->kernel = jnode_item(jnode_get(report->run, "kernels"), (size_t)jnode_int(row->description, "kernel", 0));
		row->variant = jnode_string(row->description, "variant", "");
		row->baseline = jnode_int(row->description, "baseline", -1);
		row->previous = jnode_int(row->description, "previous", -1);
		if (row->baseline >= (ssize_t)report->n_rows || row->previous >= (ssize_t)report->n_rows)
			return error_new(ERROR_LAB, "run %s: its description is damaged", report->run_id);
		for (size_t k = 0; k < jnode_size(workloads); k++)
			add_metrics(report, row, jnode_item(workloads, k));
	}
	return NULL;
}

static void worsen(struct report_row *row, enum row_status status, const char *reason)
{
	/* The first failure is named; a kernel's own fault outweighs a void or a lab one. */
	if (row->status != ROW_OK && row->status <= status)
		return;
	free(row->reason);
	row->status = status;
	row->reason = xstrdup(reason ? reason : "no reason was recorded");
}

/* Boot mean of one metric: over all iterations but warm-ups. */
static double boot_mean(const struct report_metric *metric, const struct workload_kind *kind, const struct stored_boot *boot)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < boot->n_samples; i++) {
		const struct stored_sample *sample = &boot->samples[i];
		if (sample->iteration < 0 || strcmp(sample->workload, metric->label))
			continue;
		sum += metric_of_sample(kind, metric->info, sample);
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static const struct workload_kind *kind_of_label(const struct report *report, const char *label)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");

	for (size_t i = 0; i < jnode_size(workloads); i++)
		if (!strcmp(jnode_string(jnode_item(workloads, i), "label", ""), label))
			return workload_find(jnode_string(jnode_item(workloads, i), "kind", ""));
	return NULL;
}

static struct error *add_boot(void *arg, const struct stored_boot *boot)
{
	struct report *report = arg;

	if (boot->row < 0 || (size_t)boot->row >= report->n_rows || boot->block < 0 || (size_t)boot->block >= report->n_blocks)
		return NULL;
	struct report_row *row = &report->rows[boot->row];
	enum row_status status = status_of_name(boot->status);
	if (status != ROW_OK) {
		AUTO_FREE char *reason =
			xasprintf("block %lld: %s", (long long)boot->block, boot->reason ? boot->reason : "no reason");
		worsen(row, status, reason);
		return NULL;
	}
	row->boots++;
	free(row->cgroup);
	row->cgroup = boot->cgroup ? xstrdup(boot->cgroup) : NULL;
	for (size_t i = 0; i < row->n_metrics; i++)
		row->metrics[i].boots[boot->block] =
			boot_mean(&row->metrics[i], kind_of_label(report, row->metrics[i].label), boot);
	return NULL;
}

static struct error *add_image(void *arg, const struct stored_image *image)
{
	struct report *report = arg;

	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		if (strcmp(jnode_string(row->description, "image", ""), image->key))
			continue;
		if (strcmp(image->status, "ok") && row->boots < report->n_blocks)
			worsen(row, status_of_name(image->status), image->reason);
		if (image->detail) {
			struct error *error = jnode_parse(image->detail, strlen(image->detail), report->run_id, &row->image);
			if (error)
				return error;
		}
	}
	return NULL;
}

static void free_metrics(struct report_row *row)
{
	for (size_t i = 0; i < row->n_metrics; i++) {
		free(row->metrics[i].name);
		free(row->metrics[i].boots);
	}
	free(row->metrics);
	row->metrics = NULL;
	row->n_metrics = 0;
}

/* Metrics that no boot has (ns under icount) are left out; so are all of a row that does not stand. */
static void drop_absent_metrics(struct report_row *row, size_t n_blocks)
{
	size_t kept = 0;

	if (row->status != ROW_OK) {
		free_metrics(row);
		return;
	}
	for (size_t i = 0; i < row->n_metrics; i++) {
		exact_level(row->metrics[i].boots, n_blocks, &row->metrics[i].level);
		if (row->metrics[i].level.boots) {
			row->metrics[kept++] = row->metrics[i];
			continue;
		}
		free(row->metrics[i].name);
		free(row->metrics[i].boots);
	}
	row->n_metrics = kept;
}

static bool compare_with(const struct report *report, const struct report_row *row, ssize_t other,
			 const struct report_metric *metric, struct exact_difference *difference_out)
{
	if (other < 0 || &report->rows[other] == row)
		return false;
	const struct report_metric *reference = report_find_metric(&report->rows[other], metric->name);
	if (!reference)
		return false;
	exact_difference(reference->boots, metric->boots, report->n_blocks, difference_out);
	if (!report_row_exact(row))
		difference_out->resolved = false;
	return difference_out->boots > 0;
}

static void compute_differences(struct report *report)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		for (size_t k = 0; k < row->n_metrics; k++) {
			struct report_metric *metric = &row->metrics[k];
			metric->has_baseline = compare_with(report, row, row->baseline, metric, &metric->baseline);
			metric->has_previous = compare_with(report, row, row->previous, metric, &metric->previous);
		}
	}
}

static void mark_incomplete(struct report *report)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		if (row->status != ROW_OK || row->boots >= report->n_blocks)
			continue;
		AUTO_FREE char *reason =
			xasprintf("%zu of %zu boots done: the run is not finished", row->boots, report->n_blocks);
		worsen(row, ROW_LAB, reason);
	}
}

/* design.md, Command line: the first that applies. */
static int exit_status(const struct report *report)
{
	bool kernel = false, lab = false, failed = false, open = false;

	for (size_t i = 0; i < report->n_rows; i++) {
		enum row_status status = report->rows[i].status;
		kernel = kernel || status == ROW_BUILD_FAILED || status == ROW_BOOT_FAILED;
		lab = lab || status == ROW_VOID || status == ROW_LAB;
	}
	for (size_t i = 0; i < report->n_gates; i++) {
		failed = failed || report->gates[i].verdict == GATE_FAIL;
		open = open || report->gates[i].verdict != GATE_PASS;
	}
	return failed ? 1 : kernel ? 5 : lab ? 3 : open ? 4 : 0;
}

static struct error *fill(struct report *report, struct store *store)
{
	int ignored;
	struct error *error = store_get_run(store, &report->run);

	if (!error && !report->run)
		error = error_new(ERROR_LAB, "run %s: nothing is in its database yet", report->run_id);
	if (!error)
		error = store_get_finished(store, &report->finished, &ignored);
	if (error)
		return error;
	report->n_blocks = (size_t)jnode_int(report->run, "blocks", 0);
	error = add_rows(report);
	if (!error)
		error = store_each_boot(store, true, add_boot, report);
	if (!error)
		error = store_each_image(store, add_image, report);
	if (error)
		return error;
	mark_incomplete(report);
	for (size_t i = 0; i < report->n_rows; i++)
		drop_absent_metrics(&report->rows[i], report->n_blocks);
	compute_differences(report);
	report_judge_gates(report);
	report->exit_status = exit_status(report);
	return NULL;
}

struct error *report_load(const char *dir, struct report **report_out)
{
	struct report *report = xcalloc(1, sizeof(*report));
	AUTO_FREE char *path = path_join(dir, "run.db");
	AUTO_FREE char *absolute = path_absolute(dir);
	AUTO_FREE char *parent = path_dirname(absolute);
	AUTO_STORE store = NULL;

	report->run_id = xasprintf("%s/%s", path_basename(parent), path_basename(absolute));
	struct error *error = store_open_readonly(path, &store);
	if (!error)
		error = fill(report, store);
	if (error) {
		report_free(report);
		return error;
	}
	*report_out = report;
	return NULL;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->n_rows; i++) {
		free_metrics(&report->rows[i]);
		free(report->rows[i].reason);
		free(report->rows[i].cgroup);
		jnode_free(report->rows[i].image);
	}
	free(report->rows);
	free(report->gates);
	free(report->run_id);
	jnode_free(report->run);
	free(report);
}

void cleanup_report(struct report **report)
{
	report_free(*report);
}
