/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/noise.h"
#include "stats/level.h"
#include "unit.h"

#include <math.h>

#define N 40

static const struct sim_noise scatter = { .seed = 1, .sd_boot = 0.005, .sd_iteration = 0.02 };

static void draw(const struct sim_noise *noise, uint64_t seed, size_t ordinal, size_t total, double factors[N])
{
	struct noise_sample samples[N];

	noise_draw(noise, seed, ordinal, total, samples, N);
	for (size_t i = 0; i < N; i++) {
		assert_true(samples[i].factor > 0);
		assert_false(samples[i].throttled);
		factors[i] = samples[i].factor;
	}
}

static void same_place_same_numbers(void **state)
{
	(void)state;
	struct sim_noise other = scatter;
	double a[N], b[N];

	other.seed = 2;
	draw(&scatter, 7, 3, 10, a);
	draw(&scatter, 7, 3, 10, b);
	assert_memory_equal(a, b, sizeof(a));
	/* Without drift, how many boots follow does not matter. */
	draw(&scatter, 7, 3, 20, b);
	assert_memory_equal(a, b, sizeof(a));
	draw(&scatter, 8, 3, 10, b);
	assert_memory_not_equal(a, b, sizeof(a));
	draw(&scatter, 7, 4, 10, b);
	assert_memory_not_equal(a, b, sizeof(a));
	draw(&other, 7, 3, 10, b);
	assert_memory_not_equal(a, b, sizeof(a));
	/* A shorter boot is the beginning of a longer one. */
	struct noise_sample samples[5];
	noise_draw(&scatter, 7, 3, 10, samples, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(samples[i].factor == a[i]);
	noise_draw(&scatter, 7, 3, 10, samples, 0);
	assert_true(samples[0].factor == a[0]);
}

static void without_noise_all_is_true(void **state)
{
	(void)state;
	const struct sim_noise silent = { .seed = 1 };
	double factors[N];

	draw(&silent, 1, 0, 1, factors);
	for (size_t i = 0; i < N; i++)
		assert_true(factors[i] == 1);
}

static void drift_runs_from_first_to_last(void **state)
{
	(void)state;
	struct sim_noise noise = scatter;
	double plain[N], drifting[N];
	const size_t ordinals[] = { 0, 5, 10 };

	noise.drift = 0.01;
	for (size_t k = 0; k < ARRAY_SIZE(ordinals); k++) {
		draw(&scatter, 7, ordinals[k], 11, plain);
		draw(&noise, 7, ordinals[k], 11, drifting);
		for (size_t i = 0; i < N; i++)
			assert_true(fabs(drifting[i] / plain[i] - 1 - 0.005 * (double)k) < 1e-12);
	}
	/* One boot is the first. */
	draw(&scatter, 7, 0, 1, plain);
	draw(&noise, 7, 0, 1, drifting);
	assert_memory_equal(plain, drifting, sizeof(plain));
}

/* Over 4000 boots: within four standard errors of what was asked for. */
static void spreads_are_what_was_asked_for(void **state)
{
	(void)state;
	enum { BOOTS = 4000 };
	struct sim_noise boots_only = scatter;
	double factors[N], log_sum = 0, log_squares = 0, mean_sum = 0, variance_sum = 0;

	boots_only.sd_iteration = 0;
	for (size_t b = 0; b < BOOTS; b++) {
		draw(&boots_only, 3, b, BOOTS, factors);
		double y = log(factors[0]);
		assert_true(factors[N - 1] == factors[0]);
		log_sum += y;
		log_squares += y * y;
	}
	double sd = sqrt(log_squares / BOOTS);
	assert_true(fabs(log_sum / BOOTS) < 4 * 0.005 / sqrt(BOOTS));
	assert_true(fabs(sd / 0.005 - 1) < 4 / sqrt(2 * BOOTS));

	struct sim_noise iterations_only = scatter;
	iterations_only.sd_boot = 0;
	iterations_only.sd_iteration = 0.2;
	for (size_t b = 0; b < BOOTS; b++) {
		struct level level;
		draw(&iterations_only, 3, b, BOOTS, factors);
		level_of(factors, N, &level);
		mean_sum += level.mean;
		variance_sum += level.sd * level.sd;
	}
	assert_true(fabs(mean_sum / BOOTS - 1) < 4 * 0.2 / sqrt((double)BOOTS * N));
	assert_true(fabs(sqrt(variance_sum / BOOTS) / 0.2 - 1) < 4 / sqrt(2.0 * BOOTS * N) * 1.2);
}

/* A setting changes what it is for and leaves the rest of the numbers alone. */
static void outliers_and_modes_come_on_top(void **state)
{
	(void)state;
	enum { BOOTS = 500 };
	struct sim_noise outliers = scatter, modes = scatter;
	size_t far = 0, high = 0;
	double plain[N], factors[N];

	outliers.outlier_share = 0.02;
	outliers.outlier_size = 0.5;
	modes.mode_share = 0.3;
	modes.mode_shift = 0.04;
	for (size_t b = 0; b < BOOTS; b++) {
		draw(&scatter, 9, b, BOOTS, plain);
		draw(&outliers, 9, b, BOOTS, factors);
		for (size_t i = 0; i < N; i++) {
			bool is_far = factors[i] > 1.2 * plain[i];
			assert_true(fabs(factors[i] / plain[i] - (is_far ? 1.5 : 1)) < 1e-12);
			far += is_far;
		}
		draw(&modes, 9, b, BOOTS, factors);
		bool is_high = factors[0] > 1.02 * plain[0];
		for (size_t i = 0; i < N; i++)
			assert_true(fabs(factors[i] / plain[i] - (is_high ? 1.04 : 1)) < 1e-12);
		high += is_high;
	}
	/* 400 +- 4 * 19.8 of 20000; 150 +- 4 * 10.2 of 500 */
	assert_in_range(far, 321, 479);
	assert_in_range(high, 110, 190);
}

static void throttling_lasts_to_the_end_and_is_recorded(void **state)
{
	(void)state;
	enum { BOOTS = 500 };
	struct sim_noise noise = scatter;
	size_t boots = 0, at_once = 0;
	double plain[N];

	noise.throttle_share = 0.4;
	noise.throttle_size = 0.3;
	for (size_t b = 0; b < BOOTS; b++) {
		struct noise_sample samples[N];
		draw(&scatter, 9, b, BOOTS, plain);
		noise_draw(&noise, 9, b, BOOTS, samples, N);
		for (size_t i = 0; i < N; i++) {
			assert_true(fabs(samples[i].factor / plain[i] - (samples[i].throttled ? 1.3 : 1)) < 1e-12);
			assert_true(!i || samples[i].throttled >= samples[i - 1].throttled);
		}
		boots += samples[N - 1].throttled;
		at_once += samples[0].throttled;
	}
	/* 200 +- 4 * 11 of 500; one in 40 of these from the first iteration on. */
	assert_in_range(boots, 156, 244);
	assert_in_range(at_once, 1, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_place_same_numbers),	  cmocka_unit_test(without_noise_all_is_true),
		cmocka_unit_test(drift_runs_from_first_to_last),  cmocka_unit_test(spreads_are_what_was_asked_for),
		cmocka_unit_test(outliers_and_modes_come_on_top), cmocka_unit_test(throttling_lasts_to_the_end_and_is_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
