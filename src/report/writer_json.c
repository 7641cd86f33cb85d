/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON (schemas/report.schema.json); the schema's number is raised when a field changes its meaning. */
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "report/selftests.h"
#include "report/words.h"

#define SCHEMA "memcg-ab/report/2"

static struct jnode *write_interval(const struct interval *interval)
{
	struct jnode *item = jnode_array();

	jnode_append_real(item, interval->lo);
	jnode_append_real(item, interval->hi);
	return item;
}

static const char *difference_verdict(const struct report_difference *difference)
{
	if (difference->below_floor)
		return "below-floor";
	if (difference->resolved)
		return "resolved";
	return difference->resolved_alone ? "resolved-alone" : "not-resolved";
}

static void write_exact_difference(const struct exact_difference *difference, struct jnode *item)
{
	jnode_set_real(item, "delta", difference->delta);
	jnode_set_real(item, "spread", difference->spread);
}

static void write_random_difference(const struct report_difference *difference, struct jnode *item)
{
	jnode_set(item, "ci95", write_interval(&difference->ci95));
	jnode_set(item, "ci95_family", write_interval(&difference->ci95_family));
	jnode_set_real(item, "p", difference->random.p);
	jnode_set_real(item, "p_adjusted", difference->p_adjusted);
	jnode_set_string(item, "method", compare_method_name(difference->random.method));
	jnode_set_real(item, "df", difference->random.df);
	jnode_set_real(item, "detectable", difference->detectable);
}

static struct jnode *write_difference(const struct report_difference *difference, bool exact)
{
	struct jnode *item = jnode_object();

	if (exact)
		write_exact_difference(&difference->exact, item);
	else
		write_random_difference(difference, item);
	jnode_set_real(item, "ratio", difference->ratio);
	jnode_set_string(item, "verdict", difference_verdict(difference));
	return item;
}

static struct jnode *write_metric(const struct report_metric *metric, bool exact)
{
	char unit[64];
	struct jnode *item = jnode_object();

	workload_unit_text(metric->info, unit, sizeof(unit));
	jnode_set_string(item, "kind", exact ? "exact" : "random");
	jnode_set_string(item, "unit", unit);
	jnode_set_string(item, "better", metric->info->higher_is_better ? "higher" : "lower");
	jnode_set_int(item, "boots", (int64_t)(exact ? metric->exact.boots : metric->n_all));
	jnode_set_real(item, "mean", metric->mean);
	if (!exact) {
		jnode_set_real(item, "median", metric->level.median);
		jnode_set_real(item, "cv", metric->level.sd / metric->level.mean);
		jnode_set_real(item, "sd_boot", metric->sd_boot);
		jnode_set_real(item, "sd_iteration", metric->sd_iteration);
	}
	if (metric->baseline.present)
		jnode_set(item, "vs_baseline", write_difference(&metric->baseline, exact));
	if (metric->previous.present)
		jnode_set(item, "vs_previous", write_difference(&metric->previous, exact));
	if (!exact && !isnan(metric->robust))
		jnode_set_real(item, "median_vs_baseline", metric->robust);
	return item;
}

static struct jnode *write_metrics(const struct report_row *row)
{
	struct jnode *metrics = jnode_object();

	for (size_t i = 0; i < row->n_metrics; i++)
		jnode_set(metrics, row->metrics[i].name, write_metric(&row->metrics[i], report_row_exact(row)));
	return metrics;
}

static struct jnode *write_image(const struct report_row *row)
{
	struct jnode *image = jnode_object();

	jnode_set_string(image, "key", jnode_string(row->description, "image", NULL));
	jnode_set_string(image, "tree", jnode_string(row->description, "tree", NULL));
	jnode_set_string(image, "config_sha256",
			 jnode_string(row->image, "config_sha256", jnode_string(row->description, "config_sha256", NULL)));
	jnode_set_string(image, "build_id", jnode_string(row->image, "build_id", NULL));
	jnode_set_string(image, "image_sha256", jnode_string(row->image, "image_sha256", NULL));
	return image;
}

/* By label and test, the program's own outcome under "". */
static struct jnode *write_selftests(const struct report *report, size_t row)
{
	struct jnode *all = jnode_object();

