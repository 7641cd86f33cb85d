/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "device/console.h"

#define CMDLINE "console=ttyAMA0 panic=-1 cgroup_disable=memory"

static void add_record(struct strbuf *out, enum wire_type type, uint32_t seq, const char *name, const char *value)
{
	struct wire_record record = { .type = type, .seq = seq, .pass = true, .unit = "insn/page" };
	char line[WIRE_LINE_MAX];

	snprintf(record.name, sizeof(record.name), "%s", name);
	snprintf(record.value, sizeof(record.value), "%s", value);
	assert_true(wire_format(&record, line) > 0);
	strbuf_adds(out, line);
}

/* HELLO, one IDENTITY, one RESULT, END: three records. */
static void add_copy(struct strbuf *out)
{
	add_record(out, WIRE_HELLO, 0, "0.1", "1");
	add_record(out, WIRE_IDENTITY, 1, "memcg", "disabled");
	add_record(out, WIRE_RESULT, 2, "pft.fault.insn_k.0", "1707.05");
	add_record(out, WIRE_END, 3, "", "");
}

static struct console *feed(const struct strbuf *text, size_t chunk)
{
	struct console *console = console_new(CMDLINE);

	for (size_t at = 0; at < text->len; at += chunk)
		console_feed(console, text->data + at, chunk < text->len - at ? chunk : text->len - at);
	console_finish(console);
	return console;
}

static struct console *feed_text(const char *text)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, text);
	struct console *console = feed(&sb, 7);
	strbuf_deinit(&sb);
	return console;
}

static void test_collects_records(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	strbuf_adds(&text, "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x411fd070]\r\n");
	add_copy(&text);
	for (size_t chunk = 1; chunk <= text.len; chunk += 13) {
		AUTO_CONSOLE console = feed(&text, chunk);
		assert_true(console->hello);
		assert_int_equal(console->n_ends, 1);
		assert_int_equal(console->count, 3);
		assert_int_equal(console->n_repeats, 0);
		assert_true(console_complete(console));
		assert_int_equal(console_missing(console), 0);
		assert_string_equal(console->records[2]->value, "1707.05");
		assert_null(console->panic);
		assert_null(console->restart);
		assert_false(console->conflict);
		assert_int_equal(console->n_bytes, text.len);
	}
}

static void test_takes_each_record_from_any_copy(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	add_copy(&text);
	char *in_result = strstr(text.data, "1707.05");
	*in_result = '9';
	size_t first = text.len;
	add_copy(&text);
	/* The second copy loses a byte of its IDENTITY, and a kernel message stands in front of its RESULT. */
	char *in_identity = strstr(text.data + first, "memcg");
	memmove(in_identity, in_identity + 1, strlen(in_identity));
	text.len--;

	AUTO_CONSOLE first_only = console_new(CMDLINE);
	console_feed(first_only, text.data, first);
	assert_false(console_complete(first_only));
	assert_int_equal(console_missing(first_only), 1);

	AUTO_CONSOLE console = feed(&text, 64);
	assert_true(console_complete(console));
	assert_string_equal(console->records[2]->value, "1707.05");
	assert_int_equal(console->n_ends, 2);
	assert_int_equal(console->n_repeats, 0); /* IDENTITY and RESULT came intact once each */
	assert_false(console->conflict);
}

static void test_incomplete(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	add_record(&text, WIRE_HELLO, 0, "0.1", "1");
	add_record(&text, WIRE_RESULT, 2, "pft.fault.insn_k.0", "1707.05");
	AUTO_CONSOLE no_end = feed(&text, 11);
	assert_false(console_complete(no_end));
	assert_int_equal(console_missing(no_end), 0);
	add_record(&text, WIRE_END, 5, "", "");
	AUTO_CONSOLE console = feed(&text, 11);
	assert_false(console_complete(console));
	assert_int_equal(console_missing(console), 3);
}

static void test_two_agents(void **state)
{
	AUTO_STRBUF values = STRBUF_INIT;
	AUTO_STRBUF counts = STRBUF_INIT;

	(void)state;
	add_record(&values, WIRE_RESULT, 2, "pft.fault.insn_k.0", "1707.05");
	add_record(&values, WIRE_RESULT, 2, "pft.fault.insn_k.0", "1707.06");
	AUTO_CONSOLE two_values = feed(&values, 5);
	assert_true(two_values->conflict);
	add_record(&counts, WIRE_END, 2, "", "");
	add_record(&counts, WIRE_END, 3, "", "");
	AUTO_CONSOLE two_counts = feed(&counts, 5);
	assert_true(two_counts->conflict);
}

