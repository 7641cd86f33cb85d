/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/conf.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void reads_settings_and_workloads(void **state)
{
	char text[] =
		"# made by a test\n\nversion=1\ncounter=model\nclock=1\nregion_offset=4194304\nroot=/a "
		"b=c\nfault.seed=18446744073709551615\n"
		"model.pft.fault.insn_k=1707.5\nfault.hang=0\nworkload=pft\nrun=pft\nsize=65536\n# last\nworkload=small\nrun=pft";
	struct conf conf;
	char reason[100] = "untouched";

	(void)state;
	assert_true(conf_parse(text, &conf, reason, sizeof(reason)));
	assert_string_equal(reason, "untouched");
	assert_string_equal(conf_get(&conf, "root", ""), "/a b=c");
	assert_string_equal(conf_get(&conf, "finish", "poweroff"), "poweroff");
	assert_null(conf_get(&conf, "finish", NULL));
	assert_true(conf_get_count(&conf, "fault.seed", 0) == UINT64_MAX);
	assert_true(conf_get_count(&conf, "settle_ms", 17) == 17);
	assert_true(conf_get_count(&conf, "counter", 18) == 18);
	assert_true(conf_get_count(&conf, "region_offset", 0) == 4194304);
	assert_int_equal(conf.n_workloads, 2);
	assert_string_equal(conf.workloads[0].label, "pft");
	assert_string_equal(conf.workloads[0].kind, "pft");
	assert_string_equal(conf_option(&conf.workloads[0], "size", "x"), "65536");
	assert_string_equal(conf_option(&conf.workloads[1], "size", "x"), "x");
	conf_deinit(&conf);
	assert_int_equal(conf.n_workloads, 0);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "", "no settings: the first line must be version=1" },
		{ "# nothing\n", "no settings: the first line must be version=1" },
		{ "clock=1\nversion=1\n", "line 1: the first line must be version=1" },
		{ "version=2\n", "line 1: 'version' is '2', not 1" },
		{ "version=1\nversion=1\n", "line 2: 'version' is given twice" },
		{ "version=1\nclok=1\n", "line 2: unknown key 'clok'" },
		{ "version=1\nclock\n", "line 2: not KEY=VALUE" },
		{ "version=1\n=1\n", "line 2: not KEY=VALUE" },
		{ "version=1\nclock=1\r\n", "line 2: byte 0x0d is not allowed" },
		{ "version=1\nclock=2\n", "line 2: 'clock' is '2', not 0 or 1" },
		{ "version=1\nenv.governor=a/b\n", "line 2: 'env.governor' is 'a/b', not a governor's name" },
		{ "version=1\nenv.frequency=2GHz\n", "line 2: 'env.frequency' is '2GHz', not max, mid, min or a number of kHz" },
		{ "version=1\nenv.cores=huge\n",
		  "line 2: 'env.cores' is 'huge', not all, big, mid, little or a list such as 4-7" },
		{ "version=1\nenv.cores=4-\n", "line 2: 'env.cores' is '4-', not all, big, mid, little or a list such as 4-7" },
		{ "version=1\nenv.cores=7-4\n", "line 2: 'env.cores' is '7-4', not all, big, mid, little or a list such as 4-7" },
		{ "version=1\nenv.cores=99999\n",
		  "line 2: 'env.cores' is '99999', not all, big, mid, little or a list such as 4-7" },
		{ "version=1\nenv.offline=no\n", "line 2: 'env.offline' is 'no', not 0 or 1" },
		{ "version=1\nenv.thermal_below=151\n",
		  "line 2: 'env.thermal_below' is '151', not degrees Celsius from 0 to 150" },
		{ "version=1\nenv.thermal_wait_ms=1d\n", "line 2: 'env.thermal_wait_ms' is '1d', not a number up to 86400000" },
		{ "version=1\nenv.stop=a,,b\n", "line 2: 'env.stop' is 'a,,b', not names of services with commas between them" },
		{ "version=1\nenv.stop=a b\n", "line 2: 'env.stop' is 'a b', not names of services with commas between them" },
		{ "version=1\nenv.set.0=/etc/x=1\n",
		  "line 2: 'env.set.0' is '/etc/x=1', not PATH=VALUE with a path in /proc, /sys or /dev" },
		{ "version=1\nenv.set.0=/proc/../etc/x=1\n",
		  "line 2: 'env.set.0' is '/proc/../etc/x=1', not PATH=VALUE with a path in /proc, /sys or /dev" },
		{ "version=1\nenv.set.0=/sys/x\n",
		  "line 2: 'env.set.0' is '/sys/x', not PATH=VALUE with a path in /proc, /sys or /dev" },
		{ "version=1\nenv.setprop.1=x\n", "line 2: 'env.setprop.1' is 'x', not NAME=VALUE" },
		{ "version=1\nenv.swap=2\n", "line 2: 'env.swap' is '2', not 0 or 1" },
		{ "version=1\nenv.colour=1\n", "line 2: unknown key 'env.colour'" },
		{ "version=1\ncounter=tsc\n", "line 2: 'counter' is 'tsc', not pmu, clock, none or model" },
		{ "version=1\nevents=cycles,cycle\n",
		  "line 2: 'events' is 'cycles,cycle', not names of events with commas between them" },
		{ "version=1\nevents=cycles,cycles\n",
		  "line 2: 'events' is 'cycles,cycles', not names of events with commas between them" },
		{ "version=1\nevents=cycles\ncounter=clock\n", "'events' is allowed only with counter=pmu" },
		{ "version=1\ncounter=model\nevents=cycles\n", "'events' is allowed only with counter=pmu" },
		{ "version=1\nregion_offset=4096\n",
		  "line 2: 'region_offset' is '4096', not a multiple of 2097152 up to 1073741824" },
		{ "version=1\nexpect_memcg=unknown\n", "line 2: 'expect_memcg' is 'unknown', not none, disabled or on" },
		{ "version=1\nmemcg_version=2\n", "line 2: 'memcg_version' is '2', not v1 or v2" },
		{ "version=1\nsettle_ms=3600001\n", "line 2: 'settle_ms' is '3600001', not a number up to 3600000" },
		{ "version=1\nfinish=halt\n", "line 2: 'finish' is 'halt', not poweroff, reboot, bootloader or exit" },
		{ "version=1\nnonce=0123456789ABCDEF\n", "line 2: 'nonce' is '0123456789ABCDEF', not 16 lower-case hex digits" },
		{ "version=1\nresults=\n", "line 2: 'results' is '', not console, pmsg, block:PARTITION or tty:DEVICE" },
		{ "version=1\nresults=block:\n",
		  "line 2: 'results' is 'block:', not console, pmsg, block:PARTITION or tty:DEVICE" },
		{ "version=1\nresults=block:a/b\n",
		  "line 2: 'results' is 'block:a/b', not console, pmsg, block:PARTITION or tty:DEVICE" },
		{ "version=1\nresults=tty:\n", "line 2: 'results' is 'tty:', not console, pmsg, block:PARTITION or tty:DEVICE" },
		{ "version=1\nrelay=console\n", "line 2: 'relay' is 'console', not pmsg or block:PARTITION" },
		{ "version=1\nrelay=block:x\nresults=block:x\n", "'relay' and 'results' are the same partition" },
		{ "version=1\nchain=yes\n", "line 2: 'chain' is 'yes', not 0 or 1" },
		{ "version=1\nmodules=lib\n", "line 2: 'modules' is 'lib', not an absolute folder" },
		{ "version=1\nmodules=/lib\n", "'modules' is allowed only with chain=1" },
		{ "version=1\nwatchdog=\n", "line 2: 'watchdog' is '', not a device" },
		{ "version=1\nroot=here\n", "line 2: 'root' is 'here', not an absolute folder" },
		{ "version=1\nfault.seed=18446744073709551616\n",
		  "line 2: 'fault.seed' is '18446744073709551616', not a 64-bit number" },
		{ "version=1\nnoise.factor.a=1,0\n",
		  "line 2: 'noise.factor.a' is '1,0', not real numbers above 0 with commas between them" },
		{ "version=1\nnoise.factor.a=1,\n",
		  "line 2: 'noise.factor.a' is '1,', not real numbers above 0 with commas between them" },
		{ "version=1\nnoise.throttled.a=1,0,2\n",
		  "line 2: 'noise.throttled.a' is '1,0,2', not 0s and 1s with commas between them" },
		{ "version=1\nnoise.throttled.a=\n",
		  "line 2: 'noise.throttled.a' is '', not 0s and 1s with commas between them" },
		{ "version=1\nnoise.throttled.a=1,\n",
		  "line 2: 'noise.throttled.a' is '1,', not 0s and 1s with commas between them" },
		{ "version=1\nnoise.factor.=1\n", "line 2: unknown key 'noise.factor.'" },
		{ "version=1\nmodel.a.b.c=nan\n", "line 2: 'model.a.b.c' is 'nan', not a real number" },
		{ "version=1\nmodel.=1\n", "line 2: unknown key 'model.'" },
		{ "version=1\nfault.other=1\n", "line 2: unknown key 'fault.other'" },
		{ "version=1\nfault.hang=1\n", "'fault.hang' is allowed only with counter=model" },
		{ "version=1\ncounter=clock\nmodel.a.b.c=0\n", "'model.a.b.c' is allowed only with counter=model" },
		{ "version=1\nnoise.throttled.a=0\n", "'noise.throttled.a' is allowed only with counter=model" },
		{ "version=1\nworkload=a b\n",
		  "line 2: a workload's label has 1 to 64 printable characters without blank, '/' and '%'" },
		{ "version=1\nworkload=\n",
		  "line 2: a workload's label has 1 to 64 printable characters without blank, '/' and '%'" },
		{ "version=1\nworkload=a\nrun=pft\nworkload=a\n", "line 4: workload 'a' is given twice" },
		{ "version=1\nworkload=a\nsize=1\n", "line 3: workload 'a' must begin with run=KIND" },
		{ "version=1\nworkload=a\nworkload=b\nrun=pft\n", "workload 'a' has no run=KIND" },
		{ "version=1\nworkload=a\nrun=pft\nrun=pft\n", "line 4: 'run' is given twice" },
		{ "version=1\nworkload=a\nrun=pft\nsize=1\nsize=1\n", "line 5: 'size' is given twice" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct conf conf, before;
		char text[200], reason[160] = "";

		memset(&conf, 0x5a, sizeof(conf));
		before = conf;
		strcpy(text, cases[i].text);
		assert_false(conf_parse(text, &conf, reason, sizeof(reason)));
		assert_string_equal(reason, cases[i].reason);
		assert_memory_equal(&conf, &before, sizeof(conf));
	}
}

