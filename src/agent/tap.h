/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a test program that speaks TAP, as the kernel's selftests do (Documentation/dev-tools/ktap.rst and kselftest.h): results
 * "ok N NAME" and "not ok N - NAME # SKIP why"; older ones put the name behind the directive. Anything else is said for people.
 */
#ifndef AGENT_TAP_H
#define AGENT_TAP_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_NAME_MAX 64

enum tap_kind {
	TAP_OTHER,
	TAP_PASS,
	TAP_FAIL,
	TAP_SKIP, /* also a failure that is expected (XFAIL) */
	TAP_SKIP_ALL, /* a plan of no tests */
	TAP_BAIL, /* the program gives up */
};

struct tap_line {
	enum tap_kind kind;
	/* Of a result: letters, digits, '_', '-' and '+', anything else as '_', cut; "test-N" when it has none. */
	char name[TAP_NAME_MAX];
	char why[TAP_NAME_MAX]; /* SKIP, SKIP_ALL, BAIL: what is said of it, cut; "" = nothing */
};

/* `text` without its newline. */
void tap_parse(const char *text, struct tap_line *line_out);
/* "pass", "fail", "skip" */
const char *tap_outcome(enum tap_kind kind);

#endif
