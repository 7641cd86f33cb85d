/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words about where and how was measured. */
#include <math.h>
#include <string.h>

#include "report/floor.h"
#include "report/words.h"

#define MAX_OPTIONS 12 /* of a config; the rest is counted */

static const struct jnode *target_of(const struct report *report, size_t target)
{
	return jnode_item(jnode_get(report->run, "targets"), target);
}

bool words_first_of_kernel(const struct report *report, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (report->rows[k].target == report->rows[i].target && report->rows[k].kernel == report->rows[i].kernel)
			return false;
	return true;
}

char *words_kernel(const struct report_row *row)
{
	const struct jnode *kernel = row->kernel;
	static const char *const details[] = { "toolchain", "base_config" };
	const char *name = jnode_string(kernel, "name", ""), *commit = jnode_string(kernel, "commit", NULL);
	struct strbuf out = STRBUF_INIT;

	if (!jnode_string(row->description, "image", NULL))
		return xstrdup("no kernel of ours");
	if (*name)
		strbuf_addf(&out, "%s: ", name);
	if (!strcmp(jnode_string(kernel, "kind", ""), "prebuilt")) {
		strbuf_addf(&out, "prebuilt %s", jnode_string(kernel, "arch", "arm64"));
		return strbuf_steal(&out);
	}
	strbuf_addf(&out, "linux %s %s", jnode_string(kernel, "version", "?"), jnode_string(kernel, "arch", ""));
	for (size_t i = 0; i < ARRAY_SIZE(details); i++)
		if (jnode_string(kernel, details[i], NULL))
			strbuf_addf(&out, ", %s", jnode_string(kernel, details[i], ""));
	if (commit)
		strbuf_addf(&out, ", commit %s", commit);
	return strbuf_steal(&out);
}

char *words_target(const struct jnode *target)
{
	const char *cores = jnode_string(target, "cores", "all");

	return xasprintf("%s%s%s", jnode_string(target, "device", ""), strcmp(cores, "all") ? " " : "",
			 strcmp(cores, "all") ? cores : "");
}

char *words_device(const struct jnode *target)
{
	const char *summary = jnode_string(target, "summary", ""), *version = jnode_string(target, "version", "");

	const char *verified = jnode_string(target, "verified", NULL);

	return xasprintf("%s%s%s%s%s", summary, *summary && *version ? ", " : "", version, verified ? "; profile verified: " : "",
			 verified ? verified : "");
}

char *words_frequency(const struct jnode *target)
{
	const char *frequency = jnode_string(target, "frequency", NULL);

	if (frequency)
		return xstrdup(frequency);
	if (jnode_bool(target, "exact", false))
		return xstrdup("does not matter, instructions are counted");
	return xstrdup("not recorded");
}

/* Every other config asks for `option` too. */
static bool shared(const struct jnode *configs, const char *option)
{
	for (size_t i = 0; i < jnode_size(configs); i++) {
		const struct jnode *options = jnode_get(jnode_item(configs, i), "options");
		bool found = false;
		for (size_t k = 0; k < jnode_size(options) && !found; k++)
			found = !strcmp(jnode_item_string(options, k), option);
		if (!found)
			return false;
	}
	return jnode_size(configs) > 1;
}

char *words_config(const struct report *report, const char *name)
{
	const struct jnode *configs = jnode_get(report->run, "configs"), *options = NULL;
	struct strbuf out = STRBUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < jnode_size(configs) && !options; i++)
		if (!strcmp(jnode_string(jnode_item(configs, i), "name", ""), name))
			options = jnode_get(jnode_item(configs, i), "options");
	for (size_t k = 0; k < jnode_size(options); k++) {
		const char *option = jnode_item_string(options, k);
		if (shared(configs, option))
			continue;
		if (n++ < MAX_OPTIONS)
			strbuf_addf(&out, "%s%s", out.len ? " " : "", option);
	}
	if (n > MAX_OPTIONS)
		strbuf_addf(&out, " and %zu more", n - MAX_OPTIONS);
	return strbuf_steal(&out);
}

const char *words_kernel_name(const struct report_row *row)
{
	const char *name = jnode_string(row->kernel, "name", ""), *source = jnode_string(row->kernel, "source", NULL);

	if (*name)
		return name;
	return source ? source : !strcmp(jnode_string(row->kernel, "kind", ""), "prebuilt") ? "prebuilt" : "none";
}

const char *words_cmdline(const struct report_row *row)
{
	const char *booted = jnode_string(row->description, "booted_cmdline", "");
	const char *device = jnode_string(row->target, "cmdline", "");

	if (str_starts(booted, device))
		booted += strlen(device);
	return booted + strspn(booted, " ");
}

/* A step after one of the same config and command line. */
static bool only_a_patch_more(const struct report *report, const struct report_row *row)
{
	static const char *const keys[] = { "config", "booted_cmdline", "kernel" };

	if (row->previous < 0 || !jnode_string(row->description, "patch", NULL))
		return false;
	const struct jnode *previous = report->rows[row->previous].description;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(jnode_string(row->description, keys[i], ""), jnode_string(previous, keys[i], "")) ||
		    jnode_int(row->description, keys[i], 0) != jnode_int(previous, keys[i], 0))
			return false;
	return true;
}

