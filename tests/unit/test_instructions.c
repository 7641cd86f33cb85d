/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions by function: differences, levels, the check against the guest's own counter, and what cannot be told. */
#include "unit.h"

#include "report/instructions.h"
#include "report/section.h"
#include "report_data.h"

static const char *const ladder[] = { "off/plain/0", "on/dis/0", "on/dis/1", NULL };

/* A boot of two iterations of ten pages each, whose counter says `fault` and `teardown` a page. */
static void put_boot(struct run_fixture *run, int64_t row, double fault, double teardown)
{
	static const char *const names[] = { "fault.insn_k", "fault.insn_u", "teardown.insn_k", "teardown.insn_u" };
	const double values[] = { fault - 1, 1, teardown, 0 };
	const struct stored_sample samples[] = { { "pft", 0, names, values, 4 }, { "pft", 1, names, values, 4 } };
	const struct stored_boot boot = { .row = row, .validity = "v", .status = "ok", .samples = samples, .n_samples = 2 };

	assert_ok(store_put_boot(run->store, &boot));
}

static void put_counts(struct run_fixture *run, int64_t row, const char *phase, const struct stored_function *functions, size_t n)
{
	const struct stored_counts counts = {
		.workload = "pft", .phase = phase, .iterations = 2, .operations = 20, .functions = functions, .n_functions = n
	};

	assert_ok(store_put_counts(run->store, row, 0, &counts, 1));
}

/* off: 100 a fault and 50 a teardown; on: 110 and 55, of which in `charge` 12 and 5, but release_pages does 2 less. */
static void put_run(struct run_fixture *run, double measured_on)
{
	static const struct stored_function off[] = { { "", false, 20 }, { "handle_mm_fault", true, 1980 } };
	static const struct stored_function on[] = {
		{ "", false, 20 }, { "", true, 2 }, { "charge", true, 240 }, { "handle_mm_fault", true, 1938 }
	};
	static const struct stored_function off_down[] = { { "release_pages", true, 1000 } };
	static const struct stored_function on_down[] = { { "charge", true, 100 }, { "release_pages", true, 1000 } };

	put_boot(run, 0, 100, 50);
	put_boot(run, 1, measured_on, 55);
	put_boot(run, 2, 100, 50);
	put_counts(run, 0, "fault", off, ARRAY_SIZE(off));
	put_counts(run, 0, "teardown", off_down, ARRAY_SIZE(off_down));
	put_counts(run, 1, "fault", on, ARRAY_SIZE(on));
	put_counts(run, 1, "teardown", on_down, ARRAY_SIZE(on_down));
}

struct bench {
	struct run_fixture run;
	struct report *report;
};

static void open_bench(void **state, struct bench *bench, bool exact, double measured_on)
{
	const struct run_data data = { .blocks = 1, .exact = exact, .names = ladder };

	run_open(*state, &data, &bench->run);
	put_run(&bench->run, measured_on);
	run_finish(&bench->run);
	assert_ok(report_load(bench->run.dir, NULL, &bench->report));
}

static void close_bench(struct bench *bench)
{
	report_free(bench->report);
	run_close(&bench->run);
}

static void check_text(const struct bench *bench, const struct insn_request *request, bool good, const char *want)
{
	struct insn_table table = { NULL };
	AUTO_STRBUF text = STRBUF_INIT;

	assert_ok(insn_load(bench->report, bench->run.store, request, &table));
	assert_int_equal(table.good, good);
	assert_ok(insn_write(&table, "text", &text));
	assert_string_equal(strchr(text.data, '\n') + 1, want);
	insn_table_deinit(&table);
}

