/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"
#undef error_new
#undef error_at
#undef error_os

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

struct note {
	struct pos pos;
	char *message;
};

struct error {
	enum error_kind kind;
	char *message;
	struct pos pos;
	struct note *notes;
	size_t n_notes;
	struct error *next;
};

static struct error *make(enum error_kind kind, struct pos pos, char *message)
{
	struct error *error = xcalloc(1, sizeof(*error));

	error->kind = kind;
	error->pos = pos;
	error->message = message;
	return error;
}

struct error *error_new(enum error_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *message = xvasprintf(format, args);
	va_end(args);
	return make(kind, NO_POS, message);
}

struct error *error_at(struct pos pos, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *message = xvasprintf(format, args);
	va_end(args);
	return make(ERROR_INPUT, pos, message);
}

struct error *error_os(int os_errno, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *what = xvasprintf(format, args);
	va_end(args);
	char *message = xasprintf("%s: %s", what, strerror(os_errno));
	free(what);
	return make(ERROR_LAB, NO_POS, message);
}

struct error *error_wrap(struct error *error, const char *format, ...)
{
	va_list args;

	if (!error)
		return NULL;
	va_start(args, format);
	char *context = xvasprintf(format, args);
	va_end(args);
	char *message = xasprintf("%s: %s", context, error->message);
	free(context);
	free(error->message);
	error->message = message;
	return error;
}

struct error *error_place(struct error *error, struct pos pos)
{
	if (error && !error->pos.file)
		error->pos = pos;
	return error;
}

void error_note(struct error *error, struct pos pos, const char *format, ...)
{
	va_list args;

	error->notes = array_grow(error->notes, error->n_notes, sizeof(*error->notes));
	va_start(args, format);
	error->notes[error->n_notes++] = (struct note){ pos, xvasprintf(format, args) };
	va_end(args);
}

void error_join(struct error **list, struct error *more)
{
	while (*list)
		list = &(*list)->next;
	*list = more;
}

enum error_kind error_kind(const struct error *error)
{
	return error->kind;
}

const char *error_message(const struct error *error)
{
	return error->message;
}

struct pos error_pos(const struct error *error)
{
	return error->pos;
}

size_t error_count(const struct error *error)
{
	size_t n = 0;

	for (; error; error = error->next)
		n++;
	return n;
}

const struct error *error_next(const struct error *error)
{
	return error->next;
}

int error_exit_status(const struct error *error)
{
	static const struct {
		enum error_kind kind;
		int status;
	} order[] = { { ERROR_INTERRUPTED, 130 }, { ERROR_INPUT, 2 }, { ERROR_KERNEL, 5 }, { ERROR_LAB, 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (const struct error *e = error; e; e = e->next)
			if (e->kind == order[i].kind)
				return order[i].status;
	return 0;
}

static int compare_errors(const void *a, const void *b)
{
	const struct error *x = *(struct error *const *)a, *y = *(struct error *const *)b;
	int by_file = strcmp(x->pos.file ? x->pos.file : "", y->pos.file ? y->pos.file : "");

	if (by_file)
		return by_file;
	if (x->pos.line != y->pos.line)
		return x->pos.line < y->pos.line ? -1 : 1;
	return (x->pos.col > y->pos.col) - (x->pos.col < y->pos.col);
}

static void write_line(struct strbuf *out, struct pos pos, const char *label, const char *message)
{
	if (!pos.file)
		strbuf_adds(out, "memcg-ab");
	else if (!pos.line)
		strbuf_adds(out, pos.file);
	else if (!pos.col)
		strbuf_addf(out, "%s:%d", pos.file, pos.line);
	else
		strbuf_addf(out, "%s:%d:%d", pos.file, pos.line, pos.col);
	strbuf_addf(out, ": %s: %s\n", label, message);
}

char *error_text(const struct error *error)
{
	struct strbuf out = STRBUF_INIT;
	size_t n = error_count(error);
	AUTO_FREE const struct error **sorted = xcalloc(n, sizeof(struct error *));

	for (size_t i = 0; i < n; i++, error = error->next)
		sorted[i] = error;
	/* Insertion keeps the order of errors at one place: qsort is not stable. */
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j && compare_errors(&sorted[j - 1], &sorted[j]) > 0; j--) {
			const struct error *swap = sorted[j];
			sorted[j] = sorted[j - 1];
			sorted[j - 1] = swap;
		}
	for (size_t i = 0; i < n; i++) {
		write_line(&out, sorted[i]->pos, "error", sorted[i]->message);
		for (size_t k = 0; k < sorted[i]->n_notes; k++)
			write_line(&out, sorted[i]->notes[k].pos, "note", sorted[i]->notes[k].message);
	}
	return strbuf_steal(&out);
}

void error_print(const struct error *error, FILE *stream)
{
	AUTO_FREE char *text = error_text(error);

	fputs(text, stream);
}

void error_free(struct error *error)
{
	while (error) {
		struct error *next = error->next;
		for (size_t i = 0; i < error->n_notes; i++)
			free(error->notes[i].message);
		free(error->notes);
		free(error->message);
		free(error);
		error = next;
	}
}

void cleanup_error(struct error **error)
{
	error_free(*error);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *intern(const char *s)
{
	static void *names;
	char **found = tfind(s, &names, compare_names);

	if (!found)
		found = tsearch(xstrdup(s), &names, compare_names);
	return *found;
}
