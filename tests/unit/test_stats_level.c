/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle.h"
#include "stats/level.h"

static void levels_are_what_r_says(void **state)
{
	(void)state;
	double y[14];
	struct level level;

	oracle_data("base", y, 12);
	y[12] = y[3];
	y[3] = NAN;
	y[13] = NAN;
	level_of(y, 14, &level);
	assert_int_equal(level.n, 12);
	assert_oracle(level.mean, "level.mean");
	assert_oracle(level.sd, "level.sd");
	assert_oracle(level.median, "level.median");
	assert_oracle(harmonic_mean(y, 14), "level.harmonic");
	assert_true(level.min < level.median && level.median < level.max);
}

static void few_numbers_have_fewer_figures(void **state)
{
	(void)state;
	const double y[] = { NAN, 3, NAN };
	struct level level;

	level_of(y, 3, &level);
	assert_int_equal(level.n, 1);
	assert_true(level.mean == 3 && level.median == 3 && level.min == 3 && level.max == 3 && isnan(level.sd));
	assert_true(harmonic_mean(y, 3) == 3);
	level_of(y, 1, &level);
	assert_int_equal(level.n, 0);
	assert_true(isnan(level.mean) && isnan(level.sd) && isnan(level.median) && isnan(level.min) && isnan(level.max));
	assert_true(isnan(harmonic_mean(y, 1)));
	level_of(NULL, 0, &level);
	assert_int_equal(level.n, 0);
}

static void rates_over_equal_work_average_by_time(void **state)
{
	(void)state;
	/* A page in 2 ns and one in 6: two pages in 8 ns. */
	const double rates[] = { 1 / 2.0, 1 / 6.0 };

	assert_near(harmonic_mean(rates, 2), 2 / 8.0, 1e-15);
}

static struct boot_moments moments_of(const double *y, size_t n)
{
	struct level level;

	level_of(y, n, &level);
	return (struct boot_moments){ .mean = level.mean, .variance = level.sd * level.sd, .n = n };
}

static void components_are_what_r_says(void **state)
{
	(void)state;
	double y[80];
	struct boot_moments boots[16];
	const size_t first[] = { 0, 8 };
	struct components components;

	assert_int_equal(oracle_data("nested", y, 80), 80);
	for (size_t b = 0; b < 8; b++)
		boots[b] = moments_of(y + 10 * b, 10);
	components_of(boots, first, 1, 60, &components);
	assert_oracle(components.sd_within, "components.sd_within");
	assert_oracle(components.sd_between, "components.sd_between");
	assert_oracle(components.icc, "components.icc");
	assert_true(components.iterations == 10);
	assert_int_equal(components.best_iterations, oracle_value("components.best"));

	/* A row at twice the level with the same relative spread pools to the same; an empty one changes nothing. */
	const size_t rows[] = { 0, 8, 8, 16 };
	struct components pooled;
	for (size_t b = 0; b < 8; b++)
		boots[8 + b] = (struct boot_moments){ .mean = 2 * boots[b].mean, .variance = 4 * boots[b].variance, .n = 10 };
	components_of(boots, rows, 3, 60, &pooled);
	assert_near(pooled.sd_within, components.sd_within, 1e-12);
	assert_near(pooled.sd_between, components.sd_between, 1e-12);
	assert_int_equal(pooled.best_iterations, components.best_iterations);
}

static void components_do_without_what_is_missing(void **state)
{
	(void)state;
	const struct boot_moments boots[] = {
		{ 100, 4, 3 }, { NAN, NAN, 5 }, { 0, NAN, 0 }, { 100, 4, 6 }, { 100, NAN, 1 }, { 102, NAN, 1 },
	};
	const size_t all[] = { 0, 4 }, first[] = { 0, 1 }, single[] = { 4, 6 }, none[] = { 1, 3 };
	struct components components;

	/* The means are equal: less between boots than chance gives is 0. */
	components_of(boots, all, 1, 60, &components);
	assert_near(components.sd_within, 0.02, 1e-12);
	assert_true(components.sd_between == 0 && components.icc == 0);
	assert_int_equal(components.best_iterations, 0);
	assert_near(components.iterations, 4, 1e-12);
	components_of(boots, first, 1, 60, &components);
	assert_near(components.sd_within, 0.02, 1e-12);
	assert_true(isnan(components.sd_between) && isnan(components.icc));
	components_of(boots, single, 1, 60, &components);
	assert_true(isnan(components.sd_within) && isnan(components.icc));
	assert_near(components.sd_between, sqrt(2) / 101, 1e-12);
	assert_int_equal(components.best_iterations, 0);
	components_of(boots, none, 1, 60, &components);
	assert_true(isnan(components.sd_within) && isnan(components.sd_between) && isnan(components.iterations));
	components_of(boots, all, 0, 60, &components);
	assert_true(isnan(components.sd_within));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_what_r_says),
		cmocka_unit_test(few_numbers_have_fewer_figures),
		cmocka_unit_test(rates_over_equal_work_average_by_time),
		cmocka_unit_test(components_are_what_r_says),
		cmocka_unit_test(components_do_without_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
