/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debian's real adb where there is no device, and the stand-in on the fake phone's Android where one is needed. */
#include "unit.h"
#include "workdir.h"

#include "device/adb_client.h"
#include "device/fastboot_client.h"
#include "phone.h"

struct session {
	struct phone phone;
	struct fastboot_settings settings;
	struct adb adb;
	char *program, *journal;
};

/* A phone that has booted Android. */
static struct session start(const struct workdir *dir, const char *const *faults)
{
	AUTO_STRLIST options = { NULL, 0 };
	struct session s = { .program = phone_program("adb"), .journal = workdir_path(dir, "journal") };
	struct fastboot_reply reply;

	strlist_add(&options, "--android");
	for (; faults && *faults; faults++) {
		strlist_add(&options, "--fault");
		strlist_add(&options, *faults);
	}
	AUTO_FREE const char **vector = strlist_vector(&options);
	s.phone = phone_start(dir, vector);
	s.settings = phone_settings(&s.phone);
	s.settings.adb_program = s.program;
	s.settings.adb_serial = "FAKE0001";
	s.adb = (struct adb){ .port = 15037, .journal = s.journal, .guard = NO_GUARD };
	setenv("FAKE_PHONES", s.phone.dir, 1);
	const struct fastboot fastboot = { .settings = &s.settings, .guard = NO_GUARD };
	assert_ok(fastboot_continue(&fastboot, &reply));
	assert_int_equal(reply.outcome, FASTBOOT_OKAY);
	fastboot_reply_deinit(&reply);
	return s;
}

static struct adb *client(struct session *s)
{
	s->adb.settings = &s->settings;
	return &s->adb;
}

static void stop(struct session *s)
{
	phone_stop(&s->phone);
	free(s->program);
	free(s->journal);
}

static void wait_up(struct session *s)
{
	bool reached = false;

	assert_ok(adb_wait(client(s), ADB_DEVICE, false, 10000, &reached));
	assert_true(reached);
}

static void expect_shell(struct session *s, bool root, const char *command, const char *want, int want_status)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;

	assert_ok(adb_shell(client(s), root, command, &out, &status));
	assert_string_equal(strbuf_str(&out), want);
	assert_int_equal(status, want_status);
}

static void runs_commands(void **state)
{
	struct session s = start(*state, NULL);

	wait_up(&s);
	expect_shell(&s, false, "echo one; echo 'two  '", "one\ntwo  \n", 0);
	expect_shell(&s, false, "printf 'no newline'", "no newline", 0);
	expect_shell(&s, false, "exit 7", "", 7);
	expect_shell(&s, false, "echo out; echo err >&2; false # remark", "out\nerr\n", 1);
	expect_shell(&s, false, "printf 'a\\r\\nb'", "a\nb", 0);
	expect_shell(&s, false, "echo 'MEMCG-AB-STATUS 0'; exit 3", "MEMCG-AB-STATUS 0\n", 3);
	expect_shell(&s, false, "cat", "", 0); /* no standard input */
	expect_shell(&s, false, "getprop sys.boot_completed", "1\n", 0);
	expect_shell(&s, false, "cat /proc/cmdline", "\n", 0);
	expect_shell(&s, false, "id -u", "2000\n", 0);
	AUTO_FREE char *journal = workdir_read(*state, "journal");
	assert_non_null(strstr(journal, "/adb -s FAKE0001 shell ( exit 7 ) 2>&1; "));
	stop(&s);
}

static void becomes_root_through_adbd(void **state)
{
	struct session s = start(*state, NULL);

	wait_up(&s);
	assert_ok(adb_root(client(&s)));
	assert_int_equal(s.adb.root_way, ADB_ROOT_ADBD);
	expect_shell(&s, true, "id -u", "0\n", 0);
	/* It is now, and nothing is restarted again. */
	assert_ok(adb_root(client(&s)));
	stop(&s);
}

static void finds_no_root(void **state)
{
	const char *const faults[] = { "adb-no-root", NULL };
	struct session s = start(*state, faults);

	wait_up(&s);
	assert_error(adb_root(client(&s)),
		     "memcg-ab: error: device FAKE0001 gives no root: neither adb root nor su -c nor su 0 works\n");
	stop(&s);
}

static void becomes_root_through_su(void **state)
{
	const char *const faults[] = { "adb-production", NULL };
	struct session s = start(*state, faults);

	wait_up(&s);
	assert_ok(adb_root(client(&s)));
	assert_int_equal(s.adb.root_way, ADB_ROOT_SU_C);
	expect_shell(&s, true, "echo \"it's $(id -u)\"; exit 4", "it's 0\n", 4);
	expect_shell(&s, false, "id -u", "2000\n", 0);
	stop(&s);
}