static void takes_a_phones_settings(void **state)
{
	char text[] = "version=1\nfinish=bootloader\nnonce=0123456789abcdef\nresults=tty:/dev/ttyGS0\nrelay=pmsg\nchain=1\n"
		      "modules=/lib/modules\nwatchdog=watchdog0\n";
	char both[] = "version=1\nresults=pmsg\nrelay=pmsg\n",
	     path[] = "version=1\nresults=block:/dev/mmcblk0p6\nfinish=reboot\n";
	struct conf conf;
	char reason[100] = "untouched";

	(void)state;
	assert_true(conf_parse(text, &conf, reason, sizeof(reason)));
	assert_string_equal(conf_get(&conf, "results", ""), "tty:/dev/ttyGS0");
	conf_deinit(&conf);
	assert_true(conf_parse(both, &conf, reason, sizeof(reason)));
	conf_deinit(&conf);
	assert_true(conf_parse(path, &conf, reason, sizeof(reason)));
	conf_deinit(&conf);
	assert_string_equal(reason, "untouched");
}

static void cuts_a_long_reason(void **state)
{
	char text[] = "version=1\nan_unknown_key=1\n", reason[16];
	struct conf conf;

	(void)state;
	assert_false(conf_parse(text, &conf, reason, sizeof(reason)));
	assert_string_equal(reason, "line 2: unknown");
}

