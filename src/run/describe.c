/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/session.h"

/*
 * The description: {schema, tool, name, started, matrix, command, seed, blocks (the largest number of a target), baseline,
 *   measure: {blocks, seed, order, half_width, pilot, looks, aa, layout},
 *   kernels: [{name, source, version, origin, arch, base_config, kind}],
 *   targets: [{device, cores, kind, exact, version, cmdline, summary, blocks, profile_digest,
 *             verified (only of real devices, or where the profile says when)}],
 *   workloads: [{label, kind, options: {...}}],
 *   configs: [{name, options: ["CONFIG_FOO=y", ...]}],
 *   gates: [{metric, against (baseline, previous, row, run), row, run, anchor, kind (worse_by, within), limit, steps}],
 *   rows: [{variant (the row's name), control, target, kernel, config, cmdline, step, steps, series, patch, note, previous, baseline, image, tree, config_sha256, toolchain,
 *           booted_cmdline, dropped: [...]}]}
 * `previous` and `baseline` are row indices of the same target, or -1; a control has no `previous`.
 */

static struct jnode *describe_kernels(const struct session *session)
{
	const struct matrix *matrix = session->plan->matrix;
	static const char *const kinds[] = {
		[KERNEL_KBUILD] = "kbuild", [KERNEL_COMMAND] = "command", [KERNEL_PREBUILT] = "prebuilt"
	};
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < matrix->n_kernels; i++) {
		const struct kernel *kernel = &matrix->kernels[i];
		const struct prepared_kernel *prepared = &session->prepared->kernels[i];
		const struct source_tree *source = prepared->source;
		struct jnode *item = jnode_object();
		jnode_set_string(item, "name", kernel->name);
		jnode_set_string(item, "kind", kinds[kernel->kind]);
		jnode_set_string(item, "source", source ? kernel->sources[source->source]->name : NULL);
		jnode_set_string(item, "wanted", kernel->n_sources ? kernel->sources[0]->name : NULL);
		jnode_set_string(item, "version", source ? source->version : NULL);
		jnode_set_string(item, "origin", source ? source->origin : NULL);
		jnode_set_string(item, "commit", source ? source->commit : NULL);
		jnode_set_string(item, "arch", kernel->arch);
		jnode_set_string(item, "base_config", kernel->base_config);
		jnode_set_string(item, "toolchain", prepared->toolchain ? prepared->toolchain->summary : NULL);
		jnode_append(list, item);
	}
	return list;
}

static char *target_summary(const struct profile *profile)
{
	switch (profile->kind) {
	case DEVICE_SIM:
		return xstrdup("simulated");
	case DEVICE_FASTBOOT:
		return xasprintf("%s over fastboot, %s%s%s", profile->fastboot.product,
				 userspace_name(profile->fastboot.userspace), profile->stock ? ", stock kernel" : "",
				 profile->exact ? ", icount" : "");
	case DEVICE_COMMAND:
		return xasprintf("by commands%s", profile->exact ? ", exact" : "");
	case DEVICE_QEMU:
		break;
	}
	return xasprintf("%s%s%s", profile->qemu.cpu, profile->qemu.icount ? " icount" : "", profile->qemu.smp > 1 ? " smp" : "");
}

/* Simulated ones need no proof that somebody has seen them. */
static void describe_verified(const struct profile *profile, struct jnode *item)
{
	const bool real = profile->kind == DEVICE_FASTBOOT || profile->kind == DEVICE_COMMAND;

	if (real || strcmp(profile->verified, "never") != 0)
		jnode_set_string(item, "verified", profile->verified);
}

