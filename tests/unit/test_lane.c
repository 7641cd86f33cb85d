/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The QEMU lane with shell scripts in place of QEMU: who is to blame for what happens to the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lane_bench.h"

static int setup(void **state)
{
	struct bench *bench = bench_new(DEVICE_QEMU, "qemu-virt");

	bench->profile.qemu =
		(struct qemu_settings){ bench->program, (char *)"virt", (char *)"cortex-a57", (char *)"shift=0", 512 << 20, 1 };
	*state = bench;
	return 0;
}

/* `script`: what the machine does; $RECORDS is the file with a good agent's records, $DIR the bench's folder. */
static void check(struct bench *bench, const char *script, enum boot_status status, const char *reason)
{
	AUTO_FREE char *text = xasprintf("#!/bin/sh\nRECORDS=%s\nDIR=%s\n%s\n", bench->records, bench->dir, script);

	assert_null(file_write_atomic(bench->program, text, strlen(text), 0755));
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	if (reason)
		assert_string_equal(bench->record->reason, reason);
	else
		assert_null(bench->record->reason);
	assert_int_equal(bench->record->status, status);
	assert_int_equal(bench->record->n_readings > 0, status == BOOT_OK);
}

static void test_good(void **state)
{
	struct bench *bench = *state;
	AUTO_STRBUF kept = STRBUF_INIT;

	check(bench, "cat $RECORDS $RECORDS; echo '[ 0.3] reboot: Power down'", BOOT_OK, NULL);
	assert_string_equal(bench->record->build_id, BUILD_ID);
	assert_null(file_read(bench->console_path, &kept));
	assert_true(str_ends(kept.data, "[ 0.3] reboot: Power down\n"));
	/* An exact machine repeats its boot id, and how it ends does not matter once everything is there. */
	check(bench, "cat $RECORDS; exit 3", BOOT_OK, NULL);
}

static void test_power_off_that_does_not_come(void **state)
{
	struct bench *bench = *state;
	AUTO_STRBUF pid = STRBUF_INIT;
	AUTO_FREE char *pid_path = path_join(bench->dir, "pid");
	int64_t start = clock_ms();

	check(bench, "echo $$ > $DIR/pid; cat $RECORDS $RECORDS; exec sleep 60", BOOT_OK, NULL);
	assert_true(clock_ms() - start < 10000);
	assert_null(file_read(pid_path, &pid));
	assert_int_equal(kill(atoi(pid.data), 0), -1);
}

static void test_kernel_is_to_blame(void **state)
{
	struct bench *bench = *state;

	check(bench, "echo '[ 0.1] Kernel panic - not syncing: Oops: Fatal exception'", BOOT_FAILED,
	      "twice: kernel panic: Oops: Fatal exception");
	check(bench,
	      "echo '[ 0.1] Unable to handle kernel paging request at 8'; echo '[ 0.1] Kernel panic - not syncing: x'; exit 1",
	      BOOT_FAILED, "twice: kernel panic: x (after: Unable to handle kernel paging request at 8)");
	check(bench, "echo 'kernel BUG at mm/swap.c:1!'; cat $RECORDS", BOOT_FAILED,
	      "twice: kernel oops: kernel BUG at mm/swap.c:1!");
	check(bench, "echo 'booting'; echo; exit 0", BOOT_FAILED,
	      "twice: the kernel powered off before the agent had started, last line \"booting\"");
	check(bench, "head -n 2 $RECORDS", BOOT_FAILED,
	      "twice: the kernel powered off before the agent had finished, nothing on the console");
	bench->profile.silence_timeout_ms = 300;
	check(bench, "exec sleep 60", BOOT_FAILED, "twice: hang: nothing at all on the console for 0.3 s");
	check(bench, "echo one; exec sleep 60", BOOT_FAILED,
	      "twice: hang: nothing more on the console for 0.3 s, last line \"one\"");
	bench->profile.boot_timeout_ms = 500;
	check(bench, "while echo two; do sleep 0.1; done", BOOT_FAILED,
	      "twice: hang: no word from the agent within 0.5 s, last line \"two\"");
	bench->profile.run_timeout_ms = 500;
	check(bench, "head -n 1 $RECORDS; while echo three; do sleep 0.1; done", BOOT_FAILED,
	      "twice: hang: the agent had not finished after 0.5 s, last line \"three\"");
}