	for (size_t i = 0; i < report->n_selftests; i++) {
		const struct report_selftest *selftest = &report->selftests[i];
		struct jnode *tests = jnode_get(all, selftest->label), *item = jnode_object();
		if (!selftest->said[row]) {
			jnode_free(item);
			continue;
		}
		if (!tests)
			jnode_set(all, selftest->label, tests = jnode_object());
		jnode_set_string(item, "outcome", selftest_outcome(selftest, row));
		if (selftest_reason(selftest, row))
			jnode_set_string(item, "reason", selftest_reason(selftest, row));
		jnode_set(tests, selftest->test, item);
	}
	return all;
}

static struct jnode *write_row(const struct report *report, size_t index)
{
	const struct report_row *row = &report->rows[index];
	static const char *const copied[] = { "config", "cmdline" };
	const struct jnode *description = row->description;
	struct jnode *item = jnode_object();

	jnode_set_string(item, "variant", row->variant);
	jnode_set_string(item, "control", row_control_name(row->control));
	jnode_set_string(item, "kernel", words_kernel_name(row));
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		jnode_set_string(item, copied[i], jnode_string(description, copied[i], NULL));
	jnode_set_int(item, "step", jnode_int(description, "step", 0));
	jnode_set_string(item, "patch", jnode_string(description, "patch", NULL));
	if (jnode_string(description, "note", NULL))
		jnode_set_string(item, "note", jnode_string(description, "note", NULL));
	jnode_set_string(item, "device", jnode_string(row->target, "device", NULL));
	jnode_set_string(item, "cores", jnode_string(row->target, "cores", "all"));
	jnode_set_string(item, "cgroup", row->cgroup);
	jnode_set_string(item, "booted_cmdline", jnode_string(description, "booted_cmdline", NULL));
	jnode_set_string(item, "toolchain", jnode_string(row->image, "toolchain", jnode_string(description, "toolchain", NULL)));
	jnode_set_string(item, "status", row_status_name(row->status));
	if (row->status != ROW_OK)
		jnode_set_string(item, "reason", row->reason);
	jnode_set_int(item, "boots", (int64_t)row->boots);
	jnode_set_int(item, "samples", (int64_t)row->samples);
	jnode_set_int(item, "dropped", (int64_t)row->dropped);
	jnode_set_int(item, "lost_boots", (int64_t)row->lost);
	if (jnode_string(description, "image", NULL))
		jnode_set(item, "image", write_image(row));
	jnode_set(item, "metrics", write_metrics(row));
	if (report->n_selftests)
		jnode_set(item, "selftests", write_selftests(report, index));
	return item;
}

static const char *device_of(const struct report *report, size_t target)
{
	return jnode_string(jnode_item(jnode_get(report->run, "targets"), target), "device", NULL);
}

static const char *cores_of(const struct report *report, size_t target)
{
	return jnode_string(jnode_item(jnode_get(report->run, "targets"), target), "cores", "all");
}

static struct jnode *write_gate(const struct report *report, const struct report_gate *gate)
{
	const struct report_row *row = &report->rows[gate->row];
	struct jnode *item = jnode_object();

	jnode_set_string(item, "metric", gate->metric);
	jnode_set_string(item, "variant", row->variant);
	jnode_set_string(item, "device", device_of(report, report_row_target(row)));
	jnode_set_string(item, "cores", cores_of(report, report_row_target(row)));
	jnode_set_string(item, "vs", gate->against);
	jnode_set_string(item, "kind", gate->equivalence ? "within" : "worse-by");
	jnode_set_real(item, "limit", gate->limit);
	jnode_set_real(item, "value", gate->value);
	if (report_row_exact(row)) {
		jnode_set_real(item, "spread", gate->spread);
	} else {
		jnode_set(item, "bounds95", write_interval(&gate->ci95));
		jnode_set_real(item, "detectable", gate->detectable);
		if (gate->boots_needed)
			jnode_set_int(item, "boots_needed", (int64_t)gate->boots_needed);
	}
	jnode_set_string(item, "verdict", verdict_name(gate->verdict));
	if (gate->reason)
		jnode_set_string(item, "reason", gate->reason);
	return item;
}

