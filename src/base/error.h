/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors are values: a function that can fail returns `struct error *`, NULL for success, and its results through
 * `*_out` parameters, which it leaves untouched when it fails. One value may hold several errors (error_join), so that
 * bad input is reported all at once. Only cmd/ prints errors and chooses the exit status.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdio.h>

#include "base/mem.h"

/* Where something stands in a file. `file` is an interned string that lives for ever; line and col count from 1, 0 = not known. */
struct pos {
	const char *file;
	int line;
	int col;
};

/* What went wrong decides the exit status (design.md, Command line). */
enum error_kind {
	ERROR_INPUT, /* usage, matrix, lab, patch or config: 2 */
	ERROR_KERNEL, /* a kernel did not build or boot: 5 */
	ERROR_LAB, /* machine, device, tool, disk, network: 3 */
	ERROR_INTERRUPTED, /* a signal, or the parent has gone: 130 */
};

struct error;

/* Message without a position. The message is one line, without "error:" and without a full stop. */
struct error *error_new(enum error_kind kind, const char *format, ...) PRINTF_FORMAT(2, 3) MUST_CHECK;
/* ERROR_INPUT at a position. */
struct error *error_at(struct pos pos, const char *format, ...) PRINTF_FORMAT(2, 3) MUST_CHECK;
/* ERROR_LAB from errno: the message, then ": " and strerror(os_errno). */
struct error *error_os(int os_errno, const char *format, ...) PRINTF_FORMAT(2, 3) MUST_CHECK;

/* Puts "context: " before the message of the (first) error; NULL stays NULL. Returns `error`. */
struct error *error_wrap(struct error *error, const char *format, ...) PRINTF_FORMAT(2, 3) MUST_CHECK;
/* Gives the error a position if it has none. NULL stays NULL. Returns `error`. */
struct error *error_place(struct error *error, struct pos pos) MUST_CHECK;
/* Adds a "note:" line, with a position if pos.file is set. */
void error_note(struct error *error, struct pos pos, const char *format, ...) PRINTF_FORMAT(3, 4);
/* Appends `more` (may be NULL, may itself be a list) to the list at `*list`, which takes ownership. */
void error_join(struct error **list, struct error *more);

enum error_kind error_kind(const struct error *error); /* of the first error */
const char *error_message(const struct error *error); /* of the first error */
struct pos error_pos(const struct error *error);
size_t error_count(const struct error *error);
const struct error *error_next(const struct error *error); /* NULL after the last */
/* 130, 2, 5 or 3: the first of these that any error of the list asks for; 0 for NULL. */
int error_exit_status(const struct error *error);

/* GNU form, sorted by file, line and column: "file:line:col: error: message", or "memcg-ab: error: message"; notes follow their error. */
void error_print(const struct error *error, FILE *stream);
/* The same text, appended to a string the caller frees. */
char *error_text(const struct error *error);

void error_free(struct error *error);
void cleanup_error(struct error **error);
#define AUTO_ERROR CLEANUP(cleanup_error) struct error *

/* Returns a copy of `s` that lives for ever; equal strings give equal pointers. For struct pos. */
const char *intern(const char *s);

#define NO_POS ((struct pos){ NULL, 0, 0 })

/* clang's analyzer sees one file at a time: it is told that these never return NULL, or it follows paths on which nothing failed. */
#ifdef __clang_analyzer__
static inline struct error *error_that_is(struct error *error)
{
	if (!error)
		__builtin_unreachable();
	return error;
}
#define error_new(...) error_that_is(error_new(__VA_ARGS__))
#define error_at(...) error_that_is(error_at(__VA_ARGS__))
#define error_os(...) error_that_is(error_os(__VA_ARGS__))
#endif

#endif
