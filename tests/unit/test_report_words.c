/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What writers share: words, plain lines, UTF-8 and XML. */
#include "report/plain.h"
#include "report/utf8.h"
#include "report/words.h"
#include "report/xml.h"
#include "report_sample.h"

static void expect_own(char *text, const char *want)
{
	assert_string_equal(text, want);
	free(text);
}

static void characters_are_read_one_by_one(void **state)
{
	static const struct {
		const char *text;
		uint32_t want[4];
	} cases[] = {
		{ "", { 0 } },
		{ "az", { 'a', 'z', 0 } },
		{ "\xc3\xbc\xe2\x82\xac\xf0\x9f\x90\xa7", { 0xfc, 0x20ac, 0x1f427, 0 } },
		/* A byte that starts nothing, a cut character, an overlong one, a surrogate, beyond the end of Unicode. */
		{ "\xff", { UTF8_BAD, 0 } },
		{ "\xc3", { UTF8_BAD, 0 } },
		{ "\xe2\x82z", { UTF8_BAD, UTF8_BAD, 'z', 0 } },
		{ "\xc0\x80", { UTF8_BAD, UTF8_BAD, 0 } },
		{ "\xed\xa0\x80", { UTF8_BAD, UTF8_BAD, UTF8_BAD, 0 } },
		{ "\xf4\x90\x80", { UTF8_BAD, UTF8_BAD, UTF8_BAD, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *at = cases[i].text;
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].want); k++) {
			assert_int_equal(utf8_next(&at), cases[i].want[k]);
			if (!cases[i].want[k])
				break;
		}
		assert_int_equal(*at, 0);
	}
}

static void characters_are_written_as_they_were_read(void **state)
{
	static const char text[] = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x90\xa7";
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	for (const char *at = text; *at;)
		utf8_add(&out, utf8_next(&at));
	assert_string_equal(strbuf_str(&out), text);
}