static const char *finding_name(enum finding_kind kind)
{
	static const char *const names[] = {
		[FINDING_AA] = "aa",
		[FINDING_FLOOR] = "floor",
		[FINDING_DRIFT] = "drift",
		[FINDING_STEP] = "step",
		[FINDING_UNSTEADY] = "unsteady",
		[FINDING_DEPENDENCE] = "dependence",
		[FINDING_MODES] = "modes",
		[FINDING_OUTLIERS] = "outliers",
		[FINDING_DROPPED] = "dropped",
		[FINDING_MEDIAN] = "median",
		[FINDING_ORDER] = "order",
		[FINDING_MEAN] = "mean",
		[FINDING_SIGN] = "sign",
		[FINDING_UNITS] = "units",
		[FINDING_ENVIRONMENT] = "environment",
		[FINDING_UNVERIFIED] = "unverified",
		[FINDING_SELFTEST] = "selftest",
	};

	return names[kind];
}

static struct jnode *write_finding(const struct report *report, const struct report_finding *finding)
{
	struct jnode *item = jnode_object();

	jnode_set_string(item, "kind", finding_name(finding->kind));
	jnode_set_string(item, "device", device_of(report, finding->target));
	jnode_set_string(item, "cores", cores_of(report, finding->target));
	jnode_set_string(item, "metric", finding->metric);
	jnode_set_bool(item, "invalid", finding->invalid);
	jnode_set_string(item, "text", finding->text);
	return item;
}

static struct jnode *write_unit(const struct report *report, const struct report_unit *unit)
{
	struct jnode *item = jnode_object(), *blocks = jnode_array();

	jnode_set_string(item, "device", device_of(report, unit->target));
	jnode_set_string(item, "cores", cores_of(report, unit->target));
	jnode_set_string(item, "unit", unit->name);
	jnode_set_int(item, "boots", (int64_t)unit->boots);
	for (size_t i = 0; i < unit->n_blocks; i++)
		jnode_append_int(blocks, (int64_t)unit->blocks[i]);
	jnode_set(item, "blocks", blocks);
	return item;
}

static struct jnode *write_control(const struct report *report, const struct comparison *control)
{
	struct interval interval = compare_interval(control, report->alpha, 1);
	struct jnode *item = jnode_object();

	jnode_set_real(item, "ratio", compare_ratio(control));
	jnode_set(item, "ci95", write_interval(&interval));
	jnode_set_real(item, "p", control->p);
	return item;
}

static struct jnode *write_floor(const struct report *report, const struct report_floor *floor)
{
	const struct components *components = &floor->components;
	struct jnode *item = jnode_object();

	jnode_set_string(item, "device", device_of(report, floor->target));
	jnode_set_string(item, "cores", cores_of(report, floor->target));
	jnode_set_string(item, "metric", floor->metric);
	jnode_set_real(item, "floor", floor->floor);
	if (floor->aa.method != COMPARE_NONE)
		jnode_set(item, "aa", write_control(report, &floor->aa));
	if (floor->layout.method != COMPARE_NONE)
		jnode_set(item, "layout", write_control(report, &floor->layout));
	jnode_set_bool(item, "paired", floor->paired);
	jnode_set_real(item, "drift_a_block", floor->drift.slope);
	jnode_set_real(item, "drift_p", floor->drift.p);
	jnode_set_real(item, "sd_boot", components->sd_between);
	jnode_set_real(item, "sd_iteration", components->sd_within);
	jnode_set_real(item, "icc", components->icc);
	if (components->best_iterations)
		jnode_set_int(item, "best_iterations", (int64_t)components->best_iterations);
	return item;
}

static struct jnode *write_measure(const struct report *report)
{
	const struct jnode *measure = jnode_get(report->run, "measure");
	double half_width = jnode_real(measure, "half_width", 0);
	int64_t looks = jnode_int(measure, "looks", 0);
	struct jnode *item = jnode_object();

