/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign.h"

#include "base/random.h"
#include "stats/health.h"

#define DRIFT_LEVEL 0.05

struct design design_make(uint64_t seed, size_t rows, size_t blocks, double sd_boot)
{
	return (struct design){
		.noise = { .seed = seed, .sd_boot = sd_boot, .sd_iteration = SD_ITERATION },
		.rows = rows,
		.blocks = blocks,
	};
}

/* The boot mean, in the way of reports: of the iterations as they are. */
static void draw_boot(const struct design *design, uint64_t number, size_t ordinal, size_t row, size_t block,
		      struct campaign *campaign)
{
	double sum = 0, level = design->levels[row] > 0 ? design->levels[row] : 1;

	noise_draw(&design->noise, number, ordinal, design->rows * design->blocks, campaign->samples, ITERATIONS);
	for (size_t i = 0; i < ITERATIONS; i++)
		sum += campaign->samples[i].factor;
	campaign->y[row][block] = level * sum / ITERATIONS;
}

static void reverse(size_t *items, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		size_t other = items[n - 1 - i];
		items[n - 1 - i] = items[i];
		items[i] = other;
	}
}

static void draw_sequence(const struct design *design, uint64_t number, struct campaign *campaign)
{
	for (size_t row = 0; row < design->rows; row++)
		for (size_t block = 0; block < design->blocks; block++)
			draw_boot(design, number, row * design->blocks + block, row, block, campaign);
}

void campaign_draw_blocks(const struct design *design, uint64_t number, size_t first, size_t n, struct campaign *campaign)
{
	size_t order[ROWS_MAX];

	for (size_t row = 0; row < design->rows; row++)
		order[row] = row;
	/* Another generator than the noise's, and another state for each part of a campaign. */
	struct random *random = random_new((number << 20) + (first << 8) + design->rows);
	for (size_t block = first; block < first + n; block++) {
		if (design->order == ORDER_ABBA && block % 2)
			reverse(order, design->rows);
		else
			random_shuffle(random, order, design->rows);
		for (size_t i = 0; i < design->rows; i++)
			draw_boot(design, number, block * design->rows + i, order[i], block, campaign);
	}
	random_free(random);
}

void campaign_draw(const struct design *design, uint64_t number, struct campaign *campaign)
{
	if (design->order == ORDER_SEQUENTIAL)
		draw_sequence(design, number, campaign);
	else
		campaign_draw_blocks(design, number, 0, design->blocks, campaign);
}

void campaign_compare(const double *reference, const double *variant, size_t blocks, struct comparison *out)
{
	struct trend trend;

	trend_of(reference, blocks, &trend);
	if (trend.p < DRIFT_LEVEL)
		compare_paired(reference, variant, blocks, out);
	else
		compare_welch(reference, blocks, variant, blocks, out);
}
