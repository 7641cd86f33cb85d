/* SPDX-License-Identifier: GPL-3.0-or-later */
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

#include "agent/conf.h"
#include "base/file.h"
#include "device/initrd.h"
#include "device/qemu.h"
#include "device/settings.h"

/* One member of a newc archive (the kernel's Documentation, early-userspace/buffer-format), looked up by hand. */
struct member {
	const char *data;
	unsigned long mode, size, major, minor, mtime, uid;
	int archive; /* the how many-th it stands in */
};

static unsigned long field(const char *header, int i)
{
	char hex[9] = { 0 };

	memcpy(hex, header + 6 + i * 8, 8);
	return strtoul(hex, NULL, 16);
}

static bool find_member(const struct strbuf *cpio, const char *name, struct member *member_out)
{
	size_t at = 0;
	int archive = 0;

	while (at + 110 <= cpio->len) {
		const char *header = cpio->data + at;
		if (!header[0]) {
			at++;
			continue;
		}
		assert_int_equal(at % 4, 0);
		assert_memory_equal(header, "070701", 6);
		const char *path = header + 110;
		size_t data_at = (at + 110 + field(header, 11) + 3) & ~(size_t)3;
		if (!strcmp(path, "TRAILER!!!"))
			archive++;
		if (!strcmp(path, name)) {
			*member_out = (struct member){ cpio->data + data_at, field(header, 1), field(header, 6), field(header, 9),
						       field(header, 10),    field(header, 5), field(header, 2), archive };
			return true;
		}
		at = (data_at + field(header, 6) + 3) & ~(size_t)3;
	}
	return false;
}

static void test_members(void **state)
{
	char dir[] = "/tmp/memcg-ab-initrd-XXXXXX";
	AUTO_STRBUF cpio = STRBUF_INIT;
	AUTO_STRBUF again = STRBUF_INIT;
	struct member member;

	(void)state;
	assert_non_null(mkdtemp(dir));
	AUTO_FREE char *agent = path_join(dir, "agent");
	assert_null(file_write_atomic(agent, "agent's bytes", 13, 0755));
	assert_null(initrd_build(agent, "version=1\nfinish=poweroff\n", NULL, &cpio));
	assert_null(initrd_build(agent, "version=1\nfinish=poweroff\n", NULL, &again));
	assert_int_equal(cpio.len, again.len);
	assert_memory_equal(cpio.data, again.data, cpio.len);
	assert_int_equal(cpio.len % 4, 0);

	assert_true(find_member(&cpio, "init", &member));
	assert_int_equal(member.mode, S_IFREG | 0755);
	assert_int_equal(member.size, 13);
	assert_memory_equal(member.data, "agent's bytes", 13);
	assert_int_equal(member.mtime, 0);
	assert_int_equal(member.uid, 0);
	assert_int_equal(member.archive, 0);
	assert_true(find_member(&cpio, "dev/console", &member));
	assert_int_equal(member.mode, S_IFCHR | 0600);
	assert_int_equal(member.major, 5);
	assert_int_equal(member.minor, 1);
	static const char *const folders[] = { "dev", "proc", "sys", "tmp" };
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		assert_true(find_member(&cpio, folders[i], &member));
		assert_true(S_ISDIR(member.mode));
	}
	assert_true(find_member(&cpio, "memcg-ab.conf", &member));
	assert_int_equal(member.archive, 1);
	assert_int_equal(member.size, 26);
	assert_memory_equal(member.data, "version=1\nfinish=poweroff\n", 26);
	assert_null(file_remove_tree(dir));
}

static void test_missing_agent(void **state)
{
	AUTO_STRBUF cpio = STRBUF_INIT;

	(void)state;
	AUTO_ERROR error = initrd_build("/nonexistent/agent", "version=1\n", NULL, &cpio);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_non_null(strstr(error_message(error), "/nonexistent/agent"));
	assert_int_equal(cpio.len, 0);
}