	jnode_set_int(item, "blocks", (int64_t)report->n_blocks);
	jnode_set_int(item, "seed", jnode_int(measure, "seed", jnode_int(report->run, "seed", 0)));
	jnode_set_string(item, "order", jnode_string(measure, "order", "random"));
	jnode_set_string(item, "mean", report->arithmetic ? "arithmetic" : "harmonic");
	jnode_set_real(item, "alpha", report->alpha);
	if (half_width > 0) {
		jnode_set_real(item, "half_width", half_width);
		jnode_set_int(item, "pilot", jnode_int(measure, "pilot", 0));
	}
	if (looks > 0) {
		jnode_set_int(item, "looks", looks);
		jnode_set_int(item, "looks_taken", (int64_t)report->looks_taken);
	}
	return item;
}

static struct jnode *write_targets(const struct report *report)
{
	const struct jnode *targets = jnode_get(report->run, "targets");
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < jnode_size(targets); i++) {
		const struct jnode *target = jnode_item(targets, i);
		struct jnode *item = jnode_object();
		jnode_set_string(item, "device", jnode_string(target, "device", NULL));
		jnode_set_string(item, "cores", jnode_string(target, "cores", "all"));
		jnode_set_bool(item, "exact", jnode_bool(target, "exact", false));
		jnode_set_string(item, "verified", jnode_string(target, "verified", NULL));
		jnode_append(list, item);
	}
	return list;
}

/* How the number of blocks was come to, where data decided it. */
static struct jnode *write_stages(const struct report *report)
{
	const struct jnode *targets = jnode_get(report->run, "targets");
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < jnode_size(targets); i++) {
		const struct jnode *target = jnode_item(targets, i), *stages = jnode_get(target, "stages");
		for (size_t k = 0; k < jnode_size(stages); k++) {
			const struct jnode *stage = jnode_item(stages, k);
			struct jnode *item = jnode_object();
			jnode_set_string(item, "device", jnode_string(target, "device", NULL));
			jnode_set_string(item, "cores", jnode_string(target, "cores", "all"));
			jnode_set_int(item, "number", jnode_int(stage, "number", 0));
			jnode_set_int(item, "seen", jnode_int(stage, "seen", 0));
			jnode_set_int(item, "blocks", jnode_int(stage, "blocks", 0));
			jnode_set_string(item, "reason", jnode_string(stage, "reason", ""));
			jnode_append(list, item);
		}
	}
	return list;
}

static void write_lists(const struct report *report, struct jnode *root)
{
	struct jnode *rows = jnode_array(), *floors = jnode_array(), *findings = jnode_array(), *gates = jnode_array();
	struct jnode *units = jnode_array();

	for (size_t i = 0; i < report->n_rows; i++)
		/* A replicate's boots count as the baseline's. */
		if (report->rows[i].control != CONTROL_REPLICATE || report->rows[i].status != ROW_OK)
			jnode_append(rows, write_row(report, i));
	for (size_t i = 0; i < report->n_floors; i++)
		jnode_append(floors, write_floor(report, &report->floors[i]));
	for (size_t i = 0; i < report->n_findings; i++)
		jnode_append(findings, write_finding(report, &report->findings[i]));
	for (size_t i = 0; i < report->n_units; i++)
		jnode_append(units, write_unit(report, &report->units[i]));
	for (size_t i = 0; i < report->n_gates; i++)
		jnode_append(gates, write_gate(report, &report->gates[i]));
	jnode_set(root, "rows", rows);
	jnode_set(root, "units", units);
	jnode_set(root, "floors", floors);
	jnode_set(root, "findings", findings);
	jnode_set(root, "gates", gates);
}

static void write(const struct report *report, struct strbuf *out)
{
	AUTO_JNODE root = jnode_object();

	jnode_set_string(root, "schema", SCHEMA);
	jnode_set_string(root, "tool", jnode_string(report->run, "tool", NULL));
	jnode_set_string(root, "run", report->run_id);
	jnode_set_string(root, "command", jnode_string(report->run, "command", NULL));
	jnode_set_bool(root, "finished", report->finished);
	jnode_set_string(root, "baseline", jnode_string(report->run, "baseline", NULL));
	jnode_set(root, "measure", write_measure(report));
	jnode_set(root, "targets", write_targets(report));
	jnode_set(root, "stages", write_stages(report));
	write_lists(report, root);
	jnode_set_int(root, "exit_status", report->exit_status);
	jnode_write(root, 1, out);
	strbuf_addch(out, '\n');
}

const struct report_writer report_writer_json = { "json", "one document, schemas/report.schema.json", write };
