/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quiet environment on a made-up phone: what is set, what holds, what is told, and put back at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/environment.h"
#include "agent_phone.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
struct bench {
	char *text; /* of the settings, torn by the parser */
	struct conf conf;
	struct undo undo;
	struct environment environment;
	struct records records;
};

/* True when the environment could be made. */
static bool set(struct bench *bench, const char *root, const char *lines, char *reason, size_t reason_size)
{
	*bench = (struct bench){ .text = malloc(4096) };
	snprintf(bench->text, 4096, "version=1\ncounter=model\nroot=%s\n%s", root, lines);
	if (!conf_parse(bench->text, &bench->conf, reason, reason_size))
		fail_msg("%s", reason);
	assert_true(undo_open(&bench->undo, services_manager(root), true, reason, reason_size));
	return environment_set(&bench->environment, &bench->conf, &bench->undo, reason, reason_size);
}

static void end(struct bench *bench, const char *want_failures)
{
	char failures[UNDO_TEXT_MAX];

	undo_close(&bench->undo, failures, sizeof(failures));
	assert_string_equal(failures, want_failures);
	environment_deinit(&bench->environment);
	records_deinit(&bench->records);
	conf_deinit(&bench->conf);
	free(bench->text);
}

static const char *value_of(const struct records *records, const char *key)
{
	for (size_t i = 0; i < records->n; i++) {
		if (!strcmp(records->items[i].name, key))
			return records->items[i].value;
	}
	return NULL;
}

/* Exactly these records: "KEY=VALUE" each. */
static void check_records(const struct records *records, const char *const *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(want[i], '=');
		char key[128];

		snprintf(key, sizeof(key), "%.*s", (int)(equals - want[i]), want[i]);

		const char *value = value_of(records, key);

		if (!value)
			fail_msg("no record %s", key);
		assert_string_equal(value, equals + 1);
	}
	for (size_t i = n; i < records->n; i++)
		print_error("record %zu: %s=%s\n", i, records->items[i].name, records->items[i].value);
	assert_int_equal(records->n, n);
}