static struct jnode *describe_targets(const struct session *session)
{
	const struct matrix *matrix = session->plan->matrix;
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < matrix->n_targets; i++) {
		const struct device *device = matrix->targets[i].device;
		const struct plan_row any = { .target = i };
		AUTO_FREE char *summary = target_summary(device->profile);
		struct jnode *item = jnode_object();
		jnode_set_string(item, "device", device->name);
		jnode_set_string(item, "cores", matrix->targets[i].cores);
		jnode_set_string(item, "kind", device_kind_name(device->profile->kind));
		jnode_set_bool(item, "exact", device->profile->exact);
		jnode_set_string(item, "version", session_device_of(session, &any)->version);
		jnode_set_string(item, "cmdline", device->profile->cmdline);
		jnode_set_string(item, "summary", summary);
		jnode_set_int(item, "blocks", plan_blocks(matrix, i));
		jnode_set_string(item, "profile_digest", device->profile->digest);
		describe_verified(device->profile, item);
		jnode_append(list, item);
	}
	return list;
}

static struct jnode *describe_workloads(const struct matrix *matrix)
{
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < matrix->n_workloads; i++) {
		const struct workload *workload = &matrix->workloads[i];
		struct jnode *item = jnode_object(), *options = jnode_object();
		size_t own = workload->kind->n_options;
		for (size_t k = 0; k < own; k++)
			jnode_set_string(options, workload->kind->options[k].name, workload->values[k]);
		for (size_t k = 0; k < workload_n_common_options; k++)
			jnode_set_string(options, workload_common_options[k].name, workload->values[own + k]);
		jnode_set_string(item, "label", workload->label);
		jnode_set_string(item, "kind", workload->kind->name);
		jnode_set(item, "options", options);
		jnode_append(list, item);
	}
	return list;
}

/* What each config requests; "n" says not set. The device profile's fragment is not in it: all rows of a device have that. */
static struct jnode *describe_configs(const struct matrix *matrix)
{
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < matrix->n_configs; i++) {
		const struct config *config = &matrix->configs[i];
		struct jnode *item = jnode_object(), *options = jnode_array();
		for (size_t k = 0; k < config->fragment->n; k++) {
			const struct config_request *request = &config->fragment->requests[k];
			AUTO_FREE char *line = xasprintf("CONFIG_%s=%s", request->name, request->value);
			jnode_append_string(options, line);
		}
		jnode_set_string(item, "name", config->name);
		jnode_set(item, "options", options);
		jnode_append(list, item);
	}
	return list;
}

static struct jnode *describe_gates(const struct matrix *matrix)
{
	static const char *const against[] = {
		[GATE_BASELINE] = "baseline", [GATE_PREVIOUS] = "previous", [GATE_ROW] = "row", [GATE_RUN] = "run"
	};
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < matrix->n_gates; i++) {
		const struct gate *gate = &matrix->gates[i];
		struct jnode *item = jnode_object();
		jnode_set_string(item, "metric", gate->metric);
		jnode_set_string(item, "against", against[gate->against]);
		jnode_set_string(item, "row", gate->row);
		jnode_set_string(item, "run", gate->run);
		jnode_set_string(item, "anchor", gate->anchor);
		jnode_set_string(item, "kind", gate->kind == GATE_WITHIN ? "within" : "worse_by");
		jnode_set_real(item, "limit", gate->limit);
		jnode_set_string(item, "steps", gate->steps == GATE_STEPS_ALL ? "all" : "last");
		jnode_append(list, item);
	}
	return list;
}

/* The row of the same target that has `variant`, or -1. */
static int64_t row_of(const struct plan *plan, size_t target, ssize_t variant)
{
	for (size_t i = 0; variant >= 0 && i < plan->n_rows; i++)
		if (plan->rows[i].target == target && plan->rows[i].variant == (size_t)variant && !plan->rows[i].control)
			return (int64_t)i;
	return -1;
}

