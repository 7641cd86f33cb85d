/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is found in the data of random devices: drift, controls, steadiness, shape; and what makes verdicts invalid. */
#include "unit.h"

#include "report_data.h"

static const struct scatter quiet = { .boots = 0.002, .iterations = 0.01, .seed = 5 };
static const char *const with_controls[] = { "off/plain/0",	      "on/plain/0",	    "on/plain/1", "off/plain/0#aa",
					     "off/plain/0#replicate", "off/plain/0#layout", NULL };

static void drift_is_paired_away(void **state)
{
	const double means[] = { 1000, 1005 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state,
		 &(struct run_data){ .blocks = 20, .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"steps\":\"all\"}" },
		 &run);
	put_campaign(&run, means, &(struct scatter){ .boots = 0.001, .iterations = 0.01, .drift = 0.03, .seed = 3 });
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_difference *difference = &report_find_metric(&report->rows[1], "pft.fault.ns")->baseline;
	assert_int_equal(difference->random.method, COMPARE_PAIRED);
	assert_near(difference->ratio, 0.005, 0.002);
	assert_true(report_find_floor(report, 0, "pft.fault.ns")->paired);
	const struct report_finding *finding = find_finding(report, FINDING_DRIFT);
	assert_in(finding->text, "pft.fault.ns: the baseline drifts by +0.1");
	assert_in(finding->text, "an hour");
	assert_in(finding->text, "comparisons are paired by block, which takes it out");
	assert_false(finding->invalid);
	assert_int_equal(report->gates[0].verdict, VERDICT_PASS);
	assert_int_equal(report->exit_status, 0);
	run_close(&run);
}

static void drift_that_cannot_be_paired_is_invalid(void **state)
{
	const double means[] = { 1000, 1005 };
	const struct scatter drifting = { .boots = 0.001, .iterations = 0.01, .drift = 0.03, .seed = 3 };
	const char *gate = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"steps\":\"all\"}";

	for (int sequential = 0; sequential < 2; sequential++) {
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		run_open(*state,
			 &(struct run_data){ .blocks = 20,
					     .gates = gate,
					     .measure = sequential ? "{\"order\":\"sequential\"}" : NULL,
					     .stamp = sequential ? "20261202T100000Z-b" : "20261201T100000Z-a" },
			 &run);
		put_campaign(&run, means, &drifting);
		if (!sequential)
			put_outcome(&run, 1, 3, "lab", "no device");
		assert_ok(report_load(run.dir, NULL, &report));
		const struct report_finding *finding = find_finding(report, FINDING_DRIFT);
		assert_true(finding->invalid);
		assert_in(finding->text, sequential ? "the order is sequential, so it is in the differences"
						    : "not all rows have all blocks, so it is in the differences");
		assert_int_equal(report->gates[0].verdict, VERDICT_INVALID);
		assert_in(report->gates[0].reason, "the data are invalid: pft.fault.ns: the baseline drifts");
		assert_int_equal(report->exit_status, 3);
		assert_int_equal(find_finding(report, FINDING_ORDER) != NULL, sequential);
		run_close(&run);
	}
}

static void a_control_that_differs_is_invalid(void **state)
{
	const double means[] = { 1000, 1010, 1012, 1020, 1000, 1000 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state,
		 &(struct run_data){ .names = with_controls,
				     .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.005,\"steps\":\"all\"}" },
		 &run);
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *finding = find_finding(report, FINDING_AA);
	assert_true(finding->invalid);
	assert_in(finding->text, "pft.fault.ns: the baseline differs from itself (A/A) by +");
	for (size_t i = 0; i < report->n_gates; i++)
		assert_int_equal(report->gates[i].verdict, VERDICT_INVALID);
	assert_int_equal(report->n_gates, 2); /* controls have none */
	assert_int_equal(report->exit_status, 3);
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "INVALID: pft.fault.ns: the baseline differs from itself");
	run_close(&run);
}

