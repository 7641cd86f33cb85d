/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/difference.h"
#include "report/earlier.h"
#include "report/findings.h"

/* One gate of the description, while its entries are made. */
struct judge {
	struct report *report;
	const struct jnode *gate;
	const char *against;
	struct report *earlier; /* for against: run */
	char *no_earlier; /* why there is none */
};

/* What a row is compared with, in numbers. */
struct compared {
	char *reason; /* why there are none */
	bool exact;
	struct exact_difference difference;
	struct comparison comparison;
};

static bool is_against(const struct judge *judge, const char *what)
{
	return !strcmp(judge->against, what);
}

static ssize_t reference_row(const struct judge *judge, const struct report_row *row)
{
	const struct report *report = judge->report;

	if (is_against(judge, "baseline"))
		return row->baseline;
	if (is_against(judge, "previous"))
		return row->previous;
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == row->target &&
		    !strcmp(report->rows[i].variant, jnode_string(judge->gate, "row", "")))
			return (ssize_t)i;
	return -1;
}

static bool is_anchor(const struct judge *judge, size_t index)
{
	const struct report_row *row = &judge->report->rows[index];
	const char *anchor = jnode_string(judge->gate, "anchor", NULL);

	if (report_row_exact(row))
		return false;
	return anchor ? !strcmp(anchor, row->variant) : row->baseline == (ssize_t)index;
}

static bool looks_at(const struct judge *judge, size_t index)
{
	const struct report_row *row = &judge->report->rows[index];
	bool last = jnode_int(row->description, "step", 0) == jnode_int(row->description, "steps", 0);

	if (row->control != CONTROL_NONE || (!strcmp(jnode_string(judge->gate, "steps", "all"), "last") && !last))
		return false;
	if (is_against(judge, "run"))
		return !is_anchor(judge, index);
	if (row->baseline == (ssize_t)index)
		return false;
	ssize_t reference = reference_row(judge, row);
	return reference != (ssize_t)index && (reference >= 0 || !is_against(judge, "previous"));
}

static void compare_with_run(const struct judge *judge, const struct report_gate *gate, struct compared *out)
{
	struct earlier_difference difference;

	if (!judge->earlier) {
		out->reason = xstrdup(judge->no_earlier);
		return;
	}
	earlier_compare(judge->report, gate->row, gate->metric, judge->earlier, jnode_string(judge->gate, "anchor", NULL),
			&difference);
	out->reason = difference.reason;
	out->difference = difference.exact;
	out->comparison = difference.random;
}

static char *no_number(const struct report_row *row, const char *metric)
{
	return xasprintf("%s has no %s%s%s%s%s", row->variant, metric, row->reason ? ", it is " : "",
			 row->reason ? row_status_name(row->status) : "", row->reason ? ": " : "",
			 row->reason ? row->reason : "");
}

static void compare_with_row(const struct judge *judge, const struct report_gate *gate, struct compared *out)
{
	const struct report *report = judge->report;
	const struct report_row *row = &report->rows[gate->row];
	ssize_t reference = reference_row(judge, row);
	const struct report_metric *metric = report_find_metric(row, gate->metric);
	const struct report_metric *other = reference >= 0 ? report_find_metric(&report->rows[reference], gate->metric) : NULL;

	if (!metric)
		out->reason = no_number(row, gate->metric);
	else if (reference < 0)
		out->reason = xasprintf("there is no row %s on this device", gate->against);
	else if (!other)
		out->reason = no_number(&report->rows[reference], gate->metric);
	else if (out->exact)
		exact_difference(other->boots, metric->boots, report->n_blocks, &out->difference);
	else
		differences_compare(report, row, other, metric, &out->comparison);
}

static void judge_exact(const struct report_metric *metric, const struct exact_difference *difference, struct report_gate *gate)
{
	/* A difference of exactly nothing has no reference to be read off; its spread is compared with the level itself. */
	double reference = difference->ratio ? difference->delta / difference->ratio : metric->exact.mean;

	gate->value = metric->info->higher_is_better ? -difference->ratio : difference->ratio;
	gate->spread = difference->spread / fabs(reference);
	double size = gate->equivalence ? fabs(gate->value) : gate->value;
	if (isnan(gate->value)) {
		gate->reason = xstrdup("the two rows share no block");
		gate->verdict = VERDICT_INVALID;
	} else if (difference->boots < 2) {
		gate->reason = xstrdup("one boot has no spread: a verdict takes two");
		gate->verdict = VERDICT_NOT_RESOLVED;
	} else if (size + gate->spread <= gate->limit) {
		gate->verdict = VERDICT_PASS;
	} else if (size - gate->spread > gate->limit) {
		gate->verdict = VERDICT_FAIL;
	} else {
		gate->reason = xstrdup("the limit lies within the spread over nuisances");
		gate->verdict = VERDICT_NOT_RESOLVED;
	}
}

/* What is left to be said when boots do not decide. */
static void advise(const struct comparison *worse, double alpha_pass, double alpha_fail, struct report_gate *gate)
{
	double limit = gate->equivalence && gate->value < 0 ? 1 / (1 + gate->limit) - 1 : gate->limit;
	double distance = fabs((1 + gate->value) / (1 + limit) - 1);
	bool outside = gate->equivalence ? fabs(log1p(gate->value)) > log1p(gate->limit) : gate->value > gate->limit;
	double alpha = 2 * (outside ? alpha_fail : alpha_pass);

	gate->detectable = compare_detectable(worse, alpha, REPORT_POWER);
	gate->boots_needed = compare_boots_needed(worse, distance, alpha, REPORT_POWER);
}

