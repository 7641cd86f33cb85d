/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every writer on two reports made in memory, against tests/data/report/SAMPLE.FORMAT. With a folder as argument the texts are
 * written there in place of testing: for tests/e2e/formats, which has them read by the programs they are meant for, and to
 * renew the data.
 */
#include "base/file.h"
#include "report_sample.h"

static const struct report_writer *const writers[] = {
	&report_writer_lkml, &report_writer_markdown, &report_writer_csv, &report_writer_junit, &report_writer_mmtests,
};

static const struct {
	const char *name;
	struct report *(*make)(void);
} samples[] = { { "exact", sample_exact }, { "random", sample_random } };

static void expect_known_text(const struct report_writer *writer)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		AUTO_REPORT report = samples[i].make();
		AUTO_STRBUF out = STRBUF_INIT, want = STRBUF_INIT;
		AUTO_FREE char *path =
			xasprintf("%s/tests/data/report/%s.%s", getenv("MEMCG_AB_ROOT"), samples[i].name, writer->name);
		assert_ok(file_read(path, &want));
		writer->write(report, &out);
		assert_string_equal(strbuf_str(&out), strbuf_str(&want));
	}
}

static void lkml_is_the_known_text(void **state)
{
	(void)state;
	expect_known_text(&report_writer_lkml);
}

static void markdown_is_the_known_text(void **state)
{
	(void)state;
	expect_known_text(&report_writer_markdown);
}

static void csv_is_the_known_text(void **state)
{
	(void)state;
	expect_known_text(&report_writer_csv);
}

static void junit_is_the_known_text(void **state)
{
	(void)state;
	expect_known_text(&report_writer_junit);
}

static void mmtests_is_the_known_text(void **state)
{
	(void)state;
	expect_known_text(&report_writer_mmtests);
}

static void expect_mail(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n");
		assert_true(len <= 75);
		assert_true(!len || line[len - 1] != ' ');
		for (size_t i = 0; i < len; i++)
			assert_in_range(line[i], ' ', '~');
		/* What git am and an editor of commit messages cut at or away. */
		assert_false(str_starts(line, "---") || str_starts(line, "diff ") || str_starts(line, "#") ||
			     str_starts(line, "From "));
	}
}

static void lkml_fits_a_mail_whatever_the_names(void **state)
{
	static const char word[] = "a-name-that-is-longer-than-any-line-of-a-mail-may-be-and-has-no-blank-at-all-in-it";
	AUTO_FREE char *text = xasprintf("%s %s %s", word, word, word);
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		AUTO_REPORT report = samples[i].make();
		strbuf_reset(&out);
		report_writer_lkml.write(report, &out);
		expect_mail(strbuf_str(&out));
		for (size_t k = 0; k < report->n_rows; k++) {
			struct jnode *row = jnode_item(jnode_get(report->run, "rows"), k);
			jnode_set_string(row, "config", word);
			jnode_set_string(row, "cmdline", "\xc3\xbc\t--- diff");
			jnode_set_string(row, "patch", text);
			jnode_set_string(row, "booted_cmdline", text);
			for (size_t m = 0; m < report->rows[k].n_metrics; m++) {
				struct report_metric *metric = &report->rows[k].metrics[m];
				metric->mean = 123456789012.0;
				metric->baseline.ratio = 1234.5;
				metric->baseline.ci95 = (struct interval){ 1000.25, 2000.75 };
				metric->previous.exact.delta = -1e9;
			}
		}
		jnode_set_string(report->run, "command", text);
		strbuf_reset(&out);
		report_writer_lkml.write(report, &out);
		expect_mail(strbuf_str(&out));
	}
}

/* Fields of the line at `*text`, which moves behind it. */
static size_t csv_fields(const char **text)
{
	size_t n = 1;
	bool quoted = false;

	for (; **text && (quoted || **text != '\n'); ++*text) {
		if (**text == '"')
			quoted = !quoted;
		n += !quoted && **text == ',';
	}
	*text += **text == '\n';
	return n;
}

static void csv_lines_have_the_headers_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		AUTO_REPORT report = samples[i].make();
		AUTO_STRBUF out = STRBUF_INIT;
		size_t lines = 0, wanted = 0;
		report_writer_csv.write(report, &out);
		const char *at = strbuf_str(&out);
		size_t fields = csv_fields(&at);
		for (; *at; lines++)
			assert_int_equal(csv_fields(&at), fields);
		for (size_t k = 0; k < report->n_rows; k++)
			if (report->rows[k].control != CONTROL_REPLICATE)
				wanted += report->rows[k].n_metrics ? report->rows[k].n_metrics : 1;
		assert_int_equal(lines, wanted);
	}
}

static void mmtests_counts_better_as_more(void **state)
{
	AUTO_REPORT report = sample_random();
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	report_writer_mmtests.write(report, &out);
	/* The same loss, as rate and as time. */
	assert_non_null(strstr(strbuf_str(&out), "481550.0000 *  -6.01%*"));
	assert_non_null(strstr(strbuf_str(&out), "2076.6276 *  -6.39%*"));
	/* Below the floor, and not resolved. */
	assert_non_null(strstr(strbuf_str(&out), "499630.0000 (  -2.48%)"));
	assert_non_null(strstr(strbuf_str(&out), "512105.0000 (  -0.05%)"));
	report->arithmetic = true;
	strbuf_reset(&out);
	report_writer_mmtests.write(report, &out);
	assert_null(strstr(strbuf_str(&out), "Hmean"));
}

static void an_unfinished_run_is_called_so(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		AUTO_REPORT report = sample_exact();
		AUTO_STRBUF out = STRBUF_INIT;
		/* csv has the rows' status, JUnit an error for each row that is not complete. */
		if (writers[i] == &report_writer_csv || writers[i] == &report_writer_junit)
			continue;
		report->finished = false;
		writers[i]->write(report, &out);
		assert_non_null(strstr(strbuf_str(&out), "not finished"));
	}
}

static void a_run_without_anything_is_no_crash(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		AUTO_REPORT report =
			sample_new("{'name':'m','tool':'0','rows':[],'targets':[],'kernels':[],'workloads':[]}", "m/x", 0);
		AUTO_STRBUF out = STRBUF_INIT;
		writers[i]->write(report, &out);
		assert_true(out.len > 0);
	}
}

static int dump(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		for (size_t k = 0; k < ARRAY_SIZE(writers); k++) {
			AUTO_REPORT report = samples[i].make();
			AUTO_STRBUF out = STRBUF_INIT;
			AUTO_FREE char *path = xasprintf("%s/%s.%s", dir, samples[i].name, writers[k]->name);
			writers[k]->write(report, &out);
			struct error *error = file_write_atomic(path, strbuf_str(&out), out.len, 0644);
			if (error) {
				error_free(error);
				return 1;
			}
		}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lkml_is_the_known_text),
		cmocka_unit_test(markdown_is_the_known_text),
		cmocka_unit_test(csv_is_the_known_text),
		cmocka_unit_test(junit_is_the_known_text),
		cmocka_unit_test(mmtests_is_the_known_text),
		cmocka_unit_test(lkml_fits_a_mail_whatever_the_names),
		cmocka_unit_test(csv_lines_have_the_headers_fields),
		cmocka_unit_test(mmtests_counts_better_as_more),
		cmocka_unit_test(an_unfinished_run_is_called_so),
		cmocka_unit_test(a_run_without_anything_is_no_crash),
	};

	return argc > 1 ? dump(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
