/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON (schemas/report.schema.json); the schema's number is raised when a field changes its meaning. */
#include <string.h>

#include "report/report.h"

#define SCHEMA "memcg-ab/report/1"

static struct jnode *write_difference(const struct exact_difference *difference)
{
	struct jnode *item = jnode_object();

	jnode_set_real(item, "delta", difference->delta);
	jnode_set_real(item, "spread", difference->spread);
	jnode_set_real(item, "ratio", difference->ratio);
	jnode_set_string(item, "verdict", difference->resolved ? "resolved" : "not-resolved");
	return item;
}

static struct jnode *write_metrics(const struct report_row *row)
{
	struct jnode *metrics = jnode_object();

	for (size_t i = 0; i < row->n_metrics; i++) {
		const struct report_metric *metric = &row->metrics[i];
		AUTO_FREE char *unit = xasprintf("%s/%s", metric->info->unit, metric->info->per);
		struct jnode *item = jnode_object();
		jnode_set_string(item, "kind", report_row_exact(row) ? "exact" : "random");
		jnode_set_string(item, "unit", unit);
		jnode_set_string(item, "better", metric->info->higher_is_better ? "higher" : "lower");
		jnode_set_int(item, "boots", (int64_t)metric->level.boots);
		jnode_set_real(item, "mean", metric->level.mean);
		if (metric->has_baseline)
			jnode_set(item, "vs_baseline", write_difference(&metric->baseline));
		if (metric->has_previous)
			jnode_set(item, "vs_previous", write_difference(&metric->previous));
		jnode_set(metrics, metric->name, item);
	}
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

static struct jnode *write_row(const struct report_row *row)
{
	static const char *const copied[] = { "config", "cmdline" };
	const struct jnode *description = row->description;
	const char *name = jnode_string(row->kernel, "name", "");
	struct jnode *item = jnode_object();

	jnode_set_string(item, "variant", row->variant);
	jnode_set_string(item, "kernel", *name ? name : jnode_string(row->kernel, "source", "prebuilt"));
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
	if (jnode_string(description, "image", NULL))
		jnode_set(item, "image", write_image(row));
	jnode_set(item, "metrics", write_metrics(row));
	return item;
}

static struct jnode *write_gate(const struct report *report, const struct report_gate *gate)
{
	struct jnode *item = jnode_object();

	jnode_set_string(item, "metric", gate->metric);
	jnode_set_string(item, "variant", report->rows[gate->row].variant);
	jnode_set_string(item, "device", jnode_string(report->rows[gate->row].target, "device", NULL));
	jnode_set_string(item, "vs", gate->against);
	jnode_set_real(item, "limit", gate->limit);
	jnode_set_real(item, "value", gate->value);
	jnode_set_real(item, "spread", gate->spread);
	jnode_set_string(item, "verdict", gate_verdict_name(gate->verdict));
	return item;
}

static void write(const struct report *report, struct strbuf *out)
{
	AUTO_JNODE root = jnode_object();
	struct jnode *rows = jnode_array(), *gates = jnode_array();

	jnode_set_string(root, "schema", SCHEMA);
	jnode_set_string(root, "tool", jnode_string(report->run, "tool", NULL));
	jnode_set_string(root, "run", report->run_id);
	jnode_set_bool(root, "finished", report->finished);
	jnode_set_string(root, "baseline", jnode_string(report->run, "baseline", NULL));
	for (size_t i = 0; i < report->n_rows; i++)
		jnode_append(rows, write_row(&report->rows[i]));
	for (size_t i = 0; i < report->n_gates; i++)
		jnode_append(gates, write_gate(report, &report->gates[i]));
	jnode_set(root, "rows", rows);
	jnode_set(root, "gates", gates);
	jnode_set_int(root, "exit_status", report->exit_status);
	jnode_write(root, 1, out);
	strbuf_addch(out, '\n');
}

const struct report_writer report_writer_json = { "json", "one document, schemas/report.schema.json", write };
