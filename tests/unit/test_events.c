/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events beside instructions: their table, the PMU that has them, what a machine below a root says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/counting.h"
#include "agent/events.h"
#include "agent/pmu.h"
#include "agent/workload_run.h"
#include "agent_root.h"

#define DEVICES "sys/bus/event_source/devices/"

static void names_are_read_and_written(void **state)
{
	static const char *const bad[] = {
		"", "cycle", "cycles,", ",cycles", "cycles,,l1d_misses", "cycles,cycles", "cycles l1d_misses"
	};
	char text[200], small[8];

	(void)state;
	events_format(events_parse("dtlb_misses,cycles"), text, sizeof(text));
	assert_string_equal(text, "cycles,dtlb_misses");
	events_format((1u << N_EVENTS) - 1, text, sizeof(text));
	assert_int_equal(events_parse(text), (1u << N_EVENTS) - 1);
	events_format(1u << EVENT_BRANCH_MISSES, small, sizeof(small));
	assert_string_equal(small, "branch_");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(events_parse(bad[i]), 0);
	for (enum event event = 0; event < N_EVENTS; event++) {
		assert_string_equal(event_names[event], event_infos[event].name);
		assert_int_equal(event_of_unit(event_infos[event].unit), event);
	}
	assert_null(event_names[N_EVENTS]);
	assert_int_equal(event_of_unit("cycles"), N_EVENTS);
	assert_int_equal(event_of_unit("insn_k"), N_EVENTS);
}

static bool has_metric(const struct workload_kind *kind, const char *phase, const char *unit)
{
	for (size_t i = 0; i < kind->n_metrics; i++) {
		if (!strcmp(kind->metrics[i].phase, phase) && !strcmp(kind->metrics[i].unit, unit))
			return true;
	}
	return false;
}

/* Wherever instructions of the kernel are told there is a place for each event, and none is told by the host alone. */
static void every_counted_phase_has_all_events(void **state)
{
	size_t phases = 0;

	(void)state;
	for (size_t k = 0; k < workload_n_kinds; k++) {
		const struct workload_kind *kind = workload_kinds[k];

		assert_in_range(kind->n_metrics, 1, WORKLOAD_MAX_METRICS);
		for (size_t i = 0; i < kind->n_metrics; i++) {
			if (strcmp(kind->metrics[i].unit, "insn_k") != 0)
				continue;
			phases++;
			for (enum event event = 0; event < N_EVENTS; event++)
				assert_true(has_metric(kind, kind->metrics[i].phase, event_infos[event].unit));
		}
	}
	assert_in_range(phases, 10, 100);
}

static void units_say_what_is_counted(void **state)
{
	static const struct workload_metric misses = { "fault", "dtlb_misses_k", "page", false, NULL };
	static const struct workload_metric cycles = { "all", "cycles_k", "run", false, NULL };
	char text[40];

	(void)state;
	workload_unit_text(&misses, text, sizeof(text));
	assert_string_equal(text, "dtlb_misses/page");
	workload_unit_text(&cycles, text, sizeof(text));
	assert_string_equal(text, "cycles/run");
}

/* A phone with two classes of cores, a memory controller that counts too, and a software source that belongs to no core. */
static char *machine(void)
{
	char *root = root_new();

	root_add(root, DEVICES "armv8_cortex_a55/cpus", "0-3\n");
	root_add(root, DEVICES "armv8_cortex_a55/type", "8\n");
	root_add(root, DEVICES "armv8_cortex_a55/events/cpu_cycles", "event=0x0011\n");
	root_add(root, DEVICES "armv8_cortex_x1/cpus", "4-7\n");
	root_add(root, DEVICES "armv8_cortex_x1/type", "9\n");
	root_add(root, DEVICES "armv8_cortex_x1/events/cpu_cycles", "event=0x0011\n");
	root_add(root, DEVICES "armv8_cortex_x1/events/dtlb_walk", "event=0x0034\n");
	root_add(root, DEVICES "dmc_0/cpumask", "0\n");
	root_add(root, DEVICES "dmc_0/type", "11\n");
	root_add(root, DEVICES "software/type", "1\n");
	return root;
}

