/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/health.h"
#include "report/metrics.h"
#include "report/rows.h"
#include "report/selftests.h"
#include "report/series.h"

#define HEALTH "health."
#define FREQUENCY HEALTH "frequency"

/* What is to be done with samples of one workload whose readings have these names. */
struct plan_of_names {
	const char *const *names; /* the store's: the same list, the same pointer */
	size_t workload;
	struct metric_program *program;
	size_t first_health, end_health; /* where readings of the sample's health stand */
	ssize_t frequency; /* that reading, or -1 */
};

/* One boot's iterations of a workload. */
struct buffer {
	const struct workload_kind *kind;
	const char *label;
	size_t first_metric; /* in a row's metrics */
	double **columns; /* by metric: n values */
	size_t capacity;
	double *values; /* one sample's */
	size_t n; /* kept */
	size_t taken;
};

struct collector {
	struct report *report;
	struct evidence *evidence;
	struct buffer *buffers; /* by workload */
	size_t n_buffers;
	struct plan_of_names *plans;
	size_t n_plans;
	struct series_share share; /* of the boots, whose iterations are tested */
};

static void add_buffers(struct collector *collector)
{
	const struct jnode *workloads = jnode_get(collector->report->run, "workloads");
	size_t first = 0;

	collector->buffers = xcalloc(jnode_size(workloads), sizeof(*collector->buffers));
	for (size_t i = 0; i < jnode_size(workloads); i++) {
		struct buffer *buffer = &collector->buffers[collector->n_buffers];
		buffer->kind = workload_find(jnode_string(jnode_item(workloads, i), "kind", ""));
		if (!buffer->kind)
			continue;
		buffer->label = jnode_string(jnode_item(workloads, i), "label", "");
		buffer->first_metric = first;
		buffer->columns = xcalloc(buffer->kind->n_metrics, sizeof(*buffer->columns));
		buffer->values = xcalloc(buffer->kind->n_metrics, sizeof(*buffer->values));
		first += buffer->kind->n_metrics;
		collector->n_buffers++;
	}
}

static void deinit(struct collector *collector)
{
	for (size_t i = 0; i < collector->n_buffers; i++) {
		struct buffer *buffer = &collector->buffers[i];
		for (size_t k = 0; k < buffer->kind->n_metrics; k++)
			free(buffer->columns[k]);
		free(buffer->columns);
		free(buffer->values);
	}
	free(collector->buffers);
	for (size_t i = 0; i < collector->n_plans; i++)
		metric_program_free(collector->plans[i].program);
	free(collector->plans);
}

static const struct plan_of_names *plan_for(struct collector *collector, const struct stored_sample *sample, size_t workload)
{
	for (size_t i = 0; i < collector->n_plans; i++)
		if (collector->plans[i].names == sample->names && collector->plans[i].workload == workload)
			return &collector->plans[i];
	struct plan_of_names plan = { .names = sample->names, .workload = workload, .frequency = -1 };
	plan.program = metric_program_new(collector->buffers[workload].kind, sample->names, sample->n_readings);
	for (size_t i = 0; i < sample->n_readings; i++) {
		if (str_starts(sample->names[i], HEALTH)) {
			plan.first_health = plan.end_health ? plan.first_health : i;
			plan.end_health = i + 1;
		}
		if (!strcmp(sample->names[i], FREQUENCY))
			plan.frequency = (ssize_t)i;
	}
	collector->plans = array_grow(collector->plans, collector->n_plans, sizeof(*collector->plans));
	collector->plans[collector->n_plans] = plan;
	return &collector->plans[collector->n_plans++];
}

static ssize_t find_buffer(const struct collector *collector, const char *label)
{
	for (size_t i = 0; i < collector->n_buffers; i++)
		if (!strcmp(collector->buffers[i].label, label))
			return (ssize_t)i;
	return -1;
}

static void keep_sample(struct buffer *buffer, const struct plan_of_names *plan, const struct stored_sample *sample)
{
	if (buffer->n == buffer->capacity) {
		buffer->capacity = buffer->capacity ? 2 * buffer->capacity : 64;
		for (size_t k = 0; k < buffer->kind->n_metrics; k++)
			buffer->columns[k] = xreallocarray(buffer->columns[k], buffer->capacity, sizeof(double));
	}
	metric_program_run(plan->program, sample->values, buffer->values);
	for (size_t k = 0; k < buffer->kind->n_metrics; k++)
		buffer->columns[k][buffer->n] = buffer->values[k];
	buffer->n++;
}

