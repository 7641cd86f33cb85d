/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section times: User / System / Elapsed, or the instructions that stand for them. */
#include "unit.h"

#include "report/section.h"
#include "report_data.h"

static const char *const readings[] = { "fault.insn_k", "fault.insn_u",	 "fault.ns",
					"all.user_ns",	"all.system_ns", "all.elapsed_ns" };

/* What a row does, the baseline being 1. */
struct change {
	double insn, ns;
};

static void fill(struct run_fixture *run, const struct change *rows)
{
	for (size_t block = 0; block < run->blocks; block++)
		for (size_t row = 0; row < run->n_rows; row++) {
			double noise = 1 + 0.0002 * (double)((block * 5 + row * 3) % 7);
			double ns = 500 * rows[row].ns * noise;
			const double values[] = { 1500 * rows[row].insn * noise, 100, ns, 2e9, ns * 1e7, ns * 1e7 + 2e9 };
			put_readings(run, row, block, readings, values, ARRAY_SIZE(values));
		}
}

static char *section(const struct report *report, const char *format)
{
	struct strbuf text = STRBUF_INIT;

	assert_true(section_write(report, report_section_find("times"), format, &text));
	return strbuf_steal(&text);
}

static void times_are_in_seconds(void **state)
{
	const struct change rows[] = { { 1, 1 }, { 1, 1.1 } };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 7 }, &run);
	fill(&run, rows);
	assert_ok(report_load(run.dir, NULL, &report));
	AUTO_FREE char *text = section(report, "text"), *json = section(report, "json"), *csv = section(report, "csv");
	assert_in(text, "User / System / Elapsed of pft on phone big");
	assert_in(text, "sampled at ticks unless the kernel has CONFIG_VIRT_CPU_ACCOUNTING_GEN");
	/* The noise of seven blocks has a mean of 1.0006. */
	assert_in(csv, "off/plain/0,2.0000,5.0030,7.0030,,,,\n");
	assert_in(csv, "on/plain/0,2.0000,5.5033,7.5033,+10.00,+7.14,+");
	AUTO_JNODE document = NULL;
	assert_ok(jnode_parse(json, strlen(json), "section", &document));
	const struct jnode *row = jnode_item(jnode_get(jnode_item(jnode_get(document, "tables"), 0), "rows"), 1);
	assert_near(jnode_real(row, "Elapsed s", 0), 7.5033, 1e-9);
	run_close(&run);
}

static void an_exact_device_tells_instructions_instead(void **state)
{
	const struct change rows[] = { { 1, 1 }, { 1.1, 1.1 } };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .exact = true, .blocks = 1 }, &run);
	fill(&run, rows);
	assert_ok(report_load(run.dir, NULL, &report));
	AUTO_FREE char *text = section(report, "text"), *csv = section(report, "csv");
	assert_in(text, "Instructions of pft on phone big");
	assert_in(text, "is no measure of time");
	assert_null(strstr(text, "Elapsed"));
	assert_in(csv, "off/plain/0,fault,100.0,1500.0,1600.0,,\n");
	assert_in(csv, "on/plain/0,fault,100.0,1651.0,1751.0,+10.07,+9.44\n");
	run_close(&run);
}

static void no_readings_are_said(void **state)
{
	struct run_fixture run;
	const double ns = 100;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 1 }, &run);
	put_series(&run, 0, 0, &ns, 1);
	put_series(&run, 1, 0, &ns, 1);
	assert_ok(report_load(run.dir, NULL, &report));
	AUTO_FREE char *text = section(report, "markdown");
	assert_in(text, "this workload told no times on this device");
	run_close(&run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(times_are_in_seconds),
		TEST(an_exact_device_tells_instructions_instead),
		TEST(no_readings_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
