/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/findings.h"

#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"
#include "report/metrics.h"

void finding_add(struct report *report, enum finding_kind kind, size_t target, const char *metric, bool invalid, char *text)
{
	report->findings = array_grow(report->findings, report->n_findings, sizeof(*report->findings));
	report->findings[report->n_findings++] = (struct report_finding){
		.kind = kind, .target = target, .metric = metric ? xstrdup(metric) : NULL, .invalid = invalid, .text = text
	};
}

bool order_is_sequential(const struct report *report)
{
	return !strcmp(jnode_string(jnode_get(report->run, "measure"), "order", "random"), "sequential");
}

static bool is_gated(const struct report *report, const char *metric)
{
	const struct jnode *gates = jnode_get(report->run, "gates");

	for (size_t i = 0; i < jnode_size(gates); i++)
		if (!strcmp(jnode_string(jnode_item(gates, i), "metric", ""), metric))
			return true;
	return false;
}

static bool is_subject(const struct report *report, const struct report_floor *floor)
{
	const struct report_metric *metric = floor_baseline(report, floor);

	if (!metric)
		return false;
	return (metric_is_measured(metric->info) && !metric_is_event(metric->info)) || is_gated(report, floor->metric);
}

static size_t count_subjects(const struct report *report, size_t target)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_floors; i++)
		n += report->floors[i].target == target && is_subject(report, &report->floors[i]);
	return n;
}

/* The metric's place in the workloads' tables, as the evidence counts them. */
static size_t metric_index(const struct report *report, const char *name)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	size_t index = 0;

	for (size_t i = 0; i < jnode_size(workloads); i++) {
		const struct workload_kind *kind = workload_find(jnode_string(jnode_item(workloads, i), "kind", ""));
		const char *label = jnode_string(jnode_item(workloads, i), "label", "");
		for (size_t k = 0; kind && k < kind->n_metrics; k++, index++) {
			AUTO_FREE char *own = xasprintf("%s.%s.%s", label, kind->metrics[k].phase, kind->metrics[k].unit);
			if (!strcmp(own, name))
				return index;
		}
	}
	return 0;
}

static void look_at(const struct subject *subject)
{
	find_controls(subject);
	find_drift(subject);
	find_step(subject);
	find_unsteady(subject);
	find_dependence(subject);
	find_modes(subject);
	find_outliers(subject);
}

static void find_dropped(struct report *report, const struct evidence *evidence, size_t target)
{
	for (size_t i = 0; i < evidence->n_drops; i++) {
		const struct drop_evidence *drop = &evidence->drops[i];
		const struct report_row *row = &report->rows[drop->row];
		if (report_row_target(row) != target)
			continue;
		finding_add(
			report, FINDING_DROPPED, target, NULL, false,
			xasprintf("%s: %zu of %zu samples left out for a recorded cause: %s; the rule is the same for all rows",
				  row->variant, drop->samples, row->samples, drop->cause));
	}
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct row_evidence *own = &evidence->rows[i];
		if (report_row_target(row) != target || row->status != ROW_OK || !own->missing_reason)
			continue;
		finding_add(
			report, FINDING_DROPPED, target, NULL, false,
			xasprintf(
				"%s: %zu of its %zu boots do not count, the first for: %s; `run` again repeats what the lab lost",
				row->variant, own->lost + own->thin, own->stored, own->missing_reason));
	}
}

static void find_order(struct report *report, size_t target)
{
	if (order_is_sequential(report))
		finding_add(report, FINDING_ORDER, target, NULL, false,
			    xstrdup("the order was sequential: whatever drifted meanwhile is in the differences; leave `order` "
				    "out of "
				    "`measure` and boots are drawn at random within blocks"));
}

/* "0-2,5" */
static void add_blocks(const struct report_unit *unit, struct strbuf *out)
{
	for (size_t i = 0; i < unit->n_blocks; i++) {
		size_t first = unit->blocks[i];
		while (i + 1 < unit->n_blocks && unit->blocks[i + 1] == unit->blocks[i] + 1)
			i++;
		strbuf_addf(out, unit->blocks[i] > first ? "%s%zu-%zu" : "%s%zu", i && first != unit->blocks[0] ? "," : "", first,
			    unit->blocks[i]);
	}
}

static const struct report_unit *add_unit(struct report *report, size_t target, const struct unit_evidence *evidence)
{
	size_t n_blocks = report_target_blocks(report, target);

	report->units = array_grow(report->units, report->n_units, sizeof(*report->units));
	struct report_unit *unit = &report->units[report->n_units++];
	*unit = (struct report_unit){ .target = target, .name = xstrdup(evidence->name), .boots = evidence->boots };
	unit->blocks = xcalloc(n_blocks + 1, sizeof(*unit->blocks));
	for (size_t i = 0; i < n_blocks; i++)
		if (evidence->blocks[i])
			unit->blocks[unit->n_blocks++] = i;
	return unit;
}

static void find_units(struct report *report, const struct evidence *evidence, size_t target)
{
	const struct target_evidence *own = &evidence->targets[target];
	AUTO_STRBUF text = STRBUF_INIT;

	if (!own->n_units)
		return;
	for (size_t i = 0; i < own->n_units; i++) {
		const struct report_unit *unit = add_unit(report, target, &own->units[i]);
		strbuf_addf(&text, "%sunit %s: %zu boots, %s ", i ? "; " : "", unit->name, unit->boots,
			    unit->n_blocks == 1 ? "block" : "blocks");
		add_blocks(unit, &text);
	}
	if (own->n_units > 1)
		strbuf_adds(&text, "; comparisons stay inside a block, and so inside a unit");
	finding_add(report, FINDING_UNITS, target, NULL, false, strbuf_steal(&text));
}

static bool has_floors(const struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_floors; i++)
		if (report->floors[i].target == target)
			return true;
	return false;
}

void findings_compute(struct report *report, const struct evidence *evidence)
{
	for (size_t target = 0; target < evidence->n_targets; target++) {
		struct subject subject = { .report = report, .evidence = evidence };
		subject.n_subjects = count_subjects(report, target);
		if (has_floors(report, target))
			find_order(report, target);
		for (size_t i = 0; i < report->n_floors; i++) {
			subject.floor = &report->floors[i];
			subject.index = metric_index(report, subject.floor->metric);
			if (subject.floor->target == target && is_subject(report, subject.floor))
				look_at(&subject);
		}
		find_medians(report, target);
		find_means(report, target);
		find_signs(report, target);
		find_dropped(report, evidence, target);
		find_units(report, evidence, target);
		find_environment(report, evidence, target);
		find_unverified(report, target);
		find_selftests(report, target);
	}
}

void findings_free(struct report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		free(report->findings[i].metric);
		free(report->findings[i].text);
	}
	free(report->findings);
	for (size_t i = 0; i < report->n_units; i++) {
		free(report->units[i].name);
		free(report->units[i].blocks);
	}
	free(report->units);
}

const struct report_finding *findings_invalid(const struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].target == target && report->findings[i].invalid)
			return &report->findings[i];
	return NULL;
}
