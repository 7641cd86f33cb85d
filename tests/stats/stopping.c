/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Campaigns whose length the data decide: Stein's two stages, and declared looks. */
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define PILOT 8
#define RATIO 1.01
#define LOOKS 4
#define LOOK_BLOCKS 12
#define LOOK_ROWS 5

struct stein {
	size_t covered, too_wide, capped;
	double blocks;
};

static void run_stein(const struct design *design, uint64_t number, double half_width, struct campaign *campaign,
		      struct stein *stein)
{
	struct comparison comparison;

	campaign_draw_blocks(design, number, 0, PILOT, campaign);
	compare_paired(campaign->y[0], campaign->y[1], PILOT, &comparison);
	size_t blocks = stein_size(comparison.se * sqrt(PILOT), PILOT, half_width, ALPHA);
	if (blocks > BLOCKS_MAX) {
		stein->capped++;
		blocks = BLOCKS_MAX;
	}
	if (blocks > PILOT)
		campaign_draw_blocks(design, number, PILOT, blocks - PILOT, campaign);
	compare_stein(campaign->y[0], campaign->y[1], blocks, PILOT, &comparison);
	struct interval interval = compare_interval(&comparison, ALPHA, 1);
	stein->covered += interval.lo <= RATIO - 1 && RATIO - 1 <= interval.hi;
	stein->too_wide += (log1p(interval.hi) - log1p(interval.lo)) / 2 > half_width * (1 + 1e-9);
	stein->blocks += (double)blocks;
}

void check_stein(struct suite *suite)
{
	static const double half_widths[] = { 0.005, 0.004, 0.003 };
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));

	printf("\nStein's two stages: pilot of %d blocks, boot spread 0.5%%, true ratio %.2f\n", PILOT, RATIO);
	printf("half-width campaigns coverage   blocks  too wide\n");
	for (size_t k = 0; k < ARRAY_SIZE(half_widths); k++) {
		struct design design = design_make(400 + k, 2, BLOCKS_MAX, 0.005);
		size_t n = suite_campaigns(suite, 60);
		struct stein stein = { 0 };
		design.levels[1] = RATIO;
		for (size_t i = 0; i < n; i++)
			run_stein(&design, i, half_widths[k], campaign, &stein);
		double coverage = (double)stein.covered / (double)n;
		printf("%9.1f%% %9zu %7.2f%% %8.1f %9zu\n", 100 * half_widths[k], n, 100 * coverage, stein.blocks / (double)n,
		       stein.too_wide);
		AUTO_FREE char *covers = xasprintf("stein-coverage-%g", 100 * half_widths[k]);
		AUTO_FREE char *narrow = xasprintf("stein-width-%g", 100 * half_widths[k]);
		suite_between(suite, covers, coverage, 0.945, 1, n);
		/* Only what the cap cut short may be wider. */
		suite_check(suite, stein.too_wide <= stein.capped, narrow, "%zu too wide", stein.too_wide);
	}
}

/* Which share of alpha a look gets: nothing, its part, all of it. */
struct looks {
	size_t declared, free;
};

static double least_p(const struct campaign *campaign, size_t blocks, bool paired)
{
	double p[LOOK_ROWS - 1], adjusted[LOOK_ROWS - 1], least = 1;
	struct comparison comparison;

	for (size_t row = 1; row < LOOK_ROWS; row++) {
		if (paired)
			compare_paired(campaign->y[0], campaign->y[row], blocks, &comparison);
		else
			compare_welch(campaign->y[0], blocks, campaign->y[row], blocks, &comparison);
		p[row - 1] = comparison.p;
	}
	holm_adjust(p, LOOK_ROWS - 1, adjusted);
	for (size_t i = 0; i < LOOK_ROWS - 1; i++)
		least = fmin(least, adjusted[i]);
	return least;
}

static void look(const struct campaign *campaign, bool paired, struct looks *looks)
{
	double least = 1;

	for (size_t k = 1; k <= LOOKS; k++)
		least = fmin(least, least_p(campaign, k * LOOK_BLOCKS, paired));
	looks->declared += least <= ALPHA / LOOKS;
	looks->free += least <= ALPHA;
}

void check_looks(struct suite *suite)
{
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	struct design design = design_make(450, LOOK_ROWS, LOOKS * LOOK_BLOCKS, 0.005);
	size_t n = suite_campaigns(suite, LOOK_ROWS * LOOKS * LOOK_BLOCKS);
	struct looks welch = { 0 }, paired = { 0 };

	for (size_t i = 0; i < n; i++) {
		campaign_draw(&design, i, campaign);
		look(campaign, false, &welch);
		look(campaign, true, &paired);
	}
	printf("\n%d looks every %d blocks at a family of %d A/A comparisons, boot spread 0.5%%, %zu campaigns: false verdicts\n",
	       LOOKS, LOOK_BLOCKS, LOOK_ROWS - 1, n);
	printf("declared, %.2f%% each: Welch %.2f%%, paired %.2f%%; at 5%% each: Welch %.2f%%, paired %.2f%%\n",
	       100 * ALPHA / LOOKS, 100 * (double)welch.declared / (double)n, 100 * (double)paired.declared / (double)n,
	       100 * (double)welch.free / (double)n, 100 * (double)paired.free / (double)n);
	suite_at_most(suite, "looks-declared-welch", (double)welch.declared / (double)n, ALPHA, n);
	suite_at_most(suite, "looks-declared-paired", (double)paired.declared / (double)n, ALPHA, n);
	double seen = (double)welch.free / (double)n;
	suite_check(suite, seen > ALPHA + suite_tolerance(ALPHA, n), "looks-not-paid-for-are-seen", "%.2f%%", 100 * seen);
}
