/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"

const char *words_unit(const char *unit)
{
	if (!strcmp(unit, "insn"))
		return "instructions";
	return !strcmp(unit, "ns") ? "nanoseconds" : unit;
}

char *words_metric_unit(const struct workload_metric *metric)
{
	char text[64];

	workload_unit_text(metric, text, sizeof(text));
	return xstrdup(text);
}

const char *words_better(const struct workload_metric *metric)
{
	return metric->higher_is_better ? "higher is better" : "lower is better";
}

char *words_size(const char *bytes)
{
	static const char units[] = "KMGT";
	unsigned long long value = strtoull(bytes, NULL, 10);
	size_t unit = 0;

	while (value && value % 1024 == 0 && unit < strlen(units)) {
		value /= 1024;
		unit++;
	}
	return unit ? xasprintf("%llu%c", value, units[unit - 1]) : xasprintf("%llu", value);
}

char *words_workload(const struct jnode *workload)
{
	const struct jnode *options = jnode_get(workload, "options");
	const char *size = jnode_string(options, "size", NULL), *threads = jnode_string(options, "threads", NULL);
	struct strbuf out = STRBUF_INIT;

	strbuf_adds(&out, jnode_string(workload, "label", ""));
	if (size) {
		AUTO_FREE char *text = words_size(size);
		strbuf_addf(&out, " %s", text);
	}
	if (threads)
		strbuf_addf(&out, " x%s", threads);
	return strbuf_steal(&out);
}

char *words_options(const struct jnode *workload)
{
	const struct jnode *options = jnode_get(workload, "options");
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	struct strbuf out = STRBUF_INIT;

	for (const char *key = jnode_next_key(options, NULL); key; key = jnode_next_key(options, key)) {
		const struct workload_option *option = kind ? workload_find_option(kind, key) : NULL;
		const char *value = jnode_string(options, key, "");
		AUTO_FREE char *text = option && option->type == OPTION_SIZE ? words_size(value) : xstrdup(value);
		strbuf_addf(&out, "%s%s=%s", out.len ? " " : "", key, text);
	}
	return strbuf_steal(&out);
}

const char *words_subject(const char *subject)
{
	for (;;) {
		size_t word = strcspn(subject, " :");
		if (!word || strncmp(subject + word, ": ", 2) || !subject[word + 2])
			return subject;
		subject += word + 2;
	}
}

char *words_row(const struct report *report, const struct report_row *row, bool narrow)
{
	const struct jnode *description = row->description;
	bool baseline = row->baseline >= 0 && &report->rows[row->baseline] == row;
	int64_t step = jnode_int(description, "step", 0);
	static const char *const controls[] = {
		[CONTROL_AA] = "again (A/A)",
		[CONTROL_REPLICATE] = "second boots",
		[CONTROL_LAYOUT] = "code moved",
	};

	if (row->control != CONTROL_NONE)
		return xasprintf("%s %s", narrow ? "base" : "baseline", controls[row->control]);
	if (step && row->previous >= 0)
		return xasprintf("  + %lld %s", (long long)step, words_subject(jnode_string(description, "patch", "")));
	const char *kernel = jnode_string(row->kernel, "name", "");
	AUTO_FREE char *place =
		step ? xasprintf(" step %lld", (long long)step) : xstrdup(jnode_int(description, "steps", 0) ? " vanilla" : "");
	return xasprintf("%s%s%s%s/%s%s%s", baseline && narrow ? "base: " : "", kernel, *kernel ? "/" : "",
			 jnode_string(description, "config", ""), jnode_string(description, "cmdline", ""), place,
			 baseline && !narrow ? " (baseline)" : "");
}

bool words_row_shown(const struct report_row *row)
{
	return row->control != CONTROL_REPLICATE || row->status != ROW_OK;
}

const struct report_metric *words_find(const struct report_row *row, const struct jnode *workload,
				       const struct workload_metric *metric)
{
	AUTO_FREE char *name = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);

	return report_find_metric(row, name);
}

size_t words_boots(const struct report_row *row, const struct report_metric *metric)
{
	return report_row_exact(row) ? metric->exact.boots : metric->level.n;
}

static bool any_row_has(const struct report *report, size_t target, const struct jnode *workload,
			const struct workload_metric *metric)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);

	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == description && words_find(&report->rows[i], workload, metric))
			return true;
	return false;
}

static bool gated(const struct report *report, const struct jnode *workload, const struct workload_metric *metric)
{
	AUTO_FREE char *name = xasprintf("%s.%s.%s", jnode_string(workload, "label", ""), metric->phase, metric->unit);

	for (size_t i = 0; i < report->n_gates; i++)
		if (!strcmp(report->gates[i].metric, name))
			return true;
	return false;
}

static bool has_rate(const struct workload_kind *kind, const char *phase)
{
	for (size_t i = 0; i < kind->n_metrics; i++)
		if (!strcmp(kind->metrics[i].phase, phase) && !strcmp(kind->metrics[i].unit, "rate"))
			return true;
	return false;
}

static bool unit_shown(const struct workload_kind *kind, const struct workload_metric *metric, bool exact,
		       enum words_detail detail)
{
	if (!strcmp(metric->unit, "insn") || metric_is_amount(metric))
		return true;
	if (metric_is_event(metric))
		return detail == WORDS_LONG && !metric_is_combined(metric);
	if (exact)
		return false;
	if (!strcmp(metric->unit, "ns"))
		return detail == WORDS_LONG || !has_rate(kind, metric->phase);
	return !strcmp(metric->unit, "rate");
}

const struct workload_metric **words_metrics(const struct report *report, size_t target, const struct jnode *workload,
					     enum words_detail detail)
{
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	const struct workload_metric **shown = xcalloc(kind ? kind->n_metrics + 1 : 1, sizeof(*shown));
	bool exact = jnode_bool(jnode_item(jnode_get(report->run, "targets"), target), "exact", false);
	size_t n = 0;

