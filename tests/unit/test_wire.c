/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agent/wire.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	struct wire_record record;
	const char *body; /* what stands before " CRC\n" */
} known[] = {
	{ { .type = WIRE_HELLO, .seq = 0, .name = "0.1.0", .value = "1" }, "MEMCG-AB HELLO 0.1.0 1 0" },
	{ { .type = WIRE_IDENTITY, .seq = 12, .name = "cmdline", .value = "a b%\n\xc3\xa9" },
	  "MEMCG-AB IDENTITY cmdline a%20b%25%0A%C3%A9 12" },
	{ { .type = WIRE_IDENTITY, .seq = 7, .name = "cmdline", .value = "" }, "MEMCG-AB IDENTITY cmdline %00 7" },
	{ { .type = WIRE_RESULT,
	    .seq = 4294967295u,
	    .name = "pft.fault.insn_k.w0",
	    .value = "-1707.050000",
	    .unit = "insn/page",
	    .pass = true },
	  "MEMCG-AB RESULT pft.fault.insn_k.w0 pass -1707.050000 insn/page 4294967295" },
	{ { .type = WIRE_RESULT, .seq = 3, .name = "pft.fault.ns.0", .value = "no page", .unit = "-" },
	  "MEMCG-AB RESULT pft.fault.ns.0 fail no%20page - 3" },
	{ { .type = WIRE_END, .seq = 64 }, "MEMCG-AB END 64" },
};

static void assert_same(const struct wire_record *a, const struct wire_record *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->seq, b->seq);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->value, b->value);
	assert_string_equal(a->unit, b->unit);
	assert_int_equal(a->pass, b->pass);
}

static void refuses(const char *line, size_t len)
{
	struct wire_record record, before;

	memset(&record, 0x5a, sizeof(record));
	before = record;
	assert_false(wire_parse(line, len, &record));
	assert_memory_equal(&record, &before, sizeof(record));
}

/* A line with a right checksum around `body`. */
static size_t seal(const char *body, char line[300])
{
	return (size_t)snprintf(line, 300, "%s %08x\n", body, wire_crc32(body, strlen(body)));
}

static void crc_known_answer(void **state)
{
	(void)state;
	assert_int_equal(wire_crc32("123456789", 9), 0xcbf43926);
	assert_int_equal(wire_crc32("", 0), 0);
}

static void formats_and_parses(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(known); i++) {
		char line[WIRE_LINE_MAX], want[300];
		struct wire_record back;
		size_t len = wire_format(&known[i].record, line);

		assert_int_equal(len, seal(known[i].body, want));
		assert_string_equal(line, want);
		assert_true(wire_parse(line, len, &back));
		assert_same(&back, &known[i].record);
		assert_true(wire_parse(line, len - 1, &back)); /* no newline */
	}
}

static void lines_stay_under_200_bytes(void **state)
{
	struct wire_record record = { .type = WIRE_IDENTITY, .seq = 4294967295u, .name = "k" };
	char line[WIRE_LINE_MAX] = "untouched";
	size_t longest = 0;

	(void)state;
	for (size_t n = 0; n < sizeof(record.value) - 1; n++) {
		record.value[n] = 'v';
		size_t len = wire_format(&record, line);

		if (!len)
			break;
		assert_int_equal(len, strlen(line));
		longest = len;
	}
	assert_int_equal(longest, 199);
	strcpy(line, "untouched");
	assert_int_equal(wire_format(&record, line), 0);
	assert_string_equal(line, "untouched");
}

static void pass_wants_a_decimal(void **state)
{
	static const char *const bad[] = { "", "-", ".5", "5.", "1e3", "nan", "1.2.3", "+1", " 1", "0x1" };
	static const char *const good[] = { "0", "-1", "1.5", "00.10" };
	struct wire_record record = { .type = WIRE_RESULT, .name = "c", .unit = "u", .pass = true };
	char line[WIRE_LINE_MAX];

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		strcpy(record.value, bad[i]);
		assert_int_equal(wire_format(&record, line), 0);
	}
	for (size_t i = 0; i < N(good); i++) {
		strcpy(record.value, good[i]);
		assert_int_not_equal(wire_format(&record, line), 0);
	}
}

static void any_damaged_byte_is_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(known); i++) {
		char line[WIRE_LINE_MAX], bad[WIRE_LINE_MAX + 1];
		size_t len = wire_format(&known[i].record, line) - 1;

		for (size_t at = 0; at < len; at++) {
			for (int bit = 0; bit < 8; bit++) {
				memcpy(bad, line, len);
				bad[at] ^= (char)(1 << bit);
				refuses(bad, len);
			}
			memcpy(bad, line, at);
			memcpy(bad + at, line + at + 1, len - at - 1);
			refuses(bad, len - 1);
			memcpy(bad, line, at);
			bad[at] = '\n';
			memcpy(bad + at + 1, line + at, len - at);
			if (at > 0)
				refuses(bad, len + 1);
		}
	}
}

static void finds_the_record_behind_other_bytes(void **state)
{
	char line[WIRE_LINE_MAX], text[600];
	struct wire_record back;

	(void)state;
	wire_format(&known[1].record, line);
	line[strlen(line) - 1] = '\0';
	snprintf(text, sizeof(text), "[    0.1] MEMCG-AB HELLO 0.1.0 1%s\r\n", line);
	assert_true(wire_parse(text, strlen(text), &back));
	assert_same(&back, &known[1].record);
	/* bytes behind it are not skipped */
	snprintf(text, sizeof(text), "%s x", line);
	refuses(text, strlen(text));
}

static void only_the_canonical_form(void **state)
{
	static const char *const bodies[] = {
		"MEMCG-AB HELLO 0.1.0 1 00",
		"MEMCG-AB HELLO 0.1.0 1 -1",
		"MEMCG-AB HELLO 0.1.0 1 4294967296",
		"MEMCG-AB HELLO 0.1.0 1",
		"MEMCG-AB HELLO 0.1.0 1 2 3",
		"MEMCG-AB  HELLO 0.1.0 1 0",
		"MEMCG-AB HELLO 0.1.0  0",
		"MEMCG-AB IDENTITY k %2 0",
		"MEMCG-AB IDENTITY k %2f 0",
		"MEMCG-AB IDENTITY k %41 0",
		"MEMCG-AB IDENTITY k a%00 0",
		"MEMCG-AB IDENTITY k \xc3 0",
		"MEMCG-AB IDENTITY k\tv w 0",
		"MEMCG-AB RESULT c maybe 1 u 0",
		"MEMCG-AB RESULT c pass one u 0",
		"MEMCG-AB RESULT c pass 1 0123456789012345678901234567890123 0",
		"MEMCG-AB END x",
		"MEMCG-AB END",
		"MEMCG-AB BYE 1",
		"MEMCG-AB ",
	};
	char line[300];

	(void)state;
	for (size_t i = 0; i < N(bodies); i++)
		refuses(line, seal(bodies[i], line));
	refuses("", 0);
	refuses("MEMCG-AB", 8);

	char endless[260] = "MEMCG-AB IDENTITY k ";

	memset(endless + strlen(endless), 'v', 200);
	strcpy(endless + 220, " 0");
	refuses(line, seal(endless, line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_known_answer),	      cmocka_unit_test(formats_and_parses),
		cmocka_unit_test(lines_stay_under_200_bytes), cmocka_unit_test(pass_wants_a_decimal),
		cmocka_unit_test(any_damaged_byte_is_seen),   cmocka_unit_test(finds_the_record_behind_other_bytes),
		cmocka_unit_test(only_the_canonical_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
