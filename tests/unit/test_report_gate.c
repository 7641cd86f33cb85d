/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates: every verdict, against every kind of reference, with what is said of it. */
#include "unit.h"

#include "report_data.h"

static const char *const ladder[] = { "off/plain/0", "on/plain/0", "on/plain/1", NULL };

/* Numbers of two rows that differ by `worse`, and scatter by `sd` between boots. */
static void put_pair(struct run_fixture *run, double worse, double sd, unsigned long seed)
{
	const double means[] = { 1000, 1000 * (1 + worse), 1000 * (1 + worse) };

	put_campaign(run, means, &(struct scatter){ .boots = sd, .iterations = 0.001, .seed = seed });
}

static void a_random_gate_passes_fails_or_says_what_it_takes(void **state)
{
	static const struct {
		double worse, sd;
		enum verdict want;
		int status;
	} cases[] = {
		{ 0, 0.003, VERDICT_PASS, 0 },
		{ 0.05, 0.003, VERDICT_FAIL, 1 },
		{ 0.019, 0.01, VERDICT_NOT_RESOLVED, 4 },
		{ 0.021, 0.01, VERDICT_NOT_RESOLVED, 4 },
		{ -0.05, 0.003, VERDICT_PASS, 0 },
	};
	static const char *const metrics[] = { "pft.fault.ns", "pft.fault.rate" };

	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(metrics); i++) {
		size_t which = i / ARRAY_SIZE(metrics);
		AUTO_FREE char *gate =
			xasprintf("{\"metric\":\"%s\",\"limit\":0.02,\"kind\":\"worse_by\",\"against\":\"baseline\","
				  "\"steps\":\"all\"}",
				  metrics[i % ARRAY_SIZE(metrics)]);
		AUTO_FREE char *stamp = xasprintf("2026120%zuT100000Z-a", i);
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		run_open(*state, &(struct run_data){ .gates = gate, .stamp = stamp }, &run);
		put_pair(&run, cases[which].worse, cases[which].sd, 21);
		assert_ok(report_load(run.dir, NULL, &report));
		const struct report_gate *entry = &report->gates[0];
		assert_int_equal(report->n_gates, 1);
		assert_int_equal(entry->verdict, cases[which].want);
		assert_int_equal(report->exit_status, cases[which].status);
		/* Worse by, in time and in rate: of a rate the inverse is judged. */
		assert_near(entry->value, cases[which].worse, 0.01);
		assert_true(entry->ci95.lo < entry->value && entry->value < entry->ci95.hi);
		assert_true(isnan(entry->spread));
		if (cases[which].want == VERDICT_NOT_RESOLVED) {
			assert_string_equal(entry->reason, "the limit lies within what these boots leave open");
			assert_true(entry->detectable > 0.005 && entry->boots_needed > 12);
		} else {
			assert_null(entry->reason);
		}
		run_close(&run);
	}
}

static void failing_is_shared_among_the_entries_of_a_target(void **state)
{
	/* Alone the second row would fail; as one of forty it needs more. */
	struct run_fixture run;
	const char *names[42] = { "off/plain/0" };
	double means[42] = { 1000, 1027 };
	AUTO_REPORT alone = NULL;
	AUTO_REPORT many = NULL;
	const char *gate = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"steps\":\"all\"}";
	const struct scatter scatter = { .boots = 0.008, .iterations = 0.001, .seed = 2 };

	for (size_t i = 1; i < 41; i++) {
		names[i] = xasprintf("v%zu/plain/0", i);
		means[i] = i == 1 ? 1027 : 1000;
	}
	run_open(*state, &(struct run_data){ .names = names, .gates = gate }, &run);
	put_campaign(&run, means, &scatter);
	assert_ok(report_load(run.dir, NULL, &many));
	struct comparison comparison = report_find_metric(&many->rows[1], "pft.fault.ns")->baseline.random;
	assert_int_equal(many->n_gates, 40);
	assert_int_equal(verdict_limit(&comparison, 1, 0.02, 0.05, 0.05), VERDICT_FAIL);
	assert_int_equal(verdict_limit(&comparison, 1, 0.02, 0.05, 0.05 / 40), VERDICT_NOT_RESOLVED);
	assert_int_equal(many->gates[0].verdict, VERDICT_NOT_RESOLVED);
	run_close(&run);
	for (size_t i = 1; i < 41; i++)
		free((char *)names[i]);
}