static void test_lab_is_to_blame(void **state)
{
	struct bench *bench = *state;
	AUTO_FREE char *exited = xasprintf("%s ended with status 1: qemu: could not load kernel", bench->program);
	AUTO_FREE char *silent = xasprintf("%s ended with status 2 and said nothing", bench->program);
	AUTO_FREE char *killed = xasprintf("%s was killed by signal 9 (Killed)", bench->program);
	AUTO_FREE char *caught =
		xasprintf("%s ended with status 0: qemu: terminating on signal 15 from pid 7 (kill)", bench->program);

	check(bench, "echo 'warning: x' >&2; echo 'qemu: could not load kernel' >&2; exit 1", BOOT_LAB, exited);
	check(bench, "exit 2", BOOT_LAB, silent);
	check(bench, "head -n 3 $RECORDS; kill -9 $$", BOOT_LAB, killed);
	check(bench, "echo booting; echo 'qemu: terminating on signal 15 from pid 7 (kill)' >&2", BOOT_LAB, caught);
	check(bench, "sed 3d $RECORDS; sed 3d $RECORDS", BOOT_LAB, "console lost records: 1 of 6 in both copies");
	check(bench, "grep -v END $RECORDS; grep -v END $RECORDS", BOOT_LAB, "console lost records: no END in either copy");
}

static void test_outcomes_that_differ(void **state)
{
	struct bench *bench = *state;
	const char *first_time =
		"[ -e $DIR/was-here ] || { touch $DIR/was-here; echo 'Kernel panic - not syncing: once'; exit 0; }\n";
	AUTO_FREE char *then_good = xasprintf("%scat $RECORDS", first_time);
	AUTO_FREE char *then_lab = xasprintf("%sexit 2", first_time);
	AUTO_FREE char *flag = path_join(bench->dir, "was-here");
	AUTO_FREE char *silent = xasprintf("%s ended with status 2 and said nothing", bench->program);

	check(bench, then_good, BOOT_OK, NULL);
	assert_string_equal(jnode_string(bench->record->identity, "attempt.0", ""), "boot-failed: kernel panic: once");
	assert_int_equal(unlink(flag), 0);
	check(bench, then_lab, BOOT_LAB, silent);
}

static void test_another_image(void **state)
{
	struct bench *bench = *state;
	AUTO_FREE char *flag = path_join(bench->dir, "booted");
	char found[HASH_HEX_SIZE];

	assert_null(file_write_atomic(bench->image, "another", 7, 0644));
	hash_bytes("another", 7, found);
	AUTO_FREE char *reason = xasprintf("twice: another Image than the one that was built: sha256 of %s is %s, expected %s",
					   bench->image, found, bench->image_sha256);
	check(bench, "touch $DIR/booted; cat $RECORDS", BOOT_VOID, reason);
	assert_false(file_exists(flag));
	AUTO_FREE char *unknown =
		xasprintf("twice: the build id of %s is not known: no kernel could be proved to be it", bench->image);
	bench->request.build_id = NULL;
	check(bench, "touch $DIR/booted; cat $RECORDS", BOOT_VOID, unknown);
	assert_false(file_exists(flag));
	bench->request.build_id = BUILD_ID;
	assert_int_equal(unlink(bench->image), 0);
	AUTO_FREE char *missing = xasprintf("cannot open %s: No such file or directory", bench->image);
	check(bench, "cat $RECORDS", BOOT_LAB, missing);
}

static void test_unusable(void **state)
{
	struct bench *bench = *state;

	bench->profile.qemu.program = (char *)"memcg-ab-no-such-qemu";
	AUTO_ERROR missing = device_run_block(&bench->context, &bench->request, 1, keep_record, bench);
	assert_string_equal(error_message(missing), "device qemu-virt cannot be used: memcg-ab-no-such-qemu is not installed");
	bench->profile.qemu.program = (char *)"sh";
	assert_int_equal(unlink(bench->agent), 0);
	AUTO_ERROR agent = device_run_block(&bench->context, &bench->request, 1, keep_record, bench);
	assert_non_null(strstr(error_message(agent), "cannot be used: there is no arm64 agent at "));
	assert_int_equal(error_kind(agent), ERROR_LAB);
	assert_null(bench->record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_power_off_that_does_not_come, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_kernel_is_to_blame, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_lab_is_to_blame, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_outcomes_that_differ, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_another_image, setup, bench_free),
		cmocka_unit_test_setup_teardown(test_unusable, setup, bench_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
