/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Over blocks, and within boots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"
#include "report/unit_level.h"

#define BREAKING_DRIFT_LEVEL 0.001 /* over all subjects of a target */
#define STEP_LEVEL 0.01
#define BREAKING_STEP_LEVEL 0.001
#define BREAKING_STEP_SDS 4
#define UNSTEADY_SHARE 0.25
#define UNSTEADY_BOOTS 4
#define UNSTEADY_SHIFT 0.01

/* Why comparisons are not paired by block, or NULL when they can be. */
static const char *unpaired_because(const struct subject *subject)
{
	const struct report *report = subject->report;
	size_t planned = report_target_blocks(report, subject->floor->target);

	if (order_is_sequential(report))
		return "the order is sequential";
	/* Of several units' blocks those that lack a row are left out. */
	if (subject->floor->units)
		return NULL;
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct report_metric *metric = report_find_metric(row, subject->floor->metric);
		for (size_t b = 0; metric && report_row_target(row) == subject->floor->target && b < planned; b++)
			if (isnan(metric->boots[b]))
				return "not all rows have all blocks";
	}
	return NULL;
}

static char *consequence(const char *unpaired, bool invalid)
{
	if (!unpaired)
		return xstrdup("comparisons are paired by block, which takes it out");
	return xasprintf("%s, so it is in the differences%s; cool the device down, then `run --new` in random order", unpaired,
			 invalid ? ", and no verdict counts" : "");
}

/* " (+0.5% an hour)", from the times of the boots; "" when they are not known. */
static char *hourly(const struct subject *subject, double a_block)
{
	const struct target_evidence *target = &subject->evidence->targets[subject->floor->target];
	size_t blocks = report_target_blocks(subject->report, subject->floor->target);
	double hours = (double)(target->last_utc_s - target->first_utc_s) / 3600;

	if (hours <= 0 || blocks < 2)
		return xstrdup("");
	return xasprintf(" (%+.2f%% an hour)", 100 * a_block * (double)(blocks - 1) / hours);
}

void find_drift(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	size_t blocks = report_target_blocks(subject->report, floor->target);

	if (!(floor->drift.p < REPORT_DRIFT_LEVEL))
		return;
	const char *unpaired = unpaired_because(subject);
	bool invalid = unpaired && floor->drift.p < BREAKING_DRIFT_LEVEL / (double)subject->n_subjects;
	AUTO_FREE char *an_hour = hourly(subject, floor->drift.slope);
	AUTO_FREE char *then = consequence(unpaired, invalid);
	finding_add(subject->report, FINDING_DRIFT, floor->target, floor->metric, invalid,
		    xasprintf("%s: the baseline drifts by %+.3f%% a block%s, p = %.2g, about %+.2f%% over the run: %s",
			      floor->metric, 100 * floor->drift.slope, an_hour, floor->drift.p,
			      100 * floor->drift.slope * (double)(blocks - 1), then));
}

/* The shift in sds of the block means before and after it. */
static double shift_in_sds(const double *means, const struct step_change *step, size_t blocks)
{
	struct level before, after;

	level_of(means, step->at, &before);
	level_of(means + step->at, blocks - step->at, &after);
	double weight = (double)before.n + (double)after.n - 2;
	double sum = 0;
	if (before.n > 1)
		sum += (double)(before.n - 1) * before.sd * before.sd;
	if (after.n > 1)
		sum += (double)(after.n - 1) * after.sd * after.sd;
	return weight > 0 && sum > 0 ? fabs(after.mean - before.mean) / sqrt(sum / weight) : INFINITY;
}

void find_step(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	const struct report_metric *metric = floor_baseline(subject->report, subject->floor);

	/* A drift has a step in it, and is said already. */
	if (!metric || !(floor->step.p < STEP_LEVEL) || floor->drift.p < REPORT_DRIFT_LEVEL)
		return;
	const char *unpaired = unpaired_because(subject);
	size_t blocks = report_target_blocks(subject->report, floor->target);
	AUTO_FREE double *levelled = unit_level(subject->evidence, floor->target, metric->boots, blocks);
	bool far = shift_in_sds(levelled, &floor->step, blocks) > BREAKING_STEP_SDS;
	bool invalid = unpaired && floor->step.p <= BREAKING_STEP_LEVEL && far;
	finding_add(
		subject->report, FINDING_STEP, floor->target, floor->metric, invalid,
		xasprintf("%s: from block %zu on the baseline is off by %+.2f%%, p = %.2g: %s; find out what changed then, and "
			  "measure again%s",
			  floor->metric, floor->step.at, 100 * floor->step.shift, floor->step.p,
			  unpaired ? unpaired : "order within blocks is random, so all rows share it",
			  invalid ? "; no verdict counts" : ""));
}

static double median_size(const double *values, size_t n)
{
	AUTO_FREE double *sizes = xcalloc(n, sizeof(*sizes));
	struct level level;

	for (size_t i = 0; i < n; i++)
		sizes[i] = fabs(values[i]);
	level_of(sizes, n, &level);
	return level.median;
}

static bool is_common(size_t boots, size_t tested)
{
	return boots >= UNSTEADY_BOOTS && (double)boots > UNSTEADY_SHARE * (double)tested;
}

void find_unsteady(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	const struct series_evidence *series = evidence_series(subject->evidence, floor->target, subject->index);

	if (!is_common(series->n_shifts, series->tested))
		return;
	double shift = median_size(series->shifts, series->n_shifts);
	bool invalid = shift > UNSTEADY_SHIFT;
	finding_add(
		subject->report, FINDING_UNSTEADY, floor->target, floor->metric, invalid,
		xasprintf("%s: no steady state: in %zu of %zu boots tested it steps within the boot (p < 0.01 each, median step "
			  "%.2f%%): raise the workload's `warmup`, and see that nothing else runs%s",
			  floor->metric, series->n_shifts, series->tested, 100 * shift, invalid ? "; no verdict counts" : ""));
}

void find_dependence(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	const struct series_evidence *series = evidence_series(subject->evidence, floor->target, subject->index);
	struct level level;

	if (!is_common(series->n_correlations, series->tested))
		return;
	level_of(series->correlations, series->n_correlations, &level);
	finding_add(
		subject->report, FINDING_DEPENDENCE, floor->target, floor->metric, false,
		xasprintf(
			"%s: iterations depend on each other in %zu of %zu boots tested (median lag-1 correlation %+.2f): "
			"intervals "
			"are made of boot means and hold, but more iterations a boot bring less than they seem; take more boots",
			floor->metric, series->n_correlations, series->tested, level.median));
}