static void describe_image(const struct session *session, const struct plan_row *row, struct jnode *item)
{
	if (row->image < 0)
		return;
	const struct prepared_image *prepared = &session->prepared->images[row->image];
	jnode_set_string(item, "image", prepared->key);
	jnode_set_string(item, "tree", prepared->input.tree);
	jnode_set_string(item, "note", prepared->note);
	jnode_set_string(item, "toolchain", prepared->input.toolchain ? prepared->input.toolchain->summary : NULL);
	if (!prepared->config)
		return;
	jnode_set_string(item, "config_sha256", prepared->config->sha256);
	struct jnode *dropped = jnode_array();
	for (size_t i = 0; i < prepared->config->dropped.n; i++)
		jnode_append_string(dropped, prepared->config->dropped.items[i]);
	jnode_set(item, "dropped", dropped);
}

static struct jnode *describe_rows(const struct session *session)
{
	const struct plan *plan = session->plan;
	struct jnode *list = jnode_array();

	for (size_t i = 0; i < plan->n_rows; i++) {
		const struct plan_row *row = &plan->rows[i];
		const struct plan_variant *variant = &plan->variants[row->variant];
		struct jnode *item = jnode_object();
		jnode_set_string(item, "variant", row->name);
		jnode_set_string(item, "control", row_control_name(row->control));
		jnode_set_int(item, "target", (int64_t)row->target);
		jnode_set_int(item, "kernel", variant->kernel - plan->matrix->kernels);
		jnode_set_string(item, "config", variant->config->name);
		jnode_set_string(item, "cmdline", variant->cmdline->name);
		jnode_set_int(item, "step", variant->step);
		jnode_set_int(item, "steps", variant->n_steps);
		jnode_set_string(item, "series", variant->patches ? variant->patches->name : NULL);
		jnode_set_string(item, "patch", variant->subject);
		jnode_set_int(item, "previous", row_of(plan, row->target, row->control ? -1 : variant->previous));
		jnode_set_int(item, "baseline", row_of(plan, row->target, (ssize_t)plan->baseline));
		jnode_set_string(item, "booted_cmdline", row->booted_cmdline);
		describe_image(session, row, item);
		jnode_append(list, item);
	}
	return list;
}

static struct jnode *describe_measure(const struct measure *measure)
{
	struct jnode *item = jnode_object();

	jnode_set_int(item, "blocks", measure->blocks);
	jnode_set_int(item, "seed", (int64_t)measure->seed);
	jnode_set_string(item, "order", measure_order_name(measure->order));
	jnode_set_real(item, "half_width", measure->half_width);
	jnode_set_int(item, "pilot", measure->pilot);
	jnode_set_int(item, "looks", measure->looks);
	jnode_set_bool(item, "aa", measure->aa);
	jnode_set_bool(item, "layout", measure->layout);
	return item;
}

static int64_t most_blocks(const struct matrix *matrix)
{
	unsigned most = 0;

	for (size_t i = 0; i < matrix->n_targets; i++) {
		unsigned blocks = plan_blocks(matrix, i);
		most = blocks > most ? blocks : most;
	}
	return most;
}

struct jnode *session_describe(const struct session *session)
{
	const struct matrix *matrix = session->plan->matrix;
	struct jnode *run = jnode_object();

	jnode_set_int(run, "schema", 1);
	jnode_set_string(run, "tool", TOOL_VERSION);
	jnode_set_string(run, "name", matrix->name);
	AUTO_FREE char *started = clock_utc_text(clock_utc_s());
	jnode_set_string(run, "started", started);
	jnode_set_string(run, "matrix", matrix->path);
	jnode_set_string(run, "command", session->command);
	jnode_set_int(run, "seed", (int64_t)matrix->measure.seed);
	jnode_set_int(run, "blocks", most_blocks(matrix));
	jnode_set(run, "measure", describe_measure(&matrix->measure));
	jnode_set_string(run, "baseline", session->plan->variants[session->plan->baseline].name);
	jnode_set(run, "kernels", describe_kernels(session));
	jnode_set(run, "targets", describe_targets(session));
	jnode_set(run, "workloads", describe_workloads(matrix));
	jnode_set(run, "configs", describe_configs(matrix));
	jnode_set(run, "gates", describe_gates(matrix));
	jnode_set(run, "rows", describe_rows(session));
	return run;
}