static void numbers(void **state)
{
	static const char *const no_counts[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616" };
	static const char *const no_reals[] = { "", "x", "1x", "inf", "nan", "1e999", " 1", "0x1p3", "--1" };
	uint64_t count = 5;
	double real = 5;

	(void)state;
	for (size_t i = 0; i < N(no_counts); i++)
		assert_false(conf_count(no_counts[i], &count));
	for (size_t i = 0; i < N(no_reals); i++)
		assert_false(conf_real(no_reals[i], &real));
	assert_true(count == 5 && real == 5);
	assert_true(conf_count("007", &count) && count == 7);
	assert_true(conf_real("-1.5e2", &real) && real == -150);
}

static void lists_of_numbers(void **state)
{
	static const char *const none[] = {
		"",    ",",	"1,",
		",1",  "1,,2",	"1, 2",
		"1;2", "1,nan", "0.0000000000000000000000000000000000000000000000000000000000000001"
	};
	double values[3] = { 7, 7, 7 };

	(void)state;
	for (size_t i = 0; i < N(none); i++)
		assert_int_equal(conf_reals(none[i], NULL, 0), 0);
	assert_int_equal(conf_reals("1.5,-2,3e1,4", values, 2), 4);
	assert_true(values[0] == 1.5 && values[1] == -2 && values[2] == 7);
	assert_int_equal(conf_reals("5", values, 3), 1);
	assert_true(values[0] == 5 && values[1] == -2);
}

/* A number for each iteration of the longest boot there is. */
static void takes_long_lists(void **state)
{
	const size_t n = 11000;
	char *text = malloc(100 + n * 20), *at = text;
	double *values = malloc(n * sizeof(*values));
	char reason[100];
	struct conf conf;

	(void)state;
	at += sprintf(at, "version=1\ncounter=model\nnoise.factor.a=");
	for (size_t i = 0; i < n; i++)
		at += sprintf(at, "%s%.17g", i ? "," : "", 1 + (double)i / 7e6);
	assert_true(conf_parse(text, &conf, reason, sizeof(reason)));
	assert_int_equal(conf_reals(conf_get(&conf, "noise.factor.a", ""), values, n), n);
	assert_true(values[0] == 1 && values[n - 1] == 1 + (double)(n - 1) / 7e6);
	conf_deinit(&conf);
	free(values);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_settings_and_workloads),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(takes_a_phones_settings),
		cmocka_unit_test(cuts_a_long_reason),
		cmocka_unit_test(numbers),
		cmocka_unit_test(lists_of_numbers),
		cmocka_unit_test(takes_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
