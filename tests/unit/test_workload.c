/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/memory.h"
#include "agent/workload_run.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static bool has_metric(const struct workload_kind *kind, const char *name, size_t len)
{
	for (size_t i = 0; i < kind->n_metrics; i++) {
		char own[64];

		snprintf(own, sizeof(own), "%s.%s", kind->metrics[i].phase, kind->metrics[i].unit);
		if (strlen(own) == len && !strncmp(own, name, len))
			return true;
	}
	return false;
}

/* Each name behind "sum:" or "rate:" is a reading of the same table. */
static void check_derived(const struct workload_kind *kind, const char *derived)
{
	const char *names = strchr(derived, ':');

	assert_true(!strncmp(derived, "sum:", 4) || !strncmp(derived, "rate:", 5));
	for (names++; *names; names += names[0] == ',') {
		size_t len = strcspn(names, ",");

		assert_true(has_metric(kind, names, len));
		names += len;
	}
}

static void tables_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < workload_n_common_options; i++)
		assert_true(workload_value_ok(&workload_common_options[i], workload_common_options[i].fallback));
	for (size_t k = 0; k < workload_n_kinds; k++) {
		const struct workload_kind *kind = workload_kinds[k];

		assert_ptr_equal(workload_find(kind->name), kind);
		assert_in_range(kind->n_metrics, 1, WORKLOAD_MAX_METRICS);
		for (size_t i = 0; i < kind->n_options; i++) {
			assert_true(workload_value_ok(&kind->options[i], kind->options[i].fallback));
			assert_ptr_equal(workload_find_option(kind, kind->options[i].name), &kind->options[i]);
		}
		for (size_t i = 0; i < kind->n_metrics; i++) {
			const struct workload_metric *metric = &kind->metrics[i];

			bool room = !strcmp(metric->unit, "total_kib") || !strcmp(metric->unit, "available_kib") ||
				    !strcmp(metric->unit, "passed_tests");

			assert_int_equal(metric->higher_is_better, room || !strcmp(metric->unit, "rate"));
			if (metric->derived)
				check_derived(kind, metric->derived);
		}
	}
	assert_null(workload_find("pf"));
	assert_null(workload_find_option(workload_find("pft"), "colour"));
	assert_string_equal(workload_find_option(workload_find("pft"), "warmup")->fallback, "2");
}

static void values(void **state)
{
	static const struct workload_option size = { "s", OPTION_SIZE, 10, 20, "10", NULL, "" };
	static const char *const word_list[] = { "a", "b", NULL };
	static const struct workload_option word = { "w", OPTION_WORD, 0, 0, "a", word_list, "" };
	static const struct workload_option flag = { "b", OPTION_BOOL, 0, 0, "0", NULL, "" };

	(void)state;
	assert_true(workload_value_ok(&size, "10") && workload_value_ok(&size, "20"));
	assert_false(workload_value_ok(&size, "9") || workload_value_ok(&size, "21") || workload_value_ok(&size, "10K"));
	assert_true(workload_value_ok(&word, "b"));
	assert_false(workload_value_ok(&word, "") || workload_value_ok(&word, "c"));
	assert_true(workload_value_ok(&flag, "1"));
	assert_false(workload_value_ok(&flag, "yes"));
}