static void equivalence_needs_both_bounds(void **state)
{
	static const struct {
		double worse, sd;
		enum verdict want;
	} cases[] = {
		{ 0, 0.003, VERDICT_PASS },
		{ -0.05, 0.003, VERDICT_FAIL },
		{ 0.05, 0.003, VERDICT_FAIL },
		{ 0.019, 0.01, VERDICT_NOT_RESOLVED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *stamp = xasprintf("2026120%zuT100000Z-a", i);
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		AUTO_STRBUF text = STRBUF_INIT;
		run_open(*state,
			 &(struct run_data){
				 .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"kind\":\"within\",\"steps\":\"all\"}",
				 .stamp = stamp },
			 &run);
		put_pair(&run, cases[i].worse, cases[i].sd, 8);
		assert_ok(report_load(run.dir, NULL, &report));
		assert_true(report->gates[0].equivalence);
		assert_int_equal(report->gates[0].verdict, cases[i].want);
		report_writer_text.write(report, &text);
		assert_in(strbuf_str(&text), "gate pft.fault.ns of on/plain/0 within +-2% of baseline: ");
		run_close(&run);
	}
}

static void a_gate_can_look_at_the_previous_step_or_a_row(void **state)
{
	struct run_fixture run;
	const double means[] = { 1000, 1050, 1051 };
	AUTO_REPORT report = NULL;

	run_open(*state,
		 &(struct run_data){
			 .names = ladder,
			 .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.01,\"against\":\"previous\",\"steps\":\"all\"},"
				  "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"against\":\"row\",\"row\":\"on/plain/"
				  "0\",\"steps\":\"all\"},"
				  "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"against\":\"row\",\"row\":\"gone/plain/"
				  "0\",\"steps\":\"last\"}" },
		 &run);
	put_campaign(&run, means, &(struct scatter){ .boots = 0.002, .iterations = 0.001, .seed = 3 });
	assert_ok(report_load(run.dir, NULL, &report));
	assert_string_equal(report->gates[0].against, "previous");
	assert_int_equal(report->gates[0].row, 2);
	assert_near(report->gates[0].value, 0.001, 0.004);
	assert_int_equal(report->gates[0].verdict, VERDICT_PASS);
	assert_string_equal(report->gates[1].against, "on/plain/0");
	assert_int_equal(report->gates[1].row, 2);
	assert_int_equal(report->gates[1].verdict, VERDICT_PASS);
	assert_int_equal(report->gates[2].verdict, VERDICT_INVALID);
	assert_string_equal(report->gates[2].reason, "there is no row gone/plain/0 on this device");
	run_close(&run);
}

static void a_row_without_numbers_is_invalid(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"steps\":\"all\"}" }, &run);
	put_pair(&run, 0, 0.003, 1);
	put_outcome(&run, 1, 3, "boot-failed", "kernel panic");
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->gates[0].verdict, VERDICT_INVALID);
	assert_string_equal(report->gates[0].reason, "on/plain/0 has no pft.fault.ns, it is boot-failed: block 3: kernel panic");
	assert_int_equal(report->exit_status, 5);
	run_close(&run);
}

static const char against_run[] =
	"{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"against\":\"run\",\"run\":\"m\",\"steps\":\"all\"}";