static void test_padding(void **state)
{
	static const char cmdline[] = "console=ttyAMA0 panic=-1";

	(void)state;
	for (unsigned pad = 0; pad < 100; pad++) {
		AUTO_FREE char *padded = settings_pad_cmdline(cmdline, pad);
		assert_int_equal(strlen(padded), strlen(cmdline) + pad);
		assert_memory_equal(padded + (pad == 1), cmdline, strlen(cmdline));
		const char *parameter = padded + strlen(cmdline);
		assert_true(pad < 2 || !strncmp(parameter, " .", 2) || !strncmp(parameter, " memcg_ab.pad=", 14));
		assert_true(pad < 2 || !strpbrk(parameter + 1, " \"\n"));
	}
	AUTO_FREE char *blank = settings_pad_cmdline(cmdline, 1);
	assert_string_equal(blank, " console=ttyAMA0 panic=-1");
	AUTO_FREE char *trimmed = settings_pad_cmdline("a b \n", 3);
	assert_string_equal(trimmed, "a b .x");
	AUTO_FREE char *one = settings_pad_cmdline(cmdline, 39);
	assert_string_equal(one, "console=ttyAMA0 panic=-1 memcg_ab.pad=xxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void test_settings(void **state)
{
	const struct nuisance nuisance = { .region_offset = 2 << 20 };
	const struct boot_request request = {
		.nuisance = &nuisance,
		.memcg = MEMCG_ON,
		.settle_ms = 100,
		.workloads = "workload=pft\nrun=pft\n",
	};
	const struct boot_request plain = { .memcg = MEMCG_UNKNOWN };
	const struct settings pmu = { .counter = "pmu", .finish = "poweroff" };
	const struct settings model = { .counter = "model", .clock = true, .finish = "exit", .extra = "root=/x\n" };
	AUTO_STRBUF full = STRBUF_INIT;
	AUTO_STRBUF least = STRBUF_INIT;

	(void)state;
	settings_write(&pmu, &request, &full);
	assert_string_equal(full.data,
			    "version=1\ncounter=pmu\nclock=0\nfinish=poweroff\nregion_offset=2097152\nexpect_memcg=on\n"
			    "settle_ms=100\nworkload=pft\nrun=pft\n");
	settings_write(&model, &plain, &least);
	assert_string_equal(least.data, "version=1\ncounter=model\nclock=1\nfinish=exit\nroot=/x\n");
}

static void add_all(struct strlist *list, const char *const *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strlist_add(list, items[i]);
}

/* A profile's environment and the target's cores, in the agent's words; the agent takes them. */
static void test_environment(void **state)
{
	static const char *const stop[] = { "perfd", "vendor.thermal-engine" };
	static const char *const set[] = { "/proc/sys/vm/swappiness=0", "/sys/module/x/parameters/y=a b" };
	static const char *const setprop[] = { "vendor.powerhal.init=0" };
	struct profile profile = { .kind = DEVICE_FASTBOOT,
				   .environment = { .governor = (char *)"performance",
						    .frequency = (char *)"mid",
						    .thermal_below = 42.5,
						    .thermal_wait_ms = 600000 } };
	const struct settings settings = { .counter = "pmu", .finish = "exit", .profile = &profile };
	const struct boot_request request = { .memcg = MEMCG_UNKNOWN, .cores = "big" };
	AUTO_STRBUF text = STRBUF_INIT;
	struct conf conf;
	char reason[200] = "";

	(void)state;
	add_all(&profile.environment.stop, stop, ARRAY_SIZE(stop));
	add_all(&profile.environment.set, set, ARRAY_SIZE(set));
	add_all(&profile.environment.setprop, setprop, ARRAY_SIZE(setprop));
	settings_write(&settings, &request, &text);
	assert_string_equal(
		text.data,
		"version=1\ncounter=pmu\nclock=0\nfinish=exit\nenv.governor=performance\nenv.frequency=mid\nenv.cores=big\n"
		"env.offline=0\nenv.thermal_below=42.5\nenv.thermal_wait_ms=600000\nenv.stop=perfd,vendor.thermal-engine\n"
		"env.set.0=/proc/sys/vm/swappiness=0\nenv.set.1=/sys/module/x/parameters/y=a b\n"
		"env.setprop.0=vendor.powerhal.init=0\nenv.swap=0\n");
	assert_true(conf_parse(text.data, &conf, reason, sizeof(reason)));
	assert_string_equal(reason, "");
	conf_deinit(&conf);
	strlist_deinit(&profile.environment.stop);
	strlist_deinit(&profile.environment.set);
	strlist_deinit(&profile.environment.setprop);
}

/* Nothing is asked for: a real device that scatters still has its agent see to the memory, others boot as they always did. */
static void test_no_environment(void **state)
{
	static const struct {
		enum device_kind kind;
		bool exact;
		const char *cores, *lines;
	} cases[] = {
		{ DEVICE_FASTBOOT, false, "all", "env.cores=all\nenv.offline=1\nenv.swap=1\n" },
		{ DEVICE_COMMAND, false, NULL, "env.cores=all\nenv.offline=1\nenv.swap=1\n" },
		{ DEVICE_FASTBOOT, true, "all", "" },
		{ DEVICE_QEMU, true, "all", "" },
		{ DEVICE_QEMU, false, NULL, "" },
		{ DEVICE_QEMU, false, "0-1", "env.cores=0-1\nenv.offline=1\nenv.swap=1\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct profile profile = { .kind = cases[i].kind,
						 .exact = cases[i].exact,
						 .environment = { .offline = true, .swap = true } };
		const struct settings settings = { .counter = "pmu", .finish = "exit", .profile = &profile };
		const struct boot_request request = { .memcg = MEMCG_UNKNOWN, .cores = cases[i].cores };
		AUTO_STRBUF text = STRBUF_INIT;
		AUTO_FREE char *want = xasprintf("version=1\ncounter=pmu\nclock=0\nfinish=exit\n%s", cases[i].lines);
		settings_write(&settings, &request, &text);
		assert_string_equal(text.data, want);
	}
}

static void test_qemu_arguments(void **state)
{
	const struct nuisance nuisance = { .memory = 768 << 20 };
	struct profile profile = { .qemu = { "qemu-system-aarch64", "virt,gic-version=3", "cortex-a57", "shift=0", 512 << 20,
					     1 } };
	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRLIST timed = { NULL, 0 };

	(void)state;
	qemu_arguments(&profile, &nuisance, "/Image", "/initrd", "console=ttyAMA0 x", &argv);
	AUTO_STRBUF text = STRBUF_INIT;
	for (size_t i = 0; i < argv.n; i++)
		strbuf_addf(&text, "%s|", argv.items[i]);
	assert_string_equal(
		text.data,
		"qemu-system-aarch64|-no-user-config|-nodefaults|-display|none|-serial|stdio|-no-reboot|-M|"
		"virt,gic-version=3|-cpu|cortex-a57|-smp|1|-m|786432K|-icount|shift=0|"
		"-rtc|base=2026-01-01T00:00:00,clock=vm|-seed|1|-kernel|/Image|-initrd|/initrd|-append|console=ttyAMA0 x|");
	profile.qemu.icount = NULL;
	qemu_arguments(&profile, NULL, "/Image", "/initrd", "", &timed);
	assert_false(strlist_has(&timed, "-icount"));
	assert_true(strlist_has(&timed, "524288K"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	       cmocka_unit_test(test_missing_agent),  cmocka_unit_test(test_padding),
		cmocka_unit_test(test_settings),       cmocka_unit_test(test_qemu_arguments), cmocka_unit_test(test_environment),
		cmocka_unit_test(test_no_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
