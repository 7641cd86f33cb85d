/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports from a store that is filled by hand: known numbers in, exact text out. */
#include "base/file.h"
#include "report/report.h"
#include "unit.h"

#include <string.h>

static const char description_text[] =
	"{\"schema\":1,\"tool\":\"0.1.0\",\"name\":\"m\",\"seed\":1,\"blocks\":2,\"baseline\":\"off/plain/0\","
	"\"kernels\":[{\"name\":\"\",\"kind\":\"kbuild\",\"source\":\"linux-x\",\"wanted\":\"linux-x\",\"version\":\"5.10.1\","
	"\"arch\":\"arm64\","
	"\"toolchain\":\"gcc 12.2.0\",\"base_config\":\"allnoconfig\"}],"
	"\"targets\":[{\"device\":\"q\",\"cores\":\"all\",\"kind\":\"qemu\",\"exact\":true,\"summary\":\"a57 icount\"}],"
	"\"workloads\":[{\"label\":\"pft\",\"kind\":\"pft\",\"options\":{\"size\":\"67108864\",\"threads\":\"1\"}}],"
	"\"gates\":[{\"metric\":\"pft.both.insn\",\"against\":\"baseline\",\"limit\":0.08,\"steps\":\"last\"}],"
	"\"rows\":[{\"variant\":\"off/plain/"
	"0\",\"target\":0,\"kernel\":0,\"config\":\"off\",\"cmdline\":\"plain\",\"step\":0,\"steps\":0,"
	"\"image\":\"k0\",\"previous\":-1,\"baseline\":0},"
	"{\"variant\":\"on/dis/0\",\"target\":0,\"kernel\":0,\"config\":\"on\",\"cmdline\":\"dis\",\"step\":0,\"steps\":1,"
	"\"image\":\"k1\",\"previous\":-1,\"baseline\":0},"
	"{\"variant\":\"on/dis/1\",\"target\":0,\"kernel\":0,\"config\":\"on\",\"cmdline\":\"dis\",\"step\":1,\"steps\":1,"
	"\"patch\":\"early checks\",\"image\":\"k2\",\"previous\":1,\"baseline\":0}]}";

struct fixture {
	char *dir;
	struct store *store;
};

static int make_run(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	char dir[] = "/tmp/memcg-ab-test-report-XXXXXX";
	AUTO_JNODE description = NULL;

	fixture->dir = xasprintf("%s/m/run", mkdtemp(dir));
	AUTO_FREE char *db = path_join(fixture->dir, "run.db");
	assert_ok(file_mkdirs(fixture->dir));
	assert_ok(store_open(db, &fixture->store));
	assert_ok(jnode_parse(description_text, strlen(description_text), "description", &description));
	assert_ok(store_set_run(fixture->store, description));
	*state = fixture;
	return 0;
}

static int remove_run(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *parent = path_dirname(fixture->dir);
	AUTO_FREE char *top = path_dirname(parent);

	store_close(fixture->store);
	assert_ok(file_remove_tree(top));
	free(fixture->dir);
	free(fixture);
	return 0;
}

/* A boot of one warm-up (which must not count) and one iteration. */
static void put_boot(struct fixture *fixture, int64_t row, int64_t block, double fault, double teardown)
{
	static const char *const names[] = { "fault.insn_k", "fault.insn_u", "teardown.insn_k", "teardown.insn_u" };
	const double warm[] = { 9e9, 9e9, 9e9, 9e9 }, values[] = { fault - 4, 4, teardown, 0 };
	const struct stored_sample samples[] = { { "pft", -1, names, warm, 4 }, { "pft", 0, names, values, 4 } };
	struct stored_boot boot = {
		.row = row, .block = block, .validity = "v", .status = "ok", .samples = samples, .n_samples = 2
	};

	assert_ok(store_put_boot(fixture->store, &boot));
}

static void put_failure(struct fixture *fixture, int64_t row, int64_t block, const char *status, const char *reason)
{
	struct stored_boot boot = { .row = row, .block = block, .validity = "v", .status = status, .reason = reason };

	assert_ok(store_put_boot(fixture->store, &boot));
}

static void put_all(struct fixture *fixture)
{
	for (int64_t block = 0; block < 2; block++) {
		put_boot(fixture, 0, block, 1587.9 + (double)block, 903.3);
		put_boot(fixture, 1, block, 1711.0 + (double)block, 1001.5);
		put_boot(fixture, 2, block, 1675.6 + (double)block, 1001.5);
	}
}

static void the_text_is_the_table(void **state)
{
	struct fixture *fixture = *state;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF out = STRBUF_INIT;

	put_all(fixture);
	assert_ok(store_set_finished(fixture->store, 0));
	assert_ok(report_load(fixture->dir, NULL, &report));
	report_writer_text.write(report, &out);
	assert_string_equal(
		strbuf_str(&out),
		"pft 64M x1 | linux 5.10.1 arm64 gcc 12.2.0 allnoconfig | q a57 icount | instructions a page, 2 boots each\n"
		"                             fault        vs off/plain/0  vs previous teardown        vs off/plain/0\n"
		"off/plain (baseline)        1588.4                                       903.3\n"
		"on/dis vanilla              1711.5  +123.1 +-0.00 +7.75%                1001.5  +98.2 +-0.00 +10.87%\n"
		"  + 1 early checks          1676.1   +87.7 +-0.00 +5.52% -35.4 +-0.00   1001.5  +98.2 +-0.00 +10.87%\n"
		"gate pft.both.insn of on/dis/1 worse than baseline by <= 8%: PASS (+7.46% +-0.00%)\n"
		"run: m/run\n");
	assert_int_equal(report->exit_status, 0);
}

