/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sim device's noise: by what factor each iteration's readings are off their true value. Also drawn in memory by the
 * simulation suite.
 */
#ifndef DEVICE_NOISE_H
#define DEVICE_NOISE_H

#include "plan/profile.h"

struct noise_sample {
	double factor; /* > 0; 1 = the true value */
	bool throttled; /* a physical cause that the device records */
};

/*
 * Draws one boot: samples_out[0 .. n-1], in the order in which they run (warm-ups first). The same seed, and the same place
 * in the campaign, draw the same numbers. `ordinal` of `total`: the boot's place in time among all boots of its device; drift
 * runs linearly from 0 at the first to its whole size at the last.
 *
 * Each effect is 1 on the average in the scale on which the estimates average it, so that the model's numbers are the truth.
 * Boots are averaged as logarithms: exp(N(0, sd_boot)). (1 + N(0, sd_boot) would lie sd_boot^2 / 2 lower there, and could
 * fall below 0.) The iterations of a boot are averaged as they are: a lognormal of mean 1 and sd sd_iteration. The rest
 * raises the level of every row alike, and leaves ratios as they are. The factor is one of time and of instructions; a rate
 * is divided by it.
 */
void noise_draw(const struct sim_noise *noise, uint64_t seed, size_t ordinal, size_t total, struct noise_sample *samples_out,
		size_t n);

#endif
