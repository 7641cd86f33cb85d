/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The detectable effect that reports print: how often an effect of that size is resolved. */
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define POWER 0.8

/* From one A/A campaign's spread, as a report of it would print. */
static double printed(const struct campaign *campaign, size_t blocks)
{
	struct comparison comparison;

	compare_welch(campaign->y[0], blocks, campaign->y[1], blocks, &comparison);
	return compare_detectable(&comparison, ALPHA, POWER);
}

static bool resolved(const struct campaign *campaign, size_t blocks)
{
	struct comparison comparison;

	compare_welch(campaign->y[0], blocks, campaign->y[1], blocks, &comparison);
	return comparison.p <= ALPHA && comparison.log_ratio > 0;
}

void check_detectable(struct suite *suite)
{
	static const size_t boots[] = { 5, 12 };
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));

	printf("\nThe detectable effect (80%%) of A/A campaigns, boot spread 0.5%%: how often an effect of the mean size is "
	       "resolved\n");
	printf("boots campaigns effect resolved\n");
	for (size_t k = 0; k < ARRAY_SIZE(boots); k++) {
		struct design design = design_make(600 + k, 2, boots[k], 0.005);
		size_t n = suite_campaigns(suite, 4 * boots[k]), hits = 0;
		double sum = 0;
		for (size_t i = 0; i < n; i++) {
			campaign_draw(&design, i, campaign);
			sum += printed(campaign, boots[k]);
		}
		design.levels[1] = 1 + sum / (double)n;
		for (size_t i = 0; i < n; i++) {
			campaign_draw(&design, n + i, campaign);
			hits += resolved(campaign, boots[k]);
		}
		double power = (double)hits / (double)n;
		printf("%5zu %9zu %5.2f%% %7.2f%%\n", boots[k], n, 100 * sum / (double)n, 100 * power);
		AUTO_FREE char *name = xasprintf("detectable-%zu-boots", boots[k]);
		suite_between(suite, name, power, 0.77, 0.83, n);
	}
}
