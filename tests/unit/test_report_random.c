/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of random devices: boot means, comparisons, controls, and what is found in the data. */
#include "unit.h"

#include "report_data.h"

static const struct scatter quiet = { .boots = 0.002, .iterations = 0.01, .seed = 5 };
static const char *const with_controls[] = { "off/plain/0",	      "on/plain/0",	    "on/plain/1", "off/plain/0#aa",
					     "off/plain/0#replicate", "off/plain/0#layout", NULL };

static void boot_means_are_of_work_over_time(void **state)
{
	struct run_fixture run;
	const double fast_and_slow[] = { 100, 300 }, even[] = { 200, 200 };
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 2 }, &run);
	for (size_t block = 0; block < 2; block++) {
		put_series(&run, 0, block, even, 2);
		put_series(&run, 1, block, fast_and_slow, 2);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_metric *ns = report_find_metric(&report->rows[1], "pft.fault.ns");
	const struct report_metric *rate = report_find_metric(&report->rows[1], "pft.fault.rate");
	assert_near(ns->mean, 200, 1e-9);
	assert_near(ns->sd_iteration, 0.7071, 1e-4);
	/* 1e9 / 100 and 1e9 / 300: the same work took as long as twice 200. */
	assert_near(rate->mean, 5e6, 1e-3);
	assert_near(rate->baseline.ratio, 0, 1e-12);
	assert_near(report_find_metric(&report->rows[1], "pft.both.ns")->mean, 300, 1e-9);
	assert_null(report_find_metric(&report->rows[1], "pft.fault.insn"));
	run_close(&run);
}

static void arithmetic_means_are_those_of_the_rates(void **state)
{
	struct run_fixture run;
	const double fast_and_slow[] = { 100, 300 }, even[] = { 200, 200.001 };
	const struct report_options options = { .arithmetic = true };
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = 2 }, &run);
	for (size_t block = 0; block < 2; block++) {
		put_series(&run, 0, block, even, 2);
		put_series(&run, 1, block, fast_and_slow, 2);
	}
	assert_ok(report_load(run.dir, &options, &report));
	const struct report_metric *rate = report_find_metric(&report->rows[1], "pft.fault.rate");
	assert_near(rate->mean, (1e7 + 1e7 / 3) / 2, 1e-3);
	/* A third more, of a kernel that is no faster: said. */
	const struct report_finding *finding = find_finding(report, FINDING_MEAN);
	assert_non_null(finding);
	assert_in(finding->text, "+33.33% by arithmetic means");
	assert_in(finding->text, "by harmonic ones");
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "rates by their arithmetic means, as asked");
	run_close(&run);
}

static void a_difference_has_its_interval(void **state)
{
	static const double boots[2][4] = { { 100, 101, 99, 100 }, { 106, 105, 107, 106 } };
	struct run_fixture run;
	struct comparison want;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 4 }, &run);
	for (size_t row = 0; row < 2; row++)
		for (size_t block = 0; block < 4; block++)
			put_series(&run, row, block, &boots[row][block], 1);
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_difference *difference = &report_find_metric(&report->rows[1], "pft.fault.ns")->baseline;
	compare_welch(boots[0], 4, boots[1], 4, &want);
	struct interval interval = compare_interval(&want, 0.05, 1);
	assert_int_equal(difference->random.method, COMPARE_WELCH);
	assert_near(difference->ratio, compare_ratio(&want), 1e-12);
	assert_near(difference->ci95.lo, interval.lo, 1e-12);
	assert_near(difference->ci95.hi, interval.hi, 1e-12);
	assert_near(difference->p_adjusted, want.p, 1e-12);
	assert_true(difference->resolved);
	assert_false(difference->below_floor);
	assert_near(report_find_metric(&report->rows[1], "pft.fault.ns")->robust, 0.06, 1e-12);
	assert_int_equal(report->exit_status, 0);
	run_close(&run);
}

