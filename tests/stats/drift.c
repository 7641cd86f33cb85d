/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that drifts by 1% over the run, five rows of the same kernel: what the order of boots makes of that. */
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define ROWS 5
#define BLOCKS 8
#define DRIFT 0.01
#define BIAS_MAX 0.0005

struct biases {
	double baseline[ROWS], previous[ROWS]; /* sums of log ratios, by row */
	double squares;
	size_t welch, paired, reported; /* intervals of rows against the baseline that hold the truth */
};

static bool covers(const struct comparison *comparison)
{
	struct interval interval = compare_interval(comparison, ALPHA, 1);

	return interval.lo <= 0 && 0 <= interval.hi;
}

static void add(const struct campaign *campaign, struct biases *biases)
{
	struct comparison comparison;

	for (size_t row = 1; row < ROWS; row++) {
		compare_welch(campaign->y[row - 1], BLOCKS, campaign->y[row], BLOCKS, &comparison);
		biases->previous[row] += comparison.log_ratio;
		compare_paired(campaign->y[0], campaign->y[row], BLOCKS, &comparison);
		biases->paired += covers(&comparison);
		campaign_compare(campaign->y[0], campaign->y[row], BLOCKS, &comparison);
		biases->reported += covers(&comparison);
		compare_welch(campaign->y[0], BLOCKS, campaign->y[row], BLOCKS, &comparison);
		biases->welch += covers(&comparison);
		biases->baseline[row] += comparison.log_ratio;
		biases->squares += comparison.log_ratio * comparison.log_ratio;
	}
}

/* The largest of the comparisons' mean errors. */
static double worst(const struct biases *biases, size_t n)
{
	double bias = 0;

	for (size_t row = 1; row < ROWS; row++)
		bias = fmax(bias, fmax(fabs(biases->baseline[row]), fabs(biases->previous[row])) / (double)n);
	return bias;
}

static void check_order(struct suite *suite, enum measure_order order, const char *name)
{
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	struct design design = design_make(300, ROWS, BLOCKS, 0.005);
	size_t n = suite_campaigns(suite, ROWS * BLOCKS);
	struct biases biases = { 0 };

	design.noise.drift = DRIFT;
	design.order = order;
	for (size_t i = 0; i < n; i++) {
		campaign_draw(&design, i, campaign);
		add(campaign, &biases);
	}
	double bias = worst(&biases, n), intervals = (double)(n * (ROWS - 1));
	printf("%-10s %9zu %11.3f%% %11.3f%% %8.2f%% %8.2f%% %10.2f%%\n", name, n, 100 * biases.baseline[ROWS - 1] / (double)n,
	       100 * bias, 100 * (double)biases.welch / intervals, 100 * (double)biases.paired / intervals,
	       100 * (double)biases.reported / intervals);
	/* Four standard errors of a mean error. */
	double tolerance = 4 * sqrt(biases.squares / intervals / (double)n);
	AUTO_FREE char *check = xasprintf("drift-bias-%s", name);
	if (order != ORDER_SEQUENTIAL) {
		suite_check(suite, bias <= BIAS_MAX + tolerance, check, "%.3f%%", 100 * bias);
		return;
	}
	suite_check(suite, bias > 0.005, "drift-bias-seen-in-sequential-order", "%.3f%%", 100 * bias);
}

void check_drift(struct suite *suite)
{
	printf("\nA drift of %.0f%% over %d rows of the same kernel in %d blocks, boot spread 0.5%%\n", 100 * DRIFT, ROWS,
	       BLOCKS);
	printf("order      campaigns last - first largest bias  Welch   paired  as reported (coverage)\n");
	check_order(suite, ORDER_RANDOM, "random");
	check_order(suite, ORDER_ABBA, "abba");
	check_order(suite, ORDER_SEQUENTIAL, "sequential");
}
