/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/health_probe.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define COOLING "sys/class/thermal/cooling_device"
#define ZONE "sys/class/thermal/thermal_zone"
#define POLICY "sys/devices/system/cpu/cpufreq/policy"

static void tables_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_HEALTH; i++) {
		assert_ptr_equal(health_find(health_readings[i].name), &health_readings[i]);
		assert_in_range(strlen(health_readings[i].unit), 1, 31);
		assert_null(strpbrk(health_readings[i].name, " .%/"));
		assert_null(strpbrk(health_readings[i].unit, " %"));
		assert_int_not_equal(strlen(health_readings[i].help), 0);
	}
	assert_null(health_find("throttle"));
	for (size_t k = 0; k < workload_n_kinds; k++) {
		for (const char *const *cause = workload_kinds[k]->voids; *cause; cause++) {
			const struct health_reading *reading = health_find(*cause);

			assert_non_null(reading);
			assert_true(reading->cause);
		}
	}
}

static void a_cause_voids_a_sample(void **state)
{
	static const char *const causes[] = { "throttled", "swapped", NULL };
	const struct workload_kind kind = { .name = "k", .voids = causes };
	const struct workload_kind careless = { .name = "c" };
	static const char *const names[] = { "fault.ns", "health.swapped", "health.throttled", "health.major_faults",
					     "swapped",	 "fault.throttled" };
	static const struct {
		double values[6];
		const char *cause;
	} cases[] = {
		{ { 500, 0, 0, 0, 0, 0 }, NULL },	 { { 500, 3, 0, 0, 0, 0 }, "swapped" },
		{ { 500, 0, 1, 0, 0, 0 }, "throttled" }, { { 500, 3, 1, 0, 0, 0 }, "throttled" },
		{ { 500, 0, 0, 7, 0, 0 }, NULL },	 { { 500, 0, 0, 0, 9, 9 }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const char *cause = health_void_cause(&kind, names, cases[i].values, N(names));

		assert_int_equal(cause != NULL, cases[i].cause != NULL);
		if (cause)
			assert_string_equal(cause, cases[i].cause);
		assert_null(health_void_cause(&careless, names, cases[i].values, N(names)));
	}
	/* what is missing is no cause */
	assert_null(health_void_cause(&kind, names, cases[1].values, 1));
	assert_null(health_void_cause(&kind, NULL, NULL, 0));
}

static void assert_readings(const double *found, const double *want)
{
	for (size_t i = 0; i < N_HEALTH; i++) {
		if (isnan(want[i]) ? !isnan(found[i]) : found[i] != want[i])
			fail_msg("%s is %g, wanted %g", health_readings[i].name, found[i], want[i]);
	}
}

static void nothing(double *values)
{
	for (size_t i = 0; i < N_HEALTH; i++)
		values[i] = NAN;
}

/* The readings of a probe; `change` is called in between. */
static void take(const char *root, const cpu_set_t *cpus, void (*change)(const char *root), double *values_out)
{
	struct health_probe probe;

	nothing(values_out);
	health_probe_open(&probe, root, cpus);
	health_probe_before(&probe);
	if (change)
		change(root);
	health_probe_after(&probe, values_out);
	health_probe_close(&probe);
}

static void what_is_not_offered_is_not_reported(void **state)
{
	char *root = root_new();
	double values[N_HEALTH], none[N_HEALTH];

	(void)state;
	nothing(none);
	take(root, NULL, NULL, values);
	assert_readings(values, none);
	root_add(root, "proc/vmstat", "nr_free_pages 1\npgmajfault 7\nthp_fault_fallback 3\nxpswpin 4\npswpinx 5");
	root_add(root, COOLING "0/type", "thermal-cpufreq-0\n");
	root_add(root, ZONE "0/temp", "hot\n");
	root_add(root, POLICY "0/scaling_cur_freq", "<unknown>\n");
	root_add(root, POLICY "0/stats/total_trans", "\n");
	take(root, NULL, NULL, values);
	assert_readings(values, none);
	root_free(root);
}

static void make_busy(const char *root)
{
	root_add(root, "proc/vmstat", "pswpin 12\npswpout 100\nthp_fault_alloc 3\nthp_split_page 9\nthp_swpout 1\n");
	root_add(root, COOLING "0/cur_state", "0\n");
	root_add(root, COOLING "1/cur_state", "2\n");
	root_add(root, COOLING "2/cur_state", "9\n");
	root_add(root, ZONE "0/temp", "41000\n");
	root_add(root, POLICY "0/stats/total_trans", "25\n");
	root_add(root, POLICY "4/stats/total_trans", "1000\n");
	root_add(root, POLICY "0/scaling_cur_freq", "1800000\n");
}

static char *quiet_machine(void)
{
	char *root = root_new();

	root_add(root, "proc/vmstat", "pswpin 10\npswpout 100\nthp_fault_alloc 3\nthp_split_page 2\nthp_swpout 0");
	root_add(root, COOLING "0/type", "thermal-cpufreq-0\n");
	root_add(root, COOLING "0/cur_state", "1\n");
	root_add(root, COOLING "1/type", "Processor\n");
	root_add(root, COOLING "1/cur_state", "0\n");
	root_add(root, COOLING "2/type", "pwm-fan\n");
	root_add(root, COOLING "2/cur_state", "9\n");
	root_add(root, ZONE "0/temp", "38500\n");
	root_add(root, ZONE "1/temp", "-1000\n");
	root_add(root, POLICY "0/affected_cpus", "0 1 2 3\n");
	root_add(root, POLICY "0/stats/total_trans", "20\n");
	root_add(root, POLICY "0/scaling_cur_freq", "1700000\n");
	root_add(root, POLICY "4/affected_cpus", "4 5\n");
	root_add(root, POLICY "4/stats/total_trans", "900\n");
	root_add(root, POLICY "4/scaling_cur_freq", "2400000\n");
	return root;
}

static void reads_the_files_below_a_root(void **state)
{
	char *root = quiet_machine();
	double values[N_HEALTH], want[N_HEALTH];

	(void)state;
	nothing(want);
	want[HEALTH_THROTTLED] = 1;
	want[HEALTH_FREQ_CHANGES] = 0;
	want[HEALTH_SWAPPED] = 0;
	want[HEALTH_THP] = 0;
	want[HEALTH_FREQUENCY] = 2400000;
	want[HEALTH_TEMPERATURE] = 38500;
	take(root, NULL, NULL, values);
	assert_readings(values, want);
	want[HEALTH_THROTTLED] = 2; /* the other one, after */
	want[HEALTH_FREQ_CHANGES] = 105;
	want[HEALTH_SWAPPED] = 2;
	want[HEALTH_THP] = 1; /* a split is no use */
	want[HEALTH_TEMPERATURE] = 41000;
	take(root, NULL, make_busy, values);
	assert_readings(values, want);
	root_free(root);
}

static void only_frequencies_of_its_cpus_count(void **state)
{
	char *root = quiet_machine();
	double values[N_HEALTH];
	cpu_set_t cpus;

	(void)state;
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	take(root, &cpus, make_busy, values);
	assert_true(values[HEALTH_FREQ_CHANGES] == 5);
	assert_true(values[HEALTH_FREQUENCY] == 1800000);
	root_free(root);
}

static void drop_policy(const char *root)
{
	root_add(root, POLICY "4/stats/total_trans", "");
}

static void a_cpu_that_leaves_is_a_change(void **state)
{
	char *root = quiet_machine();
	double values[N_HEALTH];

	(void)state;
	take(root, NULL, drop_policy, values);
	assert_true(values[HEALTH_FREQ_CHANGES] == 900);
	root_free(root);
}

/* Runs a child on each CPU in turn; the last one is another than where this started. */
static void move_about(const char *root)
{
	cpu_set_t all, one;

	(void)root;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);

	pid_t pid = fork();

	for (int cpu = 0; !pid && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &all))
			sched_setaffinity(0, sizeof(one), &one);
	}
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void asks_the_machine_without_a_root(void **state)
{
	double values[N_HEALTH];

	(void)state;
	struct health_probe probe;

	health_probe_open(&probe, "", NULL);
	bool counted = probe.migrations_fd >= 0;

	health_probe_close(&probe);
	take("", NULL, move_about, values);
	if (counted)
		assert_true(values[HEALTH_MIGRATIONS] >= 1);
	else
		assert_false(values[HEALTH_MIGRATIONS] < 0); /* not offered, or of the first thread */
	assert_true(values[HEALTH_SWAPPED] >= 0);
	/* the workload's own */
	assert_true(isnan(values[HEALTH_CPU_SHARE]) && isnan(values[HEALTH_MAJOR_FAULTS]));
}

static void one_cpu_has_no_migrations(void **state)
{
	cpu_set_t all, one;
	double values[N_HEALTH];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++) {
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	take("", NULL, NULL, values);
	assert_true(isnan(values[HEALTH_MIGRATIONS]));
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(a_cause_voids_a_sample),
		cmocka_unit_test(what_is_not_offered_is_not_reported),
		cmocka_unit_test(reads_the_files_below_a_root),
		cmocka_unit_test(only_frequencies_of_its_cpus_count),
		cmocka_unit_test(a_cpu_that_leaves_is_a_change),
		cmocka_unit_test(asks_the_machine_without_a_root),
		cmocka_unit_test(one_cpu_has_no_migrations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