static void add_sample(struct collector *collector, size_t row, size_t workload, const struct stored_sample *sample)
{
	struct buffer *buffer = &collector->buffers[workload];
	struct target_evidence *target = &collector->evidence->targets[report_row_target(&collector->report->rows[row])];
	const struct plan_of_names *plan = plan_for(collector, sample, workload);

	buffer->taken++;
	const char *cause = health_void_cause(buffer->kind, sample->names + plan->first_health,
					      sample->values + plan->first_health, plan->end_health - plan->first_health);
	if (cause) {
		evidence_drop(collector->evidence, row, cause);
		return;
	}
	if (plan->frequency >= 0 && sample->values[plan->frequency] > 0) {
		target->frequency_sum += sample->values[plan->frequency];
		target->n_frequency++;
	}
	keep_sample(buffer, plan, sample);
}

/* Fills the buffers with a boot's samples, warm-ups left out. */
static void read_samples(struct collector *collector, const struct stored_boot *boot)
{
	const char *label = NULL;
	ssize_t workload = -1;

	for (size_t i = 0; i < collector->n_buffers; i++)
		collector->buffers[i].n = collector->buffers[i].taken = 0;
	for (size_t i = 0; i < boot->n_samples; i++) {
		const struct stored_sample *sample = &boot->samples[i];
		if (!label || strcmp(label, sample->workload)) {
			label = sample->workload;
			workload = find_buffer(collector, label);
		}
		if (sample->iteration >= 0 && workload >= 0)
			add_sample(collector, (size_t)boot->row, (size_t)workload, sample);
	}
}

/* The boot's number: iterations' mean, of rates the harmonic one unless the arithmetic one was asked for; and their scatter. */
static double boot_mean(const struct report *report, const struct workload_metric *info, const double *y, size_t n,
			struct boot_moments *moments_out)
{
	bool harmonic = metric_is_rate(info) && !report->arithmetic;
	double sum = 0, inverse = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += y[i];
		inverse += 1 / y[i];
	}
	double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (y[i] - mean) * (y[i] - mean);
	*moments_out = (struct boot_moments){ .mean = mean, .variance = n > 1 ? squares / (double)(n - 1) : NAN, .n = n };
	return harmonic ? (double)n / inverse : mean;
}

static void add_numbers(struct collector *collector, struct report_row *row, const struct stored_boot *boot,
			const struct buffer *buffer)
{
	bool tested = series_share_has(&collector->share, (size_t)boot->row, (size_t)boot->block);

	for (size_t k = 0; buffer->n && k < buffer->kind->n_metrics; k++) {
		struct report_metric *metric = &row->metrics[buffer->first_metric + k];
		metric->boots[boot->block] =
			boot_mean(collector->report, metric->info, buffer->columns[k], buffer->n, &metric->moments[boot->block]);
		if (tested && metric_is_measured(metric->info) && !report_row_exact(row) && !isnan(metric->boots[boot->block]))
			series_test(evidence_series(collector->evidence, report_row_target(row), buffer->first_metric + k),
				    buffer->columns[k], buffer->n);
	}
}

static void note_target(struct collector *collector, const struct report_row *row, const struct stored_boot *boot)
{
	struct target_evidence *target = &collector->evidence->targets[report_row_target(row)];

	if (!target->boots || boot->utc_s < target->first_utc_s)
		target->first_utc_s = boot->utc_s;
	if (!target->boots || boot->utc_s > target->last_utc_s)
		target->last_utc_s = boot->utc_s;
	target->wall_ms += (double)boot->wall_ms;
	target->boots++;
}

static void note_missing(struct row_evidence *evidence, enum row_status status, char *reason)
{
	if (evidence->missing_reason) {
		free(reason);
		return;
	}
	evidence->missing_status = status;
	evidence->missing_reason = reason;
}

/* True when some workload has kept less than half of the samples it took. */
static bool is_thin(const struct collector *collector, const struct stored_boot *boot, struct row_evidence *evidence)
{
	for (size_t i = 0; i < collector->n_buffers; i++) {
		const struct buffer *buffer = &collector->buffers[i];
		if (2 * buffer->n >= buffer->taken)
			continue;
		evidence->thin++;
		note_missing(evidence, ROW_LAB,
			     xasprintf("block %lld: %zu of %zu samples of %s are void for a physical cause",
				       (long long)boot->block, buffer->taken - buffer->n, buffer->taken, buffer->label));
		return true;
	}
	return false;
}

