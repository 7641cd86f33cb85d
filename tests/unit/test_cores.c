/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of cores, on made-up machines and, for the affinity, on this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/affinity.h"
#include "agent/cores.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void lists(void **state)
{
	static const char *const good[] = { "0", "0-3", "0,2-3,7", "4-7,1023" };
	static const char *const bad[] = { "", ",", "0,", "-1", "3-", "3-1", "0-3-5", "1024", "a", "0 1", "0,,1" };
	cpu_set_t cpus, before;
	char text[64];

	(void)state;
	for (size_t i = 0; i < N(good); i++) {
		assert_true(cores_parse(good[i], &cpus));
		cores_format(&cpus, text, sizeof(text));
		assert_string_equal(text, good[i]);
	}
	before = cpus;
	for (size_t i = 0; i < N(bad); i++)
		assert_false(cores_parse(bad[i], &cpus));
	assert_memory_equal(&cpus, &before, sizeof(cpus));
	assert_true(cores_parse("3,1,2", &cpus));
	cores_format(&cpus, text, sizeof(text));
	assert_string_equal(text, "1-3");
}

/* Cores 0 to n-1, each with its own value in `file`; NULL = without. */
static char *machine(const char *online, const char *file, const char *const *values)
{
	char *root = root_new(), path[128];

	root_add(root, "sys/devices/system/cpu/online", online);
	for (int i = 0; values[i]; i++) {
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", i, file);
		root_add(root, path, values[i]);
	}
	return root;
}

static void check_classes(const char *root, const char *want)
{
	char text[CORES_TEXT_MAX];
	struct cores cores;

	assert_true(cores_read(root, &cores));
	cores_describe(&cores, text, sizeof(text));
	assert_string_equal(text, want);
}

static void ranks(void **state)
{
	static const char *const two[] = { "380", "380", "1024", "1024", NULL };
	static const char *const three[] = { "1024", "250", "250", "250", "620", "620", NULL };
	static const char *const four[] = { "100", "200", "300", "400", NULL };
	static const char *const same[] = { "1024", "1024", NULL };
	static const char *const khz[] = { "1800000\n", "2841600\n", NULL };
	static const char *const parts[] = { "0x00000000410fd034\n", "0x00000000410fd0b1\n", NULL };
	static const struct {
		const char *online, *file;
		const char *const *values;
		const char *want;
	} cases[] = {
		{ "0-3\n", "cpu_capacity", two, "little 0-1 (capacity 380), big 2-3 (capacity 1024)" },
		{ "0-5\n", "cpu_capacity", three, "little 1-3 (capacity 250), mid 4-5 (capacity 620), big 0 (capacity 1024)" },
		{ "0-3\n", "cpu_capacity", four,
		  "little 0 (capacity 100), mid 1 (capacity 200), mid 2 (capacity 300), big 3 (capacity 400)" },
		{ "2-3\n", "cpu_capacity", two, "all 2-3 (capacity 1024)" },
		{ "0-1\n", "cpu_capacity", same, "all 0-1 (capacity 1024)" },
		{ "0-1\n", "cpufreq/cpuinfo_max_freq", khz, "little 0 (kHz 1800000), big 1 (kHz 2841600)" },
		{ "0-1\n", "regs/identification/midr_el1", parts, "little 0 (part 0xd03), big 1 (part 0xd0b)" },
		{ "0-2\n", "cpu_capacity", same, "all 0-2" }, /* not all of them tell */
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		char *root = machine(cases[i].online, cases[i].file, cases[i].values);

		check_classes(root, cases[i].want);
		root_free(root);
	}
}

/* A device tree that does not give capacities: the kernel says 1024 of all, and their parts tell them apart. */
static void goes_on_where_all_are_equal(void **state)
{
	static const char *const same[] = { "1024\n", "1024\n", NULL };
	char *root = machine("0-1\n", "cpu_capacity", same);

	(void)state;
	root_add(root, "sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000411fd050\n");
	root_add(root, "sys/devices/system/cpu/cpu1/regs/identification/midr_el1", "0x00000000411fd050\n");
	check_classes(root, "all 0-1 (capacity 1024)");
	root_add(root, "sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000413fd0d0\n");
	check_classes(root, "little 1 (part 0xd05), big 0 (part 0xd0d)");
	root_free(root);
}

