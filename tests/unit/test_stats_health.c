/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle.h"
#include "stats/health.h"

#define MAX 80

static void trends_are_what_r_says(void **state)
{
	(void)state;
	static const char *const names[] = { "drift", "ties", "base" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *p = xasprintf("trend.%s.p", names[i]), *slope = xasprintf("trend.%s.slope", names[i]);
		double y[MAX];
		struct trend trend;
		trend_of(y, oracle_data(names[i], y, MAX), &trend);
		assert_oracle(trend.p, p);
		assert_oracle(trend.slope, slope);
	}
}

static void dependence_is_what_r_says(void **state)
{
	(void)state;
	const struct {
		const char *data, *name;
	} cases[] = { { "dependent", "dependent" }, { "drift", "drift" }, { "base", "few12" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *p = xasprintf("dependence.%s.p", cases[i].name),
			       *r1 = xasprintf("dependence.%s.r1", cases[i].name);
		double y[MAX];
		struct dependence dependence;
		size_t n = oracle_data(cases[i].data, y, MAX);
		dependence_of(y, n, &dependence);
		assert_oracle(dependence.r1, r1);
		assert_oracle(dependence.p, p);
		double effective = (double)n * (1 - dependence.r1) / (1 + dependence.r1);
		assert_near(dependence.n_effective, dependence.r1 > 0 ? effective : (double)n, 1e-12);
	}
}

static void steps_are_where_r_finds_them(void **state)
{
	(void)state;
	double y[MAX], base[MAX];
	struct step_change step, again;
	size_t n = oracle_data("step", y, MAX);

	step_of(y, n, 7, &step);
	assert_int_equal(step.at, oracle_value("step.at"));
	assert_oracle(step.shift, "step.shift");
	/* 999 permutations know p to sqrt(p (1 - p) / 999): 4 of these. */
	assert_true(fabs(step.p - oracle_value("step.step.p")) < 0.017);
	step_of(y, n, 7, &again);
	assert_memory_equal(&step, &again, sizeof(step));
	step_of(base, oracle_data("base", base, MAX), 7, &step);
	assert_true(fabs(step.p - oracle_value("step.base.p")) < 0.021);
}

static void places_count_what_is_missing(void **state)
{
	(void)state;
	double y[MAX], holes[MAX];
	size_t n = oracle_data("step", y, MAX), found[1];
	struct step_change step, shifted;
	struct trend trend;
	struct dependence dependence, same;

	for (size_t i = 0; i < n + 3; i++)
		holes[i] = i < 3 ? NAN : y[i - 3];
	step_of(y, n, 7, &step);
	step_of(holes, n + 3, 7, &shifted);
	assert_int_equal(shifted.at, step.at + 3);
	assert_true(shifted.p == step.p && shifted.shift == step.shift);
	dependence_of(y, n, &dependence);
	dependence_of(holes, n + 3, &same);
	assert_memory_equal(&dependence, &same, sizeof(same));
	holes[5] = 5000;
	assert_int_equal(outliers_of(holes, n + 3, 3.5, found, 1), 1);
	assert_int_equal(found[0], 5);
	/* 100, 101, -, 103, ...: still one a step. */
	for (size_t i = 0; i < 9; i++)
		holes[i] = i == 2 ? NAN : 100 + (double)i;
	trend_of(holes, 9, &trend);
	assert_near(trend.slope, 1 / 104.5, 1e-12);
	assert_true(trend.p < 0.001);
}

static void too_few_numbers_say_nothing(void **state)
{
	(void)state;
	const double y[] = { 1, 2, 3, 4, 5, 6, 7, NAN, NAN, NAN };
	struct trend trend;
	struct step_change step;
	struct dependence dependence;
	struct modes modes;

	trend_of(y, 10, &trend);
	assert_true(isnan(trend.p));
	assert_near(trend.slope, 0.25, 1e-12);
	trend_of(y, 1, &trend);
	assert_true(isnan(trend.p) && isnan(trend.slope));
	step_of(y, 10, 1, &step);
	assert_true(isnan(step.p) && isnan(step.shift));
	dependence_of(y, 10, &dependence);
	assert_true(isnan(dependence.p) && isnan(dependence.r1) && isnan(dependence.n_effective));
	modes_of(y, 10, &modes);
	assert_true(!modes.two && isnan(modes.low) && isnan(modes.high) && isnan(modes.share_high));
	assert_int_equal(outliers_of(NULL, 0, 3.5, NULL, 0), 0);
	trend_of(NULL, 0, &trend);
	assert_true(isnan(trend.slope));
}

static void equal_numbers_are_healthy(void **state)
{
	(void)state;
	double y[20];
	struct trend trend;
	struct step_change step;
	struct dependence dependence;
	struct modes modes;

	for (size_t i = 0; i < 20; i++)
		y[i] = 1711.1;
	trend_of(y, 20, &trend);
	assert_true(trend.p == 1 && trend.slope == 0);
	step_of(y, 20, 1, &step);
	assert_true(step.p == 1 && step.shift == 0);
	dependence_of(y, 20, &dependence);
	assert_true(dependence.p == 1 && dependence.r1 == 0 && dependence.n_effective == 20);
	modes_of(y, 20, &modes);
	assert_false(modes.two);
	assert_int_equal(outliers_of(y, 20, 3.5, NULL, 0), 0);
}

static void long_series_are_thinned(void **state)
{
	(void)state;
	const size_t n = 100000;
	AUTO_FREE double *y = xcalloc(n, sizeof(*y));
	struct trend trend;

	for (size_t i = 0; i < n; i++)
		y[i] = 1000 + 0.001 * (double)i;
	trend_of(y, n, &trend);
	assert_near(trend.slope, 0.001 / 1050, 1e-3);
	assert_true(trend.p < 1e-9);
}

static void outliers_are_what_r_lists(void **state)
{
	(void)state;
	double y[15];
	size_t found[2] = { 99, 99 };

	oracle_data("base", y, 12);
	y[12] = 2300;
	y[13] = NAN;
	y[14] = 1500;
	assert_int_equal(outliers_of(y, 15, 3.5, found, 2), oracle_value("outliers.count"));
	assert_int_equal(found[0], 12);
	assert_int_equal(found[1], 14);
	found[1] = 99;
	assert_int_equal(outliers_of(y, 15, 3.5, found, 1), 2);
	assert_int_equal(found[1], 99);
}

static void modes_are_what_r_fits(void **state)
{
	(void)state;
	double y[MAX];
	struct modes modes;

	modes_of(y, oracle_data("modes", y, MAX), &modes);
	assert_true(modes.two);
	assert_near(modes.low, oracle_value("modes.low"), 1e-6);
	assert_near(modes.high, oracle_value("modes.high"), 1e-6);
	assert_near(modes.share_high, oracle_value("modes.share_high"), 1e-5);
	modes_of(y, oracle_data("nested", y, MAX), &modes);
	assert_false(modes.two);
}

static void one_far_number_is_no_mode(void **state)
{
	(void)state;
	double y[13];
	struct modes modes;

	oracle_data("base", y, 12);
	y[12] = 3000;
	modes_of(y, 13, &modes);
	assert_false(modes.two);
	/* Two heaps without any spread are. */
	for (size_t i = 0; i < 13; i++)
		y[i] = i % 4 ? 100 : 101;
	modes_of(y, 13, &modes);
	assert_true(modes.two);
	assert_near(modes.low, 100, 1e-9);
	assert_near(modes.high, 101, 1e-9);
	assert_near(modes.share_high, 4.0 / 13, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trends_are_what_r_says),	cmocka_unit_test(dependence_is_what_r_says),
		cmocka_unit_test(steps_are_where_r_finds_them), cmocka_unit_test(places_count_what_is_missing),
		cmocka_unit_test(too_few_numbers_say_nothing),	cmocka_unit_test(equal_numbers_are_healthy),
		cmocka_unit_test(long_series_are_thinned),	cmocka_unit_test(outliers_are_what_r_lists),
		cmocka_unit_test(modes_are_what_r_fits),	cmocka_unit_test(one_far_number_is_no_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
