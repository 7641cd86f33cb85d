/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that commands drive, with shell scripts as the commands: what they are given, and who is to blame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lane_bench.h"

static int setup(void **state)
{
	struct bench *bench = bench_new(DEVICE_COMMAND, "board");

	bench->profile.command = (struct command_settings){ .dir = bench->dir, .command_ms = 3000, .pmu = true, .exact = true };
	*state = bench;
	return 0;
}

/* Runs the boot; the commands find the records' file as $RECORDS. */
static void check(struct bench *bench, enum boot_status status, const char *reason)
{
	assert_int_equal(setenv("RECORDS", bench->records, 1), 0);
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	if (reason)
		assert_string_equal(bench->record->reason, reason);
	else
		assert_null(bench->record->reason);
	assert_int_equal(bench->record->status, status);
	assert_int_equal(bench->record->n_readings > 0, status == BOOT_OK);
}

static char *read_in_dir(const struct bench *bench, const char *name)
{
	AUTO_FREE char *path = path_join(bench->dir, name);
	struct strbuf text = STRBUF_INIT;

	assert_null(file_read(path, &text));
	return strbuf_steal(&text);
}

static void test_console_of_boot(void **state)
{
	struct bench *bench = *state;

	bench->profile.command.boot = (char *)"cat $RECORDS $RECORDS";
	check(bench, BOOT_OK, NULL);
	assert_string_equal(bench->record->build_id, BUILD_ID);
	bench->profile.command.boot = (char *)"echo '[ 0.1] Kernel panic - not syncing: x'";
	check(bench, BOOT_FAILED, "twice: kernel panic: x");
	bench->profile.command.boot = (char *)"echo 'no such board' >&2; exit 4";
	check(bench, BOOT_LAB, "the command 'boot' ended with status 4: no such board");
}

static void test_what_commands_are_given(void **state)
{
	struct bench *bench = *state;
	const struct nuisance nuisance = { .pad = 4, .memory = 768 << 20, .region_offset = 2 << 20 };

	bench->request.nuisance = &nuisance;
	bench->profile.cmdline_match = CMDLINE_CONTAINS;
	bench->profile.command.deploy = (char *)"pwd >where; env | grep ^MEMCG_AB_ | grep -v -e _BUILD= -e _ROOT= | sed "
						"\"s#$MEMCG_AB_DIR#DIR#; s#$PWD#HERE#\" | sort >given; "
						"cp $MEMCG_AB_SETTINGS told; cp $MEMCG_AB_INITRD initrd";
	bench->profile.command.boot = (char *)"cat $RECORDS";
	assert_int_equal(setenv("RECORDS", bench->records, 1), 0);
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	AUTO_FREE char *where = read_in_dir(bench, "where");
	AUTO_FREE char *given = read_in_dir(bench, "given");
	AUTO_FREE char *told = read_in_dir(bench, "told");
	AUTO_FREE char *initrd = path_join(bench->dir, "initrd");
	assert_string_equal(str_trim(where), bench->dir);
	assert_string_equal(given, "MEMCG_AB_AGENT=HERE/agent\n"
				   "MEMCG_AB_CMDLINE=" CMDLINE " .xx\n"
				   "MEMCG_AB_DEVICE=board\n"
				   "MEMCG_AB_DIR=DIR\n"
				   "MEMCG_AB_INITRD=DIR/initrd\n"
				   "MEMCG_AB_KERNEL=HERE/Image\n"
				   "MEMCG_AB_MEMORY=805306368\n"
				   "MEMCG_AB_SETTINGS=DIR/memcg-ab.conf\n"
				   "MEMCG_AB_VARIANT=nomemcg/plain/0\n");
	assert_non_null(strstr(told, "finish=poweroff\n"));
	assert_non_null(strstr(told, "region_offset=2097152\n"));
	assert_true(file_is_regular(initrd));
}

static void test_console_of_its_own(void **state)
{
	struct bench *bench = *state;

	bench->profile.command.boot = (char *)"exec sleep 60";
	bench->profile.command.console = (char *)"cat $RECORDS $RECORDS";
	bench->profile.command.off = (char *)"echo off >>ended";
	check(bench, BOOT_OK, NULL);
	AUTO_FREE char *ended = read_in_dir(bench, "ended");
	assert_string_equal(ended, "off\n");
}

static void test_commands_that_fail(void **state)
{
	struct bench *bench = *state;

	bench->profile.command.boot = (char *)"cat $RECORDS";
	bench->profile.command.deploy = (char *)"echo 'tftp: no space' >&2; exit 1";
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	assert_int_equal(bench->record->status, BOOT_LAB);
	assert_non_null(strstr(bench->record->reason, "the command 'deploy': "));
	assert_non_null(strstr(bench->record->reason, "tftp: no space"));
	bench->profile.command.deploy = (char *)"exec sleep 60";
	bench->profile.command.command_ms = 200;
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	assert_int_equal(bench->record->status, BOOT_LAB);
	assert_non_null(strstr(bench->record->reason, "the command 'deploy': "));
	bench->profile.command.deploy = NULL;
	bench->profile.command.check = (char *)"echo 'the rack is dark' >&2; exit 1";
	AUTO_ERROR unusable = device_run_block(&bench->context, &bench->request, 1, keep_record, bench);
	assert_non_null(strstr(error_message(unusable), "device board cannot be used: the command 'check': "));
	assert_int_equal(error_kind(unusable), ERROR_LAB);
}

