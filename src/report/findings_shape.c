/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of boot means: modes, outliers, and whether another mean tells another story. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"
#include "report/metrics.h"
#include "report/unit_level.h"

#define OUTLIER_MADS 3.5
#define MOST_LISTED 6
#define MEAN_SHARE 0.25 /* of the half-width */
#define ROUNDING 1e-9

static void find_modes_of_row(const struct subject *subject, const struct report_row *row, const struct report_metric *metric)
{
	size_t target = subject->floor->target, blocks = report_target_blocks(subject->report, target);
	bool units = has_units(subject->evidence, target);
	AUTO_FREE double *levelled = unit_level(subject->evidence, target, metric->boots, blocks);
	struct modes modes;

	modes_of(units ? levelled : metric->all, units ? blocks : metric->n_all, &modes);
	if (!modes.two)
		return;
	finding_add(
		subject->report, FINDING_MODES, subject->floor->target, metric->name, false,
		xasprintf("%s of %s: boots fall into two groups, %.4g and %.4g (%.0f%% in the upper one): look for what differs "
			  "between their boots (cores, KASLR, firmware); their mean is of neither",
			  metric->name, row->variant, modes.low, modes.high, 100 * modes.share_high));
}

void find_modes(const struct subject *subject)
{
	const struct report *report = subject->report;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_metric *metric = report_find_metric(&report->rows[i], subject->floor->metric);
		if (metric && report_row_target(&report->rows[i]) == subject->floor->target)
			find_modes_of_row(subject, &report->rows[i], metric);
	}
}

static size_t list_outliers(const struct report_row *row, const double *means, size_t blocks, size_t listed, struct strbuf *out)
{
	size_t indices[MOST_LISTED];
	size_t n = outliers_of(means, blocks, OUTLIER_MADS, indices, MOST_LISTED);
	struct level level;

	level_of(means, blocks, &level);
	for (size_t i = 0; i < n && i < MOST_LISTED && listed + i < MOST_LISTED; i++)
		strbuf_addf(out, "%s%s block %zu (%+.2f%%)", listed + i ? ", " : "", row->variant, indices[i],
			    100 * (means[indices[i]] / level.median - 1));
	return n;
}

void find_outliers(const struct subject *subject)
{
	const struct report *report = subject->report;
	size_t blocks = report_target_blocks(report, subject->floor->target), n = 0;
	AUTO_STRBUF list = STRBUF_INIT;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_metric *metric = report_find_metric(&report->rows[i], subject->floor->metric);
		if (!metric || report_row_target(&report->rows[i]) != subject->floor->target)
			continue;
		AUTO_FREE double *means = unit_level(subject->evidence, subject->floor->target, metric->boots, blocks);
		n += list_outliers(&report->rows[i], means, blocks, n, &list);
	}
	if (!n)
		return;
	if (n > MOST_LISTED)
		strbuf_addf(&list, " and %zu more", n - MOST_LISTED);
	finding_add(subject->report, FINDING_OUTLIERS, subject->floor->target, subject->floor->metric, false,
		    xasprintf("%s: far from their row's median (3.5 MAD): %s: they count; their consoles may say why",
			      subject->floor->metric, strbuf_str(&list)));
}

static double half_width(const struct report_difference *difference)
{
	return (difference->ci95.hi - difference->ci95.lo) / 2;
}

static void find_median_of(struct report *report, size_t target, const struct report_row *row, const struct report_metric *metric)
{
	const struct report_difference *difference = &metric->baseline;

	if (!difference->present || isnan(metric->robust) || row->control != CONTROL_NONE)
		return;
	bool sign = difference->resolved && metric->robust * difference->ratio < 0;
	/* Of what does not scatter at all the interval is a point, and the two differ by the rounding of a logarithm. */
	if (!sign && !(fabs(metric->robust - difference->ratio) > half_width(difference) + ROUNDING))
		return;
	finding_add(report, FINDING_MEDIAN, target, metric->name, false,
		    xasprintf("%s of %s: medians of boots differ by %+.2f%% from the baseline's, means by %+.2f%%: a few boots "
			      "make the "
			      "difference; look at them before believing it",
			      metric->name, row->variant, 100 * metric->robust, 100 * difference->ratio));
}

void find_medians(struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		for (size_t k = 0; report_row_target(row) == target && !report_row_exact(row) && k < row->n_metrics; k++)
			if (metric_is_measured(row->metrics[k].info))
				find_median_of(report, target, row, &row->metrics[k]);
	}
}

/* A rate's boot means by the other mean than the report's: moments have the arithmetic one, the inverse of a time is the harmonic. */
static bool other_means(const struct report *report, const struct report_row *row, const struct report_metric *metric,
			double *out)
{
	AUTO_FREE char *time = xasprintf("%s.%s", metric->label, metric_rate_of(metric->info));
	const struct report_metric *inverse = report_find_metric(row, time);

	if (report->arithmetic && (!inverse || inverse->n_all != metric->n_all))
		return false;
	for (size_t i = 0; i < metric->n_all; i++)
		out[i] = report->arithmetic ? 1e9 / inverse->all[i] : metric->moments[i].mean;
	return true;
}

static void find_mean_of(struct report *report, size_t target, const struct report_row *row, const struct report_metric *metric)
{
	const struct report_row *baseline = &report->rows[row->baseline];
	const struct report_metric *reference = report_find_metric(baseline, metric->name);

	if (!reference)
		return;
	AUTO_FREE double *x = xcalloc(reference->n_all, sizeof(*x));
	AUTO_FREE double *y = xcalloc(metric->n_all, sizeof(*y));
	struct comparison own, other;
	if (!other_means(report, baseline, reference, x) || !other_means(report, row, metric, y))
		return;
	compare_welch(reference->all, reference->n_all, metric->all, metric->n_all, &own);
	compare_welch(x, reference->n_all, y, metric->n_all, &other);
	if (!(fabs(compare_ratio(&other) - compare_ratio(&own)) > MEAN_SHARE * half_width(&metric->baseline)))
		return;
	finding_add(
		report, FINDING_MEAN, target, metric->name, false,
		xasprintf(
			"%s of %s: %+.2f%% by %s means, %+.2f%% by %s ones: iterations scatter differently in the two rows; the "
			"harmonic mean is work over time",
			metric->name, row->variant, 100 * compare_ratio(&own), report->arithmetic ? "arithmetic" : "harmonic",
			100 * compare_ratio(&other), report->arithmetic ? "harmonic" : "arithmetic"));
}

void find_means(struct report *report, size_t target)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		for (size_t k = 0; report_row_target(row) == target && !report_row_exact(row) && k < row->n_metrics; k++) {
			const struct report_metric *metric = &row->metrics[k];
			if (metric_is_rate(metric->info) && metric->baseline.present && row->control == CONTROL_NONE)
				find_mean_of(report, target, row, metric);
		}
	}
}