static void test_ignores_absurd_numbers(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	add_record(&text, WIRE_RESULT, 4000000000u, "a.b.c.0", "1");
	add_record(&text, WIRE_RESULT, CONSOLE_MAX_RECORDS, "a.b.c.0", "1");
	add_record(&text, WIRE_END, 4000000000u, "", "");
	AUTO_CONSOLE console = feed(&text, 100);
	assert_int_equal(console->n_slots, 0);
	assert_int_equal(console->n_ends, 0);
}

static void test_sees_panic_and_oops(void **state)
{
	(void)state;
	AUTO_CONSOLE panic = feed_text("[    0.02] VFS: Cannot open root device\r\n"
				       "[    0.03] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\r\n"
				       "[    0.04] Kernel panic - not syncing: another\r\n");
	assert_string_equal(panic->panic, "Attempted to kill init! exitcode=0x0000000b");
	assert_null(panic->oops);

	AUTO_CONSOLE oops =
		feed_text("[    1.0] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008\n"
			  "[    1.1] Internal error: Oops: 96000004 [#1] PREEMPT SMP\n");
	assert_string_equal(oops->oops, "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008");
	assert_null(oops->panic);

	AUTO_CONSOLE bug = feed_text("[    1.0] kernel BUG at mm/memcontrol.c:123!");
	assert_string_equal(bug->oops, "kernel BUG at mm/memcontrol.c:123!");

	AUTO_CONSOLE warning = feed_text("[    1.0] WARNING: CPU: 0 PID: 1 at mm/memcontrol.c:123\n");
	assert_null(warning->oops);
	assert_string_equal(warning->last_line, "[    1.0] WARNING: CPU: 0 PID: 1 at mm/memcontrol.c:123");
}

static void test_takes_no_echo_for_a_message(void **state)
{
	AUTO_STRBUF huge = STRBUF_INIT;
	const char *bait = "note=\"Kernel panic - not syncing: not really\" x=\"Linux version 5\" kernel BUG at y";

	(void)state;
	strbuf_addf(&huge,
		    "[    0.0] Booting Linux on physical CPU 0x0\n[    0.0] Linux version 5.10\n[    0.0] Kernel command line: ");
	for (size_t i = 0; i < 100; i++)
		strbuf_addf(&huge, "%s ", bait);
	strbuf_addf(&huge, "\n[    0.0] Unknown kernel command line parameters \"%s\", will be passed to user space.\n", bait);
	AUTO_CONSOLE kernel = feed(&huge, 1000);
	assert_null(kernel->panic);
	assert_null(kernel->oops);
	assert_null(kernel->restart);

	/* A boot loader's echo, without the words. */
	AUTO_CONSOLE loader = console_new(bait);
	AUTO_STRBUF line = STRBUF_INIT;
	strbuf_addf(&line, "bootargs: %s %s\nKernel panic - not syncing: real\n", bait, bait);
	console_feed(loader, line.data, line.len);
	assert_string_equal(loader->panic, "real");
	assert_null(loader->oops);
}

static void test_sees_a_restart(void **state)
{
	(void)state;
	AUTO_CONSOLE once = feed_text("[    0.0] Booting Linux on physical CPU 0x0\n[    0.0] Linux version 5.10.262\n");
	assert_null(once->restart);
	AUTO_CONSOLE twice = feed_text("[    0.0] Booting Linux on physical CPU 0x0\n[    0.0] Linux version 5.10.262\n"
				       "[    0.0] Booting Linux on physical CPU 0x0\n[    0.0] Linux version 5.10.1\n");
	assert_string_equal(twice->restart, "[    0.0] Booting Linux on physical CPU 0x0");
	AUTO_CONSOLE before = feed_text("U-Boot 2023.01 (Feb 02)\nLinux version 5.10.262\n");
	assert_null(before->restart);
	AUTO_CONSOLE after = feed_text("Linux version 5.10.262\nU-Boot 2023.01 (Feb 02)\n");
	assert_string_equal(after->restart, "U-Boot 2023.01 (Feb 02)");
}

static void test_survives_bytes(void **state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		strbuf_addch(&text, (char)((i * 31 + i / 7) % 255 == '\n' ? 0 : (i * 31 + i / 7) % 255));
	strbuf_adds(&text, "\nzero\001byte\n");
	AUTO_CONSOLE console = feed(&text, 4096);
	assert_string_equal(console->last_line, "zero byte");
}

/* Reads what a child writes into one end of a socket pair; the child stays open `open_ms`. */
static enum console_stop read_from_child(const char *text, int open_ms, const struct console_limits *limits,
					 struct console *console, struct strbuf *kept)
{
	int ends[2];
	char path[] = "/tmp/memcg-ab-console-XXXXXX";
	int keep = mkstemp(path);