static void a_family_is_judged_together(void **state)
{
	static const char *const names[] = { "off/plain/0", "a/plain/0", "b/plain/0", "c/plain/0", "off/plain/0#aa", NULL };
	const double means[] = { 1000, 1003, 1000.5, 1000, 1000 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	double p[3], adjusted[3];

	run_open(*state, &(struct run_data){ .names = names }, &run);
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	for (size_t i = 0; i < 3; i++)
		p[i] = report_find_metric(&report->rows[i + 1], "pft.fault.ns")->baseline.random.p;
	holm_adjust(p, 3, adjusted);
	for (size_t i = 0; i < 3; i++) {
		const struct report_difference *difference = &report_find_metric(&report->rows[i + 1], "pft.fault.ns")->baseline;
		struct interval family = compare_interval(&difference->random, 0.05, 3);
		assert_near(difference->p_adjusted, adjusted[i], 1e-12);
		assert_near(difference->ci95_family.lo, family.lo, 1e-12);
		assert_int_equal(difference->resolved, adjusted[i] <= 0.05);
		assert_int_equal(difference->resolved_alone, p[i] <= 0.05 && adjusted[i] > 0.05);
	}
	/* A control is no member. */
	const struct report_difference *aa = &report_find_metric(&report->rows[4], "pft.fault.ns")->baseline;
	assert_near(aa->p_adjusted, aa->random.p, 1e-12);
	run_close(&run);
}

static void looks_are_paid_for(void **state)
{
	const double means[] = { 1000, 1003 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .measure = "{\"looks\":4,\"blocks\":24}", .blocks = 24 }, &run);
	for (int64_t number = 0; number < 3; number++) {
		const struct stored_look look = {
			.number = number, .seen = 6 * number, .blocks = number ? 12 : 6, .reason = "open"
		};
		assert_ok(store_put_look(run.store, &look));
	}
	run.blocks = 12;
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	assert_near(report->alpha, 0.0125, 1e-12);
	assert_int_equal(report->looks_taken, 2);
	const struct report_difference *difference = &report_find_metric(&report->rows[1], "pft.fault.ns")->baseline;
	struct interval interval = compare_interval(&difference->random, 0.0125, 1);
	assert_near(difference->ci95.hi, interval.hi, 1e-12);
	run_close(&run);
}

static void half_width_takes_steins_interval(void **state)
{
	const double means[] = { 1000, 1003 };
	struct run_fixture run;
	struct comparison want;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .measure = "{\"half_width\":0.005,\"pilot\":8}" }, &run);
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_metric *metric = report_find_metric(&report->rows[1], "pft.fault.ns");
	compare_stein(report_find_metric(&report->rows[0], "pft.fault.ns")->boots, metric->boots, 12, 8, &want);
	assert_int_equal(metric->baseline.random.method, COMPARE_STEIN);
	assert_near(metric->baseline.random.se, want.se, 1e-15);
	assert_near(metric->baseline.random.df, 7, 1e-12);
	run_close(&run);
}

static void replicates_count_as_the_baseline(void **state)
{
	const double means[] = { 1000, 1010, 1012, 1000, 1004, 1001 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .names = with_controls }, &run);
	put_campaign(&run, means, &(struct scatter){ .seed = 1 });
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_metric *metric = report_find_metric(&report->rows[0], "pft.fault.ns");
	assert_int_equal(metric->n_all, 24);
	assert_near(metric->all[0], 1000, 1e-9);
	assert_near(metric->all[1], 1004, 1e-9);
	assert_near(metric->boots[3], 1002, 1e-9);
	assert_near(metric->mean, 1002, 1e-9);
	/* Of rates the mean is that of the times. */
	assert_near(report_find_metric(&report->rows[0], "pft.fault.rate")->boots[3], 1e9 / 1002, 1e-6);
	assert_int_equal(report->rows[4].control, CONTROL_REPLICATE);
	assert_int_equal(report->rows[4].n_metrics, 0);
	report_writer_text.write(report, &text);
	assert_null(strstr(strbuf_str(&text), "second boots"));
	assert_in(strbuf_str(&text), "12 boots");
	run_close(&run);
}

static void a_failed_replicate_fails_the_baseline(void **state)
{
	const double means[] = { 1000, 1010, 1012, 1000, 1004, 1001 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .names = with_controls }, &run);
	put_campaign(&run, means, &quiet);
	put_outcome(&run, 4, 2, "boot-failed", "kernel panic");
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->rows[0].status, ROW_BOOT_FAILED);
	assert_string_equal(report->rows[0].reason, "block 2: kernel panic");
	assert_int_equal(report->exit_status, 5);
	run_close(&run);
}