static void makes_a_phone_quiet(void **state)
{
	static const char *const want[] = {
		"env.classes=little 0-3 (capacity 380), big 4-7 (capacity 1024)",
		"env.cores=big 4-7",
		"env.affinity=4-7",
		"env.online=0-7",
		"env.failed.cpu0.online=this kernel cannot take it offline: there is no /sys/devices/system/cpu/cpu0/online",
		"env.cpu1.online=0",
		"env.cpu2.online=0",
		"env.cpu3.online=0",
		"env.core_ctl.cpu4=0",
		"env.governor.policy0=performance",
		"env.governor.policy4=performance",
		"env.frequency.policy0=1017600",
		"env.frequency.policy0.min=1017600",
		"env.frequency.policy0.max=1017600",
		"env.frequency.policy4.min=1570800",
		"env.frequency.policy4.max=1570800",
		"env.changed.frequency.policy4=1420000 before the first sample, not 1570800",
		"env.ksm=0",
		"env.compaction_proactiveness=0",
		"env.thp=never",
		"env.swap=1 areas",
		"env.drop_caches=3",
		"env.set-0=5",
		"env.failed.set-1=/proc/sys/vm/nothing: No such file or directory",
	};
	char *root = phone(), reason[300] = "untouched";
	struct bench bench;

	(void)state;
	assert_true(set(&bench, root,
			"env.governor=performance\nenv.frequency=mid\nenv.cores=big\nenv.set.0=/proc/sys/vm/swappiness=5\n"
			"env.set.1=/proc/sys/vm/nothing=1\n",
			reason, sizeof(reason)));
	check_file(root, "/" CPU "cpu3/online", "0");
	check_file(root, "/" CPU "cpu4/online", "1");
	check_file(root, "/" POLICY "4/scaling_max_freq", "1570800");
	check_file(root, "/proc/sys/vm/swappiness", "5");
	check_file(root, "/proc/sys/vm/drop_caches", "3");
	environment_check(&bench.environment, NULL);
	environment_check(&bench.environment, "pft");
	environment_report(&bench.environment, &bench.records);
	check_records(&bench.records, want, N(want));
	end(&bench, "");
	check_file(root, "/" CPU "cpu3/online", "1");
	check_file(root, "/" CPU "cpu4/core_ctl/enable", "1");
	check_file(root, "/" POLICY "0/scaling_governor", "schedutil");
	check_file(root, "/" POLICY "4/scaling_min_freq", "300000");
	check_file(root, "/" POLICY "4/scaling_max_freq", "2841600");
	check_file(root, "/proc/sys/vm/swappiness", "60");
	check_file(root, "/proc/sys/vm/compaction_proactiveness", "20");
	check_file(root, "/sys/kernel/mm/ksm/run", "1");
	check_file(root, "/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	assert_string_equal(reason, "untouched");
	root_free(root);
}

/* A daemon that puts things back in the middle. */
static void tells_what_did_not_hold(void **state)
{
	static const char *const keys[] = { "env.changed.governor.policy4", "env.changed.cpu2.online", "env.changed.online",
					    "env.changed.affinity",	    "env.changed.swap",	       "env.changed.ksm" };
	static const char *const want[] = { "schedutil after pft, not performance",
					    "1 after pft, not 0",
					    "0-4 after pft, not 0-7",
					    "0-7 after pft, not 4-7",
					    "0 areas after pft, not 1 areas",
					    "No such file or directory after pft, not 0" };
	char *root = phone(), reason[300], path[200];
	struct bench bench;

	(void)state;
	assert_true(set(&bench, root, "env.governor=performance\nenv.cores=big\n", reason, sizeof(reason)));
	environment_check(&bench.environment, NULL);
	root_add(root, POLICY "4/scaling_governor", "schedutil\n");
	root_add(root, CPU "cpu2/online", "1\n");
	root_add(root, CPU "online", "0-4\n");
	root_add(root, "proc/self/status", "Cpus_allowed_list:\t0-7\n");
	root_add(root, "proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
	snprintf(path, sizeof(path), "%s/sys/kernel/mm/ksm/run", root);
	assert_int_equal(unlink(path), 0);
	environment_check(&bench.environment, "pft");
	/* The first change counts. */
	root_add(root, POLICY "4/scaling_governor", "powersave\n");
	environment_check(&bench.environment, "more");
	environment_report(&bench.environment, &bench.records);
	for (size_t i = 0; i < N(keys); i++) {
		assert_non_null(value_of(&bench.records, keys[i]));
		assert_string_equal(value_of(&bench.records, keys[i]), want[i]);
	}
	assert_string_equal(value_of(&bench.records, "env.governor.policy0"), "performance");
	snprintf(reason, sizeof(reason), "%s: No such file or directory", path);
	end(&bench, reason);
	root_free(root);
}

static void refuses_cores_that_are_not_there(void **state)
{
	char *root = phone(), reason[300] = "";
	struct bench bench;

	(void)state;
	assert_false(set(&bench, root, "env.cores=mid\n", reason, sizeof(reason)));
	assert_string_equal(reason, "there are no 'mid' cores here: little 0-3 (capacity 380), big 4-7 (capacity 1024)");
	end(&bench, "");
	check_file(root, "/" CPU "cpu4/core_ctl/enable", "1");
	assert_false(set(&bench, root, "env.cores=8\n", reason, sizeof(reason)));
	end(&bench, "");
	root_free(root);
}

/* Offline at first: woken to be ranked, and offline again at the end. */
static void wakes_cores(void **state)
{
	char *root = phone(), reason[300] = "";
	struct bench bench;

	(void)state;
	root_add(root, CPU "present", "0-8\n");
	root_add(root, CPU "online", "0-6\n");
	root_add(root, CPU "cpu7/online", "0\n");
	assert_true(set(&bench, root, "env.cores=all\nenv.offline=0\n", reason, sizeof(reason)));
	check_file(root, "/" CPU "cpu7/online", "1");
	environment_report(&bench.environment, &bench.records);
	assert_null(value_of(&bench.records, "env.failed.cpu7.online"));
	assert_string_equal(value_of(&bench.records, "env.failed.cpu8.online"),
			    "this kernel cannot take it online: there is no /sys/devices/system/cpu/cpu8/online");
	end(&bench, "");
	check_file(root, "/" CPU "cpu7/online", "0");
	root_free(root);
}

/* kHz that only one cluster can do, limits in an order that never crosses, and a policy that is offline. */
static void frequencies(void **state)
{
	static const struct {
		const char *lines, *first, *second; /* which limit of policy 4 is written first */
	} cases[] = {
		{ "env.frequency=2419200\nenv.cores=4-7\n", "scaling_max_freq", "scaling_min_freq" },
		{ "env.frequency=min\nenv.cores=4-7\n", "scaling_min_freq", "scaling_max_freq" },
	};
	char reason[300];
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		char *root = phone();
		const char *order[2] = { NULL, NULL };
		size_t n = 0;

		root_add(root, POLICY "4/scaling_max_freq", "1000000\n");
		root_add(root, POLICY "4/scaling_min_freq", "900000\n");
		assert_true(set(&bench, root, cases[i].lines, reason, sizeof(reason)));
		for (unsigned k = 0; k < bench.undo.log->n && n < 2; k++) {
			const char *name = strstr(bench.undo.log->entries[k].name, "policy4/");

			if (name)
				order[n++] = name + strlen("policy4/");
		}
		assert_int_equal(n, 2);
		assert_string_equal(order[0], cases[i].first);
		assert_string_equal(order[1], cases[i].second);
		environment_report(&bench.environment, &bench.records);
		/* 2419200 is too much for the little ones, whose cores are not measured: no failure */
		assert_null(value_of(&bench.records, "env.failed.frequency.policy0"));
		end(&bench, "");
		root_free(root);
	}

	char *root = phone();

	root_add(root, POLICY "0/affected_cpus", "\n");
	assert_true(set(&bench, root, "env.frequency=99\nenv.governor=performance\n", reason, sizeof(reason)));
	environment_report(&bench.environment, &bench.records);
	assert_null(value_of(&bench.records, "env.governor.policy0"));
	assert_string_equal(value_of(&bench.records, "env.failed.frequency.policy4"), "99 kHz is not within 300000 to 2841600");
	end(&bench, "");
	root_free(root);
}

static void make_program(const char *root, const char *name, const char *format)
{
	char path[200], script[600];

	snprintf(script, sizeof(script), "#!/bin/sh\nroot=%s\n%s", root, format);
	root_add(root, name, script);
	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Services and properties of an Android whose init is two scripts: each property is a file. */
static void stops_services(void **state)
{
	static const char *const want[][2] = {
		{ "env.stop.perfd", "stopped" },
		{ "env.stop.idle", "stopped" },
		{ "env.failed.stop.nobody", "there is no such service" },
		{ "env.changed.stop.thermal", "running after pft, not stopped" },
		{ "env.setprop-0", "0" },
		{ "env.failed.setprop-1", "ro.x: it is read-only" },
	};
	char *root = phone(), reason[300], path[300], *before = strdup(getenv("PATH"));
	struct bench bench;

	(void)state;
	root_add(root, "dev/socket/property_service", "");
	make_program(root, "bin/getprop", "cat $root/props/$1 2>/dev/null\nexit 0\n");
	make_program(
		root, "bin/setprop",
		"case $1 in\nctl.stop) echo stopped >$root/props/init.svc.$2;;\nctl.start) echo running "
		">$root/props/init.svc.$2;;\nro.*) echo it is read-only >&2; exit 1;;\n*) echo $2 >$root/props/$1;;\nesac\n");
	root_add(root, "props/init.svc.perfd", "running\n");
	root_add(root, "props/init.svc.thermal", "running\n");
	root_add(root, "props/init.svc.idle", "stopped\n");
	root_add(root, "props/vendor.x", "1\n");
	snprintf(path, sizeof(path), "%s/bin:%.200s", root, before);
	setenv("PATH", path, 1);
	assert_true(set(&bench, root, "env.stop=perfd,idle,nobody,thermal\nenv.setprop.0=vendor.x=0\nenv.setprop.1=ro.x=1\n",
			reason, sizeof(reason)));
	check_file(root, "/props/init.svc.perfd", "stopped");
	check_file(root, "/props/vendor.x", "0");
	environment_check(&bench.environment, NULL);
	root_add(root, "props/init.svc.thermal", "running\n");
	environment_check(&bench.environment, "pft");
	environment_report(&bench.environment, &bench.records);
	for (size_t i = 0; i < N(want); i++) {
		if (!value_of(&bench.records, want[i][0]))
			fail_msg("no record %s", want[i][0]);
		assert_string_equal(value_of(&bench.records, want[i][0]), want[i][1]);
	}
	end(&bench, "");
	check_file(root, "/props/init.svc.perfd", "running");
	check_file(root, "/props/init.svc.idle", "stopped");
	check_file(root, "/props/vendor.x", "1");
	setenv("PATH", before, 1);
	free(before);
	root_free(root);
}

static void nothing_there(void **state)
{
	static const char *const want[] = {
		"env.failed.governor=this kernel has no cpufreq policy", "env.stop.perfd=stopped",
		"env.failed.setprop-0=vendor.x: no Android runs here",	 "env.failed.drop_caches=No such file or directory",
		"env.failed.thermal-pft=no thermal zone can be read",
	};
	char *root = root_new(), reason[300];
	struct bench bench;

	(void)state;
	assert_true(set(&bench, root,
			"env.governor=performance\nenv.stop=perfd\nenv.setprop.0=vendor.x=1\nenv.swap=0\nenv.thermal_below=40\n",
			reason, sizeof(reason)));
	environment_check(&bench.environment, NULL);
	environment_cool(&bench.environment, "pft", NULL, NULL);
	environment_report(&bench.environment, &bench.records);
	check_records(&bench.records, want, N(want));
	end(&bench, "");
	/* and without any setting nothing is looked at */
	assert_true(set(&bench, root, "", reason, sizeof(reason)));
	environment_check(&bench.environment, NULL);
	environment_report(&bench.environment, &bench.records);
	assert_int_equal(bench.records.n, 0);
	end(&bench, "");
	root_free(root);
}

/* An area that the kernel does not know as one: it stays, and is not switched on afterwards. */
static void swap_that_stays(void **state)
{
	char *root = phone(), reason[300], want[300];
	struct bench bench;

	(void)state;
	root_add(root, "dev/block/zram0", "no swap");
	assert_true(set(&bench, root, "env.swap=0\n", reason, sizeof(reason)));
	environment_report(&bench.environment, &bench.records);
	assert_non_null(value_of(&bench.records, "env.failed.swap"));
	snprintf(want, sizeof(want), "/dev/block/zram0 stays on: ");
	assert_memory_equal(value_of(&bench.records, "env.failed.swap"), want, strlen(want));
	end(&bench, "");
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_a_phone_quiet),
		cmocka_unit_test(tells_what_did_not_hold),
		cmocka_unit_test(refuses_cores_that_are_not_there),
		cmocka_unit_test(wakes_cores),
		cmocka_unit_test(frequencies),
		cmocka_unit_test(stops_services),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(swap_that_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
