/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of devices with several units: what the units differ in is found nowhere, what kernels differ in is. */
#include "unit.h"

#include "report_data.h"

#define BLOCKS 12

/* Blocks 0, 1, 2, 5, 6, 7, ... are of `left`; `right` is a fifth slower. */
static const char *unit_of(size_t block)
{
	return block % 5 < 3 ? "left" : "right";
}

/* Boots of one row that is 1% slower than the other; iterations scatter by 1%, boots by 0.2%. */
static void put_units(struct run_fixture *run, unsigned long seed)
{
	const double means[] = { 1000, 1010 };
	struct random *random = random_new(seed);
	double ns[20];

	for (size_t block = 0; block < run->blocks; block++)
		for (size_t row = 0; row < run->n_rows; row++) {
			double boot = means[row] * (*unit_of(block) == 'r' ? 1.2 : 1) * (1 + 0.002 * random_gaussian(random, 1));
			for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
				ns[i] = boot * (1 + 0.01 * random_gaussian(random, 1));
			run->unit = unit_of(block);
			put_series(run, row, block, ns, ARRAY_SIZE(ns));
		}
	random_free(random);
}

static const struct report_difference *difference_of(const struct report *report)
{
	return &report_find_metric(&report->rows[1], "pft.fault.ns")->baseline;
}

static void units_differ_and_kernels_are_compared(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT, markdown = STRBUF_INIT, json = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = BLOCKS }, &run);
	put_units(&run, 11);
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(difference_of(report)->random.method, COMPARE_PAIRED);
	assert_int_equal(difference_of(report)->random.n, BLOCKS);
	assert_near(difference_of(report)->ratio, 0.01, 0.003);
	assert_true(difference_of(report)->resolved);
	/* The scatter between boots is that of a unit's boots. */
	assert_near(report_find_floor(report, 0, "pft.fault.ns")->components.sd_between, 0.002, 0.002);
	for (enum finding_kind kind = FINDING_DRIFT; kind <= FINDING_OUTLIERS; kind++)
		assert_null(find_finding(report, kind));
	assert_null(find_finding(report, FINDING_MEDIAN));
	assert_string_equal(find_finding(report, FINDING_UNITS)->text,
			    "unit left: 16 boots, blocks 0-2,5-7,10-11; unit right: 8 boots, blocks 3-4,8-9; comparisons stay "
			    "inside a block, and so inside a unit");
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "unit left: 16 boots");
	report_writer_markdown.write(report, &markdown);
	assert_in(strbuf_str(&markdown), "unit right: 8 boots");
	report_writer_json.write(report, &json);
	AUTO_JNODE root = NULL;
	assert_ok(jnode_parse(strbuf_str(&json), json.len, "report", &root));
	const struct jnode *right = jnode_item(jnode_get(root, "units"), 1);
	assert_int_equal(jnode_size(jnode_get(root, "units")), 2);
	assert_string_equal(jnode_string(right, "unit", ""), "right");
	assert_int_equal(jnode_size(jnode_get(right, "blocks")), 4);
	run_close(&run);
}

/* Without its pair a boot of the slower unit would be a fifth of a difference. */
static void rows_that_lack_blocks_are_compared_inside_units_too(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = BLOCKS }, &run);
	put_units(&run, 12);
	put_outcome(&run, 1, 3, "lab", "no device");
	put_outcome(&run, 1, 4, "lab", "no device");
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(difference_of(report)->random.method, COMPARE_PAIRED);
	assert_int_equal(difference_of(report)->random.n, BLOCKS - 2);
	assert_near(difference_of(report)->ratio, 0.01, 0.003);
	assert_null(find_finding(report, FINDING_MEDIAN));
	run_close(&run);
}

static void a_block_of_two_units_is_no_pair(void **state)
{
	const double ns[] = { 2020, 2021, 2022 };
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = BLOCKS }, &run);
	put_units(&run, 13);
	run.unit = "right";
	put_series(&run, 1, 0, ns, ARRAY_SIZE(ns));
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(difference_of(report)->random.n, BLOCKS - 1);
	assert_near(difference_of(report)->ratio, 0.01, 0.003);
	assert_int_equal(report->rows[1].boots, BLOCKS - 1);
	assert_int_equal(report->rows[1].lost, 1);
	run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(units_differ_and_kernels_are_compared, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(rows_that_lack_blocks_are_compared_inside_units_too, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(a_block_of_two_units_is_no_pair, runs_setup, runs_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