/* The device's shell is one of this machine, in a folder of its own for what goes to /tmp there. */
static void test_shell(void **state)
{
	struct bench *bench = *state;
	AUTO_FREE char *agent = xasprintf("#!/bin/sh\n[ -s $1 ] && cat %s\n", bench->records);

	assert_null(file_write_atomic(bench->agent, agent, strlen(agent), 0755));
	bench->profile.command.boot = (char *)"exec sleep 60";
	bench->profile.command.off = (char *)"touch off";
	bench->profile.command.shell =
		(char *)"remote() { sh -c \"$(echo \"$1\" | sed \"s#/tmp/#$PWD/there/#g\")\"; }; mkdir -p there; remote";
	check(bench, BOOT_OK, NULL);
	AUTO_FREE char *settings = read_in_dir(bench, "there/memcg-ab.conf");
	assert_non_null(strstr(settings, "finish=exit\n"));
	AUTO_FREE char *sent = read_in_dir(bench, "there/memcg-ab-agent");
	assert_string_equal(sent, agent);
	AUTO_FREE char *off = path_join(bench->dir, "off");
	assert_true(file_exists(off));
	bench->profile.command.shell = (char *)"false";
	bench->profile.boot_timeout_ms = 300;
	check(bench, BOOT_LAB, "the command 'shell' did not reach the device within 0.3 s: it ended with status 1");
}

/* What carries the console and fails is the lab's; a kernel that goes silent on a device that works is the kernel's. */
static void test_who_is_to_blame(void **state)
{
	struct bench *bench = *state;
	struct command_settings *command = &bench->profile.command;

	bench->profile.silence_timeout_ms = 300;
	command->boot = (char *)"exec sleep 60";
	command->console = (char *)"echo '[ 0.0] Booting Linux'; echo 'no tty' >&2; exit 3";
	check(bench, BOOT_LAB, "the command 'console' ended with status 3: no tty");
	command->console = NULL;
	check(bench, BOOT_LAB, "nothing at all came from the command 'boot'");
	command->boot = (char *)"echo $$ >pid; echo '[ 0.0] Booting Linux'; exec sleep 60";
	command->off = (char *)"kill $(cat pid)";
	check(bench, BOOT_FAILED, "twice: hang: nothing more on the console for 0.3 s, last line \"[ 0.0] Booting Linux\"");
	command->off = (char *)"echo 'no such socket' >&2; exit 5";
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	assert_int_equal(bench->record->status, BOOT_LAB);
	assert_non_null(strstr(bench->record->reason, "the command 'off': "));
}

/* Where a shell brings the records, the console may still tell how the kernel died, and nobody's pipe is full. */
static void test_console_beside_a_shell(void **state)
{
	struct bench *bench = *state;
	struct command_settings *command = &bench->profile.command;
	AUTO_FREE char *agent = xasprintf("#!/bin/sh\ncat %s\n", bench->records);
	AUTO_FREE char *log = path_join(bench->dir, "console/boot.commands0");

	assert_null(file_write_atomic(bench->agent, agent, strlen(agent), 0755));
	command->boot = (char *)"head -c 1000000 /dev/zero | tr '\\0' '\\n'; touch up; exec sleep 60";
	command->off = (char *)"true";
	command->shell = (char *)"remote() { test -e up && sh -c \"$(echo \"$1\" | sed \"s#/tmp/#$PWD/there/#g\")\"; }; mkdir -p "
				 "there; remote";
	check(bench, BOOT_OK, NULL);
	assert_true(file_is_regular(log));
	command->boot = (char *)"echo '[ 0.1] Kernel panic - not syncing: x'; exec sleep 60";
	command->shell = (char *)"false";
	bench->profile.boot_timeout_ms = 60000;
	check(bench, BOOT_FAILED, "twice: kernel panic: x");
	command->boot = (char *)"echo 'no power' >&2; exit 2";
	check(bench, BOOT_LAB, "the command 'boot' ended with status 2: no power");
	/* The line breaks while the agent runs: don't know. */
	command->boot = (char *)"exec sleep 60";
	command->shell = (char *)"remote() { case $1 in /tmp/memcg-ab-agent*) echo gone >&2; exit 255;; esac; }; remote";
	check(bench, BOOT_LAB, "the command 'shell' ended with status 255: gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_console_of_boot, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_what_commands_are_given, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_console_of_its_own, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_commands_that_fail, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_shell, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_who_is_to_blame, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_console_beside_a_shell, setup, bench_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
