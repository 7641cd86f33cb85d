/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle.h"
#include "stats/compare.h"

#define N 12

static void check(const struct comparison *comparison, const char *name)
{
	struct interval interval = compare_interval(comparison, 0.05, 1);
	const struct {
		const char *field;
		double value;
	} fields[] = {
		{ "log_ratio", comparison->log_ratio },
		{ "se", comparison->se },
		{ "df", comparison->df },
		{ "p", comparison->p },
		{ "lo", interval.lo },
		{ "hi", interval.hi },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		AUTO_FREE char *key = xasprintf("%s.%s", name, fields[i].field);
		assert_oracle(fields[i].value, key);
	}
}

static void welch_is_what_r_says(void **state)
{
	(void)state;
	double base[N], disabled[N], few[N], three[N];
	struct comparison comparison;

	assert_int_equal(oracle_data("base", base, N), 12);
	assert_int_equal(oracle_data("disabled", disabled, N), 12);
	assert_int_equal(oracle_data("few", few, N), 5);
	assert_int_equal(oracle_data("three", three, N), 3);
	compare_welch(base, 12, disabled, 12, &comparison);
	assert_int_equal(comparison.method, COMPARE_WELCH);
	check(&comparison, "welch.disabled");
	assert_oracle(compare_upper(&comparison, 0.05), "upper.disabled");
	assert_oracle(compare_lower(&comparison, 0.05), "lower.disabled");
	assert_oracle(compare_detectable(&comparison, 0.05, 0.8), "detectable.disabled");
	assert_int_equal(compare_boots_needed(&comparison, 0.004, 0.05, 0.8), oracle_value("needed.disabled"));
	compare_welch(base, 12, few, 5, &comparison);
	assert_int_equal(comparison.n, 5);
	assert_int_equal(comparison.n_reference, 12);
	check(&comparison, "welch.few");
	compare_welch(base, 3, three, 3, &comparison);
	check(&comparison, "welch.three");
	compare_welch(base, 2, three, 2, &comparison);
	check(&comparison, "welch.two");
}

static void pairs_are_what_r_says(void **state)
{
	(void)state;
	double base[N], disabled[N], three[N];
	struct comparison comparison;

	oracle_data("base", base, N);
	oracle_data("disabled", disabled, N);
	oracle_data("three", three, N);
	compare_paired(base, disabled, 12, &comparison);
	assert_int_equal(comparison.method, COMPARE_PAIRED);
	check(&comparison, "paired.disabled");
	compare_paired(base, three, 3, &comparison);
	check(&comparison, "paired.three");
	compare_stein(base, disabled, 12, 8, &comparison);
	assert_int_equal(comparison.method, COMPARE_STEIN);
	assert_int_equal(comparison.n, 12);
	assert_true(comparison.df == 7);
	assert_oracle(comparison.se, "stein.se");
	assert_oracle(comparison.p, "stein.p");
	assert_oracle(compare_interval(&comparison, 0.05, 1).hi, "stein.hi");
	compare_paired(base, disabled, 8, &comparison);
	assert_int_equal(stein_size(comparison.se * sqrt(8), 8, 0.002, 0.05), oracle_value("stein.size"));
}

static void families_are_what_r_says(void **state)
{
	(void)state;
	double base[N], step[N], p[4], adjusted[5];
	const double fixed[] = { 0.030, 0.011, 0.0249, 0.012, 0.9 };

	oracle_data("base", base, N);
	for (int i = 0; i < 4; i++) {
		AUTO_FREE char *file = xasprintf("step%d", i + 1), *p_key = xasprintf("family.p%d", i + 1);
		AUTO_FREE char *lo = xasprintf("family.lo%d", i + 1), *hi = xasprintf("family.hi%d", i + 1);
		struct comparison comparison;
		oracle_data(file, step, N);
		compare_welch(base, N, step, N, &comparison);
		p[i] = comparison.p;
		assert_oracle(p[i], p_key);
		assert_oracle(compare_interval(&comparison, 0.05, 4).lo, lo);
		assert_oracle(compare_interval(&comparison, 0.05, 4).hi, hi);
	}
	holm_adjust(p, 4, adjusted);
	for (int i = 0; i < 4; i++) {
		AUTO_FREE char *key = xasprintf("family.holm%d", i + 1);
		assert_oracle(adjusted[i], key);
	}
	holm_adjust(fixed, 5, adjusted);
	for (int i = 0; i < 5; i++) {
		AUTO_FREE char *key = xasprintf("fixed.holm%d", i + 1);
		assert_oracle(adjusted[i], key);
	}
}

