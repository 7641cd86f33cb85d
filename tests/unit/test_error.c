/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"
#include "unit.h"

#include <errno.h>

static struct pos at(const char *file, int line, int col)
{
	return (struct pos){ intern(file), line, col };
}

static void lists_print_sorted_with_their_notes(void **state)
{
	(void)state;
	struct error *list = error_at(at("b.yaml", 2, 1), "second");
	struct error *first = error_at(at("a.yaml", 10, 3), "ten");

	error_note(first, at("a.yaml", 1, 1), "see here");
	error_join(&list, first);
	error_join(&list, error_at(at("a.yaml", 9, 3), "nine"));
	error_join(&list, NULL);
	assert_int_equal(error_count(list), 3);
	assert_error(list, "a.yaml:9:3: error: nine\n"
			   "a.yaml:10:3: error: ten\n"
			   "a.yaml:1:1: note: see here\n"
			   "b.yaml:2:1: error: second\n");
}

static void errors_at_one_place_keep_their_order(void **state)
{
	(void)state;
	struct error *list = NULL;

	for (int i = 0; i < 5; i++)
		error_join(&list, error_at(at("a", 1, 1), "%d", i));
	assert_error(list, "a:1:1: error: 0\na:1:1: error: 1\na:1:1: error: 2\na:1:1: error: 3\na:1:1: error: 4\n");
}

static void context_and_place_are_added(void **state)
{
	(void)state;
	struct error *error = error_os(ENOENT, "cannot open %s", "x");

	error = error_wrap(error, "series '%s'", "s");
	error = error_place(error, at("m.yaml", 3, 0));
	error = error_place(error, at("other", 1, 1));
	assert_error(error, "m.yaml:3: error: series 's': cannot open x: No such file or directory\n");
	assert_null(error_wrap(NULL, "x"));
	assert_null(error_place(NULL, NO_POS));
}

static void the_exit_status_is_the_first_that_applies(void **state)
{
	static const struct {
		enum error_kind a, b;
		int want;
	} cases[] = {
		{ ERROR_LAB, ERROR_KERNEL, 5 },
		{ ERROR_KERNEL, ERROR_INPUT, 2 },
		{ ERROR_INPUT, ERROR_INTERRUPTED, 130 },
		{ ERROR_LAB, ERROR_LAB, 3 },
	};
	(void)state;

	assert_int_equal(error_exit_status(NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_ERROR list = error_new(cases[i].a, "a");
		error_join(&list, error_new(cases[i].b, "b"));
		assert_int_equal(error_exit_status(list), cases[i].want);
	}
}

static void interned_names_are_equal_pointers(void **state)
{
	(void)state;
	char one[] = "same", two[] = "same";

	assert_ptr_equal(intern(one), intern(two));
	assert_ptr_not_equal(intern("same"), intern("other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_print_sorted_with_their_notes),
		cmocka_unit_test(errors_at_one_place_keep_their_order),
		cmocka_unit_test(context_and_place_are_added),
		cmocka_unit_test(the_exit_status_is_the_first_that_applies),
		cmocka_unit_test(interned_names_are_equal_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
