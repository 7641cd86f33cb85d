/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings to metrics, by the workload's table. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "report/metrics.h"

static const struct workload_metric table[] = {
	{ "both", "ns", "page", false, "sum:a.ns,b.ns" }, /* before what it is made of */
	{ "a", "ns", "page", false, NULL },
	{ "b", "ns", "page", false, NULL },
	{ "both", "rate", "page", true, "rate:both.ns" },
	{ "odd", "ns", "page", false, "sum:a.ns,gone.ns" },
	{ "round", "ns", "page", false, "sum:trip.ns" },
	{ "trip", "ns", "page", false, "sum:round.ns" },
	{ "a", "rate", "page", true, "rate:a.ns" },
};
static const struct workload_kind kind = { .name = "k", .metrics = table, .n_metrics = sizeof(table) / sizeof(table[0]) };

static void metrics_are_read_summed_and_inverted(void **state)
{
	static const char *const names[] = { "health.throttled", "b.ns", "a.ns" };
	const double readings[] = { 0, 300, 200 };
	double values[sizeof(table) / sizeof(table[0])];
	struct metric_program *program = metric_program_new(&kind, names, 3);

	(void)state;
	metric_program_run(program, readings, values);
	assert_true(values[0] == 500);
	assert_true(values[1] == 200);
	assert_true(values[2] == 300);
	assert_true(values[3] == 2e6);
	assert_true(isnan(values[4]));
	assert_true(isnan(values[5]) && isnan(values[6]));
	assert_true(values[7] == 5e6);
	metric_program_free(program);
}

static void what_is_not_read_is_not_made_up(void **state)
{
	static const char *const names[] = { "a.ns_k", "aa.ns", "b.ns" };
	const double readings[] = { 1, 2, 3 };
	double values[sizeof(table) / sizeof(table[0])];
	struct metric_program *program = metric_program_new(&kind, names, 3);

	(void)state;
	metric_program_run(program, readings, values);
	assert_true(isnan(values[0]) && isnan(values[1]) && isnan(values[3]));
	assert_true(values[2] == 3);
	metric_program_free(program);
}

static void metrics_are_told_apart(void **state)
{
	(void)state;
	assert_true(metric_is_combined(&table[0]));
	assert_false(metric_is_combined(&table[1]));
	assert_true(metric_is_measured(&table[1]));
	assert_false(metric_is_measured(&table[3]));
	assert_true(metric_is_rate(&table[3]));
	assert_string_equal(metric_rate_of(&table[3]), "both.ns");
	assert_null(metric_rate_of(&table[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_read_summed_and_inverted),
		cmocka_unit_test(what_is_not_read_is_not_made_up),
		cmocka_unit_test(metrics_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