static void missing_p_values_are_no_members(void **state)
{
	(void)state;
	const double p[] = { NAN, 0.02, NAN, 0.03 };
	double adjusted[4];

	holm_adjust(p, 4, adjusted);
	assert_true(isnan(adjusted[0]) && isnan(adjusted[2]));
	assert_true(adjusted[1] == 0.04 && adjusted[3] == 0.04);
	holm_adjust(p, 1, adjusted);
	assert_true(isnan(adjusted[0]));
	holm_adjust(NULL, 0, adjusted);
}

static void quotients_and_summaries_are_what_r_says(void **state)
{
	(void)state;
	double base[N], few[N], step1[N], step2[N];
	struct comparison a, b, quotient;

	oracle_data("base", base, N);
	oracle_data("few", few, N);
	oracle_data("step1", step1, N);
	oracle_data("step2", step2, N);
	compare_welch(base, 12, few, 5, &a);
	compare_welch(step2, 12, step1, 12, &b);
	compare_quotient(&a, &b, &quotient);
	assert_int_equal(quotient.n, 5);
	assert_int_equal(quotient.n_reference, 12);
	assert_oracle(quotient.log_ratio, "quotient.log_ratio");
	assert_oracle(quotient.df, "quotient.df");
	assert_oracle(quotient.p, "quotient.p");
	compare_quotient(&a, &b, &a);
	assert_true(a.p == quotient.p);
	compare_summary(10809.46, 80.8, 10, 9621.26, 34.6, 10, &a);
	assert_oracle(a.log_ratio, "summary.log_ratio");
	assert_oracle(a.df, "summary.df");
	assert_oracle(a.p, "summary.p");
	assert_oracle(compare_interval(&a, 0.05, 1).lo, "summary.lo");
}

static void ratio_and_inverse_mirror_each_other(void **state)
{
	(void)state;
	double base[N], disabled[N];
	struct comparison there, back;

	oracle_data("base", base, N);
	oracle_data("disabled", disabled, N);
	compare_welch(base, N, disabled, N, &there);
	for (int i = 0; i < N; i++) {
		base[i] = 1 / base[i];
		disabled[i] = 1 / disabled[i];
	}
	compare_welch(base, N, disabled, N, &back);
	assert_near(1 / (1 + compare_ratio(&back)), 1 + compare_ratio(&there), 1e-12);
	assert_near(1 / (1 + compare_interval(&back, 0.05, 1).lo), 1 + compare_interval(&there, 0.05, 1).hi, 1e-12);
	assert_near(back.p, there.p, 1e-9);
}

static void assert_none(const struct comparison *comparison)
{
	assert_int_equal(comparison->method, COMPARE_NONE);
	assert_string_equal(compare_method_name(comparison->method), "none");
	assert_int_equal(comparison->n, 0);
	assert_true(isnan(comparison->log_ratio) && isnan(comparison->se) && isnan(comparison->df) && isnan(comparison->p));
	assert_true(isnan(compare_ratio(comparison)));
	assert_true(isnan(compare_interval(comparison, 0.05, 3).lo) && isnan(compare_interval(comparison, 0.05, 3).hi));
	assert_true(isnan(compare_upper(comparison, 0.05)) && isnan(compare_lower(comparison, 0.05)));
	assert_true(isnan(compare_detectable(comparison, 0.05, 0.8)));
	assert_int_equal(compare_boots_needed(comparison, 0.01, 0.05, 0.8), 0);
	assert_int_equal(verdict_limit(comparison, 1, 0.02, 0.05, 0.05), VERDICT_NOT_RESOLVED);
	assert_int_equal(verdict_equivalent(comparison, 0.02, 0.05), VERDICT_NOT_RESOLVED);
}

static void without_numbers_there_is_no_comparison(void **state)
{
	(void)state;
	const double good[] = { 100, 101, 102 }, one[] = { 100, NAN, NAN }, zero[] = { 100, 0, 101 },
		     negative[] = { 100, -3, 101 };
	const double infinite[] = { 100, INFINITY, 101 }, mixed[] = { NAN, 101, 102 };
	const double *const bad[] = { one, zero, negative, infinite };
	struct comparison comparison, fine;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		compare_welch(good, 3, bad[i], 3, &comparison);
		assert_none(&comparison);
		compare_welch(bad[i], 3, good, 3, &comparison);
		assert_none(&comparison);
		compare_paired(bad[i], good, 3, &comparison);
		assert_none(&comparison);
		compare_stein(good, bad[i], 3, 2, &comparison);
		assert_none(&comparison);
	}
	compare_welch(good, 3, good, 1, &comparison);
	assert_none(&comparison);
	compare_welch(good, 0, NULL, 0, &comparison);
	assert_none(&comparison);
	compare_paired(mixed, one, 3, &comparison);
	assert_none(&comparison);
	compare_stein(good, good, 3, 1, &comparison);
	assert_none(&comparison);
	compare_welch(good, 3, mixed, 3, &fine);
	assert_int_equal(fine.n, 2);
	compare_quotient(&comparison, &fine, &comparison);
	assert_none(&comparison);
	compare_summary(10, 1, 1, 10, 1, 5, &comparison);
	assert_none(&comparison);
	compare_summary(10, 1, 5, 0, 1, 5, &comparison);
	assert_none(&comparison);
	compare_summary(10, -1, 5, 10, 1, 5, &comparison);
	assert_none(&comparison);
	compare_summary(10, NAN, 5, 10, 1, 5, &comparison);
	assert_none(&comparison);
}

