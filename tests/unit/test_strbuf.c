/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/strbuf.h"
#include "unit.h"

#include <string.h>

static void buffer_grows_and_keeps_its_text(void **state)
{
	(void)state;
	AUTO_STRBUF sb = STRBUF_INIT;

	assert_string_equal(strbuf_str(&sb), "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&sb, "%d,", i);
	assert_int_equal(sb.len, 3890);
	strbuf_remove_front(&sb, 2);
	assert_memory_equal(sb.data, "1,2,", 4);
	strbuf_reset(&sb);
	assert_string_equal(strbuf_str(&sb), "");
}

static void buffer_holds_nul_bytes(void **state)
{
	(void)state;
	AUTO_STRBUF sb = STRBUF_INIT;

	strbuf_add(&sb, "a\0b", 3);
	assert_int_equal(sb.len, 3);
	assert_memory_equal(sb.data, "a\0b", 4);
}

static void lists_sort_and_search(void **state)
{
	(void)state;
	AUTO_STRLIST list = { NULL, 0 };

	strlist_add(&list, "b");
	strlist_addf(&list, "a%d", 1);
	strlist_add(&list, "c");
	strlist_sort(&list);
	assert_string_equal(list.items[0], "a1");
	assert_true(strlist_has(&list, "c"));
	assert_false(strlist_has(&list, "d"));
	const char **vector = strlist_vector(&list);
	assert_string_equal(vector[2], "c");
	assert_null(vector[3]);
	free(vector);
}

static void trim_cuts_both_ends(void **state)
{
	(void)state;
	char text[] = " \t a b \n";
	char blank[] = "  ";

	assert_string_equal(str_trim(text), "a b");
	assert_string_equal(str_trim(blank), "");
}

static void suggestions_are_near_or_none(void **state)
{
	static const char *const names[] = { "cmdline", "config", "kernel", "workloads", "gate" };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "cmdlin", "cmdline" },
		{ "cmdlien", "cmdline" },
		{ "kernels", "kernel" },
		{ "worklods", "workloads" },
		{ "gaet", "gate" },
		{ "xyz", NULL },
		{ "", NULL },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *got = str_suggest(cases[i].word, names, ARRAY_SIZE(names));
		if (cases[i].want)
			assert_string_equal(got, cases[i].want);
		else
			assert_null(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_grows_and_keeps_its_text), cmocka_unit_test(buffer_holds_nul_bytes),
		cmocka_unit_test(lists_sort_and_search),	   cmocka_unit_test(trim_cuts_both_ends),
		cmocka_unit_test(suggestions_are_near_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
