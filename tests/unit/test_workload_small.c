/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that run on this machine as they are, and what those that cannot say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/memcg.h"
#include "agent/meter.h"
#include "agent/undo.h"
#include "agent/workload_run.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static double reading(const struct workload_run *run, const char *phase, const char *unit)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		if (!strcmp(run->kind->metrics[i].phase, phase) && !strcmp(run->kind->metrics[i].unit, unit))
			return run->readings[i];
	}
	fail_msg("no %s.%s", phase, unit);
	return 0;
}

static struct workload_run start(const char *kind, struct conf_workload *settings, struct conf_pair *pairs, size_t n)
{
	*settings = (struct conf_workload){ .label = (char *)"l", .kind = (char *)kind, .options = pairs, .n_options = n };
	struct workload_run run = {
		.kind = workload_find(kind), .settings = settings, .counter = { .kind = COUNTER_CLOCK }, .clock = true, .root = ""
	};

	for (size_t i = 0; i < run.kind->n_metrics; i++)
		run.readings[i] = NAN;
	for (size_t i = 0; i < N_HEALTH; i++)
		run.health[i] = NAN;
	return run;
}

static void small_ones_measure(void **state)
{
	static const struct {
		const char *kind, *phase, *size, *touch;
		uint64_t pages;
	} cases[] = {
		{ "fork-exit", "fork", "65536", "0", 0 },
		{ "fork-exit", "fork", "65536", "16384", 4 },
		{ "mmap-churn", "churn", "65536", "0", 0 },
		{ "mmap-churn", "churn", "65536", "65536", 16 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pairs[] = { { (char *)"count", (char *)"25" },
					     { (char *)"size", (char *)cases[i].size },
					     { (char *)"touch", (char *)cases[i].touch } };
		struct conf_workload settings;
		struct workload_run run = start(cases[i].kind, &settings, pairs, N(pairs));

		if (run.kind->iterate(&run))
			fail_msg("%s: %s", cases[i].kind, run.reason);
		double ns = reading(&run, cases[i].phase, "ns");

		assert_true(ns > 100);
		assert_true(fabs(reading(&run, "all", "elapsed_ns") - 25 * ns) < 1);
		assert_true(reading(&run, "all", "user_ns") >= 0 && reading(&run, "all", "system_ns") >= 0);
		assert_true(isnan(reading(&run, cases[i].phase, "insn_k")));
		assert_true(run.checks.pages == 25 * cases[i].pages);
		assert_true(run.checks.minor_faults >= run.checks.pages);
		assert_true(run.health[HEALTH_MAJOR_FAULTS] == (double)run.checks.major_faults);
	}
}

static void more_than_there_is_cannot_be_touched(void **state)
{
	static const char *const kinds[] = { "fork-exit", "mmap-churn" };

	(void)state;
	for (size_t i = 0; i < N(kinds); i++) {
		struct conf_pair pairs[] = { { (char *)"size", (char *)"4096" }, { (char *)"touch", (char *)"8192" } };
		struct conf_workload settings;
		struct workload_run run = start(kinds[i], &settings, pairs, N(pairs));

		assert_int_equal(run.kind->iterate(&run), -1);
		assert_string_equal(run.reason, "touch is more than size");
	}
}

/* Each piece is added, and what was reported is forgotten. */
static void meters_add_up(void **state)
{
	struct conf_workload settings;
	struct workload_run run = start("tmpfs-write", &settings, NULL, 0);
	struct meter meter;

	(void)state;
	assert_int_equal(meter_open(&meter, &run, false), 0);
	assert_true(meter.elapsed_ns == 0 && meter.minor_faults == 0);
	for (unsigned i = 0; i < 3; i++) {
		meter_start(&meter);
		usleep(2000);
		meter_stop(&meter);
	}
	assert_in_range(meter.elapsed_ns, 6000000, 10000000000);
	const double elapsed = (double)meter.elapsed_ns;

	assert_int_equal(meter_report(&meter, &run, "write", 2), 0);
	assert_true(reading(&run, "write", "ns") == elapsed / 2);
	assert_true(reading(&run, "all", "elapsed_ns") == elapsed);
	assert_true(meter.elapsed_ns == 0 && run.health[HEALTH_VOLUNTARY_SWITCHES] >= 3);
	meter_start(&meter);
	meter_stop(&meter);
	const double more = (double)meter.elapsed_ns;

	assert_int_equal(meter_report(&meter, &run, "delete", 1), 0);
	assert_true(reading(&run, "all", "elapsed_ns") == elapsed + more);
	meter.failed = true;
	snprintf(meter.reason, sizeof(meter.reason), "the PMU went away");
	assert_int_equal(meter_report(&meter, &run, "write", 2), -1);
	assert_string_equal(run.reason, "the PMU went away");
	meter_close(&meter);
}

/* What prepare() says on a machine that lacks what is asked for; finish() puts all back all the same. */
static void what_is_missing_is_said(void **state)
{
	static const struct {
		const char *kind, *option, *value, *reason;
	} cases[] = {
		{ "swapout", "swap", "zram", "this kernel has no zram that is free (CONFIG_ZRAM)" },
		{ "swapin", "swap", "brd", "this kernel has no RAM disk ram0 (CONFIG_BLK_DEV_RAM)" },
		{ "swapin", "size", "4294967296", "size 4294967296 does not fit into 65536 KiB of available memory" },
		{ "swapstorm", "swap", "block:/dev/none", "no partition '/dev/none' within 5 s" },
		{ "sparse-read", "on", "brd", "this kernel has no RAM disk ram1 (CONFIG_BLK_DEV_RAM)" },
		{ "file-read-cached", "on", "brd", "this kernel has no RAM disk ram1 (CONFIG_BLK_DEV_RAM)" },
	};
	char *root = root_new(), failures[UNDO_TEXT_MAX], reason[128];

	(void)state;
	root_add(root, "proc/meminfo", "MemAvailable: 65536 kB\n");
	for (size_t i = 0; i < N(cases); i++) {
		struct conf_pair pair = { (char *)cases[i].option, (char *)cases[i].value };
		struct conf_workload settings;
		struct workload_run run = start(cases[i].kind, &settings, &pair, 1);
		struct undo undo;

		assert_true(undo_open(&undo, SERVICES_NONE, false, reason, sizeof(reason)));
		run.root = root;
		run.undo = &undo;
		assert_int_equal(run.kind->prepare(&run), -1);
		assert_string_equal(run.reason, cases[i].reason);
		run.kind->finish(&run);
		assert_null(run.state);
		assert_int_equal(undo.log->n, 0);
		undo_close(&undo, failures, sizeof(failures));
		assert_string_equal(failures, "");
	}
	root_free(root);
}

/* An agent that is killed leaves no area switched on and nothing mounted; here the putting back fails, since neither was. */
static void what_was_switched_on_is_put_back(void **state)
{
	struct undo undo;
	char failures[UNDO_TEXT_MAX], reason[128];

	(void)state;
	assert_true(undo_open(&undo, SERVICES_NONE, true, reason, sizeof(reason)));
	assert_true(undo_note(&undo, UNDO_SWAPPING, "/nowhere/swap", ""));
	assert_true(undo_note(&undo, UNDO_MOUNT, "/nowhere/mount", ""));
	undo_close(&undo, failures, sizeof(failures));
	assert_string_equal(failures, "/nowhere/mount: No such file or directory; /nowhere/swap: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones_measure),
		cmocka_unit_test(more_than_there_is_cannot_be_touched),
		cmocka_unit_test(meters_add_up),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(what_was_switched_on_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