static void chooses(void **state)
{
	static const char *const three[] = { "250", "250", "620", "700", "1024", NULL };
	static const char *const same[] = { "1024", "1024", NULL };
	static const char there[] =
		"little 0-1 (capacity 250), mid 2 (capacity 620), mid 3 (capacity 700), big 4 (capacity 1024)";
	static const struct {
		bool one_kind;
		const char *wanted, *cpus, *reason;
	} cases[] = {
		{ false, "all", "0-4", NULL },
		{ false, "big", "4", NULL },
		{ false, "mid", "2-3", NULL },
		{ false, "little", "0-1", NULL },
		{ false, "1,3-4", "1,3-4", NULL },
		{ true, "all", "0-1", NULL },
		{ true, "1", "1", NULL },
		{ false, "4-5", NULL, "not all of cores 4-5 are here and online: " },
		{ true, "big", NULL, "there are no 'big' cores here: all 0-1 (capacity 1024)" },
		{ true, "2", NULL, "not all of cores 2 are here and online: all 0-1 (capacity 1024)" },
	};
	char *roots[] = { machine("0-4\n", "cpu_capacity", three), machine("0-1\n", "cpu_capacity", same) };

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		char reason[300] = "untouched", list[64];
		struct cores cores;
		cpu_set_t cpus;

		assert_true(cores_read(roots[cases[i].one_kind], &cores));
		assert_int_equal(cores_choose(&cores, cases[i].wanted, &cpus, reason, sizeof(reason)), cases[i].cpus != NULL);
		if (cases[i].cpus) {
			cores_format(&cpus, list, sizeof(list));
			assert_string_equal(list, cases[i].cpus);
			assert_string_equal(reason, "untouched");
		} else {
			assert_memory_equal(reason, cases[i].reason, strlen(cases[i].reason));
			assert_string_equal(strchr(reason, ':') + 2, cases[i].one_kind ? "all 0-1 (capacity 1024)" : there);
		}
	}
	root_free(roots[0]);
	root_free(roots[1]);
}

/* In a process of its own, on this machine: tied to one core, then let loose by somebody else. */
static void tie_and_loosen(void)
{
	struct holds holds = { .root = "" };
	cpu_set_t all, one;
	char list[HOLD_VALUE_MAX];
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	affinity_hold(&holds, &one);
	holds_check(&holds, "after a");

	const struct hold *hold = &holds.items[holds.n - 1];

	cores_format(&one, list, sizeof(list));
	if (strcmp(hold->key, "affinity") != 0 || strcmp(hold->want, list) != 0 || hold->state != HOLD_HELD ||
	    sched_getcpu() != cpu)
		_exit(1);
	if (CPU_COUNT(&all) > 1) {
		char want[HOLD_VALUE_MAX], loose[HOLD_VALUE_MAX];

		sched_setaffinity(0, sizeof(all), &all);
		holds_check(&holds, "after b");
		cores_format(&all, loose, sizeof(loose));
		snprintf(want, sizeof(want), "%.80s after b, not %.80s", loose, list);
		if (hold->state != HOLD_CHANGED || strcmp(hold->text, want) != 0)
			_exit(2);
	}
	holds_deinit(&holds);
	_exit(0);
}

static void ties_to_cores(void **state)
{
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (!child)
		tie_and_loosen();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Cores that are not there. */
static void cannot_tie(void **state)
{
	struct holds holds = { .root = "" };
	cpu_set_t none;

	(void)state;
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	affinity_hold(&holds, &none);
	assert_string_equal(holds.items[holds.n - 1].key, "affinity");
	assert_int_equal(holds.items[holds.n - 1].state, HOLD_FAILED);
	assert_string_equal(holds.items[holds.n - 1].text, "cannot run on 1023 alone: Invalid argument");
	holds_deinit(&holds);
}

/* Android's cpusets: out of background, and told when somebody puts it back. */
static void leaves_a_cpuset(void **state)
{
	char *root = root_new(), text[32] = "", path[128];
	struct holds holds = { .root = root };
	cpu_set_t cpus;
	FILE *file;

	(void)state;
	root_add(root, "proc/self/mounts",
		 "none /sys/fs/cgroup cgroup2 rw 0 0\nnone /dev/cpuctl cgroup rw,cpu 0 0\n"
		 "none /dev/cpuset cgroup rw,nosuid,cpuset,noprefix,release_agent=/sbin/cpuset_release_agent 0 0\n");
	root_add(root, "proc/self/cpuset", "/background\n");
	root_add(root, "proc/self/status", "Name:\tagent\nCpus_allowed:\t0f\nCpus_allowed_list:\t4-7\nMems_allowed:\t1\n");
	root_add(root, "dev/cpuset/cgroup.procs", "");
	assert_true(cores_parse("4-7", &cpus));
	affinity_hold(&holds, &cpus);
	snprintf(path, sizeof(path), "%s/dev/cpuset/cgroup.procs", root);
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_int_equal(atoi(text), getpid());
	root_add(root, "proc/self/cpuset", "/\n");
	holds_check(&holds, "after a");
	assert_int_equal(holds.n, 2);
	assert_int_equal(holds.items[0].state, HOLD_HELD);
	assert_int_equal(holds.items[1].state, HOLD_HELD);
	root_add(root, "proc/self/cpuset", "/background\n");
	root_add(root, "proc/self/status", "Cpus_allowed_list:\t4-6\n");
	holds_check(&holds, "after b");
	assert_string_equal(holds.items[0].text, "/background after b, not /");
	assert_string_equal(holds.items[1].text, "4-6 after b, not 4-7");
	holds_deinit(&holds);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),	   cmocka_unit_test(ranks),	    cmocka_unit_test(goes_on_where_all_are_equal),
		cmocka_unit_test(chooses),	   cmocka_unit_test(ties_to_cores), cmocka_unit_test(cannot_tie),
		cmocka_unit_test(leaves_a_cpuset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