static void assert_same(const struct comparison *a, const struct comparison *b)
{
	assert_true(a->method == b->method && a->n == b->n && a->n_reference == b->n_reference);
	assert_true(a->log_ratio == b->log_ratio && a->se == b->se && a->df == b->df && a->p == b->p);
}

static void missing_boots_are_left_out(void **state)
{
	(void)state;
	const double x[] = { 100, NAN, 103, 101, 99 }, y[] = { 104, 105, 106, NAN, 103 };
	const double x_left[] = { 100, 103, 101, 99 }, y_left[] = { 104, 105, 106, 103 };
	const double x_pairs[] = { 100, 103, 99 }, y_pairs[] = { 104, 106, 103 };
	struct comparison with, without;

	compare_welch(x, 5, y, 5, &with);
	compare_welch(x_left, 4, y_left, 4, &without);
	assert_same(&with, &without);
	compare_paired(x, y, 5, &with);
	compare_paired(x_pairs, y_pairs, 3, &without);
	assert_same(&with, &without);
	assert_int_equal(with.n, 3);
	/* The pilot counts complete pairs; one that is not complete itself is all there is. */
	compare_stein(x, y, 5, 3, &with);
	assert_true(with.df == 2 && with.se == without.se);
	compare_stein(x, y, 5, 8, &with);
	assert_true(with.df == 2 && with.n == 3);
}

static void without_noise_any_difference_is_certain(void **state)
{
	(void)state;
	const double x[] = { 1711, 1711, 1711 }, y[] = { 1650, 1650, 1650, 1650 }, noisy[] = { 1710, 1711, 1712 };
	struct comparison comparison;

	compare_welch(x, 3, x, 3, &comparison);
	assert_true(comparison.se == 0 && comparison.p == 1 && comparison.df == 4);
	compare_welch(x, 3, y, 4, &comparison);
	assert_true(comparison.se == 0 && comparison.p == 0 && comparison.df == 5);
	assert_near(compare_interval(&comparison, 0.05, 4).lo, 1650.0 / 1711 - 1, 1e-12);
	assert_near(compare_interval(&comparison, 0.05, 4).hi, 1650.0 / 1711 - 1, 1e-12);
	assert_true(compare_detectable(&comparison, 0.05, 0.8) == 0);
	assert_int_equal(compare_boots_needed(&comparison, 0.01, 0.05, 0.8), 2);
	assert_int_equal(verdict_limit(&comparison, 1, 0.02, 0.05, 0.05), VERDICT_PASS);
	assert_int_equal(verdict_limit(&comparison, -1, 0.02, 0.05, 0.05), VERDICT_FAIL);
	compare_paired(x, y, 3, &comparison);
	assert_true(comparison.se == 0 && comparison.p == 0 && comparison.df == 2);
	/* One side without noise: the other's df. */
	compare_welch(x, 3, noisy, 3, &comparison);
	assert_true(comparison.df == 2 && comparison.se > 0);
	compare_quotient(&comparison, &comparison, &comparison);
	assert_true(comparison.df == 4 && comparison.log_ratio == 0 && comparison.p == 1);
	compare_summary(10, 0, 4, 10.5, 0, 4, &comparison);
	assert_true(comparison.se == 0 && comparison.p == 0);
}

static void boots_needed_follow_the_target(void **state)
{
	(void)state;
	double base[N], disabled[N];
	struct comparison comparison;

	oracle_data("base", base, N);
	oracle_data("disabled", disabled, N);
	compare_welch(base, N, disabled, N, &comparison);
	double detectable = compare_detectable(&comparison, 0.05, 0.8);
	assert_int_equal(compare_boots_needed(&comparison, detectable * (1 + 1e-9), 0.05, 0.8), N);
	assert_int_equal(compare_boots_needed(&comparison, expm1(-log1p(detectable) / 2 * (1 + 1e-9)), 0.05, 0.8), 4 * N);
	assert_int_equal(compare_boots_needed(&comparison, 0, 0.05, 0.8), 0);
	assert_int_equal(compare_boots_needed(&comparison, NAN, 0.05, 0.8), 0);
	assert_int_equal(compare_boots_needed(&comparison, 1e-9, 0.05, 0.8), 0);
	assert_int_equal(compare_boots_needed(&comparison, -1, 0.05, 0.8), 0);
}