static void a_smaller_difference_of_a_control_is_a_floor(void **state)
{
	/* Layout moves the baseline by 1%, the variant is off by 0.5%. */
	const double means[] = { 1000, 1005, 1030, 1000, 1000, 1010 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state,
		 &(struct run_data){ .names = with_controls,
				     .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.002,\"steps\":\"all\"}" },
		 &run);
	put_campaign(&run, means, &quiet);
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_floor *floor = report_find_floor(report, 0, "pft.fault.ns");
	assert_near(floor->floor, 0.01, 0.003);
	assert_int_equal(floor->aa.method, COMPARE_WELCH);
	const struct report_difference *small = &report_find_metric(&report->rows[1], "pft.fault.ns")->baseline;
	assert_true(small->resolved && small->below_floor);
	assert_false(report_find_metric(&report->rows[2], "pft.fault.ns")->baseline.below_floor);
	assert_in(find_finding(report, FINDING_FLOOR)->text, "the baseline rebuilt with its code moved moved by +1.");
	assert_in(find_finding(report, FINDING_FLOOR)->text, "1 differences are below it");
	/* A gate does not fail on what a control moves too. */
	assert_int_equal(report->gates[0].verdict, VERDICT_NOT_RESOLVED);
	assert_in(report->gates[0].reason, "yet below the floor of ");
	assert_int_equal(report->gates[1].verdict, VERDICT_FAIL);
	assert_int_equal(report->exit_status, 1);
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "] ^");
	assert_in(strbuf_str(&text), "^ resolved, yet below the floor that the controls set: no claim");
	assert_in(strbuf_str(&text), "\npft.fault.ns: A/A ");
	assert_in(strbuf_str(&text), "% at 80%");
	assert_fits(strbuf_str(&text), 100);
	run_close(&run);
}

static void boots_without_a_steady_state_are_invalid(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	struct random *random = random_new(4);

	run_open(*state, &(struct run_data){ .blocks = 6 }, &run);
	for (size_t block = 0; block < 6; block++)
		for (size_t row = 0; row < 2; row++) {
			double ns[20];
			for (size_t i = 0; i < 20; i++)
				ns[i] = (i < 7 ? 1100 : 1000) * (1 + 0.01 * random_gaussian(random, 1));
			put_series(&run, row, block, ns, 20);
		}
	random_free(random);
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *finding = find_finding(report, FINDING_UNSTEADY);
	assert_true(finding->invalid);
	assert_in(finding->text, "no steady state: in 12 of 12 boots tested");
	assert_in(finding->text, "raise the workload's `warmup`");
	assert_non_null(find_finding(report, FINDING_DEPENDENCE));
	assert_int_equal(report->exit_status, 3);
	run_close(&run);
}

static void outliers_and_modes_are_listed_and_count(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	const double slow = 1200;

	run_open(*state, &(struct run_data){ .blocks = 16 }, &run);
	for (size_t block = 0; block < 16; block++) {
		double base = 1000 + (double)(block * 7 % 16) / 10,
		       modal = (block % 8 < 3 ? 1100 : 1000) + (double)(block * 5 % 16) / 10;
		put_series(&run, 0, block, block == 5 ? &slow : &base, 1);
		put_series(&run, 1, block, &modal, 1);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *outliers = find_finding(report, FINDING_OUTLIERS),
				    *modes = find_finding(report, FINDING_MODES);
	assert_in(outliers->text, "off/plain/0 block 5 (+19.9");
	assert_in(modes->text, "pft.fault.ns of on/plain/0: boots fall into two groups");
	assert_in(modes->text, "(38% in the upper one)");
	assert_int_equal(report_find_metric(&report->rows[0], "pft.fault.ns")->n_all, 16);
	run_close(&run);
}

static void medians_that_tell_another_story_are_said(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 16 }, &run);
	for (size_t block = 0; block < 16; block++) {
		double base = 1000 + (double)(block * 7 % 16) / 10,
		       skewed = (block % 8 < 3 ? 1100 : 1000) + (double)(block * 5 % 16) / 10;
		put_series(&run, 0, block, &base, 1);
		put_series(&run, 1, block, &skewed, 1);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *finding = find_finding(report, FINDING_MEDIAN);
	assert_non_null(finding);
	assert_in(finding->text, "pft.fault.ns of on/plain/0: medians of boots differ by +0.0");
	assert_in(finding->text, "from the baseline's, means by +3.6");
	assert_false(finding->invalid);
	run_close(&run);
}

