/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/summary.h"
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define FOLDER "tests/data/summary/"

/* Errors name the file as it was given: relative to the root of the repository. */
static int to_root(void **state)
{
	(void)state;
	return chdir(getenv("MEMCG_AB_ROOT"));
}

static void assert_writes(const char *path, const char *expected_path)
{
	AUTO_STRBUF out = STRBUF_INIT, expected = STRBUF_INIT;

	assert_ok(file_read(expected_path, &expected));
	assert_ok(summary_write(path, &out));
	assert_string_equal(strbuf_str(&out), strbuf_str(&expected));
}

static void published_tables_are_judged(void **state)
{
	(void)state;
	assert_writes(FOLDER "suren-2021.yaml", FOLDER "suren-2021.txt");
	assert_writes(FOLDER "song-2024.yaml", FOLDER "song-2024.txt");
}

static void write_text(const char *text, struct strbuf *out)
{
	char path[] = "/tmp/memcg-ab-summary-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	struct error *error = summary_write(path, out);
	unlink(path);
	assert_ok(error);
}

static void without_against_all_meet_the_first(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;

	strbuf_adds(&out, "kept\n");
	write_text("title: t\nmetric: time\nunit: s\nbetter: lower\nrows:\n"
		   "  - {name: a, mean: 100, sd: 0, n: 5}\n"
		   "  - {name: b, change: 5%, sd: 0, n: 5}\n"
		   "  - {name: c, drop: 0%, sd: 0%, n: 5}\n",
		   &out);
	assert_true(str_starts(strbuf_str(&out), "kept\nt\n\ntime, lower is better mean unit    sd runs    boots\n"));
	assert_non_null(strstr(strbuf_str(&out), "\n2 comparisons together change"));
	/* Without spread, any difference is certain. */
	assert_non_null(
		strstr(strbuf_str(&out), "\nb vs a                 +5.00% [+5.00, +5.00] <0.0001 <0.0001   0.00%   worse\n"));
	assert_non_null(
		strstr(strbuf_str(&out), "\nc vs a                 +0.00% [+0.00, +0.00]  1.0000  1.0000   0.00%       ~\n"));
	assert_null(strstr(strbuf_str(&out), "unequal"));
}

static void alone_is_not_together(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;

	/* p = 0.040 and 0.038: resolved alone, not after Holm. */
	write_text("title: t\nmetric: rate\nunit: 1/s\nbetter: higher\nrows:\n"
		   "  - {name: a, mean: 100, sd: 2%, n: 30, boots: 30}\n"
		   "  - {name: b, change: -1.08%, sd: 2%, n: 30}\n"
		   "  - {name: c, change: 1.1%, sd: 2%, n: 30}\n",
		   &out);
	assert_non_null(strstr(strbuf_str(&out), " 0.0768   1.48%       ?\n"));
	assert_null(strstr(strbuf_str(&out), "if boots differ"));
}

static void unequal_spreads_are_told(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;

	write_text("title: t\nmetric: time\nunit: s\nbetter: lower\nrows:\n"
		   "  - {name: a, mean: 100, sd: 1%, n: 500}\n"
		   "  - {name: b, mean: 100, sd: 50%, n: 500}\n",
		   &out);
	assert_non_null(strstr(strbuf_str(&out),
			       "b vs a: the sds are so unequal that logarithms, of which the interval is, differ by -10.55%\n"));
}

static void several_boots_allow_more_spread(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;

	/* Four boots a row: twice the spread that one boot allows (0.13%, see suren-2021); and a row whose boots are all in its sd. */
	write_text("title: t\nmetric: rate\nunit: 1/s\nbetter: higher\nboot_spread: [0.26%, 0.27%]\nrows:\n"
		   "  - {name: a, mean: 0.9613, sd: 2%, n: 1500, boots: 4}\n"
		   "  - {name: b, mean: 0.9651, sd: 2%, n: 1500, boots: 4, against: a}\n"
		   "  - {name: c, mean: 1, sd: 2%, n: 1500}\n"
		   "  - {name: d, mean: 0.9, sd: 2%, n: 1500, boots: 1500, against: [c, a]}\n",
		   &out);
	assert_non_null(strstr(strbuf_str(&out), "\nb vs a                      yes   yes     ~   0.26%\n"));
	assert_non_null(strstr(strbuf_str(&out), "\nd vs c                      yes   yes   yes     any\n"));
	assert_non_null(strstr(strbuf_str(&out), "   worse\n"));
}

static void bad_files_show_all_errors_at_once(void **state)
{
	(void)state;
	static const char *const names[] = { "rows", "first", "one", "list" };
	AUTO_STRBUF out = STRBUF_INIT;

	strbuf_adds(&out, "untouched");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *path = xasprintf(FOLDER "bad/%s.yaml", names[i]),
			       *errors = xasprintf(FOLDER "bad/%s.errors", names[i]);
		AUTO_STRBUF expected = STRBUF_INIT;
		assert_ok(file_read(errors, &expected));
		assert_error(summary_write(path, &out), strbuf_str(&expected));
	}
	assert_error(summary_write("no/such.yaml", &out),
		     "memcg-ab: error: cannot open no/such.yaml: No such file or directory\n");
	assert_string_equal(strbuf_str(&out), "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_tables_are_judged),	   cmocka_unit_test(without_against_all_meet_the_first),
		cmocka_unit_test(alone_is_not_together),	   cmocka_unit_test(unequal_spreads_are_told),
		cmocka_unit_test(several_boots_allow_more_spread), cmocka_unit_test(bad_files_show_all_errors_at_once),
	};

	return cmocka_run_group_tests(tests, to_root, NULL);
}