static void stein_never_asks_for_less_than_the_pilot(void **state)
{
	(void)state;
	assert_int_equal(stein_size(0, 8, 0.005, 0.05), 8);
	assert_int_equal(stein_size(0.0001, 8, 0.005, 0.05), 8);
	/* (0.0105 * 2.364624 / 0.005)^2 = 24.66 */
	assert_int_equal(stein_size(0.0105, 8, 0.005, 0.05), 25);
	assert_int_equal(stein_size(NAN, 8, 0.005, 0.05), COMPARE_BOOTS_MAX);
	assert_int_equal(stein_size(0.01, 1, 0.005, 0.05), COMPARE_BOOTS_MAX);
	assert_int_equal(stein_size(0.01, 8, 0, 0.05), COMPARE_BOOTS_MAX);
	assert_int_equal(stein_size(10, 8, 1e-9, 0.05), COMPARE_BOOTS_MAX);
}

/* A comparison of this ratio and standard error, with so many df that t is nearly normal: 1.645 one-sided. */
static struct comparison made(double ratio, double se)
{
	return (struct comparison){
		.method = COMPARE_WELCH, .n = 1000, .n_reference = 1000, .log_ratio = log(ratio), .se = se, .df = 1e6
	};
}

static void gates_pass_fail_or_stay_open(void **state)
{
	(void)state;
	const struct {
		double ratio, se;
		int worse;
		enum verdict verdict;
	} cases[] = {
		{ 1.00, 0.01, 1, VERDICT_PASS },
		{ 1.00, 0.0125, 1, VERDICT_NOT_RESOLVED },
		{ 1.04, 0.01, 1, VERDICT_FAIL },
		{ 1.04, 0.0125, 1, VERDICT_NOT_RESOLVED },
		{ 0.90, 0.01, 1, VERDICT_PASS },
		{ 0.90, 0.01, -1, VERDICT_FAIL },
		{ 1.10, 0.01, -1, VERDICT_PASS },
		{ 1.02, 0.001, 1, VERDICT_NOT_RESOLVED },
		/* A rate 2% lower is 2.04% more time: worse by more than 2%. */
		{ 0.98, 0, -1, VERDICT_FAIL },
		{ 1 / 1.02, 0.001, -1, VERDICT_NOT_RESOLVED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct comparison comparison = made(cases[i].ratio, cases[i].se);
		enum verdict verdict = verdict_limit(&comparison, cases[i].worse, 0.02, 0.05, 0.05);
		if (verdict != cases[i].verdict)
			fail_msg("case %zu: verdict %d", i, verdict);
	}
	/* Each side has its own level. */
	struct comparison open = made(1.00, 0.0125);
	assert_int_equal(verdict_limit(&open, 1, 0.02, 0.1, 0.05), VERDICT_PASS);
	open = made(1.04, 0.0125);
	assert_int_equal(verdict_limit(&open, 1, 0.02, 0.05, 0.1), VERDICT_FAIL);
}

static void equivalence_needs_both_sides(void **state)
{
	(void)state;
	const struct {
		double ratio, se, margin;
		enum verdict verdict;
	} cases[] = {
		{ 1.000, 0.010, 0.02, VERDICT_PASS },	      { 1.000, 0.013, 0.02, VERDICT_NOT_RESOLVED },
		{ 1.010, 0.010, 0.02, VERDICT_NOT_RESOLVED }, { 0.990, 0.010, 0.02, VERDICT_NOT_RESOLVED },
		{ 1.050, 0.010, 0.02, VERDICT_FAIL },	      { 0.950, 0.010, 0.02, VERDICT_FAIL },
		{ 0.500, 0.010, 1.50, VERDICT_PASS },	      { 1.000, 0, 0, VERDICT_PASS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct comparison comparison = made(cases[i].ratio, cases[i].se);
		enum verdict verdict = verdict_equivalent(&comparison, cases[i].margin, 0.05);
		if (verdict != cases[i].verdict)
			fail_msg("case %zu: verdict %d", i, verdict);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welch_is_what_r_says),
		cmocka_unit_test(pairs_are_what_r_says),
		cmocka_unit_test(families_are_what_r_says),
		cmocka_unit_test(missing_p_values_are_no_members),
		cmocka_unit_test(quotients_and_summaries_are_what_r_says),
		cmocka_unit_test(ratio_and_inverse_mirror_each_other),
		cmocka_unit_test(without_numbers_there_is_no_comparison),
		cmocka_unit_test(missing_boots_are_left_out),
		cmocka_unit_test(without_noise_any_difference_is_certain),
		cmocka_unit_test(boots_needed_follow_the_target),
		cmocka_unit_test(stein_never_asks_for_less_than_the_pilot),
		cmocka_unit_test(gates_pass_fail_or_stay_open),
		cmocka_unit_test(equivalence_needs_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
