/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's own tests in a report: the worst of a row's boots, what passed on vanilla and does not on a step, every writer's table. */
#include "unit.h"

#include "report/selftests.h"
#include "report_data.h"

static const char *const ladder[] = { "off/plain/0", "on/plain/0", "on/plain/1", "on/plain/2", NULL };

static void put(struct run_fixture *run, size_t row, size_t block, const char *identity)
{
	static const char *const names[] = { "fault.ns", "teardown.ns" };
	const double values[] = { 1000, 500 };
	const struct stored_sample sample = { "pft", 0, names, values, 2 };
	struct stored_boot boot = { .row = (int64_t)row,
				    .block = (int64_t)block,
				    .validity = "v",
				    .status = "ok",
				    .identity = identity,
				    .wall_ms = 20000,
				    .utc_s = 1796000000,
				    .samples = &sample,
				    .n_samples = 1 };

	assert_ok(store_put_boot(run->store, &boot));
}

#define GOOD "{\"selftest.pft.test_a\":\"pass\",\"selftest.pft.test_b\":\"skip: no swap\",\"selftest.pft\":\"pass\"}"
#define FAILS "{\"selftest.pft.test_a\":\"fail\",\"selftest.pft.test_b\":\"fail\",\"selftest.pft\":\"pass\"}"
#define HANGS "{\"selftest.pft\":\"fail: no end within 60 s\"}"
#define SKIPS "{\"selftest.pft\":\"skip: memory_controller_isn_t_available\"}"

/* Row 0 skips, vanilla is good, and the steps say this in their second boot. */
static struct report *load(void *state, const char *first, const char *second)
{
	struct run_fixture run;
	struct report *report = NULL;

	run_open(state, &(struct run_data){ .blocks = 2, .names = ladder }, &run);
	for (size_t block = 0; block < 2; block++) {
		put(&run, 0, block, SKIPS);
		put(&run, 1, block, GOOD);
		put(&run, 2, block, block ? first : GOOD);
		put(&run, 3, block, block ? second : GOOD);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	run_close(&run);
	return report;
}

static size_t count_failures(const struct report *report, const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_findings; i++)
		n += report->findings[i].kind == FINDING_SELFTEST && strstr(report->findings[i].text, part) != NULL;
	return n;
}

static void all_is_well(void **state)
{
	AUTO_REPORT report = load(*state, GOOD, GOOD);

	assert_int_equal(report->n_selftests, 3);
	assert_int_equal(count_failures(report, ""), 0);
	assert_int_not_equal(report->exit_status, 1);
	assert_int_equal(selftest_vanilla(report, 0), -1);
	assert_int_equal(selftest_vanilla(report, 1), -1);
	assert_int_equal(selftest_vanilla(report, 3), 1);
}

static void a_test_that_fails_on_a_step_fails_the_run(void **state)
{
	AUTO_REPORT report = load(*state, FAILS, GOOD);

	/* test_b was skipped on vanilla: nothing is known of it there. */
	assert_int_equal(count_failures(report, ""), 1);
	assert_int_equal(count_failures(report, "on/plain/1: selftest pft: test_a fails, and passed on on/plain/0"), 1);
	assert_int_equal(report->exit_status, 1);
}

static void one_that_hangs_loses_what_comes_after(void **state)
{
	AUTO_REPORT report = load(*state, GOOD, HANGS);

	/* The first boot of the row has reached test_a. */
	assert_int_equal(count_failures(report, ""), 1);
	assert_int_equal(count_failures(report, "on/plain/2: selftest pft: the program fails: no end within 60 s, and passed on"),
			 1);
	assert_int_equal(report->exit_status, 1);
}

static void a_test_that_is_never_reached_fails(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 2, .names = ladder }, &run);
	for (size_t block = 0; block < 2; block++)
		for (size_t row = 0; row < 4; row++)
			put(&run, row, block, row == 3 ? "{\"selftest.pft\":\"pass\"}" : GOOD);
	assert_ok(report_load(run.dir, NULL, &report));
	run_close(&run);
	assert_int_equal(count_failures(report, "on/plain/2: selftest pft: test_a is never reached, and passed on on/plain/0"),
			 1);
}

static void writers_show_each_test(void **state)
{
	static const struct {
		const char *format, *parts[4];
	} cases[] = {
		{ "text",
		  { "\ntest_a                                           -  pass  FAIL  pass\n",
		    "\n(the program)                                 skip  pass  pass  pass\n",
		    "  (1) the program: skip: memory_controller_isn_t_available\n",
		    "\nFAIL: on/plain/1: selftest pft: test_a fails" } },
		{ "markdown",
		  { "| test | off/plain/0 | on/plain/0 | on/plain/1 | on/plain/2 |\n", "| test\\_a | - | pass | FAIL | pass |\n",
		    "| (the program) | skip | pass | pass | pass |\n", "on/plain/1: selftest" } },
		{ "json", { "\"test_a\": {", "\"outcome\": \"fail\"", "\"kind\": \"selftest\"", "\"exit_status\": 1" } },
	};
	AUTO_REPORT report = load(*state, FAILS, GOOD);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_STRBUF out = STRBUF_INIT;
		report_writer_find(cases[i].format)->write(report, &out);
		for (size_t k = 0; k < 4; k++)
			if (!strstr(strbuf_str(&out), cases[i].parts[k]))
				fail_msg("no '%s' in: %s", cases[i].parts[k], strbuf_str(&out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_is_well, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_test_that_fails_on_a_step_fails_the_run, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(one_that_hangs_loses_what_comes_after, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_test_that_is_never_reached_fails, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(writers_show_each_test, runs_setup, runs_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