	assert_true(keep >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		ssize_t written = write(ends[1], text, strlen(text));
		usleep((useconds_t)open_ms * 1000);
		_exit(written < 0);
	}
	close(ends[1]);
	enum console_stop stop = CONSOLE_CLOSED;
	struct error *error = console_read(console, ends[0], keep, limits, NO_GUARD, &stop);
	assert_null(error);
	close(ends[0]);
	char data[8192];
	ssize_t len = pread(keep, data, sizeof(data), 0);
	strbuf_add(kept, data, (size_t)len);
	close(keep);
	unlink(path);
	return stop;
}

static void test_stops(void **state)
{
	AUTO_STRBUF whole = STRBUF_INIT;
	static const struct {
		const char *text; /* NULL: a whole copy of records */
		int open_ms, hello_ms, run_ms, silence_ms;
		enum console_stop stop;
	} cases[] = {
		{ "some words\n", 0, 2000, 2000, 2000, CONSOLE_CLOSED },
		{ NULL, 0, 2000, 2000, 2000, CONSOLE_CLOSED },
		{ NULL, 1000, 2000, 2000, 2000, CONSOLE_SETTLED },
		{ "Kernel panic - not syncing: x\n", 1000, 2000, 2000, 2000, CONSOLE_SETTLED },
		{ "some words\n", 1000, 2000, 2000, 100, CONSOLE_SILENT },
		{ "", 1000, 100, 2000, 2000, CONSOLE_SILENT },
		{ "some words\n", 1000, 100, 2000, 2000, CONSOLE_NO_HELLO },
		{ "some words\n", 1000, 2000, 100, 2000, CONSOLE_TOO_LONG },
	};

	(void)state;
	add_copy(&whole);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text ? cases[i].text : whole.data;
		const struct console_limits limits = {
			.hello_deadline_ms = clock_deadline(cases[i].hello_ms),
			.run_deadline_ms = clock_deadline(cases[i].run_ms),
			.silence_ms = cases[i].silence_ms,
			.settle_ms = 100,
		};
		AUTO_CONSOLE console = console_new(CMDLINE);
		AUTO_STRBUF kept = STRBUF_INIT;
		int64_t start = clock_ms();
		assert_int_equal(read_from_child(text, cases[i].open_ms, &limits, console, &kept), cases[i].stop);
		assert_true(clock_ms() - start < 900);
		assert_string_equal(strbuf_str(&kept), text);
	}
}

static void test_stops_a_babbler(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		while (write(ends[1], "babble babble\n", 14) > 0)
			usleep(1000);
		_exit(0);
	}
	close(ends[1]);
	const struct console_limits limits = { clock_deadline(5000), clock_deadline(300), 5000, 100 };
	AUTO_CONSOLE console = console_new(CMDLINE);
	AUTO_CLOSE int keep = open("/dev/null", O_WRONLY);
	enum console_stop stop = CONSOLE_CLOSED;
	struct error *error = console_read(console, ends[0], keep, &limits, NO_GUARD, &stop);
	assert_null(error);
	assert_int_equal(stop, CONSOLE_TOO_LONG);
	close(ends[0]);
}

static void test_guard_and_full_disk(void **state)
{
	int ends[2], guard[2];
	const struct console_limits limits = { clock_deadline(5000), clock_deadline(5000), 5000, 100 };
	AUTO_CONSOLE console = console_new(CMDLINE);
	AUTO_CLOSE int full = open("/dev/full", O_WRONLY);
	enum console_stop stop = CONSOLE_TOO_LONG;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(guard), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	AUTO_ERROR disk = console_read(console, ends[0], full, &limits, NO_GUARD, &stop);
	assert_int_equal(error_kind(disk), ERROR_LAB);
	assert_string_equal(error_message(disk), "cannot keep the console's output: No space left on device");
	close(guard[1]);
	AUTO_ERROR interrupted = console_read(console, ends[0], full, &limits, (struct guard){ guard[0] }, &stop);
	assert_int_equal(error_kind(interrupted), ERROR_INTERRUPTED);
	assert_int_equal(stop, CONSOLE_TOO_LONG);
	close(guard[0]);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collects_records),
		cmocka_unit_test(test_takes_each_record_from_any_copy),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_two_agents),
		cmocka_unit_test(test_ignores_absurd_numbers),
		cmocka_unit_test(test_sees_panic_and_oops),
		cmocka_unit_test(test_takes_no_echo_for_a_message),
		cmocka_unit_test(test_sees_a_restart),
		cmocka_unit_test(test_survives_bytes),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stops_a_babbler),
		cmocka_unit_test(test_guard_and_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
