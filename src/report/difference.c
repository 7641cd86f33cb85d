/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/unit_level.h"

static bool complete(const double *boots, size_t planned)
{
	for (size_t i = 0; i < planned; i++)
		if (isnan(boots[i]))
			return false;
	return true;
}

void differences_compare(const struct report *report, const struct report_row *row, const struct report_metric *reference,
			 const struct report_metric *metric, struct comparison *out)
{
	const struct jnode *measure = jnode_get(report->run, "measure");
	size_t target = report_row_target(row), planned = report_target_blocks(report, target);
	const struct report_floor *floor = report_find_floor(report, target, metric->name);

	if (jnode_real(measure, "half_width", 0) > 0)
		compare_stein(reference->boots, metric->boots, planned, (size_t)jnode_int(measure, "pilot", 0), out);
	else if (floor && floor->units)
		compare_paired(reference->boots, metric->boots, planned, out);
	else if (floor && floor->paired && complete(reference->boots, planned) && complete(metric->boots, planned))
		compare_paired(reference->boots, metric->boots, planned, out);
	else
		compare_welch(reference->all, reference->n_all, metric->all, metric->n_all, out);
}

/* The same metric of the row at index `other`, unless there is none or it is the row itself. */
static const struct report_metric *reference_of(const struct report *report, const struct report_row *row, ssize_t other,
						const struct report_metric *metric)
{
	if (other < 0 || &report->rows[other] == row)
		return NULL;
	return report_find_metric(&report->rows[other], metric->name);
}

static void compare_row(const struct report *report, const struct report_row *row, ssize_t other,
			const struct report_metric *metric, struct report_difference *out)
{
	const struct report_metric *reference = reference_of(report, row, other, metric);

	*out = (struct report_difference){
		.p_adjusted = NAN, .ratio = NAN, .detectable = NAN, .ci95 = { NAN, NAN }, .ci95_family = { NAN, NAN }
	};
	if (!reference)
		return;
	if (report_row_exact(row)) {
		exact_difference(reference->boots, metric->boots, report->n_blocks, &out->exact);
		out->present = out->exact.boots > 0;
		out->ratio = out->exact.ratio;
		out->resolved = out->exact.resolved;
		return;
	}
	differences_compare(report, row, reference, metric, &out->random);
	if (out->random.method == COMPARE_NONE)
		return;
	out->present = true;
	out->ratio = compare_ratio(&out->random);
	out->ci95 = compare_interval(&out->random, report->alpha, 1);
	out->detectable = compare_detectable(&out->random, report->alpha, REPORT_POWER);
}

/* One difference of each row of a random target, in one metric: they are judged together. Controls are judged alone. */
static void judge_family(const struct report *report, struct report_difference **members, size_t n, double floor)
{
	AUTO_FREE double *p = xcalloc(n, sizeof(*p));
	AUTO_FREE double *adjusted = xcalloc(n, sizeof(*adjusted));

	for (size_t i = 0; i < n; i++)
		p[i] = members[i]->random.p;
	holm_adjust(p, n, adjusted);
	for (size_t i = 0; i < n; i++) {
		struct report_difference *member = members[i];
		member->p_adjusted = adjusted[i];
		member->ci95_family = compare_interval(&member->random, report->alpha, n);
		member->resolved = adjusted[i] <= report->alpha;
		member->resolved_alone = !member->resolved && p[i] <= report->alpha;
		member->below_floor = member->resolved && fabs(member->ratio) < floor;
	}
}

static struct report_difference *difference_of(struct report_metric *metric, bool previous)
{
	return previous ? &metric->previous : &metric->baseline;
}

static void judge_metric(const struct report *report, const struct report_floor *floor, bool previous)
{
	AUTO_FREE struct report_difference **members = xcalloc(report->n_rows, sizeof(*members));
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (report_row_target(row) != floor->target)
			continue;
		struct report_metric *metric = (struct report_metric *)report_find_metric(row, floor->metric);
		struct report_difference *difference = metric ? difference_of(metric, previous) : NULL;
		if (!difference || !difference->present)
			continue;
		if (row->control == CONTROL_NONE)
			members[n++] = difference;
		else
			judge_family(report, &difference, 1, 0);
	}
	judge_family(report, members, n, floor->floor);
}

/* Of several units' boots the median is of one unit or the other: then it is the blocks' ratios whose median counts. */
static double median_ratio(const double *reference, const double *boots, size_t blocks)
{
	AUTO_FREE double *ratios = xcalloc(blocks + 1, sizeof(*ratios));
	struct level level;

	for (size_t i = 0; i < blocks; i++)
		ratios[i] = boots[i] / reference[i];
	level_of(ratios, blocks, &level);
	return level.median;
}

static void compare_medians(const struct report *report, const struct evidence *evidence, const struct report_row *row,
			    struct report_metric *metric)
{
	const struct report_metric *reference = reference_of(report, row, row->baseline, metric);
	size_t target = report_row_target(row);

	if (!reference || report_row_exact(row))
		return;
	if (has_units(evidence, target))
		metric->robust = median_ratio(reference->boots, metric->boots, report_target_blocks(report, target)) - 1;
	else
		metric->robust = metric->level.median / reference->level.median - 1;
}

void differences_compute(struct report *report, const struct evidence *evidence)
{
	floors_compute(report, evidence);
	for (size_t i = 0; i < report->n_rows; i++) {
		struct report_row *row = &report->rows[i];
		for (size_t k = 0; k < row->n_metrics; k++) {
			struct report_metric *metric = &row->metrics[k];
			compare_row(report, row, row->baseline, metric, &metric->baseline);
			compare_row(report, row, row->previous, metric, &metric->previous);
			compare_medians(report, evidence, row, metric);
		}
	}
	floors_set(report);
	for (size_t i = 0; i < report->n_floors; i++) {
		judge_metric(report, &report->floors[i], false);
		judge_metric(report, &report->floors[i], true);
	}
}
