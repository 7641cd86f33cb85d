/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/collect.h"
#include "device/console.h"
#include "device/records_file.h"
#include "device/settings.h"

#define OURS "0123456789abcdef"
#define OTHERS "fedcba9876543210"

static void add(struct strbuf *out, enum wire_type type, const char *name, const char *value, uint32_t seq)
{
	struct wire_record record = { .type = type, .seq = seq, .pass = true, .unit = "insn/page" };
	char line[WIRE_LINE_MAX];

	snprintf(record.name, sizeof(record.name), "%s", name);
	snprintf(record.value, sizeof(record.value), "%s", value);
	strbuf_add(out, line, wire_format(&record, line));
}

/* What an agent of that nonce writes, twice; the number tells whose it is. */
static void add_boot(struct strbuf *out, const char *nonce, const char *boot_id, const char *number)
{
	AUTO_FREE char *version = xasprintf("0.1.0/%s", nonce);

	add(out, WIRE_HELLO, version, "1", 0);
	for (int copy = 0; copy < 2; copy++) {
		add(out, WIRE_HELLO, version, "1", 0);
		add(out, WIRE_IDENTITY, "boot_id", boot_id, 1);
		add(out, WIRE_IDENTITY, "cmdline", "quiet", 2);
		add(out, WIRE_RESULT, "pft.fault.insn_k.0", number, 3);
		add(out, WIRE_END, "", "", 4);
	}
}

static const struct collect_expected expected = { .cmdline = "quiet", .memcg = MEMCG_UNKNOWN, .nonce = OURS };

/* As the lane does it: read like a console, then collected. */
static struct boot_record *read_medium(enum records_medium medium, const struct strbuf *bytes, struct sift_counts *counts)
{
	AUTO_CONSOLE console = console_new("quiet");
	AUTO_CLOSE int keep_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;
	struct console_limits limits = { clock_deadline(10000), clock_deadline(10000), 10000, 10000 };
	struct boot_record *record = xcalloc(1, sizeof(*record));
	enum console_stop stop;

	assert_ok(records_file_open(medium, bytes->data, bytes->len, OURS, &fd, counts));
	assert_ok(console_read(console, fd, keep_fd, &limits, NO_GUARD, &stop));
	/* At its end, or already at the second END. */
	assert_in_range(stop, CONSOLE_CLOSED, CONSOLE_SETTLED);
	collect_record(console, &expected, record);
	return record;
}

static void check_ours(enum records_medium medium, const struct strbuf *bytes, size_t foreign)
{
	struct sift_counts counts;
	struct boot_record *record = read_medium(medium, bytes, &counts);

	if (record->reason)
		fail_msg("%s", record->reason);
	assert_int_equal(record->status, BOOT_OK);
	assert_string_equal(record->boot_id, "ours");
	assert_string_equal(jnode_string(record->identity, "nonce", ""), OURS);
	assert_string_equal(jnode_string(record->identity, "agent_version", ""), "0.1.0");
	assert_int_equal(record->n_readings, 1);
	assert_true(record->readings[0].value == 1700.5);
	assert_int_equal(counts.own, 11);
	assert_int_equal(counts.foreign, foreign);
	boot_record_free(record);
}

static void test_partition(void **state)
{
	AUTO_STRBUF bytes = STRBUF_INIT;

	(void)state;
	add_boot(&bytes, OURS, "ours", "1700.5");
	strbuf_addch(&bytes, '\0');
	/* What is left of an earlier boot that had more to say is behind the NUL. */
	add_boot(&bytes, OTHERS, "an earlier one's", "9999");
	check_ours(RECORDS_PARTITION, &bytes, 0);
}

static void test_pstore(void **state)
{
	AUTO_STRBUF bytes = STRBUF_INIT;

	(void)state;
	add_boot(&bytes, OTHERS, "an earlier one's", "9999");
	strbuf_add(&bytes, "\0\1\2another program's\0", 21);
	add_boot(&bytes, OURS, "ours", "1700.5");
	strbuf_adds(&bytes, "\nNo errors detected\n");
	check_ours(RECORDS_PSTORE, &bytes, 11);
}

/* A kernel that dies before its agent writes leaves what an earlier boot wrote: nothing of it is taken. */
static void test_stale_only(void **state)
{
	static const enum records_medium media[] = { RECORDS_PARTITION, RECORDS_PSTORE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(media); i++) {
		AUTO_STRBUF bytes = STRBUF_INIT;
		struct sift_counts counts;
		add_boot(&bytes, OTHERS, "an earlier one's", "9999");
		struct boot_record *record = read_medium(media[i], &bytes, &counts);
		assert_int_equal(record->status, BOOT_LAB);
		assert_string_equal(record->reason, "console lost records: no END in either copy");
		assert_null(record->boot_id);
		assert_int_equal(record->n_readings, 0);
		assert_int_equal(counts.own, 0);
		assert_int_equal(counts.foreign, 11);
		boot_record_free(record);
	}
}

static void test_empty(void **state)
{
	struct sift_counts counts;
	AUTO_CLOSE int fd = -1;
	char byte;

	(void)state;
	assert_ok(records_file_open(RECORDS_PARTITION, "", 0, OURS, &fd, &counts));
	assert_int_equal(read(fd, &byte, 1), 0);
	assert_int_equal(counts.own + counts.foreign, 0);
}

static void test_nonce_is_drawn_and_written(void **state)
{
	const struct boot_request request = { .memcg = MEMCG_UNKNOWN };
	char first[SIFT_NONCE_LEN + 1], second[SIFT_NONCE_LEN + 1];
	AUTO_STRBUF text = STRBUF_INIT;

	(void)state;
	assert_ok(settings_draw_nonce(first));
	assert_ok(settings_draw_nonce(second));
	assert_true(sift_valid_nonce(first));
	assert_true(sift_valid_nonce(second));
	assert_string_not_equal(first, second);
	const struct settings settings = { .counter = "pmu", .finish = "bootloader", .nonce = OURS };
	settings_write(&settings, &request, &text);
	assert_string_equal(text.data, "version=1\ncounter=pmu\nclock=0\nfinish=bootloader\nnonce=" OURS "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partition),
		cmocka_unit_test(test_pstore),
		cmocka_unit_test(test_stale_only),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_nonce_is_drawn_and_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
