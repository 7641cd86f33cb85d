/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of real devices: what could not be made quiet, what did not hold, and whether the profile was ever seen to work. */
#include "unit.h"

#include "report_data.h"

#define NEVER "\"version\":\"1\",\"profile_digest\":\"p\",\"verified\":\"never\""
#define SEEN "\"version\":\"1\",\"profile_digest\":\"p\",\"verified\":\"2026-12-01 memcg-ab 0.1.0\""

static const double steady[] = { 1000, 1000 };

/* A boot that says this of itself. */
static void put_identity(struct run_fixture *run, size_t row, size_t block, const char *status, const char *identity)
{
	static const char *const names[] = { "fault.ns", "teardown.ns" };
	const double values[] = { 1000, 500 };
	const struct stored_sample sample = { "pft", 0, names, values, 2 };
	const bool ok = !strcmp(status, "ok");
	struct stored_boot boot = { .row = (int64_t)row,
				    .block = (int64_t)block,
				    .validity = "v",
				    .status = status,
				    .identity = identity,
				    .wall_ms = 20000,
				    .utc_s = 1796000000,
				    .samples = ok ? &sample : NULL,
				    .n_samples = ok };

	assert_ok(store_put_boot(run->store, &boot));
}

static const struct report_finding *find_text(const struct report *report, enum finding_kind kind, const char *part)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].kind == kind && strstr(report->findings[i].text, part))
			return &report->findings[i];
	return NULL;
}

static void what_was_not_quiet_is_listed(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 2 }, &run);
	put_identity(&run, 0, 0, "ok", "{\"cpus\":\"4-7\",\"env.ksm\":\"0\",\"env.failed.cpu0.online\":\"no file\"}");
	put_identity(&run, 0, 1, "ok",
		     "{\"env.failed.cpu0.online\":\"another reason\",\"env.changed.governor.policy4\":\"schedutil after pft, not "
		     "performance\"}");
	put_identity(&run, 1, 0, "ok", "{\"env.online\":\"4-7\"}");
	put_identity(&run, 1, 1, "lab", "{\"env.failed.drop_caches\":\"Permission denied\"}");
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *failed = find_text(report, FINDING_ENVIRONMENT, "could not be set"),
				    *changed = find_text(report, FINDING_ENVIRONMENT, "did not hold");
	assert_non_null(failed);
	assert_non_null(changed);
	assert_string_equal(
		failed->text,
		"could not be set on the device: cpu0.online (no file; 2 of 4 boots), drop_caches (Permission denied; 1 of 4 "
		"boots); what disturbs is then in the numbers of all rows alike");
	assert_string_equal(changed->text,
			    "did not hold while it was measured: governor.policy4 (schedutil after pft, not performance; 1 of 4 "
			    "boots); something on the device sets it back: find it and `stop` it");
	assert_false(failed->invalid || changed->invalid);
	assert_null(find_finding(report, FINDING_UNVERIFIED));
	run_close(&run);
}

static void a_long_list_is_cut(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF identity = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = 1, .exact = true }, &run);
	for (int i = 0; i < 15; i++)
		strbuf_addf(&identity, "%s\"env.failed.cpu%d.online\":\"x\"", i ? "," : "{", i);
	strbuf_addch(&identity, '}');
	put_identity(&run, 0, 0, "ok", strbuf_str(&identity));
	put_identity(&run, 1, 0, "ok", "{}");
	assert_ok(report_load(run.dir, NULL, &report));
	const struct report_finding *finding = find_finding(report, FINDING_ENVIRONMENT);
	assert_in(finding->text, "cpu11.online (x; 1 of 1 boots) and 3 more;");
	assert_null(strstr(finding->text, "cpu12"));
	run_close(&run);
}

static void quiet_boots_need_no_word(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;

	run_open(*state, &(struct run_data){ .blocks = 1 }, &run);
	put_identity(&run, 0, 0, "ok", "{\"env.ksm\":\"0\",\"midr\":\"0x1\"}");
	put_identity(&run, 1, 0, "ok", NULL);
	assert_ok(report_load(run.dir, NULL, &report));
	assert_null(find_finding(report, FINDING_ENVIRONMENT));
	run_close(&run);
}

/* Every format but csv, whose lines are numbers. */
static void every_format_says_when_it_was_verified(void **state)
{
	static const struct report_writer *const writers[] = {
		&report_writer_text, &report_writer_lkml,  &report_writer_markdown,
		&report_writer_json, &report_writer_junit, &report_writer_mmtests
	};
	static const char *const targets[] = { NEVER, SEEN }, *const words[] = { "never", "2026-12-01" };

	for (size_t k = 0; k < ARRAY_SIZE(targets); k++) {
		struct run_fixture run;
		AUTO_REPORT report = NULL;
		run_open(*state, &(struct run_data){ .target = targets[k], .stamp = k ? "20261202T100000Z-b" : NULL }, &run);
		put_campaign(&run, steady, &(struct scatter){ .boots = 0.002, .iterations = 0.01, .seed = 5 });
		assert_ok(report_load(run.dir, NULL, &report));
		const struct report_finding *finding = find_finding(report, FINDING_UNVERIFIED);
		assert_int_equal(finding != NULL, k == 0);
		if (finding)
			assert_in(finding->text, "(verified: never)");
		for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
			AUTO_STRBUF out = STRBUF_INIT;
			writers[i]->write(report, &out);
			assert_in(strbuf_str(&out), words[k]);
			if (writers[i] == &report_writer_json) {
				AUTO_JNODE json = NULL;
				assert_ok(jnode_parse(strbuf_str(&out), out.len, "report", &json));
				const struct jnode *target = jnode_item(jnode_get(json, "targets"), 0);
				assert_string_equal(jnode_string(target, "device", ""), "phone");
				assert_string_equal(jnode_string(target, "cores", ""), "big");
				assert_true(str_starts(jnode_string(target, "verified", ""), words[k]));
			}
		}
		run_close(&run);
	}
}

/* Amounts do not scatter: medians that are the means but for rounding are no finding. */
static void constant_numbers_raise_no_alarm(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	const double ns[] = { 506524, 506524 }, less[] = { 490140, 490140 };

	run_open(*state, &(struct run_data){ .blocks = 8 }, &run);
	for (size_t block = 0; block < 8; block++) {
		put_series(&run, 0, block, ns, 2);
		put_series(&run, 1, block, less, 2);
	}
	assert_ok(report_load(run.dir, NULL, &report));
	assert_int_equal(report->n_findings, 0);
	report_writer_text.write(report, &text);
	assert_null(strstr(strbuf_str(&text), "nan"));
	run_close(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_was_not_quiet_is_listed),    TEST(a_long_list_is_cut),
		TEST(quiet_boots_need_no_word),	       TEST(every_format_says_when_it_was_verified),
		TEST(constant_numbers_raise_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
