/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/exact.h"
#include "unit.h"

#include <math.h>

static void levels_skip_what_is_missing(void **state)
{
	(void)state;
	const double y[] = { 10, NAN, 13, 12 };
	struct exact_level level;

	exact_level(y, 4, &level);
	assert_int_equal(level.boots, 3);
	assert_true(fabs(level.mean - 35.0 / 3) < 1e-12);
	assert_true(level.spread == 1.5);
	exact_level(y + 1, 1, &level);
	assert_int_equal(level.boots, 0);
	assert_true(isnan(level.mean));
}

static void differences_pair_equal_nuisances(void **state)
{
	(void)state;
	/* Levels move by ten with the nuisance, the difference by 0.2. */
	const double x[] = { 1587.9, 1588.0, 1578.1 }, y[] = { 1711.0, 1711.0, 1701.2 };
	struct exact_difference difference;

	exact_difference(x, y, 3, &difference);
	assert_int_equal(difference.boots, 3);
	assert_true(fabs(difference.delta - 123.0667) < 1e-3);
	assert_true(fabs(difference.spread - 0.05) < 1e-9);
	assert_true(fabs(difference.ratio - (1711.0 + 1711.0 + 1701.2) / (1587.9 + 1588.0 + 1578.1) + 1) < 1e-12);
	assert_true(difference.resolved);
}

static void small_differences_and_single_boots_are_not_resolved(void **state)
{
	(void)state;
	const double x[] = { 100, 100, 100 }, y[] = { 100.3, 99.9, 100.1 };
	struct exact_difference difference;

	exact_difference(x, y, 3, &difference);
	assert_false(difference.resolved);
	exact_difference(x, y, 1, &difference);
	assert_int_equal(difference.boots, 1);
	assert_false(difference.resolved);
	exact_difference(x, x, 3, &difference);
	assert_false(difference.resolved);
	const double none[] = { NAN, NAN, NAN };
	exact_difference(x, none, 3, &difference);
	assert_int_equal(difference.boots, 0);
	assert_false(difference.resolved);
	assert_true(isnan(difference.delta));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_skip_what_is_missing),
		cmocka_unit_test(differences_pair_equal_nuisances),
		cmocka_unit_test(small_differences_and_single_boots_are_not_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