static void clean_data_raise_no_alarm(void **state)
{
	const double means[] = { 1000, 1010, 1012, 1000, 1000, 1000 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .names = with_controls, .blocks = 16 }, &run);
	put_campaign(&run, means, &(struct scatter){ .boots = 0.003, .iterations = 0.02, .seed = 11 });
	assert_ok(report_load(run.dir, NULL, &report));
	for (size_t i = 0; i < report->n_findings; i++)
		assert_false(report->findings[i].invalid);
	const struct report_floor *floor = report_find_floor(report, 0, "pft.fault.ns");
	assert_near(floor->components.sd_between, 0.003, 0.001);
	assert_near(floor->components.sd_within, 0.02, 0.002);
	assert_true(floor->components.best_iterations > 20);
	assert_int_equal(report->exit_status, 0);
	run_close(&run);
}

/* Rows 0 and 1: both scatter little; row 1 takes `time` and `count` times what row 0 does. */
static void put_counted(struct run_fixture *run, double time, double count)
{
	static const char *const names[] = { "fault.ns", "fault.insn_k", "fault.insn_u" };
	struct random *random = random_new(11);

	for (size_t block = 0; block < run->blocks; block++)
		for (size_t row = 0; row < 2; row++) {
			double values[3 * 4];
			struct stored_sample samples[4];
			for (size_t i = 0; i < 4; i++) {
				double *own = values + 3 * i;
				own[0] = 2000 * (row ? time : 1) * (1 + random_gaussian(random, 0.001));
				own[1] = 1700 * (row ? count : 1) * (1 + random_gaussian(random, 0.001));
				own[2] = 4;
				samples[i] = (struct stored_sample){ "pft", (int)i, names, own, 3 };
			}
			struct stored_boot boot = { .row = (int64_t)row,
						    .block = (int64_t)block,
						    .validity = "v",
						    .status = "ok",
						    .wall_ms = 20000,
						    .utc_s = 1796000000 + (int64_t)(block * 2 + row) * 60,
						    .samples = samples,
						    .n_samples = 4 };
			assert_ok(store_put_boot(run->store, &boot));
		}
	random_free(random);
}

static void count_and_time_disagree(void **state)
{
	static const struct {
		double time, count;
		bool said;
	} cases[] = { { 1.03, 0.98, true }, { 0.97, 1.02, true }, { 1.03, 1.02, false }, { 1.0, 0.98, false } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		AUTO_FREE char *stamp = xasprintf("2026120%zuT100000Z-a", i + 1);
		run_open(*state, &(struct run_data){ .stamp = stamp }, &run);
		put_counted(&run, cases[i].time, cases[i].count);
		assert_ok(report_load(run.dir, NULL, &report));
		const struct report_finding *finding = find_finding(report, FINDING_SIGN);
		assert_int_equal(finding != NULL, cases[i].said);
		if (finding) {
			assert_false(finding->invalid);
			double count = 0, time = 0;
			assert_int_equal(sscanf(finding->text,
						"pft.fault of on/plain/0 against off/plain/0: %lf%% instructions, yet %lf%% time",
						&count, &time),
					 2);
			assert_near(count, 100 * (cases[i].count - 1), 0.1);
			assert_near(time, 100 * (cases[i].time - 1), 0.1);
		}
		run_close(&run);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(drift_is_paired_away),
		TEST(count_and_time_disagree),
		TEST(drift_that_cannot_be_paired_is_invalid),
		TEST(a_control_that_differs_is_invalid),
		TEST(a_smaller_difference_of_a_control_is_a_floor),
		TEST(boots_without_a_steady_state_are_invalid),
		TEST(outliers_and_modes_are_listed_and_count),
		TEST(medians_that_tell_another_story_are_said),
		TEST(clean_data_raise_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