	for (size_t i = 0; kind && i < kind->n_metrics; i++) {
		const struct workload_metric *metric = &kind->metrics[i];
		if ((unit_shown(kind, metric, exact, detail) || gated(report, workload, metric)) &&
		    any_row_has(report, target, workload, metric))
			shown[n++] = metric;
	}
	return shown;
}

char *words_level(double value)
{
	double size = fabs(value);

	return xasprintf("%.*f", size < 10 ? 3 : size < 100 ? 2 : size < 10000 ? 1 : 0, value);
}

char *words_cv(const struct report_metric *metric)
{
	return isnan(metric->level.sd) ? xstrdup("") : xasprintf("%.2f%%", 100 * metric->level.sd / metric->mean);
}

char *words_percent(double ratio)
{
	double percent = 100 * ratio, size = fabs(percent);

	if (!isfinite(ratio))
		return xstrdup("-");
	return xasprintf("%+.*f%%", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, percent);
}

const char *words_mark(const struct report_difference *difference)
{
	if (difference->resolved)
		return difference->below_floor ? "^" : "";
	return difference->resolved_alone ? "?" : "~";
}

static const char *mark_meaning(char mark)
{
	switch (mark) {
	case '^':
		return "resolved, yet below the floor that the controls set: no claim";
	case '?':
		return "resolved alone, not after Holm over the family";
	default:
		return "not resolved";
	}
}

/* Counts a difference that has `mark`; *detectable becomes the largest effect that such a one could have missed. */
static void look_at(const struct report_difference *difference, char mark, size_t *n, double *detectable)
{
	if (!difference->present || *words_mark(difference) != mark)
		return;
	++*n;
	if (!difference->resolved && difference->detectable > *detectable)
		*detectable = difference->detectable;
}

char *words_mark_line(const struct report *report, size_t target, const char *metric, char mark)
{
	double detectable = 0;
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct report_metric *found = report_row_target(row) == target ? report_find_metric(row, metric) : NULL;
		if (!found)
			continue;
		look_at(&found->baseline, mark, &n, &detectable);
		look_at(&found->previous, mark, &n, &detectable);
	}
	if (!n)
		return NULL;
	if (detectable > 0)
		return xasprintf("%s (detects %.2f%% at 80%%)", mark_meaning(mark), 100 * detectable);
	return xstrdup(mark_meaning(mark));
}

const char *words_difference_verdict(const struct report_difference *difference)
{
	if (difference->resolved)
		return difference->below_floor ? "below-floor" : "resolved";
	return difference->resolved_alone ? "resolved-alone" : "not-resolved";
}

const char *words_verdict(enum verdict verdict)
{
	static const char *const words[] = {
		[VERDICT_PASS] = "PASS",
		[VERDICT_FAIL] = "FAIL",
		[VERDICT_NOT_RESOLVED] = "NOT RESOLVED",
		[VERDICT_INVALID] = "INVALID",
	};

	return words[verdict];
}

char *words_gate(const struct report *report, const struct report_gate *gate)
{
	const struct report_row *row = &report->rows[gate->row];
	bool several = jnode_size(jnode_get(report->run, "targets")) > 1;
	AUTO_FREE char *device = words_target(row->target);
	AUTO_FREE char *of = xasprintf("%s of %s%s%s", gate->metric, row->variant, several ? " on " : "", several ? device : "");

	if (gate->equivalence)
		return xasprintf("%s within +-%g%% of %s", of, 100 * gate->limit, gate->against);
	return xasprintf("%s worse than %s by at most %g%%", of, gate->against, 100 * gate->limit);
}

char *words_gate_value(const struct report_gate *gate)
{
	AUTO_FREE char *lo = words_percent(gate->ci95.lo);
	AUTO_FREE char *hi = words_percent(gate->ci95.hi);

	if (isnan(gate->value))
		return xstrdup("");
	if (!isnan(gate->spread))
		return xasprintf("%+.2f%% +-%.2f%%", 100 * gate->value, 100 * gate->spread);
	if (isnan(gate->ci95.lo) || isnan(gate->ci95.hi))
		return xasprintf("%+.2f%%", 100 * gate->value);
	return xasprintf("%+.2f%% [%s, %s one-sided]", 100 * gate->value, lo, hi);
}

char *words_gate_reason(const struct report_gate *gate)
{
	struct strbuf out = STRBUF_INIT;

	if (gate->reason)
		strbuf_adds(&out, gate->reason);
	if (gate->verdict == VERDICT_NOT_RESOLVED) {
		if (gate->detectable > 0)
			strbuf_addf(&out, "%sthese boots detect %.2f%% at 80%%", out.len ? "; " : "", 100 * gate->detectable);
		if (gate->boots_needed)
			strbuf_addf(&out, "%sit would take %zu boots a variant", out.len ? "; " : "", gate->boots_needed);
	}
	return out.len ? strbuf_steal(&out) : NULL;
}

char *words_finding(const struct report *report, const struct report_finding *finding)
{
	const struct jnode *targets = jnode_get(report->run, "targets");
	AUTO_FREE char *device = words_target(jnode_item(targets, finding->target));
	bool several = jnode_size(targets) > 1, metric = finding->metric && !strstr(finding->text, finding->metric);

	return xasprintf("%s%s%s%s%s%s", finding->invalid ? "INVALID: " : "", several ? device : "", several ? ": " : "",
			 metric ? finding->metric : "", metric ? ": " : "", finding->text);
}

bool words_invalid(const struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].target == target && report->findings[i].invalid)
			return true;
	return false;
}
