/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of a report: their tables, in every format. */
#include "report/section.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define N_ROWS 4

struct bench {
	struct report report;
	struct report_row rows[N_ROWS];
	struct jnode *description[N_ROWS];
};

static struct jnode *parsed(const char *text)
{
	struct jnode *node = NULL;

	assert_ok(jnode_parse(text, strlen(text), "test", &node));
	return node;
}

/* A baseline, vanilla under two command lines, and a step. */
static void bench_init(struct bench *bench)
{
	static const char *const names[N_ROWS] = { "off/plain/0", "on/plain/0", "on/disabled/0", "on/plain/1" };
	static const char *const images[N_ROWS] = {
		"{\"sizes\": {\"vmlinux\": [1000, 200, 30], \"mm/swap.o\": [50, 1, 0]}}",
		"{\"sizes\": {\"vmlinux\": [1100, 210, 30], \"mm/memcontrol.o\": [90, 5, 1], \"mm/swap.o\": [60, 1, 0]}}",
		"{\"sizes\": {\"vmlinux\": [1100, 210, 30], \"mm/memcontrol.o\": [90, 5, 1], \"mm/swap.o\": [60, 1, 0]}}",
		"{\"sizes\": {\"vmlinux\": [1096, 210, 30], \"mm/memcontrol.o\": [80, 5, 1], \"mm/swap.o\": [66, 1, 0]},"
		" \"growth_of\": \"k1\", \"growth\": {\"charge\": [40, 28], \"new_one\": [0, 8]}}",
	};
	static const char *const keys[N_ROWS] = { "k0", "k1", "k1", "k3" };

	*bench = (struct bench){ .report = { .rows = bench->rows, .n_rows = N_ROWS, .run_id = "m/1" } };
	for (size_t i = 0; i < N_ROWS; i++) {
		bench->description[i] = jnode_object();
		jnode_set_string(bench->description[i], "image", keys[i]);
		bench->rows[i] = (struct report_row){ .description = bench->description[i],
						      .variant = names[i],
						      .previous = i == 3 ? 1 : -1,
						      .baseline = 0,
						      .image = parsed(images[i]) };
	}
}

static void bench_deinit(struct bench *bench)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		jnode_free(bench->description[i]);
		jnode_free(bench->rows[i].image);
	}
}

static char *written(const struct bench *bench, const char *format)
{
	struct strbuf out = STRBUF_INIT;

	assert_true(section_write(&bench->report, report_section_find("sizes"), format, &out));
	return strbuf_steal(&out);
}

static void test_sizes_as_text(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	AUTO_FREE char *text = written(&bench, "text");

	assert_string_equal(text, "Sizes in bytes, as size prints them\n"
				  "kernel                object  text  data  bss  text vs vanilla  text vs previous\n"
				  "off/plain/0          vmlinux  1000   200   30\n"
				  "on/plain/0           vmlinux  1100   210   30\n"
				  "on/plain/1           vmlinux  1096   210   30               -4                -4\n"
				  "on/plain/0   mm/memcontrol.o    90     5    1\n"
				  "on/plain/1   mm/memcontrol.o    80     5    1              -10               -10\n"
				  "off/plain/0        mm/swap.o    50     1    0\n"
				  "on/plain/0         mm/swap.o    60     1    0\n"
				  "on/plain/1         mm/swap.o    66     1    0               +6                +6\n"
				  "\n"
				  "Functions of on/plain/1 that changed, against on/plain/0\n"
				  "function  before  after  bytes\n"
				  "charge        40     28    -12\n"
				  "new_one        0      8     +8\n"
				  "all 2: -4\n");
	bench_deinit(&bench);
}

static void test_other_formats(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	AUTO_FREE char *csv = written(&bench, "csv"), *markdown = written(&bench, "markdown"), *json = written(&bench, "json");
	AUTO_JNODE document = parsed(json);
	const struct jnode *row = jnode_item(jnode_get(jnode_item(jnode_get(document, "tables"), 0), "rows"), 2);

	assert_non_null(
		strstr(csv, "kernel,object,text,data,bss,text vs vanilla,text vs previous\noff/plain/0,vmlinux,1000,200,30,,\n"));
	assert_non_null(strstr(markdown, "| kernel | object | text |"));
	assert_non_null(strstr(markdown, "| on/plain/1 | mm/memcontrol.o | 80 | 5 | 1 | -10 | -10 |\n"));
	assert_string_equal(jnode_string(document, "run", ""), "m/1");
	assert_string_equal(jnode_string(row, "kernel", ""), "on/plain/1");
	assert_int_equal(jnode_int(row, "text", 0), 1096);
	assert_int_equal(jnode_int(row, "text vs vanilla", 0), -4);
	bench_deinit(&bench);
}

static void test_unknown(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	AUTO_STRBUF out = STRBUF_INIT;

	assert_null(report_section_find("nothing"));
	assert_false(section_write(&bench.report, report_section_find("sizes"), "junit", &out));
	assert_int_equal(out.len, 0);
	bench_deinit(&bench);
}

static void test_nothing_stored(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (size_t i = 0; i < N_ROWS; i++) {
		jnode_free(bench.rows[i].image);
		bench.rows[i].image = NULL;
	}
	AUTO_FREE char *text = written(&bench, "text");

	assert_non_null(strstr(text, "no kernel of this run has a vmlinux"));
	bench_deinit(&bench);
}

static void test_without_objects(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	jnode_free(bench.rows[0].image);
	bench.rows[0].image = parsed("{\"sizes\": {\"vmlinux\": [1000, 200, 30]}}");
	AUTO_FREE char *text = written(&bench, "text");

	assert_non_null(strstr(text, "\noff/plain/0: its objects have no sizes (link-time optimisation"));
	assert_null(strstr(text, "\non/plain/0: its objects"));
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_as_text),  cmocka_unit_test(test_other_formats),   cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_nothing_stored), cmocka_unit_test(test_without_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