static void add_failure(struct report_row *row, struct row_evidence *evidence, enum row_status status,
			const struct stored_boot *boot)
{
	char *reason = xasprintf("block %lld: %s", (long long)boot->block, boot->reason ? boot->reason : "no reason");
	bool kernel = status == ROW_BUILD_FAILED || status == ROW_BOOT_FAILED;

	if (kernel || report_row_exact(row)) {
		row_worsen(row, status, reason);
		free(reason);
		return;
	}
	evidence->lost++;
	note_missing(evidence, status, reason);
}

/* Where it ran; false when it cannot be compared with the other boots of its block, which are another unit's. */
static bool note_unit(struct collector *collector, const struct report_row *row, struct row_evidence *evidence,
		      const struct stored_boot *boot)
{
	size_t target = report_row_target(row);
	AUTO_JNODE identity = NULL;

	/* Most boots are of devices that have no units: they need no parser. */
	if (!boot->identity || !strstr(boot->identity, "\"unit\""))
		return true;
	AUTO_ERROR unreadable = jnode_parse(boot->identity, strlen(boot->identity), collector->report->run_id, &identity);
	const char *unit = unreadable ? NULL : jnode_string(identity, "unit", NULL);
	if (!unit || evidence_unit(&collector->evidence->targets[target], unit, (size_t)boot->block,
				   report_target_blocks(collector->report, target)))
		return true;
	evidence->lost++;
	note_missing(evidence, ROW_LAB,
		     xasprintf("block %lld: the other boots are of another unit than %s", (long long)boot->block, unit));
	return false;
}

static struct error *add_boot(void *arg, const struct stored_boot *boot)
{
	struct collector *collector = arg;
	struct report *report = collector->report;

	if (boot->row < 0 || (size_t)boot->row >= report->n_rows || boot->block < 0)
		return NULL;
	struct report_row *row = &report->rows[boot->row];
	struct row_evidence *evidence = &collector->evidence->rows[boot->row];
	enum row_status status = row_status_of_name(boot->status ? boot->status : "");
	if ((size_t)boot->block >= report_target_blocks(report, report_row_target(row)))
		return NULL;
	evidence->stored++;
	struct error *error = evidence_environment(collector->evidence, report_row_target(row), boot->identity);
	if (error)
		return error;
	if (status != ROW_OK) {
		add_failure(row, evidence, status, boot);
		return NULL;
	}
	if (!note_unit(collector, row, evidence, boot))
		return NULL;
	read_samples(collector, boot);
	for (size_t i = 0; i < collector->n_buffers; i++) {
		row->samples += collector->buffers[i].taken;
		row->dropped += collector->buffers[i].taken - collector->buffers[i].n;
	}
	if (is_thin(collector, boot, evidence))
		return NULL;
	row->boots++;
	free(row->cgroup);
	row->cgroup = boot->cgroup ? xstrdup(boot->cgroup) : NULL;
	note_target(collector, row, boot);
	error = selftests_take(report, (size_t)boot->row, boot->identity);
	if (error)
		return error;
	for (size_t i = 0; i < collector->n_buffers; i++)
		add_numbers(collector, row, boot, &collector->buffers[i]);
	return NULL;
}

static struct error *add_image(void *arg, const struct stored_image *image)
{
	struct report *report = arg;

	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		if (strcmp(jnode_string(row->description, "image", ""), image->key))
			continue;
		if (strcmp(image->status, "ok") && row->boots < report_target_blocks(report, report_row_target(row)))
			row_worsen(row, row_status_of_name(image->status), image->reason);
		if (image->detail) {
			struct error *error = jnode_parse(image->detail, strlen(image->detail), report->run_id, &row->image);
			if (error)
				return error;
		}
	}
	return NULL;
}

struct error *collect_boots(struct report *report, struct store *store, struct evidence *evidence)
{
	struct collector collector = { .report = report, .evidence = evidence };

	add_buffers(&collector);
	collector.share = series_share_of(report);
	struct error *error = store_each_boot(store, true, add_boot, &collector);
	deinit(&collector);
	return error ? error : store_each_image(store, add_image, report);
}
