/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agent/sift.h"
#include "agent/wire.h"

#define OURS "0123456789abcdef"
#define OTHERS "fedcba9876543210"

/* Bytes as they lie on a medium. */
struct medium {
	char data[4096];
	size_t len;
};

static void add_bytes(struct medium *medium, const char *data, size_t len)
{
	assert_true(medium->len + len < sizeof(medium->data));
	memcpy(medium->data + medium->len, data, len);
	medium->len += len;
}

static void add_record(struct medium *medium, enum wire_type type, const char *name, const char *value, uint32_t seq)
{
	struct wire_record record = { .type = type, .seq = seq, .pass = true, .unit = "x" };
	char line[WIRE_LINE_MAX];

	snprintf(record.name, sizeof(record.name), "%s", name);
	snprintf(record.value, sizeof(record.value), "%s", value);
	add_bytes(medium, line, wire_format(&record, line));
}

/* HELLO, one record whose value tells whose it is, END. */
static void add_boot(struct medium *medium, const char *nonce, const char *whose)
{
	char name[64];

	snprintf(name, sizeof(name), "0.1.0%s%s", *nonce ? "/" : "", nonce);
	add_record(medium, WIRE_HELLO, name, "1", 0);
	add_record(medium, WIRE_IDENTITY, "whose", whose, 1);
	add_record(medium, WIRE_END, "", "", 2);
}

static bool collect(void *arg, const char *line, size_t len)
{
	add_bytes(arg, line, len);
	return true;
}

static bool refuse(void *arg, const char *line, size_t len)
{
	(void)line;
	(void)len;
	return --*(int *)arg > 0;
}

static void check(const struct medium *medium, const char *nonce, const struct medium *want, size_t own, size_t foreign)
{
	struct medium got = { .len = 0 };
	struct sift_counts counts;

	assert_true(sift_records(medium->data, medium->len, nonce, collect, &got, &counts));
	assert_int_equal(got.len, want->len);
	assert_memory_equal(got.data, want->data, want->len);
	assert_int_equal(counts.own, own);
	assert_int_equal(counts.foreign, foreign);
}

static void takes_its_own_boot_only(void **state)
{
	struct medium medium = { .len = 0 }, ours = { .len = 0 }, all = { .len = 0 };

	(void)state;
	add_boot(&ours, OURS, "ours");
	add_record(&medium, WIRE_IDENTITY, "whose", "the end of a boot whose start the ring has lost", 7);
	add_boot(&medium, OTHERS, "an earlier boot");
	add_bytes(&medium, ours.data, ours.len);
	add_boot(&medium, "", "a boot that was given no nonce");
	add_boot(&medium, OTHERS, "a later boot");
	check(&medium, OURS, &ours, 3, 10);
	check(&medium, "00000000deadbeef", &(struct medium){ .len = 0 }, 0, 13);
	add_bytes(&all, medium.data, medium.len);
	check(&medium, NULL, &all, 13, 0);
}

static void takes_both_copies(void **state)
{
	struct medium medium = { .len = 0 }, want;

	(void)state;
	add_record(&medium, WIRE_HELLO, "0.1.0/" OURS, "1", 0);
	add_boot(&medium, OURS, "first copy");
	add_boot(&medium, OURS, "second copy");
	want = medium;
	check(&medium, OURS, &want, 7, 0);
}

static void passes_over_everything_else(void **state)
{
	static const char before[] = "\n\0l\4\xff binary of another program ", cut[] = "MEMCG-AB IDENTITY whose ou";
	static const char notice[] = "\n3 Corrected bytes, 0 unrecoverable blocks\n";
	struct medium medium = { .len = 0 }, ours = { .len = 0 };

	(void)state;
	add_boot(&ours, OURS, "ours");
	add_bytes(&medium, before, sizeof(before) - 1);
	add_bytes(&medium, ours.data, ours.len);
	add_bytes(&medium, cut, sizeof(cut) - 1);
	add_bytes(&medium, notice, sizeof(notice) - 1);
	add_bytes(&medium, ours.data, ours.len / 2); /* ends in the middle of a line, without a newline */
	add_bytes(&medium, "\0\0\0", 3);

	struct medium want = ours;

	add_record(&want, WIRE_HELLO, "0.1.0/" OURS, "1", 0);
	check(&medium, OURS, &want, 4, 0);
}

static void a_damaged_record_is_none(void **state)
{
	struct medium medium = { .len = 0 }, want = { .len = 0 };

	(void)state;
	add_boot(&medium, OURS, "ours");
	*(char *)memchr(medium.data + 60, 'w', 60) = 'W';
	add_record(&want, WIRE_HELLO, "0.1.0/" OURS, "1", 0);
	add_record(&want, WIRE_END, "", "", 2);
	check(&medium, OURS, &want, 2, 0);
}

static void stops_when_told(void **state)
{
	struct medium medium = { .len = 0 };
	struct sift_counts counts;
	int left = 2;

	(void)state;
	add_boot(&medium, OURS, "ours");
	assert_false(sift_records(medium.data, medium.len, OURS, refuse, &left, &counts));
	assert_int_equal(left, 0);
	assert_true(sift_records(medium.data, 0, OURS, refuse, &left, &counts));
	assert_int_equal(counts.own + counts.foreign, 0);
}

static void nonces(void **state)
{
	(void)state;
	assert_true(sift_valid_nonce(OURS));
	assert_false(sift_valid_nonce(""));
	assert_false(sift_valid_nonce("0123456789abcde"));
	assert_false(sift_valid_nonce("0123456789abcdef0"));
	assert_false(sift_valid_nonce("0123456789ABCDEF"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_its_own_boot_only),
		cmocka_unit_test(takes_both_copies),
		cmocka_unit_test(passes_over_everything_else),
		cmocka_unit_test(a_damaged_record_is_none),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(nonces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
