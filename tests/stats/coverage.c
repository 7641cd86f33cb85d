/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the 95% interval holds the true ratio. */
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define RATIO 0.96

enum method { WELCH, PAIRED, AS_REPORTED, DF_PLUS_ONE, N_METHODS };

struct tally {
	size_t covered[N_METHODS];
	size_t upper, lower; /* Welch's one-sided bounds that hold */
};

static bool covers(const struct comparison *comparison)
{
	struct interval interval = compare_interval(comparison, ALPHA, 1);

	return interval.lo <= RATIO - 1 && RATIO - 1 <= interval.hi;
}

static void count(const struct campaign *campaign, size_t boots, struct tally *tally)
{
	struct comparison welch, paired, reported;

	compare_welch(campaign->y[0], boots, campaign->y[1], boots, &welch);
	compare_paired(campaign->y[0], campaign->y[1], boots, &paired);
	campaign_compare(campaign->y[0], campaign->y[1], boots, &reported);
	tally->covered[WELCH] += covers(&welch);
	tally->covered[PAIRED] += covers(&paired);
	tally->covered[AS_REPORTED] += covers(&reported);
	tally->upper += compare_upper(&welch, ALPHA) >= RATIO - 1;
	tally->lower += compare_lower(&welch, ALPHA) <= RATIO - 1;
	paired.df++;
	tally->covered[DF_PLUS_ONE] += covers(&paired);
}

static void check_cell(struct suite *suite, size_t boots, double sd_boot, size_t n, const struct tally *tally)
{
	double share[N_METHODS];

	for (int i = 0; i < N_METHODS; i++)
		share[i] = (double)tally->covered[i] / (double)n;
	double upper = (double)tally->upper / (double)n, lower = (double)tally->lower / (double)n;
	printf("%5zu %6.1f%% %9zu %7.2f%% %7.2f%% %10.2f%% %7.2f%% %7.2f%% %10.2f%%\n", boots, 100 * sd_boot, n,
	       100 * share[WELCH], 100 * share[PAIRED], 100 * share[AS_REPORTED], 100 * upper, 100 * lower,
	       100 * share[DF_PLUS_ONE]);
	AUTO_FREE char *cell = xasprintf("%zu-boots-spread-%g", boots, 100 * sd_boot);
	AUTO_FREE char *welch = xasprintf("coverage-welch-%s", cell), *paired = xasprintf("coverage-paired-%s", cell);
	AUTO_FREE char *reported = xasprintf("coverage-reported-%s", cell), *bounds = xasprintf("coverage-bounds-%s", cell);
	double low = boots < 5 ? 0.94 : 0.935, high = boots < 5 ? 0.975 : 0.965;
	suite_between(suite, welch, share[WELCH], low, high, n);
	suite_between(suite, paired, share[PAIRED], 0.935, 0.965, n);
	/* The choice between the two costs little. */
	suite_between(suite, reported, share[AS_REPORTED], 0.93, 0.975, n);
	suite_at_least(suite, bounds, fmin(upper, lower), 0.945, n);
	if (boots > 3)
		return;
	/* t(3) in place of t(2) gives 91.4%: were that not seen, the checks above would say nothing. */
	AUTO_FREE char *seen = xasprintf("coverage-sees-one-df-too-many-%s", cell);
	suite_check(suite, share[DF_PLUS_ONE] < 0.935 - suite_slack(0.935, n), seen, "%.2f%%", 100 * share[DF_PLUS_ONE]);
}

void check_coverage(struct suite *suite)
{
	static const size_t boots[] = { 3, 5, 10, 30 };
	static const double spreads[] = { 0, 0.005, 0.01 };
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	uint64_t seed = 100;

	printf("\nCoverage of the 95%% interval: true ratio %.2f, %d iterations of sd %.0f%% a boot\n", RATIO, ITERATIONS,
	       100 * SD_ITERATION);
	printf("boots spread  campaigns   Welch   paired  as reported   upper   lower  paired, df + 1\n");
	for (size_t b = 0; b < ARRAY_SIZE(boots); b++) {
		for (size_t s = 0; s < ARRAY_SIZE(spreads); s++) {
			struct design design = design_make(seed++, 2, boots[b], spreads[s]);
			size_t n = suite_campaigns(suite, 2 * boots[b]);
			struct tally tally = { .upper = 0 };
			design.levels[1] = RATIO;
			for (size_t i = 0; i < n; i++) {
				campaign_draw(&design, i, campaign);
				count(campaign, boots[b], &tally);
			}
			check_cell(suite, boots[b], spreads[s], n, &tally);
		}
	}
}
