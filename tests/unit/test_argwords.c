/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/argwords.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* The words with '|' behind each; "(none)" when there are none. */
static void check(const char *text, const char *want)
{
	char **words = argwords_split(text);
	char got[256] = "";

	for (size_t i = 0; words && words[i]; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s|", words[i]);
	assert_string_equal(words ? got : "(none)", want);
	free(words);
}

static void words_are_parted(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "make -j4", "make|-j4|" },
		{ "  a \t b  ", "a|b|" },
		{ "sh -c 'make -j4 && echo \"$PWD\"'", "sh|-c|make -j4 && echo \"$PWD\"|" },
		{ "a\"b c\"d", "ab cd|" },
		{ "\"a\\\"b\"", "a\"b|" },
		{ "'a\\'", "a\\|" },
		{ "a\\ b", "a b|" },
		{ "'' \"\" x", "||x|" },
		{ "$HOME *.c #x", "$HOME|*.c|#x|" },
		{ "a", "a|" },
		{ "", "(none)" },
		{ " \t", "(none)" },
		{ "'open", "(none)" },
		{ "\"open", "(none)" },
		{ "\"open\\", "(none)" },
		{ "end\\", "(none)" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		check(cases[i].text, cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(words_are_parted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
