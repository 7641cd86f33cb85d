/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Count and time that disagree: fewer instructions in more time, or the other way round. */
#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"

/* The row's time of the same phase as its count of instructions; NULL when it has none. */
static const struct report_metric *time_of(const struct report_row *row, const struct report_metric *count)
{
	for (size_t i = 0; i < row->n_metrics; i++) {
		const struct report_metric *metric = &row->metrics[i];
		if (!strcmp(metric->label, count->label) && !strcmp(metric->info->phase, count->info->phase) &&
		    !strcmp(metric->info->unit, "ns"))
			return metric;
	}
	return NULL;
}

static bool is_claim(const struct report_difference *difference)
{
	return difference->present && difference->resolved && !difference->below_floor && difference->ratio != 0;
}

static void compare_signs(struct report *report, size_t target, const struct report_row *row, const struct report_metric *count,
			  const struct report_metric *time, bool previous)
{
	const struct report_difference *in_count = previous ? &count->previous : &count->baseline;
	const struct report_difference *in_time = previous ? &time->previous : &time->baseline;
	ssize_t other = previous ? row->previous : row->baseline;

	if (other < 0 || !is_claim(in_count) || !is_claim(in_time) || (in_count->ratio > 0) == (in_time->ratio > 0))
		return;
	finding_add(report, FINDING_SIGN, target, time->name, false,
		    xasprintf("%s.%s of %s against %s: %+.2f%% instructions, yet %+.2f%% time: here it is not their number that "
			      "decides (caches, branches, memory); go by the time",
			      count->label, count->info->phase, row->variant, report->rows[other].variant, 100 * in_count->ratio,
			      100 * in_time->ratio));
}

void find_signs(struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) != target || report_row_exact(row) || row->control != CONTROL_NONE)
			continue;
		for (size_t k = 0; k < row->n_metrics; k++) {
			const struct report_metric *count = &row->metrics[k];
			const struct report_metric *time = strcmp(count->info->unit, "insn") ? NULL : time_of(row, count);
			if (!time)
				continue;
			compare_signs(report, target, row, count, time, false);
			compare_signs(report, target, row, count, time, true);
		}
	}
}
