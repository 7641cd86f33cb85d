/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A metric over all runs of a name. */
#include "unit.h"

#include "report/history.h"
#include "report_data.h"

static const struct scatter quiet = { .boots = 0.001, .iterations = 0.001, .seed = 6 };

static void put_run(struct runs *runs, const char *stamp, const double *means, bool finished)
{
	struct run_fixture run;

	run_open(runs, &(struct run_data){ .stamp = stamp, .gates = "{\"metric\":\"pft.fault.ns\",\"limit\":0.02}" }, &run);
	put_campaign(&run, means, &quiet);
	if (finished)
		run_finish(&run);
	run_close(&run);
}

static void a_metric_is_followed_through_its_runs(void **state)
{
	struct runs *runs = *state;
	struct history history = { NULL, 0 };
	const struct history_request request = { .runs_dir = runs->top, .name = "m" };
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRBUF csv = STRBUF_INIT;
	AUTO_STRBUF json = STRBUF_INIT;
	AUTO_JNODE document = NULL;

	put_run(runs, "20261201T100000Z-a", (const double[]){ 1000, 1050 }, true);
	/* The device is 10% slower, the row as it was. */
	put_run(runs, "20261202T100000Z-a", (const double[]){ 1100, 1155 }, true);
	put_run(runs, "20261203T100000Z-a", (const double[]){ 1100, 1210 }, true);
	assert_ok(history_load(&request, &history));
	assert_int_equal(history.n, 6);
	assert_string_equal(history.lines[1].date, "2026-12-01");
	assert_string_equal(history.lines[1].kernel, "6.12.1");
	assert_string_equal(history.lines[1].variant, "on/plain/0");
	assert_false(history.lines[1].has_before);
	assert_near(compare_ratio(&history.lines[3].before.random), 0, 0.002);
	/* What the others are measured by has nothing to be measured by. */
	assert_true(history.lines[2].anchor);
	assert_false(history.lines[2].has_before);

	assert_ok(history_write(&history, "text", &text));
	assert_in(strbuf_str(&text), "pft.fault.ns on phone big, lower is better\n"
				     "date        run                 kernel  row          value           vs baseline");
	assert_in(strbuf_str(&text), "2026-12-01  20261201T100000Z-a  6.12.1  on/plain/0   1049.");
	assert_in(strbuf_str(&text), " worse\n");
	assert_ok(history_write(&history, "csv", &csv));
	assert_in(strbuf_str(&csv), "date,run,kernel,variant,device,metric,unit,value,boots,vs_baseline,");
	assert_in(strbuf_str(&csv), "\n2026-12-02,20261202T100000Z-a,6.12.1,on/plain/0,phone big,pft.fault.ns,ns/page,115");
	assert_ok(history_write(&history, "json", &json));
	assert_ok(jnode_parse(strbuf_str(&json), json.len, "history", &document));
	assert_int_equal(jnode_size(document), 6);
	assert_string_equal(jnode_string(jnode_item(document, 2), "verdict", ""), "anchor");
	assert_string_equal(jnode_string(jnode_item(document, 3), "verdict", ""), "same");
	assert_string_equal(jnode_string(jnode_item(document, 5), "verdict", ""), "worse");
	assert_near(jnode_real(jnode_item(document, 5), "vs_before", 0), 1.1 / 1.05 - 1, 0.003);
	assert_error(history_write(&history, "junit", &json),
		     "memcg-ab: error: a history has no format 'junit': there are text, csv and json\n");
	history_deinit(&history);
}

static void what_is_not_there_is_said(void **state)
{
	struct runs *runs = *state;
	struct history history = { NULL, 0 };
	struct history_request request = { .runs_dir = runs->top, .name = "none" };
	AUTO_FREE char *want = xasprintf("memcg-ab: error: there are no runs of 'none' in %s\n", runs->top);

	assert_error(history_load(&request, &history), want);
	put_run(runs, "20261201T100000Z-a", (const double[]){ 1000, 1050 }, true);
	request.name = "m";
	request.metric = "pft.fault.bogus";
	assert_error(history_load(&request, &history), "memcg-ab: error: no run of 'm' has pft.fault.bogus\n");
	assert_null(history.lines);
	request.metric = "pft.teardown.rate";
	assert_ok(history_load(&request, &history));
	assert_int_equal(history.n, 2);
	assert_string_equal(history.lines[0].unit, "page/s");
	history_deinit(&history);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, runs_setup, runs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_metric_is_followed_through_its_runs),
		TEST(what_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
