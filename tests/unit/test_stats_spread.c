/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle.h"
#include "stats/compare.h"

/* research: 3.87% -> 3.49% of 1500 runs a row, one boot each: below 0.13% between boots. */
static void one_comparison_has_a_closed_form(void **state)
{
	(void)state;
	struct comparison comparison, wider;
	const double weight = 2;

	compare_summary(0.9613, 0.02 * 0.9613, 1500, 0.9651, 0.02 * 0.9651, 1500, &comparison);
	double sd = holm_largest_sd(&comparison, &weight, 1, 0, 0.05);
	assert_near(sd, 0.001325, 1e-3);
	compare_widen(&comparison, 2 * sd * sd, &wider);
	assert_near(wider.p, 0.05, 1e-6);
	assert_true(wider.df == comparison.df && wider.log_ratio == comparison.log_ratio);
	/* ((|d| / t)^2 - se^2) / 2 */
	double t = comparison.log_ratio / wider.se;
	assert_near(sd * sd, (pow(comparison.log_ratio / t, 2) - pow(comparison.se, 2)) / 2, 1e-6);
}

static void families_take_the_others_along(void **state)
{
	(void)state;
	struct comparison family[3];
	const double weights[] = { 2, 2, 0 };

	compare_summary(1, 0.02, 1500, 0.99, 0.02, 1500, &family[0]);
	compare_summary(1, 0.02, 1500, 0.98, 0.02, 1500, &family[1]);
	compare_summary(1, 0.02, 1500, 0.999, 0.02, 1500, &family[2]);
	double small = holm_largest_sd(family, weights, 3, 0, 0.05), large = holm_largest_sd(family, weights, 3, 1, 0.05);
	assert_true(small > 0.001 && large > small);
	/* The third is not resolved at 0: so the first must beat alpha / 2. */
	assert_true(holm_largest_sd(family, weights, 3, 2, 0.05) == 0);
	assert_near(small, holm_largest_sd(family, weights, 1, 0, 0.025), 1e-6);
	/* What comes from independent boots is not touched. */
	compare_summary(1, 0.02, 1500, 0.97, 0.02, 1500, &family[2]);
	assert_true(isinf(holm_largest_sd(family, weights, 3, 2, 0.05)));
}

static void without_a_comparison_nothing_is_resolved(void **state)
{
	(void)state;
	struct comparison none, same;
	const double weight = 2;

	compare_summary(1, 0.02, 1, 0.99, 0.02, 1500, &none);
	compare_widen(&none, 1, &same);
	assert_true(same.method == COMPARE_NONE && isnan(same.p) && isnan(same.se));
	assert_true(holm_largest_sd(&none, &weight, 1, 0, 0.05) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_comparison_has_a_closed_form),
		cmocka_unit_test(families_take_the_others_along),
		cmocka_unit_test(without_a_comparison_nothing_is_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
