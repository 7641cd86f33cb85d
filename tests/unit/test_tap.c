/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What test programs print, as kselftest.h of 5.10 and of 6.12 does and as KTAP says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/tap.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void lines_are_understood(void **state)
{
	static const struct {
		const char *text;
		enum tap_kind kind;
		const char *name, *why;
	} cases[] = {
		{ "ok 1 test_memcg_current", TAP_PASS, "test_memcg_current", "" },
		{ "ok 1 - test_memcg_current\r", TAP_PASS, "test_memcg_current", "" },
		{ "not ok 12 test_memcg_sock", TAP_FAIL, "test_memcg_sock", "" },
		{ "ok 3 # SKIP test_memcg_swap_max", TAP_SKIP, "test_memcg_swap_max", "" },
		{ "ok 3 test_memcg_swap_max # SKIP no swap here", TAP_SKIP, "test_memcg_swap_max", "no swap here" },
		{ "ok 3 - a b/c # skip", TAP_SKIP, "a_b_c", "" },
		{ "not ok 1 # SKIP memory controller isn't available", TAP_SKIP, "memory_controller_isn_t_available", "" },
		{ "ok 4 # XFAIL test_x", TAP_SKIP, "test_x", "" },
		{ "not ok 5 # error test_y", TAP_FAIL, "test_y", "" },
		{ "ok 6 # XPASS test_z", TAP_PASS, "test_z", "" },
		{ "ok 7 with # 3 of them", TAP_PASS, "with___3_of_them", "" },
		{ "ok", TAP_PASS, "test-", "" },
		{ "ok 8", TAP_PASS, "test-8", "" },
		{ "ok 123456789012345", TAP_PASS, "test-123456789", "" },
		{ "okay 1 x", TAP_OTHER, "", "" },
		{ "not okay", TAP_OTHER, "", "" },
		{ " ok 1 x", TAP_OTHER, "", "" },
		{ "# Totals: pass:1", TAP_OTHER, "", "" },
		{ "TAP version 13", TAP_OTHER, "", "" },
		{ "1..12", TAP_OTHER, "", "" },
		{ "1..0", TAP_SKIP_ALL, "", "" },
		{ "1..0 # SKIP cgroup v2 isn't mounted", TAP_SKIP_ALL, "", "cgroup v2 isn't mounted" },
		{ "1..01", TAP_OTHER, "", "" },
		{ "Bail out! no memory\303\244", TAP_BAIL, "", "no memory??" },
		{ "", TAP_OTHER, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct tap_line line;

		memset(&line, 'x', sizeof(line));
		tap_parse(cases[i].text, &line);
		assert_string_equal(line.name, cases[i].name);
		assert_string_equal(line.why, cases[i].why);
		assert_int_equal(line.kind, cases[i].kind);
	}
}

static void what_is_too_long_is_cut(void **state)
{
	char text[300];
	struct tap_line line;

	(void)state;
	memset(text, 'n', sizeof(text));
	memcpy(text, "ok 1 ", 5);
	text[sizeof(text) - 1] = '\0';
	tap_parse(text, &line);
	assert_int_equal(strlen(line.name), TAP_NAME_MAX - 1);
	memcpy(text, "Bail out! ", 10);
	tap_parse(text, &line);
	assert_int_equal(strlen(line.why), TAP_NAME_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_understood),
		cmocka_unit_test(what_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
