/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/counter.h"
#include "agent/sysfile.h"
#include "agent/workload_run.h"
#include "agent_root.h"

static const struct counter_plan pmu = { .kind = COUNTER_PMU };

static void without_a_pmu_nothing_is_opened(void **state)
{
	struct counter counter;
	struct counter_reading reading = { 1, 1 };
	char reason[100] = "";

	(void)state;
	for (enum counter_kind kind = COUNTER_CLOCK; kind <= COUNTER_MODEL; kind++) {
		const struct counter_plan plan = { .kind = kind, .events = 1u << EVENT_CYCLES };

		assert_true(counter_open(&counter, &plan, reason, sizeof(reason)));
		assert_int_equal(counter.n, 0);
		counter_start(&counter);
		counter_stop(&counter);
		assert_true(counter_read(&counter, &reading, reason, sizeof(reason)));
		assert_true(reading.kernel == 0 && reading.user == 0);
		counter_close(&counter);
	}
	assert_string_equal(counter_name(COUNTER_PMU), "pmu");
	assert_string_equal(counter_name(COUNTER_MODEL), "model");
}

/* Where this machine lets us count: a loop counts at least its own instructions; a counter that never ran is refused. */
static void counts_or_says_why_not(void **state)
{
	struct counter counter;
	struct counter_reading reading = { 7, 7 };
	char reason[100] = "";

	(void)state;
	if (!counter_open(&counter, &pmu, reason, sizeof(reason))) {
		assert_memory_equal(reason, "perf_event_open of instructions:", 32);
		return;
	}
	assert_false(counter_read(&counter, &reading, reason, sizeof(reason)));
	assert_true(reading.kernel == 7 && reading.user == 7);
	counter_start(&counter);
	for (volatile int i = 0; i < 100000; i++)
		;
	counter_stop(&counter);
	if (counter_read(&counter, &reading, reason, sizeof(reason)))
		assert_in_range(reading.user, 100000, 10000000);
	else
		assert_memory_equal(reason, "the PMU counted for ", 20);
	counter_close(&counter);
}

/*
 * An event beside them: refused by name, with nothing left open, or counted in the same group. Not every machine that the tests run on
 * has a PMU.
 */
static void events_are_counted_or_refused_by_name(void **state)
{
	const struct counter_plan none = { .kind = COUNTER_PMU, .events = 1u << EVENT_DTLB_WALKS };
	const struct counter_plan cycles = { .kind = COUNTER_PMU, .events = 1u << EVENT_CYCLES };
	struct counter counter;
	struct counter_reading reading;
	char reason[128] = "";

	(void)state;
	if (!counter_open(&counter, &pmu, reason, sizeof(reason))) {
		assert_false(counter_open(&counter, &cycles, reason, sizeof(reason)));
		assert_memory_equal(reason, "perf_event_open of instructions:", 32);
		assert_int_equal(counter.n, 0);
		return;
	}
	counter_close(&counter);
	if (!COUNTER_RAW) {
		assert_false(counter_open(&counter, &none, reason, sizeof(reason)));
		assert_string_equal(reason, "dtlb_walks: the kernel counts it on arm64 alone: leave it out of 'events'");
		assert_int_equal(counter.n, 0);
	}
	if (!counter_open(&counter, &cycles, reason, sizeof(reason))) {
		assert_non_null(strstr(reason, "cycles"));
		return;
	}
	assert_int_equal(counter.n, 3);
	counter_start(&counter);
	for (int i = 0; i < 1000; i++)
		getppid();
	counter_stop(&counter);
	if (counter_read(&counter, &reading, reason, sizeof(reason))) {
		assert_true(reading.events[EVENT_CYCLES] > 1000);
		assert_true(reading.events[EVENT_L1D_MISSES] == 0);
	}
	counter_close(&counter);
}

static void readings_are_added(void **state)
{
	struct counter_reading sum = { .kernel = 1, .user = 2, .events = { [EVENT_CYCLES] = 3 } };
	const struct counter_reading more = { 10, 20, { [EVENT_CYCLES] = 30, [EVENT_BRANCH_MISSES] = 40 } };

	(void)state;
	counter_add(&sum, &more);
	assert_true(sum.kernel == 11 && sum.user == 22);
	assert_true(sum.events[EVENT_CYCLES] == 33 && sum.events[EVENT_BRANCH_MISSES] == 40);
}

/* Only what is counted is stored: a reading that nobody asked for stays unread. */
static void counts_become_readings(void **state)
{
	struct workload_run run = { .kind = workload_find("fork-exit"),
				    .counter = { .kind = COUNTER_PMU, .events = 1u << EVENT_ITLB_MISSES } };
	const struct counter_reading reading = { 10, 20, { [EVENT_CYCLES] = 30, [EVENT_ITLB_MISSES] = 50 } };

	(void)state;
	for (size_t i = 0; i < run.kind->n_metrics; i++)
		run.readings[i] = NAN;
	workload_set_counts(&run, "fork", &reading, 4);
	for (size_t i = 0; i < run.kind->n_metrics; i++) {
		const struct workload_metric *metric = &run.kind->metrics[i];

		if (!strcmp(metric->unit, "insn_k"))
			assert_true(run.readings[i] == 2.5);
		else if (!strcmp(metric->unit, "insn_u"))
			assert_true(run.readings[i] == 5);
		else if (!strcmp(metric->unit, "itlb_misses_k"))
			assert_true(run.readings[i] == 12.5);
		else
			assert_true(isnan(run.readings[i]));
	}
}

static void files(void **state)
{
	char *root = root_new();
	char path[PATH_MAX];
	size_t len = 0;

	(void)state;
	root_add(root, "line", "a b \n\n");
	root_add_bytes(root, "bytes", "a\0b", 3);
	char *line = sysfile_line(root, "/line");
	char *bytes = sysfile_read(root, "/bytes", &len);

	assert_string_equal(line, "a b");
	assert_int_equal(len, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	free(line);
	free(bytes);
	char *big = malloc(100001);

	memset(big, 'x', 100000);
	big[100000] = '\0';
	root_add(root, "big", big);
	char *back = sysfile_read(root, "/big", &len);

	assert_int_equal(len, 100000);
	assert_string_equal(back, big);
	free(back);
	free(big);
	assert_null(sysfile_read(root, "/none", &len));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(len, 100000);
	snprintf(path, sizeof(path), "%s/line", root);
	assert_true(sysfile_write(path, "new"));
	snprintf(path, sizeof(path), "%s/none", root);
	assert_false(sysfile_write(path, "new"));
	assert_int_equal(access(path, F_OK), -1);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_pmu_nothing_is_opened),
		cmocka_unit_test(counts_or_says_why_not),
		cmocka_unit_test(events_are_counted_or_refused_by_name),
		cmocka_unit_test(readings_are_added),
		cmocka_unit_test(counts_become_readings),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
