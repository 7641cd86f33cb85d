/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/noise.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"

/* Campaigns, rows and places differ by small numbers: the hash makes unlike seeds of them, on any machine the same. */
static struct random *boot_random(const struct sim_noise *noise, uint64_t seed, size_t ordinal)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64 "/%" PRIu64 "/%zu", noise->seed, seed, ordinal);
	char hex[HASH_HEX_SIZE];

	hash_bytes(text, strlen(text), hex);
	hex[16] = '\0';
	return random_new(strtoull(hex, NULL, 16));
}

static double boot_factor(const struct sim_noise *noise, struct random *random, size_t ordinal, size_t total)
{
	double factor = exp(random_gaussian(random, 1) * noise->sd_boot);

	if (random_uniform(random) < noise->mode_share)
		factor *= 1 + noise->mode_shift;
	if (total > 1)
		factor *= 1 + noise->drift * (double)ordinal / (double)(total - 1);
	return factor;
}

/* The first iteration that throttles; `n` when none does. */
static size_t throttled_from(const struct sim_noise *noise, struct random *random, size_t n)
{
	bool throttles = random_uniform(random) < noise->throttle_share;
	size_t from = random_below(random, n);

	return throttles ? from : n;
}

/* Everything is drawn, wanted or not: what one setting changes leaves the rest of the numbers as they were. */
void noise_draw(const struct sim_noise *noise, uint64_t seed, size_t ordinal, size_t total, struct noise_sample *samples_out,
		size_t n)
{
	if (!n)
		return;
	struct random *random = boot_random(noise, seed, ordinal);
	double boot = boot_factor(noise, random, ordinal, total);
	size_t throttled = throttled_from(noise, random, n);
	double variance = log1p(noise->sd_iteration * noise->sd_iteration), sd = sqrt(variance);
	for (size_t i = 0; i < n; i++) {
		double factor = boot * exp(random_gaussian(random, 1) * sd - variance / 2);
		if (random_uniform(random) < noise->outlier_share)
			factor *= 1 + noise->outlier_size;
		if (i >= throttled)
			factor *= 1 + noise->throttle_size;
		samples_out[i] = (struct noise_sample){ .factor = factor, .throttled = i >= throttled };
	}
	random_free(random);
}
