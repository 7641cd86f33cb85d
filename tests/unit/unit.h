/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every unit test includes: cmocka in the order it wants, and checks on error values. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"

/* Fails with the error's text when there is one. */
static inline void assert_ok_at(struct error *error, const char *file, int line)
{
	if (!error)
		return;
	char *text = error_text(error);
	print_error("%s:%d: %s", file, line, text);
	_fail(file, line);
}
#define assert_ok(expression) assert_ok_at((expression), __FILE__, __LINE__)

/* Wants the error's whole text (error_text), and frees it. */
static inline void assert_error_at(struct error *error, const char *want, const char *file, int line)
{
	if (!error) {
		print_error("%s:%d: no error, wanted: %s", file, line, want);
		_fail(file, line);
		return;
	}
	char *text = error_text(error);
	_assert_string_equal(text, want, file, line);
	free(text);
	error_free(error);
}
#define assert_error(expression, want) assert_error_at((expression), (want), __FILE__, __LINE__)

#endif