static void units(void **state)
{
	static const struct {
		struct workload_metric metric;
		const char *text;
	} cases[] = {
		{ { "fault", "insn", "page", false, NULL }, "insn/page" },
		{ { "fault", "insn_k", "page", false, NULL }, "insn/page" },
		{ { "fault", "ns", "op", false, NULL }, "ns/op" },
		{ { "fault", "rate", "page", true, NULL }, "page/s" },
		{ { "boot", "total_kib", NULL, true, NULL }, "KiB" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		workload_unit_text(&cases[i].metric, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void checks_settings(void **state)
{
	static const struct {
		const char *kind, *key[2], *value[2], *reason; /* reason NULL: good */
	} cases[] = {
		{ "pft", { "size" }, { "1048576" }, NULL },
		{ "pft", { "threads", "processes" }, { "1", "4" }, NULL },
		{ "pfd", { NULL }, { NULL }, "there is no workload 'pfd'" },
		{ "pft", { "siez" }, { "1" }, "pft has no option 'siez'" },
		{ "pft", { "size" }, { "1" }, "size=1 is out of range" },
		{ "pft", { "cgroup" }, { "here" }, "cgroup=here is out of range" },
		{ "pft", { "threads", "processes" }, { "2", "2" }, "threads and processes exclude each other" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pairs[2] = { { (char *)cases[i].key[0], (char *)cases[i].value[0] },
					      { (char *)cases[i].key[1], (char *)cases[i].value[1] } };
		struct conf_workload settings = { .label = "l", .kind = (char *)cases[i].kind, .options = pairs };
		char reason[WORKLOAD_REASON_MAX] = "";

		for (; settings.n_options < 2 && pairs[settings.n_options].key; settings.n_options++)
			;
		assert_int_equal(workload_check(&settings, reason, sizeof(reason)), !cases[i].reason);
		assert_string_equal(reason, cases[i].reason ? cases[i].reason : "");
	}
}

static void counts_iterations(void **state)
{
	static const struct {
		const char *kind, *key[2], *value[2];
		uint64_t samples;
	} cases[] = {
		{ "pft", { NULL }, { NULL }, 7 },    { "pft", { "iterations", "warmup" }, { "10000", "1000" }, 11000 },
		{ "pft", { "warmup" }, { "0" }, 5 }, { "pft", { "iterations" }, { "10001" }, 0 },
		{ "pft", { "warmup" }, { "x" }, 0 }, { "pfd", { NULL }, { NULL }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pairs[2] = { { (char *)cases[i].key[0], (char *)cases[i].value[0] },
					      { (char *)cases[i].key[1], (char *)cases[i].value[1] } };
		struct conf_workload settings = { .label = "l", .kind = (char *)cases[i].kind, .options = pairs };

		for (; settings.n_options < 2 && pairs[settings.n_options].key; settings.n_options++)
			;
		assert_true(workload_samples(&settings) == cases[i].samples);
	}
}

static double reading(const struct workload_run *run, const char *phase, const char *unit)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		if (!strcmp(run->kind->metrics[i].phase, phase) && !strcmp(run->kind->metrics[i].unit, unit))
			return run->readings[i];
	}
	fail();
	return 0;
}

/* One iteration by the clock of a pft with the given options. */
static int run_pft(struct workload_run *run, struct conf_workload *settings, struct conf_pair *pairs, size_t n)
{
	*settings = (struct conf_workload){ .label = "pft", .kind = "pft", .options = pairs, .n_options = n };
	*run = (struct workload_run){
		.kind = workload_find("pft"), .settings = settings, .counter = { .kind = COUNTER_CLOCK }, .clock = true
	};
	for (size_t i = 0; i < run->kind->n_metrics; i++)
		run->readings[i] = NAN;
	return run->kind->iterate(run);
}

static void pft_measures(void **state)
{
	static const struct {
		const char *option, *value;
		uint64_t pages;
	} cases[] = {
		{ "threads", "1", 256 },   { "threads", "3", 258 },    { "processes", "1", 256 },
		{ "processes", "5", 260 }, { "cachelines", "4", 256 }, { "cachelines", "64", 256 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pairs[] = { { "size", "1048576" }, { (char *)cases[i].option, (char *)cases[i].value } };
		struct conf_workload settings;
		struct workload_run run;

		if (run_pft(&run, &settings, pairs, N(pairs)))
			fail_msg("%s=%s: %s", cases[i].option, cases[i].value, run.reason);
		assert_true(reading(&run, "fault", "ns") > 10);
		assert_true(reading(&run, "teardown", "ns") > 1);
		assert_true(isnan(reading(&run, "fault", "insn_k")));
		assert_true(isnan(reading(&run, "both", "ns")));
		assert_true(run.health[HEALTH_MAJOR_FAULTS] == (double)run.checks.major_faults);
		assert_true(run.health[HEALTH_VOLUNTARY_SWITCHES] == (double)run.checks.voluntary_switches);
		assert_true(run.health[HEALTH_INVOLUNTARY_SWITCHES] == (double)run.checks.involuntary_switches);
		assert_true(run.health[HEALTH_CPU_SHARE] > 0 && run.health[HEALTH_CPU_SHARE] <= 1);
		assert_true(run.checks.pages == cases[i].pages);
		assert_in_range(run.checks.minor_faults, cases[i].pages - 5 * 2, cases[i].pages + 5 * 2);
		assert_true(run.checks.major_faults == 0);
		assert_null(run.compat);
	}
}

static void pft_moves_its_region(void **state)
{
	struct conf_pair pairs[] = { { "size", "65536" } };
	struct conf_workload settings;
	struct workload_run run;

	(void)state;
	assert_int_equal(run_pft(&run, &settings, pairs, 1), 0);
	run.region_offset = 64 << 20;
	assert_int_equal(run.kind->iterate(&run), 0);
	assert_true(run.checks.pages == 32);
}

static void pft_of_a_model_is_small(void **state)
{
	struct conf_workload settings = { .label = (char *)"pft", .kind = (char *)"pft" };
	struct workload_run run = { .kind = workload_find("pft"), .settings = &settings, .counter = { .kind = COUNTER_MODEL } };

	(void)state;
	assert_int_equal(run.kind->iterate(&run), 0);
	assert_true(run.checks.pages == (4 << 20) / (uint64_t)sysconf(_SC_PAGESIZE));
}

static void pft_refuses(void **state)
{
	static const struct {
		const char *option, *value, *reason;
	} cases[] = {
		{ "size", "1099511627776", "size 1099511627776 does not fit into " },
		{ "cachelines", "512", "512 cache lines of " },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pair = { (char *)cases[i].option, (char *)cases[i].value };
		struct conf_workload settings;
		struct workload_run run;

		assert_int_equal(run_pft(&run, &settings, &pair, 1), -1);
		assert_memory_equal(run.reason, cases[i].reason, strlen(cases[i].reason));
	}
}

static const char meminfo[] = "MemTotal:         506524 kB\nMemFree:          495000 kB\nMemAvailable:     493352 kB\n"
			      "SwapTotal:             0 kB\nSlab:               2828 kB\nPercpu:               80 kB\n";

static void memory_is_what_was_there(void **state)
{
	char *root = root_new(), *old = root_new(), *none = root_new();
	struct conf_workload settings = { .label = (char *)"m", .kind = (char *)"memory" };
	struct memory memory;
	struct workload_run run = {
		.kind = workload_find("memory"), .settings = &settings, .counter = { .kind = COUNTER_PMU }, .memory = &memory
	};

	(void)state;
	root_add(root, "proc/meminfo", meminfo);
	root_add(old, "proc/meminfo", "MemTotal: 1000 kB\nNotSlab: 7 kB\n");
	memory_read(&memory, root);
	assert_int_equal(run.kind->iterate(&run), 0);
	assert_true(run.readings[0] == 506524 && run.readings[1] == 493352 && run.readings[2] == 2828 && run.readings[3] == 80);
	/* another iteration is the same */
	assert_int_equal(run.kind->iterate(&run), 0);
	assert_true(run.readings[1] == 493352);
	memory_read(&memory, old);
	assert_int_equal(run.kind->iterate(&run), 0);
	assert_true(run.readings[0] == 1000 && isnan(run.readings[1]) && isnan(run.readings[2]) && isnan(run.readings[3]));
	memory_read(&memory, none);
	assert_int_equal(run.kind->iterate(&run), -1);
	assert_string_equal(run.reason, "/proc/meminfo has no MemTotal");
	root_free(root);
	root_free(old);
	root_free(none);
}

static void memory_is_read_where_it_is_asked_for(void **state)
{
	struct conf_workload pft = { .label = (char *)"memory", .kind = (char *)"pft" };
	struct conf_workload both[] = { pft, { .label = (char *)"m", .kind = (char *)"memory" } };

	(void)state;
	assert_false(memory_is_wanted(&(struct conf){ .workloads = &pft, .n_workloads = 1 }));
	assert_true(memory_is_wanted(&(struct conf){ .workloads = both, .n_workloads = 2 }));
}

static void pft_prints_historic_lines(void **state)
{
	static const struct {
		const char *compat, *heading, *start;
	} cases[] = {
		{ "0.12x", " Gb Thr CLine   User   System     Wall flt/cpu/s fault/wsec\n", "  0   2     1 " },
		{ "2006", " Gb Rep Thr CLine   User   System     Wall flt/cpu/s fault/wsec\n", "  0   1   2     1 " },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pairs[] = { { "size", "1048576" }, { "threads", "2" }, { "compat", (char *)cases[i].compat } };
		struct conf_workload settings;
		struct workload_run run;

		assert_int_equal(run_pft(&run, &settings, pairs, N(pairs)), 0);
		assert_non_null(run.compat);
		assert_memory_equal(run.compat, cases[i].heading, strlen(cases[i].heading));
		const char *line = run.compat + strlen(cases[i].heading);

		assert_memory_equal(line, cases[i].start, strlen(cases[i].start));
		assert_int_equal(run.kind->iterate(&run), 0);
		size_t lines = 0;

		for (const char *c = run.compat; *c; c++)
			lines += *c == '\n';
		assert_int_equal(lines, 3);
		workload_run_deinit(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(values),
		cmocka_unit_test(units),
		cmocka_unit_test(checks_settings),
		cmocka_unit_test(counts_iterations),
		cmocka_unit_test(pft_measures),
		cmocka_unit_test(pft_moves_its_region),
		cmocka_unit_test(pft_of_a_model_is_small),
		cmocka_unit_test(memory_is_what_was_there),
		cmocka_unit_test(memory_is_read_where_it_is_asked_for),
		cmocka_unit_test(pft_refuses),
		cmocka_unit_test(pft_prints_historic_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
