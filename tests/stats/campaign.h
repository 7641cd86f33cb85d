/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Campaigns in memory: blocks of boots of several rows, as plan/plan_boots.c orders them, measured with the sim device's
 * noise.
 */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include "device/noise.h"
#include "plan/matrix.h"
#include "stats/compare.h"

#define ROWS_MAX 12
#define BLOCKS_MAX 400
#define ITERATIONS 30
#define SD_ITERATION 0.02

struct design {
	struct sim_noise noise;
	size_t rows, blocks;
	double levels[ROWS_MAX]; /* true values; 0 = 1 */
	enum measure_order order;
};

/* 2% between iterations, `sd_boot` between boots; `seed`: cells draw unlike numbers. */
struct design design_make(uint64_t seed, size_t rows, size_t blocks, double sd_boot);

/* Boot means: y[row][block]. */
struct campaign {
	double y[ROWS_MAX][BLOCKS_MAX];
	struct noise_sample samples[ITERATIONS]; /* of the boot drawn last */
};

/* Draws blocks `first` .. `first + n - 1` of campaign number `number`. */
void campaign_draw_blocks(const struct design *design, uint64_t number, size_t first, size_t n, struct campaign *campaign);
/* All of it. */
void campaign_draw(const struct design *design, uint64_t number, struct campaign *campaign);

/* As reports choose: by block when the reference drifts (p < 0.05), else Welch. */
void campaign_compare(const double *reference, const double *variant, size_t blocks, struct comparison *out);

#endif