static void copies_files(void **state)
{
	const struct workdir *dir = *state;
	const char *const faults[] = { "adb-push-fails@2", NULL };
	struct session s = start(dir, faults);
	AUTO_FREE char *file = workdir_path(dir, "file");
	AUTO_FREE char *back = workdir_path(dir, "back");
	AUTO_FREE char *want = NULL;

	wait_up(&s);
	workdir_write(dir, "file", "some text\n");
	assert_ok(adb_push(client(&s), file, "/data/local/tmp/file"));
	expect_shell(&s, false, "cat /data/local/tmp/file", "some text\n", 0);
	assert_ok(adb_pull(client(&s), "/data/local/tmp/file", back));
	workdir_do(dir, "cmp file back; test ! -e back.part");
	want = xasprintf(
		"memcg-ab: error: adb push failed on device FAKE0001: adb: error: failed to copy '%s' to '/data/local/tmp/file': "
		"remote No space left on device\n",
		file);
	assert_error(adb_push(client(&s), file, "/data/local/tmp/file"), want);
	assert_error(adb_pull(client(&s), "/data/local/tmp/none", back),
		     "memcg-ab: error: adb pull failed on device FAKE0001: adb: error: failed to stat remote object "
		     "'/data/local/tmp/none': No such file or directory\n");
	workdir_do(dir, "cmp file back");
	stop(&s);
}

static void reboots(void **state)
{
	struct session s = start(*state, NULL);
	const struct fastboot fastboot = { .settings = &s.settings, .guard = NO_GUARD };
	bool reached = false;

	wait_up(&s);
	assert_ok(adb_reboot(client(&s), "bootloader"));
	assert_ok(adb_wait(client(&s), ADB_DEVICE, true, 5000, &reached));
	assert_true(reached);
	assert_ok(fastboot_answers(&fastboot, 10000, &reached));
	assert_true(reached);
	phone_expect(&s.phone, "adb-reboot bootloader");
	assert_error(adb_reboot(client(&s), NULL),
		     "memcg-ab: error: adb reboot failed on device FAKE0001: error: device 'FAKE0001' not found\n");
	assert_ok(adb_wait(client(&s), ADB_DEVICE, false, 300, &reached));
	assert_false(reached);
	stop(&s);
}

static void expect_state(void **state, const char *fault, enum adb_state want)
{
	const char *const faults[] = { fault, NULL };
	struct session s = start(*state, faults);
	enum adb_state got = want;
	bool reached = false;

	assert_ok(adb_wait(client(&s), want, false, 10000, &reached));
	assert_true(reached);
	assert_ok(adb_get_state(client(&s), &got));
	assert_int_equal(got, want);
	stop(&s);
}

static void knows_offline(void **state)
{
	expect_state(state, "adb-offline", ADB_OFFLINE);
}

static void knows_unauthorized(void **state)
{
	expect_state(state, "adb-unauthorized", ADB_UNAUTHORIZED);
}

static void notices_a_lost_status(void **state)
{
	const char *const faults[] = { "adb-status-lost@2", NULL };
	struct session s = start(*state, faults);
	int status;

	wait_up(&s);
	expect_shell(&s, false, "true", "", 0);
	assert_error(adb_shell(client(&s), false, "echo all is well", NULL, &status),
		     "memcg-ab: error: adb shell lost the connection to device FAKE0001 before \"echo all is well\" had ended\n");
	stop(&s);
}

static void has_a_deadline(void **state)
{
	const char *const faults[] = { "adb-hangs", NULL };
	struct session s = start(*state, faults);
	enum adb_state got;
	int64_t started = clock_ms();

	s.settings.timeouts.adb_ms = 1000;
	AUTO_ERROR error = adb_get_state(client(&s), &got);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_true(str_starts(error_message(error), "adb get-state did not end within 1"));
	assert_true(clock_ms() - started < 5000);
	stop(&s);
}

/* Debian's own, on a server of its own that outlives the calls and is stopped at the end. */
static void asks_the_real_one(void **state)
{
	struct fastboot_settings settings = phone_settings(NULL);
	const struct workdir *dir = *state;
	AUTO_FREE char *journal = workdir_path(dir, "journal");
	AUTO_FREE char *home = xasprintf("%s/home", dir->path);
	struct adb adb = { .settings = &settings, .port = 15038, .journal = journal, .guard = NO_GUARD };
	enum adb_state got = ADB_DEVICE;
	AUTO_FREE char *version = NULL;
	int status;

	assert_ok(file_mkdirs(home));
	setenv("HOME", home, 1);
	settings.timeouts.adb_ms = 30000;
	assert_ok(adb_version(&adb, &version));
	assert_true(str_starts(version, "Android Debug Bridge version 1.0.4"));
	assert_non_null(strstr(version, ", Version "));
	for (int i = 0; i < 2; i++) {
		assert_ok(adb_get_state(&adb, &got));
		assert_int_equal(got, ADB_ABSENT);
	}
	assert_error(adb_shell(&adb, false, "true", NULL, &status),
		     "memcg-ab: error: adb shell failed on device NOSUCH: error: device 'NOSUCH' not found\n");
	assert_error(adb_root(&adb), "memcg-ab: error: device NOSUCH cannot be made root: adb says it is absent\n");
	adb_stop_server(&adb);
	AUTO_FREE char *said = workdir_read(dir, "journal");
	/* One server for all calls. */
	assert_non_null(strstr(said, "daemon started successfully"));
	assert_null(strstr(strstr(said, "daemon started successfully") + 1, "daemon started successfully"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_commands, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(becomes_root_through_adbd, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(finds_no_root, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(becomes_root_through_su, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(copies_files, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(reboots, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(knows_offline, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(knows_unauthorized, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(notices_a_lost_status, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(has_a_deadline, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(asks_the_real_one, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