static enum verdict random_verdict(const struct comparison *worse, double alpha_pass, double alpha_fail,
				   const struct report_gate *gate)
{
	if (!gate->equivalence)
		return verdict_limit(worse, 1, gate->limit, alpha_pass, alpha_fail);
	if (verdict_equivalent(worse, gate->limit, alpha_pass) == VERDICT_PASS)
		return VERDICT_PASS;
	return verdict_equivalent(worse, gate->limit, alpha_fail) == VERDICT_FAIL ? VERDICT_FAIL : VERDICT_NOT_RESOLVED;
}

static void judge_random(const struct judge *judge, const struct report_metric *metric, struct comparison worse, size_t entries,
			 struct report_gate *gate)
{
	const struct report *report = judge->report;
	const struct report_floor *floor = report_find_floor(report, report_row_target(&report->rows[gate->row]), metric->name);
	double alpha_pass = report->alpha, alpha_fail = report->alpha / (double)entries;

	if (worse.method == COMPARE_NONE) {
		gate->reason = xstrdup("a verdict takes two boots of each row");
		gate->verdict = VERDICT_NOT_RESOLVED;
		return;
	}
	/* Of what is better when it is larger, worse by 2% means that the inverse is 2% larger. */
	if (metric->info->higher_is_better)
		worse.log_ratio = -worse.log_ratio;
	gate->value = compare_ratio(&worse);
	gate->ci95 = (struct interval){ compare_lower(&worse, alpha_pass), compare_upper(&worse, alpha_pass) };
	gate->verdict = random_verdict(&worse, alpha_pass, alpha_fail, gate);
	if (gate->verdict == VERDICT_NOT_RESOLVED) {
		gate->reason = xstrdup("the limit lies within what these boots leave open");
		advise(&worse, alpha_pass, alpha_fail, gate);
	}
	if (gate->verdict == VERDICT_FAIL && floor && fabs(gate->value) < floor->floor) {
		gate->reason = xasprintf("it is beyond the limit, yet below the floor of %.2f%% that the controls set",
					 100 * floor->floor);
		gate->verdict = VERDICT_NOT_RESOLVED;
	}
}

static void judge_entry(const struct judge *judge, struct report_gate *gate, size_t entries)
{
	const struct report_row *row = &judge->report->rows[gate->row];
	const struct report_metric *metric = report_find_metric(row, gate->metric);
	const struct report_finding *invalid = findings_invalid(judge->report, report_row_target(row));
	struct compared compared = { .exact = report_row_exact(row) };

	if (invalid)
		compared.reason = xasprintf("the data are invalid: %s", invalid->text);
	else if (is_against(judge, "run"))
		compare_with_run(judge, gate, &compared);
	else
		compare_with_row(judge, gate, &compared);
	if (compared.reason) {
		gate->verdict = VERDICT_INVALID;
		gate->reason = compared.reason;
	} else if (compared.exact) {
		judge_exact(metric, &compared.difference, gate);
	} else {
		judge_random(judge, metric, compared.comparison, entries, gate);
	}
}

static char *against_text(const struct judge *judge)
{
	if (is_against(judge, "row"))
		return xstrdup(jnode_string(judge->gate, "row", ""));
	if (is_against(judge, "run"))
		return xstrdup(judge->earlier ? judge->earlier->run_id : jnode_string(judge->gate, "run", ""));
	return xstrdup(judge->against);
}

static struct judge judge_of(struct report *report, size_t gate)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "gates"), gate);

	return (struct judge){ .report = report,
			       .gate = description,
			       .against = jnode_string(description, "against", "baseline") };
}

/* Entries of all gates, by target. */
static size_t *count_entries(struct report *report)
{
	size_t *counts = xcalloc(jnode_size(jnode_get(report->run, "targets")), sizeof(*counts));

	for (size_t i = 0; i < jnode_size(jnode_get(report->run, "gates")); i++) {
		struct judge judge = judge_of(report, i);
		for (size_t row = 0; row < report->n_rows; row++)
			counts[report_row_target(&report->rows[row])] += looks_at(&judge, row);
	}
	return counts;
}

static void find_earlier(struct judge *judge)
{
	AUTO_ERROR error = NULL;

	if (!is_against(judge, "run"))
		return;
	error = earlier_load(judge->report, jnode_string(judge->gate, "run", ""), &judge->earlier);
	if (error)
		judge->no_earlier = xstrdup(error_message(error));
}

static void judge_gate(struct judge *judge, const size_t *counts)
{
	struct report *report = judge->report;

	for (size_t row = 0; row < report->n_rows; row++) {
		if (!looks_at(judge, row))
			continue;
		report->gates = array_grow(report->gates, report->n_gates, sizeof(*report->gates));
		struct report_gate *gate = &report->gates[report->n_gates++];
		*gate = (struct report_gate){
			.metric = jnode_string(judge->gate, "metric", ""),
			.row = row,
			.against = against_text(judge),
			.equivalence = !strcmp(jnode_string(judge->gate, "kind", ""), "within"),
			.limit = jnode_real(judge->gate, "limit", 0),
			.value = NAN,
			.spread = NAN,
			.ci95 = { NAN, NAN },
			.detectable = NAN,
		};
		judge_entry(judge, gate, counts[report_row_target(&report->rows[row])]);
	}
}

void gates_judge(struct report *report)
{
	AUTO_FREE size_t *counts = count_entries(report);

	for (size_t i = 0; i < jnode_size(jnode_get(report->run, "gates")); i++) {
		struct judge judge = judge_of(report, i);
		find_earlier(&judge);
		judge_gate(&judge, counts);
		report_free(judge.earlier);
		free(judge.no_earlier);
	}
}