char *words_row_facts(const struct report *report, const struct report_row *row)
{
	const struct jnode *description = row->description;
	const char *config = jnode_string(description, "config", ""), *patch = jnode_string(description, "patch", NULL);
	const char *cmdline = words_cmdline(row), *note = jnode_string(description, "note", NULL);
	bool base = row->baseline >= 0 && &report->rows[row->baseline] == row;
	AUTO_FREE char *options = words_config(report, config);
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "%s%s: ", row->variant, base ? " (base)" : "");
	if (!only_a_patch_more(report, row))
		strbuf_addf(&out, "%s; %s%s", *options ? options : config, *cmdline ? cmdline : "nothing on the command line",
			    patch ? "; " : "");
	if (patch)
		strbuf_addf(&out, "+ %s", patch);
	if (note)
		strbuf_addf(&out, "; %s", note);
	if (row->lost)
		strbuf_addf(&out, "; %zu boots lost", row->lost);
	if (row->status != ROW_OK)
		strbuf_addf(&out, "; %s: %s", row_status_name(row->status), row->reason ? row->reason : "no reason was recorded");
	return strbuf_steal(&out);
}

static const char *order_words(const char *order)
{
	if (!strcmp(order, "random"))
		return "random order in each block";
	if (!strcmp(order, "abba"))
		return "order ABBA";
	return !strcmp(order, "sequential") ? "sequential order" : order;
}

/* Boots behind the means of the baseline, which has a second one in each block where there are many variants. */
static size_t baseline_boots(const struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target == target_of(report, target) && row->baseline == (ssize_t)i && row->n_metrics)
			return words_boots(row, &row->metrics[0]);
	}
	return 0;
}

static void add_stopping(const struct report *report, size_t target, const struct jnode *measure, struct strbuf *out)
{
	const struct jnode *stages = jnode_get(target_of(report, target), "stages");
	const struct jnode *last = jnode_size(stages) > 1 ? jnode_item(stages, jnode_size(stages) - 1) : NULL;
	double half_width = jnode_real(measure, "half_width", 0);
	int64_t looks = jnode_int(measure, "looks", 0);

	if (half_width > 0)
		strbuf_addf(out, ", until +-%g%% (Stein, pilot of %lld blocks)", 100 * half_width,
			    (long long)jnode_int(measure, "pilot", 0));
	if (looks > 0)
		strbuf_addf(out, ", look %zu of %lld at %.3g%% each", report->looks_taken, (long long)looks, 5.0 / (double)looks);
	if (last)
		strbuf_addf(out, "; after %lld blocks: %s", (long long)jnode_int(last, "seen", 0),
			    jnode_string(last, "reason", ""));
}

char *words_measure(const struct report *report, size_t target, const struct jnode *workload)
{
	const struct jnode *measure = jnode_get(report->run, "measure"), *options = jnode_get(workload, "options");
	long long boots = (long long)jnode_int(target_of(report, target), "blocks", (int64_t)report->n_blocks);
	size_t baseline = baseline_boots(report, target);
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "%lld boots each", boots);
	if (baseline > (size_t)boots)
		strbuf_addf(&out, " (%zu of the baseline)", baseline);
	strbuf_addf(&out, " x %s iterations (%s warm-ups left out), %s", jnode_string(options, "iterations", "?"),
		    jnode_string(options, "warmup", "0"), order_words(jnode_string(measure, "order", "random")));
	strbuf_addf(&out, ", seed %lld", (long long)jnode_int(measure, "seed", jnode_int(report->run, "seed", 0)));
	add_stopping(report, target, measure, &out);
	if (report->arithmetic)
		strbuf_adds(&out, ", arithmetic means of rates");
	return strbuf_steal(&out);
}

char *words_control(const struct report *report, size_t target, enum row_control control, const char *metric)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->target != target_of(report, target) || row->control != control)
			continue;
		const struct report_metric *found = report_find_metric(row, metric);
		if (!found || !found->baseline.present)
			continue;
		const struct report_difference *difference = &found->baseline;
		const char *mark = words_mark(difference);
		AUTO_FREE char *ratio = words_percent(difference->ratio);
		if (report_row_exact(row))
			return xasprintf("%+.1f +-%.1f (%s)%s%s", difference->exact.delta, difference->exact.spread, ratio,
					 *mark ? " " : "", mark);
		AUTO_FREE char *lo = words_percent(difference->ci95.lo);
		AUTO_FREE char *hi = words_percent(difference->ci95.hi);
		return xasprintf("%s [%s, %s]%s%s", ratio, lo, hi, *mark ? " " : "", mark);
	}
	return NULL;
}

const char *words_no_aa(const struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == target_of(report, target) && report->rows[i].control == CONTROL_AA)
			return report->rows[i].status == ROW_OK ? NULL : "its boots failed";
	return jnode_bool(target_of(report, target), "exact", false) ? "not needed, equal boots repeat themselves bit for bit"
								     : "not measured";
}

char *words_scatter(const struct report *report, size_t target, const char *metric)
{
	const struct report_floor *floor = report_find_floor(report, target, metric);
	struct strbuf out = STRBUF_INIT;

	if (!floor)
		return NULL;
	const struct components *components = &floor->components;
	if (!isnan(components->sd_between))
		strbuf_addf(&out, "sd between boots %.2f%%", 100 * components->sd_between);
	if (!isnan(components->sd_within))
		strbuf_addf(&out, "%siterations within a boot %.2f%%", out.len ? ", " : "", 100 * components->sd_within);
	if (components->best_iterations)
		strbuf_addf(&out, "%sbest %zu iterations a boot", out.len ? ", " : "", components->best_iterations);
	if (floor->paired)
		strbuf_addf(&out, "%spaired by block%s", out.len ? "; " : "",
			    floor->drift.p < REPORT_DRIFT_LEVEL ? " (the baseline drifts)" : " (there are several units)");
	if (floor->floor > 0)
		strbuf_addf(&out, "%sthe controls moved %.2f%%", out.len ? "; " : "", 100 * floor->floor);
	return out.len ? strbuf_steal(&out) : NULL;
}
