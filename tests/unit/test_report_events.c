/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of what was counted beside instructions: shown where it was asked for, and it decides nothing by itself. */
#include "unit.h"

#include <string.h>

#include "report/stopping.h"
#include "report_data.h"

static const char *const names[] = { "fault.ns", "teardown.ns", "fault.cycles_k", "teardown.cycles_k", "fault.llc_misses_k" };

/* Times that hold still; events that drift by half over the run, and misses that are now and then none at all. */
static void put_boots(struct run_fixture *run)
{
	for (size_t block = 0; block < run->blocks; block++)
		for (size_t row = 0; row < run->n_rows; row++) {
			const double step = row ? 1.1 : 1, wobble = 1 + 0.001 * (double)(block * 7 % 5),
				     drift = 1 + 0.5 * (double)block / (double)run->blocks;
			const double values[] = { 1000 * wobble * step, 500 * wobble, 4000 * drift * wobble * step,
						  2000 * drift * wobble, block == 3 ? 0 : 0.25 };
			put_readings(run, row, block, names, values, ARRAY_SIZE(values));
		}
	run_finish(run);
}

static void events_are_in_every_form(void **state)
{
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRBUF markdown = STRBUF_INIT;
	AUTO_STRBUF json = STRBUF_INIT;
	AUTO_STRBUF csv = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = 12 }, &run);
	put_boots(&run);
	assert_ok(report_load(run.dir, NULL, &report));
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "pft, cycles:k                  fault     vs baseline [95% CI]   teardown");
	assert_in(strbuf_str(&text), "pft, llc_misses:k");
	assert_null(strstr(strbuf_str(&text), "pft, dtlb_misses:k"));
	assert_fits(strbuf_str(&text), 100);
	report_writer_markdown.write(report, &markdown);
	assert_in(strbuf_str(&markdown), "cycles/page");
	report_writer_json.write(report, &json);
	assert_in(strbuf_str(&json), "\"pft.both.cycles_k\"");
	assert_in(strbuf_str(&json), "\"cycles/page\"");
	report_writer_csv.write(report, &csv);
	assert_in(strbuf_str(&csv), ",pft.fault.llc_misses_k,llc_misses/page,lower,");
	const struct report_metric *cycles = report_find_metric(&report->rows[1], "pft.both.cycles_k");
	assert_near(cycles->baseline.ratio, 4400.0 / 6000 + 2000.0 / 6000 - 1, 1e-9);
	/* Of boots without any there is no ratio, and nothing is made up. */
	assert_false(report_find_metric(&report->rows[1], "pft.fault.llc_misses_k")->baseline.resolved);
	run_close(&run);
}

/* The drift of an event makes no time invalid; only where a gate names it is it looked at. */
static void events_decide_nothing_unless_a_gate_names_them(void **state)
{
	static const char gate[] = "{\"metric\":\"pft.fault.cycles_k\",\"vs\":\"baseline\",\"steps\":\"all\",\"worse_by\":0.5}";
	struct run_fixture run;
	AUTO_REPORT plain = NULL;
	AUTO_REPORT gated = NULL;
	bool named = false;

	run_open(*state, &(struct run_data){ .blocks = 12 }, &run);
	put_boots(&run);
	assert_ok(report_load(run.dir, NULL, &plain));
	for (size_t i = 0; i < plain->n_findings; i++)
		assert_true(plain->findings[i].kind == FINDING_MEDIAN || plain->findings[i].kind == FINDING_MEAN ||
			    !plain->findings[i].metric || !strstr(plain->findings[i].metric, "cycles_k"));
	run_close(&run);
	run_open(*state, &(struct run_data){ .blocks = 12, .gates = gate, .stamp = "20261201T110000Z-bbbb" }, &run);
	put_boots(&run);
	assert_ok(report_load(run.dir, NULL, &gated));
	for (size_t i = 0; i < gated->n_findings; i++)
		named |= gated->findings[i].kind == FINDING_DRIFT && gated->findings[i].metric &&
			 !strcmp(gated->findings[i].metric, "pft.fault.cycles_k");
	assert_true(named);
	run_close(&run);
}

/* How many blocks a half-width takes is what times take, not what misses would. */
static void events_do_not_ask_for_blocks(void **state)
{
	struct run_fixture run;
	struct stage_decision decision = { 0 };

	run_open(*state,
		 &(struct run_data){ .blocks = 12,
				     .measure = "{\"order\":\"random\",\"seed\":7,\"half_width\":0.01,\"pilot\":12}" },
		 &run);
	for (size_t block = 0; block < run.blocks; block++)
		for (size_t row = 0; row < run.n_rows; row++) {
			const double wobble = 1 + 0.001 * (double)(block * 7 % 5);
			const double values[] = { 1000 * wobble, 500 * wobble,
						  row ? 4000 * (1 + 0.3 * (double)(block % 4)) : 4000 };
			put_readings(&run, row, block, names, values, ARRAY_SIZE(values));
		}
	assert_ok(report_decide_stage(run.dir, 0, &decision));
	assert_null(strstr(decision.reason, "cycles"));
	assert_in(decision.reason, "pft.fault.ns");
	free(decision.reason);
	run_close(&run);
}

static void exact_devices_have_a_table_an_event(void **state)
{
	static const char *const counted[] = { "fault.insn_k",	  "fault.insn_u",   "teardown.insn_k",
					       "teardown.insn_u", "fault.cycles_k", "teardown.cycles_k" };
	const double values[2][6] = { { 1600, 4, 900, 0, 1650, 910 }, { 1700, 4, 900, 0, 1777.5, 910 } };
	struct run_fixture run;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;

	run_open(*state, &(struct run_data){ .blocks = 2, .exact = true }, &run);
	for (size_t block = 0; block < 2; block++)
		for (size_t row = 0; row < 2; row++)
			put_readings(&run, row, block, counted, values[row], 6);
	run_finish(&run);
	assert_ok(report_load(run.dir, NULL, &report));
	report_writer_text.write(report, &text);
	assert_in(strbuf_str(&text), "pft | cycles:k a page\n");
	assert_in(strbuf_str(&text), "1777.5");
	assert_in(strbuf_str(&text), "+127.5 +-0.00 +7.73%");
	assert_fits(strstr(strbuf_str(&text), "pft | cycles"), 100);
	run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_in_every_form, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(events_decide_nothing_unless_a_gate_names_them, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(events_do_not_ask_for_blocks, runs_setup, runs_teardown),
		cmocka_unit_test_setup_teardown(exact_devices_have_a_table_an_event, runs_setup, runs_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