static void lost_boots_leave_the_others(void **state)
{
	const double means[] = { 1000, 1010 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 6 }, &run);
	put_campaign(&run, means, &quiet);
	put_outcome(&run, 1, 2, "lab", "the cable fell out");
	put_outcome(&run, 1, 4, "void", "another build id");
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->rows[1].status, ROW_OK);
	assert_int_equal(report->rows[1].boots, 4);
	assert_int_equal(report->rows[1].lost, 2);
	assert_int_equal(report_find_metric(&report->rows[1], "pft.fault.ns")->n_all, 4);
	assert_in(find_finding(report, FINDING_DROPPED)->text,
		  "on/plain/0: 2 of its 6 boots do not count, the first for: block 2: the cable fell out");
	assert_int_equal(report->exit_status, 3);
	run_close(&run);
}

static void too_few_boots_are_none(void **state)
{
	const double means[] = { 1000, 1010 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 4 }, &run);
	put_campaign(&run, means, &quiet);
	for (size_t block = 0; block < 3; block++)
		put_outcome(&run, 1, block, "void", "another build id");
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->rows[1].status, ROW_VOID);
	assert_string_equal(report->rows[1].reason, "1 of 4 boots count: block 0: another build id");
	assert_int_equal(report->rows[1].n_metrics, 0);
	assert_int_equal(report->exit_status, 3);
	run_close(&run);
}

/* Ten iterations, of which the first `hot` were throttled and twice as slow. */
static void put_throttled(struct run_fixture *run, size_t row, size_t block, size_t hot)
{
	static const char *const names[] = { "fault.ns", "teardown.ns", "health.throttled", "health.frequency" };
	double values[10][4];
	struct stored_sample samples[10];

	for (size_t i = 0; i < 10; i++) {
		double slow = i < hot ? 2 : 1;
		values[i][0] = slow * (1000 + (double)row * 10);
		values[i][1] = slow * 500;
		values[i][2] = i < hot;
		values[i][3] = 2250000;
		samples[i] = (struct stored_sample){ "pft", (int)i, names, values[i], 4 };
	}
	struct stored_boot boot = {
		.row = (int64_t)row, .block = (int64_t)block, .validity = "v", .status = "ok", .samples = samples, .n_samples = 10
	};
	assert_ok(store_put_boot(run->store, &boot));
}

static void throttled_samples_are_left_out_and_counted(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = 4 }, &run);
	for (size_t block = 0; block < 4; block++) {
		put_throttled(&run, 0, block, 0);
		put_throttled(&run, 1, block, block == 1 ? 3 : block == 2 ? 6 : 0);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->rows[1].samples, 40);
	assert_int_equal(report->rows[1].dropped, 9);
	/* A boot that kept four of ten does not count, for no row. */
	assert_int_equal(report->rows[1].boots, 3);
	assert_int_equal(report->rows[1].lost, 0);
	assert_near(report_find_metric(&report->rows[1], "pft.fault.ns")->mean, 1010, 1e-9);
	const struct report_finding *finding = find_finding(report, FINDING_DROPPED);
	assert_in(finding->text, "on/plain/0: 9 of 40 samples left out for a recorded cause: throttled");
	assert_in(finding[1].text, "block 2: 6 of 10 samples of pft are void for a physical cause");
	assert_int_equal(report->exit_status, 0);
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "2250 MHz");
	run_close(&run);
}

static void an_unfinished_row_shows_nothing(void **state)
{
	const double means[] = { 1000, 1010 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 4 }, &run);
	run.blocks = 3;
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	assert_string_equal(report->rows[1].reason, "3 of 4 boots done: the run is not finished");
	assert_int_equal(report->rows[1].n_metrics, 0);
	run_close(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(boot_means_are_of_work_over_time),
		TEST(arithmetic_means_are_those_of_the_rates),
		TEST(a_difference_has_its_interval),
		TEST(a_family_is_judged_together),
		TEST(looks_are_paid_for),
		TEST(half_width_takes_steins_interval),
		TEST(replicates_count_as_the_baseline),
		TEST(a_failed_replicate_fails_the_baseline),
		TEST(lost_boots_leave_the_others),
		TEST(too_few_boots_are_none),
		TEST(throttled_samples_are_left_out_and_counted),
		TEST(an_unfinished_row_shows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