static void xml_is_escaped(void **state)
{
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	xml_add_text(&out, "a<b>&\"'\n\t\r\x01\x1b\xff\xef\xbf\xbe");
	assert_string_equal(strbuf_str(&out), "a&lt;b&gt;&amp;\"'\n\t&#13;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	strbuf_reset(&out);
	xml_add_attribute(&out, "x", "a<b>&\"'\n\t\r");
	assert_string_equal(strbuf_str(&out), " x=\"a&lt;b&gt;&amp;&quot;'&#10;&#9;&#13;\"");
	strbuf_reset(&out);
	xml_add_attribute(&out, "x", NULL);
	assert_int_equal(out.len, 0);
}

static void plain_text_is_ascii(void **state)
{
	(void)state;
	expect_own(plain_ascii("\xe2\x80\x98x\xe2\x80\x99 \xc2\xb1"
			       "2 \xe2\x80\x94 \xc3\xbc\t\xff\n\x7f"),
		   "'x' +-2 -- ? ? ?");
}

static void lines_are_filled(void **state)
{
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	plain_fill(&out, 12, "* ", 2, "one two three  four");
	assert_string_equal(strbuf_str(&out), "* one two\n  three four\n");
	strbuf_reset(&out);
	plain_fill(&out, 12, "* ", 2, "short abcdefghijklmnopqrstuvw x");
	assert_string_equal(strbuf_str(&out), "* short\n  abcdefghij\n  klmnopqrst\n  uvw x\n");
	strbuf_reset(&out);
	plain_fill(&out, 12, "name:      ", 2, "x y");
	assert_string_equal(strbuf_str(&out), "name:      x\n  y\n");
	strbuf_reset(&out);
	plain_fill(&out, 12, "name  ", 2, "");
	assert_string_equal(strbuf_str(&out), "name\n");
}

static void commands_go_on_in_the_next_line(void **state)
{
	AUTO_STRBUF out = STRBUF_INIT;

	(void)state;
	plain_command(&out, 16, 2, "tool run --only x y");
	assert_string_equal(strbuf_str(&out), "  tool run \\\n    --only x y\n");
	strbuf_reset(&out);
	plain_command(&out, 16, 2, "tool abcdefghijklmnopqrstuvwxyz0123456 z");
	assert_string_equal(strbuf_str(&out), "  tool \\\n    abcdefghijk\\\nlmnopqrstuvwxyz\\\n0123456 z\n");
}

static void numbers_have_the_digits_that_say_something(void **state)
{
	(void)state;
	expect_own(words_level(1587.94), "1587.9");
	expect_own(words_level(512340.4), "512340");
	expect_own(words_level(3.14159), "3.142");
	expect_own(words_level(31.4159), "31.42");
	expect_own(words_percent(-0.0601), "-6.01%");
	expect_own(words_percent(0.09999), "+10.0%");
	expect_own(words_percent(0.09994), "+9.99%");
	expect_own(words_percent(1.2345), "+123%");
	expect_own(words_percent(NAN), "-");
	expect_own(words_size("67108864"), "64M");
	expect_own(words_size("1000"), "1000");
	expect_own(words_size("0"), "0");
}

static void subjects_lose_their_subsystem(void **state)
{
	(void)state;
	assert_string_equal(words_subject("mm: memcg: add checks"), "add checks");
	assert_string_equal(words_subject("mm/vmscan, memcg: x"), "mm/vmscan, memcg: x");
	assert_string_equal(words_subject("mm: "), "mm: ");
	assert_string_equal(words_subject(""), "");
}

static void rows_are_named(void **state)
{
	AUTO_REPORT report = sample_random();
	static const char *const want[] = {
		"off/plain (baseline)", "on/dis vanilla",	"  + 1 early checks",	 "  + 2 inline charge",
		"  + 3 inline swap",	"baseline again (A/A)", "baseline second boots", "baseline code moved",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		expect_own(words_row(report, &report->rows[i], false), want[i]);
	expect_own(words_row(report, &report->rows[0], true), "base: off/plain");
	expect_own(words_row(report, &report->rows[5], true), "base again (A/A)");
	expect_own(words_row_facts(report, &report->rows[0]), "off/plain/0 (base): CONFIG_MEMCG=n; nothing on the command line");
	expect_own(words_row_facts(report, &report->rows[1]), "on/dis/0: CONFIG_MEMCG=y; cgroup_disable=memory");
	expect_own(words_row_facts(report, &report->rows[2]), "on/dis/1: + mm: early checks");
	expect_own(words_row_facts(report, &report->rows[9]), "a|*b*/\"q\", x/0: a|*b*; root=<x>&y|z `w`");
	expect_own(words_row_facts(report, &report->rows[10]),
		   "on/dis/0: CONFIG_MEMCG=y; nothing on the command line; lab: block 2: no device");
	assert_false(words_row_shown(&report->rows[6]));
	report->rows[6].status = ROW_LAB;
	assert_true(words_row_shown(&report->rows[6]));
}

static void a_runs_circumstances_are_named(void **state)
{
	AUTO_REPORT exact = sample_exact();
	AUTO_REPORT random = sample_random();
	const struct jnode *workload = jnode_item(jnode_get(exact->run, "workloads"), 0);

	(void)state;
	expect_own(words_workload(workload), "pft 64M x1");
	expect_own(words_options(workload),
		   "size=64M threads=1 processes=0 cachelines=1 compat=none iterations=5 warmup=2 cgroup=auto");
	expect_own(words_kernel(&exact->rows[0]), "linux 5.10.262 arm64, gcc 12.2.0, allnoconfig");
	expect_own(words_target(random->rows[0].target), "phone big");
	expect_own(words_device(exact->rows[0].target), "cortex-a57 icount, QEMU 7.2.22");
	expect_own(words_frequency(exact->rows[0].target), "does not matter, instructions are counted");
	expect_own(words_frequency(random->rows[0].target), "2.25 GHz fixed");
	expect_own(words_frequency(random->rows[9].target), "not recorded");
	/* CONFIG_SWAP is what all configs ask for. */
	expect_own(words_config(exact, "off"), "CONFIG_MEMCG=n");
	expect_own(words_config(exact, "none of these"), "");
	assert_string_equal(words_cmdline(&exact->rows[0]), "");
	assert_string_equal(words_cmdline(&exact->rows[1]), "cgroup_disable=memory");
	expect_own(words_measure(exact, 0, workload),
		   "3 boots each x 5 iterations (2 warm-ups left out), random order in each block, seed 1");
	expect_own(words_measure(random, 0, workload), "12 boots each (24 of the baseline) x 5 iterations (2 warm-ups left out), "
						       "order ABBA, seed 7, until +-0.5% (Stein, pilot of 8 "
						       "blocks)");
	expect_own(words_control(random, 0, CONTROL_AA, "pft.fault.rate"), "-0.05% [-0.40%, +0.30%] ~");
	assert_null(words_control(random, 1, CONTROL_AA, "pft.fault.rate"));
	assert_null(words_no_aa(random, 0));
	assert_string_equal(words_no_aa(random, 1), "not measured");
	assert_string_equal(words_no_aa(exact, 0), "not needed, equal boots repeat themselves bit for bit");
}

static void gates_are_put_into_words(void **state)
{
	AUTO_REPORT exact = sample_exact();
	AUTO_REPORT random = sample_random();

	(void)state;
	expect_own(words_gate(exact, &exact->gates[0]), "pft.fault.insn of on/dis/1 worse than baseline by at most 8%");
	expect_own(words_gate_value(&exact->gates[0]), "+5.52% +-0.02%");
	assert_null(words_gate_reason(&exact->gates[0]));
	expect_own(words_gate_value(&exact->gates[2]), "");
	expect_own(words_gate_reason(&exact->gates[2]), "its kernel did not build");
	expect_own(words_gate(random, &random->gates[2]), "pft.fault.rate of on/dis/3 on phone big within +-2.5% of baseline");
	expect_own(words_gate_value(&random->gates[2]), "+2.54% [+2.20%, +2.88% one-sided]");
	expect_own(words_gate_reason(&random->gates[2]), "these boots detect 0.49% at 80%; it would take 340 boots a variant");
}

static void marks_are_explained_where_they_stand(void **state)
{
	AUTO_REPORT report = sample_random();

	(void)state;
	expect_own(words_mark_line(report, 0, "pft.fault.rate", '~'), "not resolved (detects 0.49% at 80%)");
	expect_own(words_mark_line(report, 0, "pft.fault.rate", '?'),
		   "resolved alone, not after Holm over the family (detects 0.48% at 80%)");
	expect_own(words_mark_line(report, 0, "pft.fault.rate", '^'),
		   "resolved, yet below the floor that the controls set: no claim");
	assert_null(words_mark_line(report, 1, "pft.fault.rate", '~'));
	expect_own(words_scatter(report, 0, "pft.fault.rate"),
		   "sd between boots 0.41%, iterations within a boot 2.00%, best 31 iterations a boot; the controls moved 0.44%");
	assert_null(words_scatter(report, 0, "pft.fault.ns"));
	assert_false(words_invalid(report, 0));
	assert_true(words_invalid(report, 1));
	expect_own(words_finding(report, &report->findings[1]),
		   "INVALID: sim <2>: the A/A pair differs by 1.2% (p = 0.0002): look for what changed between boots");
	free(report->findings[0].text);
	report->findings[0].text = xstrdup("pft.fault.rate: x");
	expect_own(words_finding(report, &report->findings[0]), "phone big: pft.fault.rate: x");
}

static void a_table_shows_the_metrics_that_matter(void **state)
{
	AUTO_REPORT exact = sample_exact();
	AUTO_REPORT random = sample_random();
	const struct jnode *workload = jnode_item(jnode_get(exact->run, "workloads"), 0);
	AUTO_FREE const struct workload_metric **insn = words_metrics(exact, 0, workload, WORDS_LONG);
	AUTO_FREE const struct workload_metric **rate = words_metrics(random, 0, workload, WORDS_SHORT);
	AUTO_FREE const struct workload_metric **both = words_metrics(random, 0, workload, WORDS_LONG);

	(void)state;
	assert_string_equal(insn[0]->phase, "fault");
	assert_string_equal(insn[0]->unit, "insn");
	assert_string_equal(insn[1]->phase, "teardown");
	assert_null(insn[2]);
	assert_string_equal(rate[0]->unit, "rate");
	assert_null(rate[1]);
	assert_string_equal(both[0]->unit, "ns");
	assert_string_equal(both[1]->unit, "rate");
	assert_null(both[2]);
	/* A gate's metric is shown in any case. */
	exact->gates[0].metric = "pft.fault.insn_k";
	AUTO_FREE const struct workload_metric **gated = words_metrics(exact, 0, workload, WORDS_SHORT);
	assert_string_equal(gated[0]->unit, "insn_k");
}

/* One boot has a mean, and nothing that could be said of its scatter. */
static void test_scatter_of_boots(void **state)
{
	const struct report_metric one = { .mean = 500, .level = { .mean = 500, .sd = NAN } };
	const struct report_metric several = { .mean = 500, .level = { .mean = 500, .sd = 10.5 } };
	AUTO_FREE char *none = words_cv(&one);
	AUTO_FREE char *some = words_cv(&several);

	(void)state;
	assert_string_equal(none, "");
	assert_string_equal(some, "2.10%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scatter_of_boots),
		cmocka_unit_test(characters_are_read_one_by_one),
		cmocka_unit_test(characters_are_written_as_they_were_read),
		cmocka_unit_test(xml_is_escaped),
		cmocka_unit_test(plain_text_is_ascii),
		cmocka_unit_test(lines_are_filled),
		cmocka_unit_test(commands_go_on_in_the_next_line),
		cmocka_unit_test(numbers_have_the_digits_that_say_something),
		cmocka_unit_test(subjects_lose_their_subsystem),
		cmocka_unit_test(rows_are_named),
		cmocka_unit_test(a_runs_circumstances_are_named),
		cmocka_unit_test(gates_are_put_into_words),
		cmocka_unit_test(marks_are_explained_where_they_stand),
		cmocka_unit_test(a_table_shows_the_metrics_that_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