static void a_difference_is_told_by_function_the_largest_first(void **state)
{
	const struct insn_request request = { .a = "off", .b = "on/dis/0", .top = 2 };
	struct bench bench;

	open_bench(state, &bench, true, 110);
	check_text(&bench, &request, true,
		   "instructions a page by function, on/dis/0 minus off/plain/0: 2 iterations of the first block's boots\n"
		   "                                             fault  teardown       sum\n"
		   "charge                                      +12.00     +5.00    +17.00\n"
		   "handle_mm_fault                              -2.10     +0.00     -2.10\n"
		   "1 more, none above 0.10                      +0.10     +0.00     +0.10\n"
		   "all functions                               +10.00     +5.00    +15.00\n"
		   "the guest's own counter                     +10.00     +5.00    +15.00\n"
		   "check: the functions' sum is +0.000 off the counter's 15.00 (0.000%); 0.5% or 0.05 may be\n");
	close_bench(&bench);
}

static void a_level_is_told_by_function(void **state)
{
	const struct insn_request request = { .a = "on/dis/0", .phase = "fault" };
	struct bench bench;

	open_bench(state, &bench, true, 110);
	check_text(&bench, &request, true,
		   "instructions a page by function, on/dis/0: 2 iterations of the first block's boot\n"
		   "                                             fault\n"
		   "handle_mm_fault                              96.90\n"
		   "charge                                       12.00\n"
		   "(processes)                                   1.00\n"
		   "(no function)                                 0.10\n"
		   "all functions                               110.00\n"
		   "the guest's own counter                     110.00\n"
		   "check: the functions' sum is +0.000 off the counter's 110.00 (0.000%); 0.5% or 0.05 may be\n");
	close_bench(&bench);
}

static void a_sum_that_is_off_is_said(void **state)
{
	const struct insn_request request = { .a = "off", .b = "on/dis/0", .top = 1, .phase = "fault" };
	struct bench bench;

	/* 10.051 measured, 10 counted: within 0.06, yet more than both limits. */
	open_bench(state, &bench, true, 110.051);
	check_text(&bench, &request, false,
		   "instructions a page by function, on/dis/0 minus off/plain/0: 2 iterations of the first block's boots\n"
		   "                                             fault\n"
		   "charge                                      +12.00\n"
		   "2 more, none above 2.10                      -2.00\n"
		   "all functions                               +10.00\n"
		   "the guest's own counter                     +10.05\n"
		   "CHECK FAILED: the functions' sum is -0.051 off the counter's 10.05 (0.507%); 0.5% or 0.05 may be\n");
	close_bench(&bench);
}

static void json_has_every_function(void **state)
{
	const struct insn_request request = { .a = "off", .b = "on/dis/0", .top = 1 };
	struct insn_table table = { NULL };
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_JNODE json = NULL;
	struct bench bench;

	open_bench(state, &bench, true, 110);
	assert_ok(insn_load(bench.report, bench.run.store, &request, &table));
	assert_ok(insn_write(&table, "json", &text));
	assert_ok(jnode_parse(text.data, text.len, "json", &json));
	assert_string_equal(jnode_string(json, "variant", ""), "on/dis/0");
	assert_string_equal(jnode_string(json, "minus", ""), "off/plain/0");
	assert_int_equal(jnode_size(jnode_get(json, "functions")), 3);
	assert_true(jnode_real(jnode_get(jnode_item(jnode_get(json, "functions"), 0), "insn"), "sum", 0) == 17);
	assert_true(jnode_real(jnode_get(json, "measured"), "teardown", 0) == 5);
	assert_true(jnode_bool(json, "good", false));
	assert_error(insn_write(&table, "xml", &text), "memcg-ab: error: unknown format 'xml': there are text, json\n");
	insn_table_deinit(&table);
	close_bench(&bench);
}