static void a_random_gate_goes_through_the_anchor(void **state)
{
	/* The device became 10% slower between the two runs; the row itself did not. */
	const double then[] = { 1000, 1100 }, now[] = { 1100, 1210 }, worse[] = { 1100, 1300 };
	const struct scatter scatter = { .boots = 0.002, .iterations = 0.001, .seed = 6 };
	struct run_fixture first, unfinished, same, slower;
	struct comparison quotient;
	AUTO_REPORT a = NULL;
	AUTO_REPORT b = NULL;
	AUTO_REPORT c = NULL;

	run_open(*state, &(struct run_data){ .stamp = "20261201T100000Z-a", .gates = against_run }, &first);
	put_campaign(&first, then, &scatter);
	run_finish(&first);
	run_open(*state, &(struct run_data){ .stamp = "20261202T100000Z-a" }, &unfinished);
	run_open(*state, &(struct run_data){ .stamp = "20261203T100000Z-a", .gates = against_run }, &same);
	put_campaign(&same, now, &(struct scatter){ .boots = 0.002, .iterations = 0.001, .seed = 7 });
	run_finish(&same);
	run_open(*state, &(struct run_data){ .stamp = "20261204T100000Z-a", .gates = against_run }, &slower);
	put_campaign(&slower, worse, &(struct scatter){ .boots = 0.002, .iterations = 0.001, .seed = 8 });

	assert_ok(report_load(first.dir, NULL, &a));
	assert_int_equal(a->n_gates, 1); /* the anchor is not compared with itself */
	assert_int_equal(a->gates[0].verdict, VERDICT_INVALID);
	assert_in(a->gates[0].reason, "there is no finished earlier run of 'm' in ");
	assert_int_equal(a->exit_status, 3);

	assert_ok(report_load(same.dir, NULL, &b));
	compare_quotient(&report_find_metric(&b->rows[1], "pft.fault.ns")->baseline.random,
			 &report_find_metric(&a->rows[1], "pft.fault.ns")->baseline.random, &quotient);
	assert_string_equal(b->gates[0].against, "m/20261201T100000Z-a");
	assert_near(b->gates[0].value, compare_ratio(&quotient), 1e-12);
	assert_near(b->gates[0].ci95.hi, compare_upper(&quotient, 0.05), 1e-12);
	assert_int_equal(b->gates[0].verdict, VERDICT_PASS);

	assert_ok(report_load(slower.dir, NULL, &c));
	assert_string_equal(c->gates[0].against, "m/20261203T100000Z-a");
	assert_near(c->gates[0].value, 1300.0 / 1100 / 1.1 - 1, 0.006);
	assert_int_equal(c->gates[0].verdict, VERDICT_FAIL);
	run_close(&first);
	run_close(&unfinished);
	run_close(&same);
	run_close(&slower);
}

static void an_anchor_that_is_not_in_both_is_invalid(void **state)
{
	const double means[] = { 1000, 1100 };
	const struct scatter scatter = { .boots = 0.002, .iterations = 0.001, .seed = 6 };
	struct run_fixture first, second;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .stamp = "20261201T100000Z-a" }, &first);
	put_campaign(&first, means, &scatter);
	run_finish(&first);
	run_open(*state,
		 &(struct run_data){ .stamp = "20261203T100000Z-a",
				     .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02,\"against\":\"run\",\"run\":\"m\","
					      "\"anchor\":\"v/plain/"
					      "0\",\"steps\":\"all\"}",
				     .names = (const char *const[]){ "off/plain/0", "on/plain/0", "v/plain/0", NULL } },
		 &second);
	put_campaign(&second, (const double[]){ 1000, 1100, 1000 }, &scatter);
	assert_ok(report_load(second.dir, NULL, &report));
	assert_int_equal(report->n_gates, 2);
	assert_int_equal(report->gates[1].verdict, VERDICT_INVALID);
	assert_string_equal(report->gates[1].reason, "the anchor v/plain/0 has no pft.fault.ns in m/20261201T100000Z-a");
	run_close(&first);
	run_close(&second);
}

/* Two exact boots: fault.insn_k alone has a number. */
static void put_exact(struct run_fixture *run, const double *insn)
{
	static const char *const names[] = { "fault.insn_k", "fault.insn_u", "teardown.insn_k", "teardown.insn_u" };

	for (size_t row = 0; row < run->n_rows; row++)
		for (size_t block = 0; block < run->blocks; block++) {
			const double values[] = { insn[row] + (double)block, 0, 100, 0 };
			const struct stored_sample sample = { "pft", 0, names, values, 4 };
			struct stored_boot boot = { .row = (int64_t)row,
						    .block = (int64_t)block,
						    .validity = "v",
						    .status = "ok",
						    .samples = &sample,
						    .n_samples = 1 };
			assert_ok(store_put_boot(run->store, &boot));
		}
}

static const char exact_gate[] =
	"{\"metric\":\"pft.fault.insn\",\"limit\":0.02,\"against\":\"run\",\"run\":\"m\",\"steps\":\"all\"}";