static void a_failed_row_shows_no_number(void **state)
{
	struct fixture *fixture = *state;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF out = STRBUF_INIT;

	put_all(fixture);
	put_failure(fixture, 1, 1, "boot-failed", "kernel panic");
	assert_ok(report_load(fixture->dir, NULL, &report));
	assert_int_equal(report->rows[1].n_metrics, 0);
	assert_int_equal(report->exit_status, 5);
	report_writer_text.write(report, &out);
	assert_non_null(strstr(strbuf_str(&out), "boot-failed: block 1: kernel panic"));
	assert_null(strstr(strbuf_str(&out), "1711"));
	/* The next step has nothing to be compared with. */
	assert_null(strstr(strbuf_str(&out), "-35.4"));
}

static void a_gate_fails_beyond_its_limit_and_only_then(void **state)
{
	static const struct {
		double worse, wobble; /* of both, in per cent; half of its range over the two boots */
		enum verdict want;
		int status;
	} cases[] = {
		{ 7.0, 0.5, VERDICT_PASS, 0 },	       { 9.0, 0.5, VERDICT_FAIL, 1 }, { 8.2, 0.5, VERDICT_NOT_RESOLVED, 4 },
		{ 7.8, 0.5, VERDICT_NOT_RESOLVED, 4 }, { -5, 0, VERDICT_PASS, 0 },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_REPORT report = NULL;
		put_all(fixture);
		for (int64_t block = 0; block < 2; block++) {
			put_boot(fixture, 0, block, 50, 50);
			put_boot(fixture, 2, block, 50, 50 + cases[i].worse + (block ? 1 : -1) * cases[i].wobble);
		}
		assert_ok(report_load(fixture->dir, NULL, &report));
		assert_int_equal(report->n_gates, 1);
		assert_int_equal(report->gates[0].row, 2);
		assert_int_equal(report->gates[0].verdict, cases[i].want);
		assert_int_equal(report->exit_status, cases[i].status);
	}
}

static void an_unfinished_run_is_said_to_be_one(void **state)
{
	struct fixture *fixture = *state;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF out = STRBUF_INIT;

	put_boot(fixture, 0, 0, 1, 1);
	assert_ok(report_load(fixture->dir, NULL, &report));
	report_writer_text.write(report, &out);
	assert_non_null(strstr(strbuf_str(&out), "lab: 1 of 2 boots done: the run is not finished"));
	assert_non_null(strstr(strbuf_str(&out), "run: m/run (not finished)"));
	assert_int_equal(report->gates[0].verdict, VERDICT_INVALID);
	assert_int_equal(report->exit_status, 3);
}

static void a_kernel_that_was_not_built_says_why(void **state)
{
	struct fixture *fixture = *state;
	struct stored_image image = { "k2", "build-failed", "mm/x.c:3:1: error: no", NULL };
	AUTO_REPORT report = NULL;

	put_all(fixture);
	put_failure(fixture, 2, 0, "lab", "never booted");
	assert_ok(store_put_image(fixture->store, &image));
	assert_ok(report_load(fixture->dir, NULL, &report));
	assert_int_equal(report->rows[2].status, ROW_BUILD_FAILED);
	assert_string_equal(report->rows[2].reason, "mm/x.c:3:1: error: no");
	assert_int_equal(report->exit_status, 5);
}

static void json_says_what_the_text_says(void **state)
{
	struct fixture *fixture = *state;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF out = STRBUF_INIT;
	AUTO_JNODE json = NULL;

	put_all(fixture);
	assert_ok(report_load(fixture->dir, NULL, &report));
	report_writer_json.write(report, &out);
	assert_ok(jnode_parse(strbuf_str(&out), out.len, "report", &json));
	assert_string_equal(jnode_string(json, "schema", ""), "memcg-ab/report/2");
	const struct jnode *row = jnode_item(jnode_get(json, "rows"), 2);
	const struct jnode *metric = jnode_get(jnode_get(row, "metrics"), "pft.fault.insn");
	const struct jnode *versus = jnode_get(metric, "vs_previous");
	assert_string_equal(jnode_string(row, "patch", ""), "early checks");
	assert_string_equal(jnode_string(metric, "kind", ""), "exact");
	assert_int_equal((int)(10 * jnode_real(versus, "delta", 0) - 0.5), -354);
	assert_string_equal(jnode_string(versus, "verdict", ""), "resolved");
	assert_null(jnode_get(jnode_get(row, "metrics"), "pft.fault.ns"));
	assert_string_equal(jnode_string(jnode_item(jnode_get(json, "gates"), 0), "verdict", ""), "pass");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_text_is_the_table, make_run, remove_run),
		cmocka_unit_test_setup_teardown(a_failed_row_shows_no_number, make_run, remove_run),
		cmocka_unit_test_setup_teardown(a_gate_fails_beyond_its_limit_and_only_then, make_run, remove_run),
		cmocka_unit_test_setup_teardown(an_unfinished_run_is_said_to_be_one, make_run, remove_run),
		cmocka_unit_test_setup_teardown(a_kernel_that_was_not_built_says_why, make_run, remove_run),
		cmocka_unit_test_setup_teardown(json_says_what_the_text_says, make_run, remove_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