static void what_cannot_be_told_is_said(void **state)
{
	static const struct {
		struct insn_request request;
		const char *want;
	} cases[] = {
		{ { .a = "of" }, "memcg-ab: error: there is no variant 'of': there are off/plain/0, on/dis/0, on/dis/1\n" },
		{ { .a = "on/dis" }, "memcg-ab: error: 'on/dis' may be any of on/dis/0, on/dis/1\n" },
		{ { .a = "off", .b = "on/dis/7" },
		  "memcg-ab: error: there is no variant 'on/dis/7' (did you mean 'on/dis/0'?): there are off/plain/0, on/dis/0, "
		  "on/dis/1\n" },
		{ { .a = "off", .device = "tablet" }, "memcg-ab: error: the run has no device 'tablet'\n" },
		{ { .a = "off", .workload = "swap" }, "memcg-ab: error: the run has no workload 'swap'\n" },
		{ { .a = "off", .phase = "birth" },
		  "memcg-ab: error: no instructions of any workload, phase birth were counted by function in off/plain/0\n" },
		{ { .a = "off", .b = "on/dis/1" },
		  "memcg-ab: error: the instructions of on/dis/1 were not counted by function: the run is of an older memcg-ab, "
		  "QEMU "
		  "takes no plugins, or the run warned of it\n" },
	};
	struct insn_table table = { NULL };
	struct bench bench;

	open_bench(state, &bench, true, 110);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_error(insn_load(bench.report, bench.run.store, &cases[i].request, &table), cases[i].want);
	close_bench(&bench);
}

static void the_profile_has_variants_side_by_side(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct bench bench;

	open_bench(state, &bench, true, 110);
	assert_true(section_write(bench.report, &report_section_profile, "text", &text));
	assert_string_equal(text.data, "pft on phone: per cent of all instructions\n"
				       "function         off/plain/0  on/dis/0\n"
				       "handle_mm_fault        66.00     58.73\n"
				       "release_pages          33.33     30.30\n"
				       "charge                  0.00     10.30\n"
				       "(processes)             0.67      0.61\n"
				       "(no function)           0.00      0.06\n"
				       "all others              0.00      0.00\n"
				       "\n"
				       "pft on phone: instructions a page\n"
				       "function         off/plain/0  on/dis/0\n"
				       "handle_mm_fault        99.00     96.90\n"
				       "release_pages          50.00     50.00\n"
				       "charge                  0.00     17.00\n"
				       "(processes)             1.00      1.00\n"
				       "(no function)           0.00      0.10\n"
				       "all others              0.00      0.00\n"
				       "\n"
				       "pft on phone: instructions a page more than off/plain/0\n"
				       "function         on/dis/0\n"
				       "charge             +17.00\n"
				       "handle_mm_fault     -2.10\n"
				       "(no function)       +0.10\n"
				       "all others          +0.00\n");
	close_bench(&bench);
}

static void a_run_that_counted_nothing_has_no_profile(void **state)
{
	const struct run_data data = { .blocks = 1, .exact = true, .names = ladder };
	AUTO_STRBUF text = STRBUF_INIT;
	struct run_fixture run;
	struct report *report = NULL;

	run_open(*state, &data, &run);
	put_boot(&run, 0, 100, 50);
	run_finish(&run);
	assert_ok(report_load(run.dir, NULL, &report));
	assert_true(section_write(report, &report_section_profile, "text", &text));
	assert_string_equal(text.data, "Instructions by function\nno boot of this run was counted by function: that is done in "
				       "the first boots on exact QEMU devices\n");
	report_free(report);
	run_close(&run);
}

/* Whole kernels with debug information are tests/e2e/inlined's. */
static void what_was_inlined_needs_the_kernel(void **state)
{
	const struct insn_request request = { .a = "on/dis/0", .images = "/nonexistent" };
	struct insn_table table = { NULL };
	struct bench bench;

	open_bench(state, &bench, true, 110);
	assert_error(insn_load(bench.report, bench.run.store, &request, &table),
		     "memcg-ab: error: the kernel of on/dis/0 is not in the cache any more (/nonexistent/k1)\n");
	close_bench(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_difference_is_told_by_function_the_largest_first, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_level_is_told_by_function, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_sum_that_is_off_is_said, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(json_has_every_function, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_told_is_said, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(the_profile_has_variants_side_by_side, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_run_that_counted_nothing_has_no_profile, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(what_was_inlined_needs_the_kernel, runs_setup, runs_teardown),
	};

	return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
