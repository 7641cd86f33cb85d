/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/gate.h"

#include <math.h>
#include <string.h>

const char *gate_verdict_name(enum gate_verdict verdict)
{
	static const char *const names[] = {
		[GATE_PASS] = "pass",
		[GATE_FAIL] = "fail",
		[GATE_NOT_RESOLVED] = "not-resolved",
		[GATE_INVALID] = "invalid",
	};

	return names[verdict];
}

static bool gate_looks_at(const struct report *report, const struct jnode *gate, size_t index)
{
	const struct report_row *row = &report->rows[index];

	if (row->baseline == (ssize_t)index)
		return false;
	bool last = jnode_int(row->description, "step", 0) == jnode_int(row->description, "steps", 0);
	if (!strcmp(jnode_string(gate, "steps", "all"), "last") && !last)
		return false;
	return strcmp(jnode_string(gate, "against", ""), "previous") || row->previous >= 0;
}

static enum gate_verdict judge(const struct report_gate *gate, bool exact, size_t boots)
{
	if (isnan(gate->value))
		return GATE_INVALID;
	if (!exact || boots < 2)
		return GATE_NOT_RESOLVED;
	if (gate->value + gate->spread <= gate->limit)
		return GATE_PASS;
	return gate->value - gate->spread > gate->limit ? GATE_FAIL : GATE_NOT_RESOLVED;
}

static void judge_row(const struct report *report, size_t index, struct report_gate *gate)
{
	const struct report_row *row = &report->rows[index];
	const struct report_metric *metric = report_find_metric(row, gate->metric);
	bool baseline = !strcmp(gate->against, "baseline");

	gate->row = index;
	gate->value = gate->spread = NAN;
	if (metric && (baseline ? metric->has_baseline : metric->has_previous)) {
		const struct exact_difference *difference = baseline ? &metric->baseline : &metric->previous;
		double reference = difference->delta / difference->ratio;
		gate->value = metric->info->higher_is_better ? -difference->ratio : difference->ratio;
		/* A difference of exactly nothing has no reference to be read off; its spread is compared with the level itself. */
		gate->spread = difference->spread / fabs(difference->ratio ? reference : metric->level.mean);
	}
	gate->verdict = judge(gate, report_row_exact(row), metric ? metric->level.boots : 0);
}

void report_judge_gates(struct report *report)
{
	const struct jnode *gates = jnode_get(report->run, "gates");

	for (size_t i = 0; i < jnode_size(gates); i++) {
		const struct jnode *description = jnode_item(gates, i);
		for (size_t row = 0; row < report->n_rows; row++) {
			if (!gate_looks_at(report, description, row))
				continue;
			report->gates = array_grow(report->gates, report->n_gates, sizeof(*report->gates));
			struct report_gate *gate = &report->gates[report->n_gates++];
			*gate = (struct report_gate){
				.metric = jnode_string(description, "metric", ""),
				.against = jnode_string(description, "against", "baseline"),
				.limit = jnode_real(description, "limit", 0),
			};
			judge_row(report, row, gate);
		}
	}
}
