/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A/A: all rows are the same kernel. How often does a family of comparisons say that one differs? */
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

enum family { WELCH, PAIRED, AS_REPORTED, PREVIOUS, REPLICATE, TOGETHER, PLAIN, N_FAMILIES };

static const char *const names[N_FAMILIES] = {
	[WELCH] = "welch",	   [PAIRED] = "paired",	    [AS_REPORTED] = "reported", [PREVIOUS] = "previous",
	[REPLICATE] = "replicate", [TOGETHER] = "together", [PLAIN] = "plain",
};

/* One campaign's comparisons: row 0 is the baseline, rows 1 .. size its variants, and row size + 1 the baseline's second boot. */
struct verdicts {
	double p[N_FAMILIES][ROWS_MAX];
	bool apart; /* one of the simultaneous intervals leaves out 0 */
};

static void compare_rows(const struct campaign *campaign, size_t size, size_t blocks, struct verdicts *verdicts)
{
	double both[2 * BLOCKS_MAX];
	struct comparison comparison;

	for (size_t b = 0; b < blocks; b++) {
		both[b] = campaign->y[0][b];
		both[blocks + b] = campaign->y[size + 1][b];
	}
	verdicts->apart = false;
	for (size_t i = 0; i < size; i++) {
		const double *y = campaign->y[i + 1];
		compare_welch(campaign->y[0], blocks, y, blocks, &comparison);
		verdicts->p[WELCH][i] = verdicts->p[PLAIN][i] = comparison.p;
		struct interval interval = compare_interval(&comparison, ALPHA, size);
		verdicts->apart |= interval.lo > 0 || interval.hi < 0;
		compare_paired(campaign->y[0], y, blocks, &comparison);
		verdicts->p[PAIRED][i] = comparison.p;
		campaign_compare(campaign->y[0], y, blocks, &comparison);
		verdicts->p[AS_REPORTED][i] = comparison.p;
		compare_welch(campaign->y[i], blocks, y, blocks, &comparison);
		verdicts->p[PREVIOUS][i] = comparison.p;
		compare_welch(both, 2 * blocks, y, blocks, &comparison);
		verdicts->p[REPLICATE][i] = comparison.p;
	}
}

static void count(const struct verdicts *verdicts, size_t size, size_t false_verdicts[N_FAMILIES])
{
	for (int family = 0; family < N_FAMILIES; family++) {
		double adjusted[ROWS_MAX], least = 1;
		if (family == TOGETHER) {
			false_verdicts[family] += verdicts->apart;
			continue;
		}
		holm_adjust(verdicts->p[family], size, adjusted);
		for (size_t i = 0; i < size; i++)
			least = fmin(least, family == PLAIN ? verdicts->p[family][i] : adjusted[i]);
		false_verdicts[family] += least <= ALPHA;
	}
}

static void check_cell(struct suite *suite, uint64_t seed, size_t size, size_t blocks)
{
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	struct design design = design_make(seed, size + 2, blocks, 0.005);
	size_t n = suite_campaigns(suite, design.rows * blocks), false_verdicts[N_FAMILIES] = { 0 };
	struct verdicts verdicts;

	for (size_t i = 0; i < n; i++) {
		campaign_draw(&design, i, campaign);
		compare_rows(campaign, size, blocks, &verdicts);
		count(&verdicts, size, false_verdicts);
	}
	printf("%11zu %5zu %9zu", size, blocks, n);
	for (int family = 0; family < N_FAMILIES; family++)
		printf(" %8.2f%%", 100 * (double)false_verdicts[family] / (double)n);
	printf("\n");
	for (int family = 0; family < PLAIN; family++) {
		AUTO_FREE char *name = xasprintf("false-verdicts-%s-family-%zu-boots-%zu", names[family], size, blocks);
		suite_at_most(suite, name, (double)false_verdicts[family] / (double)n, ALPHA, n);
	}
	if (size < 4)
		return;
	AUTO_FREE char *seen = xasprintf("false-verdicts-seen-without-holm-family-%zu-boots-%zu", size, blocks);
	double plain = (double)false_verdicts[PLAIN] / (double)n;
	suite_check(suite, plain > ALPHA + suite_tolerance(ALPHA, n), seen, "%.2f%%", 100 * plain);
}

void check_families(struct suite *suite)
{
	static const size_t sizes[] = { 1, 4, 10 }, boots[] = { 3, 8 };
	uint64_t seed = 200;

	printf("\nFalse verdicts of a family of A/A comparisons at 5%%, boot spread 0.5%%: Holm; simultaneous intervals; each by "
	       "itself\n");
	printf("comparisons boots campaigns     Welch   paired reported previous replicate together    plain\n");
	for (size_t b = 0; b < ARRAY_SIZE(boots); b++)
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++)
			check_cell(suite, seed++, sizes[s], boots[b]);
}
