/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/records.h"

static void cuts_long_values(void **state)
{
	struct records records = { 0 };
	char value[1001], joined[1001] = "", key[40];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		value[i] = i % 7 ? (char)('a' + i % 26) : ' '; /* blanks take three bytes each */
	value[1000] = '\0';
	records_hello(&records, "1", NULL);
	records_identity(&records, "cmdline", value);
	for (size_t i = 1; i < records.n; i++) {
		char line[WIRE_LINE_MAX];

		snprintf(key, sizeof(key), "cmdline.%zu", i - 1);
		assert_string_equal(records.items[i].name, key);
		assert_int_equal(records.items[i].seq, i);
		assert_int_not_equal(wire_format(&records.items[i], line), 0);
		strcat(joined, records.items[i].value);
	}
	assert_string_equal(joined, value);
	assert_in_range(records.n, 8, 16);
	records_deinit(&records);
}

static void short_and_missing_values(void **state)
{
	struct records records = { 0 };

	(void)state;
	records_identity(&records, "none", NULL);
	assert_int_equal(records.n, 0);
	records_identity(&records, "empty", "");
	records_identity(&records, "short", "x");
	assert_int_equal(records.n, 2);
	assert_string_equal(records.items[0].value, "");
	assert_string_equal(records.items[1].name, "short");
	records_deinit(&records);
}

static void results(void **state)
{
	struct records records = { 0 };
	char reason[400], line[WIRE_LINE_MAX];

	(void)state;
	memset(reason, '\n', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	records_pass(&records, "a.b.c.0", 1707.05, "insn/page");
	records_pass(&records, "a.b.c.1", NAN, "insn/page");
	records_pass(&records, "a.b.c.2", 1e300, "insn/page");
	records_fail(&records, "a.b.c.3", reason, "insn/page");
	assert_string_equal(records.items[0].value, "1707.050000");
	assert_true(records.items[0].pass);
	assert_false(records.items[1].pass);
	assert_string_equal(records.items[1].value, "not a number that can be reported");
	assert_false(records.items[2].pass);
	assert_false(records.items[3].pass);
	assert_in_range(strlen(records.items[3].value), 40, 50); /* three bytes each */
	for (size_t i = 0; i < records.n; i++)
		assert_int_not_equal(wire_format(&records.items[i], line), 0);
	records_deinit(&records);
}

static void sends_everything_twice(void **state)
{
	const struct misbehave none = { 0 };
	struct records records = { 0 };
	char text[1000], want[1000] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	records_hello(&records, "0.1.0", NULL);
	records_identity(&records, "k", "v");
	assert_true(records_send(&records, ends[1], &none));
	close(ends[1]);
	ssize_t len = read(ends[0], text, sizeof(text) - 1);

	assert_true(len > 0);
	text[len] = '\0';
	close(ends[0]);
	for (int copy = 0; copy < 2; copy++)
		strcat(want, "MEMCG-AB HELLO 0.1.0 1 0 2667d4e9\nMEMCG-AB IDENTITY k v 1 3fea83f9\nMEMCG-AB END 2 99f36714\n");
	assert_string_equal(text, want);
	assert_false(records_write(-1, "x", 1));
	records_deinit(&records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_long_values),
		cmocka_unit_test(short_and_missing_values),
		cmocka_unit_test(results),
		cmocka_unit_test(sends_everything_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