static void exact_numbers_compare_when_all_else_is_equal(void **state)
{
	struct run_fixture first, second;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .stamp = "20261201T100000Z-a", .exact = true, .blocks = 2 }, &first);
	put_exact(&first, (const double[]){ 1000, 1100 });
	run_finish(&first);
	run_open(*state, &(struct run_data){ .stamp = "20261202T100000Z-a", .exact = true, .blocks = 2, .gates = exact_gate },
		 &second);
	put_exact(&second, (const double[]){ 1000, 1155 });
	assert_ok(report_load(second.dir, NULL, &report));
	/* The baseline too: it needs no anchor. */
	assert_int_equal(report->n_gates, 2);
	assert_int_equal(report->gates[0].verdict, VERDICT_PASS);
	assert_near(report->gates[1].value, 55 / 1100.5, 1e-9);
	assert_int_equal(report->gates[1].verdict, VERDICT_FAIL);
	assert_int_equal(report->exit_status, 1);
	run_close(&first);
	run_close(&second);
}

static void exact_numbers_of_another_setup_are_invalid(void **state)
{
	static const struct {
		const char *target, *row, *want;
	} cases[] = {
		{ "\"version\":\"2\",\"profile_digest\":\"p\"", NULL, "different device version (2, was 1)" },
		{ "\"version\":\"1\",\"profile_digest\":\"q\"", NULL, "different device profile (q, was p)" },
		{ NULL, "\"booted_cmdline\":\"console=x\",\"toolchain\":\"gcc 13\",\"config_sha256\":\"c\"",
		  "different toolchain (gcc 13, was gcc 12)" },
		{ NULL, "\"booted_cmdline\":\"console=y\",\"toolchain\":\"gcc 12\",\"config_sha256\":\"other\"",
		  "different .config (other, was c), command line (console=y, was console=x)" },
	};
	struct run_fixture first;

	run_open(*state, &(struct run_data){ .stamp = "20261201T100000Z-a", .exact = true, .blocks = 2 }, &first);
	put_exact(&first, (const double[]){ 1000, 1100 });
	run_finish(&first);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *stamp = xasprintf("2026120%zuT100000Z-a", i + 2);
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		run_open(*state,
			 &(struct run_data){ .stamp = stamp,
					     .exact = true,
					     .blocks = 2,
					     .gates = exact_gate,
					     .target = cases[i].target,
					     .row = cases[i].row },
			 &run);
		put_exact(&run, (const double[]){ 1000, 1100 });
		assert_ok(report_load(run.dir, NULL, &report));
		assert_int_equal(report->gates[0].verdict, VERDICT_INVALID);
		assert_in(report->gates[0].reason, cases[i].want);
		assert_in(report->gates[0].reason, "exact numbers of m/20261201T100000Z-a do not compare: ");
		assert_int_equal(report->exit_status, 3);
		run_close(&run);
	}
	run_close(&first);
}

static void exact_equivalence_has_two_sides(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state,
		 &(struct run_data){
			 .exact = true,
			 .blocks = 2,
			 .names = ladder,
			 .gates = "{\"metric\":\"pft.fault.insn\",\"limit\":0.02,\"kind\":\"within\",\"steps\":\"all\"}" },
		 &run);
	put_exact(&run, (const double[]){ 1000, 950, 1010 });
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->gates[0].verdict, VERDICT_FAIL);
	assert_int_equal(report->gates[1].verdict, VERDICT_PASS);
	run_close(&run);
}

static void git_bisect_gets_its_own_statuses(void **state)
{
	(void)state;
	assert_int_equal(report_bisect_status(0), 0);
	assert_int_equal(report_bisect_status(1), 1);
	for (int status = 3; status <= 5; status++)
		assert_int_equal(report_bisect_status(status), 125);
	assert_int_equal(report_bisect_status(2), 128);
	assert_int_equal(report_bisect_status(130), 130);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_random_gate_passes_fails_or_says_what_it_takes),
		TEST(failing_is_shared_among_the_entries_of_a_target),
		TEST(equivalence_needs_both_bounds),
		TEST(a_gate_can_look_at_the_previous_step_or_a_row),
		TEST(a_row_without_numbers_is_invalid),
		TEST(a_random_gate_goes_through_the_anchor),
		TEST(an_anchor_that_is_not_in_both_is_invalid),
		TEST(exact_numbers_compare_when_all_else_is_equal),
		TEST(exact_numbers_of_another_setup_are_invalid),
		TEST(exact_equivalence_has_two_sides),
		TEST(git_bisect_gets_its_own_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