static cpu_set_t cpus(unsigned first, unsigned last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &set);
	return set;
}

static void finds_the_pmu_of_the_cores(void **state)
{
	char *root = machine(), reason[128] = "";
	const cpu_set_t little = cpus(1, 3), big = cpus(4, 7), mixed = cpus(2, 5), none = cpus(8, 9);
	struct pmu pmu;

	(void)state;
	assert_true(pmu_find(root, &little, &pmu, reason, sizeof(reason)));
	assert_string_equal(pmu.name, "armv8_cortex_a55");
	assert_int_equal(pmu.type, 8);
	assert_true(pmu_find(root, &big, &pmu, reason, sizeof(reason)));
	assert_string_equal(pmu.name, "armv8_cortex_x1");
	assert_int_equal(pmu.type, 9);
	assert_false(pmu_find(root, &mixed, &pmu, reason, sizeof(reason)));
	assert_memory_equal(reason, "CPUs 2-5 are of several PMUs, armv8_cortex_", 43);
	assert_non_null(strstr(reason, ": measure cores of one class"));
	assert_false(pmu_find(root, &none, &pmu, reason, sizeof(reason)));
	assert_string_equal(reason, "CPUs 8-9 have no PMU in /sys/bus/event_source/devices");
	assert_false(pmu_find("/nowhere", &big, &pmu, reason, sizeof(reason)));
	assert_int_equal(pmu.type, 9);
	root_free(root);
}

/* Type and cores must be told: what is half there is no PMU. */
static void a_broken_pmu_is_none(void **state)
{
	static const char *const types[] = { "", "x\n", "4294967296\n", "-1\n" };
	const cpu_set_t all = cpus(0, 1);
	struct pmu pmu;
	char reason[128];

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char *root = root_new();

		root_add(root, DEVICES "armv8_pmuv3/cpus", "0-1\n");
		root_add(root, DEVICES "armv8_pmuv3/type", types[i]);
		assert_false(pmu_find(root, &all, &pmu, reason, sizeof(reason)));
		root_add(root, DEVICES "armv8_pmuv3/type", "10\n");
		assert_true(pmu_find(root, &all, &pmu, reason, sizeof(reason)));
		root_add(root, DEVICES "armv8_pmuv3/cpus", "0-\n");
		assert_false(pmu_find(root, &all, &pmu, reason, sizeof(reason)));
		root_free(root);
	}
}

static void an_event_that_the_cores_have_not_is_refused(void **state)
{
	char *root = machine(), reason[128] = "", name[PMU_NAME_MAX];
	const cpu_set_t little = cpus(0, 3), big = cpus(4, 7), mixed = cpus(0, 7);
	struct counter_plan plan = { .kind = COUNTER_PMU, .events = events_parse("dtlb_walks,cycles") };

	(void)state;
	assert_true(counting_find_type(root, &big, &plan, name, reason, sizeof(reason)));
	assert_int_equal(plan.type, 9);
	assert_string_equal(name, "armv8_cortex_x1");
	assert_false(counting_find_type(root, &little, &plan, name, reason, sizeof(reason)));
	assert_string_equal(reason, "dtlb_walks: armv8_cortex_a55 has no event dtlb_walk (0x34): leave it out of 'events'");
	assert_false(counting_find_type(root, &mixed, &plan, name, reason, sizeof(reason)));
	/* Instructions alone are counted as before where the cores differ. */
	plan.events = 0;
	assert_true(counting_find_type(root, &mixed, &plan, name, reason, sizeof(reason)));
	assert_int_equal(plan.type, 0);
	assert_true(counting_find_type(root, &little, &plan, name, reason, sizeof(reason)));
	assert_int_equal(plan.type, 8);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_and_written), cmocka_unit_test(every_counted_phase_has_all_events),
		cmocka_unit_test(units_say_what_is_counted),  cmocka_unit_test(finds_the_pmu_of_the_cores),
		cmocka_unit_test(a_broken_pmu_is_none),	      cmocka_unit_test(an_event_that_the_cores_have_not_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
