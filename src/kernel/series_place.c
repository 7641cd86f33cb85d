/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where hunks go. Context is exact: a hunk's lines before the change stand in the file line by line, or it is not applied. A hunk whose
 * lines have moved goes to the one other place where they stand; with several such places it is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/series_internal.h"

struct text_line {
	const char *text;
	size_t len; /* with the newline, if it has one */
};

struct text {
	struct text_line *lines;
	size_t n;
};

/* The lines a hunk wants to find, and where. */
struct wanted {
	struct text_line *lines;
	size_t n;
	size_t stated; /* index of its first line as the header has it */
	bool at_start, at_end; /* may only stand at the file's start, end */
};

void place_failure_deinit(struct place_failure *failure)
{
	free(failure->reason);
	*failure = (struct place_failure){ 0 };
}

static void split_lines(const struct strbuf *bytes, struct text *out)
{
	const char *at = strbuf_str(bytes), *end = at + bytes->len;

	*out = (struct text){ xcalloc(1, sizeof(*out->lines)), 0 };
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = newline ? (size_t)(newline - at) + 1 : (size_t)(end - at);
		out->lines = array_grow(out->lines, out->n, sizeof(*out->lines));
		out->lines[out->n++] = (struct text_line){ at, len };
		at += len;
	}
}

/* Lines of context at the hunk's start or end. */
static size_t context_lines(const struct hunk *hunk, bool at_end)
{
	size_t n = 0;

	while (n < hunk->n && hunk->lines[at_end ? hunk->n - 1 - n : n].kind == ' ')
		n++;
	return n;
}

static void make_wanted(const struct hunk *hunk, bool reverse, struct wanted *out)
{
	char gone = reverse ? '+' : '-';
	unsigned long start = reverse ? hunk->new_start : hunk->old_start, n = reverse ? hunk->new_n : hunk->old_n;
	size_t before = context_lines(hunk, false), after = context_lines(hunk, true);

	*out = (struct wanted){ .lines = xcalloc(hunk->n ? hunk->n : 1, sizeof(*out->lines)) };
	for (size_t i = 0; i < hunk->n; i++)
		if (hunk->lines[i].kind == ' ' || hunk->lines[i].kind == gone)
			out->lines[out->n++] = (struct text_line){ hunk->lines[i].text, hunk->lines[i].len };
	/* An empty range is named by the line before it. */
	out->stated = n ? (start ? start - 1 : 0) : start;
	/* Less context than on the other side: the file started or ended there, as git apply takes it. */
	out->at_start = !out->stated && (before < after || !before);
	out->at_end = !after;
}

static bool same_line(const struct text_line *a, const struct text_line *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static bool stands_at(const struct text *text, const struct wanted *wanted, size_t at)
{
	if (at > text->n || wanted->n > text->n - at || (wanted->at_start && at) || (wanted->at_end && at + wanted->n != text->n))
		return false;
	for (size_t i = 0; i < wanted->n; i++)
		if (!same_line(&wanted->lines[i], &text->lines[at + i]))
			return false;
	return true;
}

/* The text of a line for a message: without line end, cut when long. */
static char *quoted(const struct text_line *line)
{
	size_t len = line->len;

	while (len && (line->text[len - 1] == '\n' || line->text[len - 1] == '\r'))
		len--;
	const char *end_note = line->len && line->text[line->len - 1] == '\n' ? "" : " (without a newline)";
	if (line->len >= 2 && line->text[line->len - 2] == '\r')
		end_note = " (ending in CR LF)";
	AUTO_FREE char *shown = xstrndup(line->text, len > 100 ? 100 : len);
	for (char *at = shown; *at; at++)
		*at = (unsigned char)*at < 0x20 ? ' ' : *at;
	return xasprintf("'%s%s'%s", shown, len > 100 ? "..." : "", end_note);
}

/* Compares at the place the hunk should have: which line is not what it wants. */
static char *explain_difference(const struct text *text, const struct wanted *wanted, size_t at)
{
	for (size_t i = 0; i < wanted->n; i++) {
		if (at + i >= text->n) {
			AUTO_FREE char *want = quoted(&wanted->lines[i]);
			return xasprintf("line %zu should be %s and the file has %zu lines", at + i + 1, want, text->n);
		}
		if (!same_line(&wanted->lines[i], &text->lines[at + i])) {
			AUTO_FREE char *want = quoted(&wanted->lines[i]);
			AUTO_FREE char *found = quoted(&text->lines[at + i]);
			return xasprintf("line %zu should be %s and is %s", at + i + 1, want, found);
		}
	}
	if (wanted->at_start && wanted->at_end && !wanted->n)
		return xasprintf("it adds lines without any context, and the file is not empty");
	return xasprintf("it has no context %s, so line %zu should be the file's %s",
			 wanted->at_start && at ? "before its change" : "after its change",
			 at + (wanted->at_start && at ? 1 : wanted->n), wanted->at_start && at ? "first" : "last");
}

/* Every place from `from` on; returns how many, the first in *place_out, and a list for messages. */
static size_t find_places(const struct text *text, const struct wanted *wanted, size_t from, size_t *place_out,
			  struct strbuf *list)
{
	size_t found = 0;

	for (size_t at = from; at + wanted->n <= text->n; at++) {
		if (!stands_at(text, wanted, at))
			continue;
		if (!found++)
			*place_out = at;
		if (found <= 5)
			strbuf_addf(list, "%s%zu", found > 1 ? ", " : "", at + 1);
		else if (found == 6)
			strbuf_adds(list, ", ...");
	}
	return found;
}

/*
 * Finds the hunk at or behind `from`. `moved`: how far the hunk before it was from where its header says; a file that has grown above
 * moves all that follows.
 */
static bool find_hunk(const struct text *text, const struct wanted *wanted, size_t from, long moved, size_t *place_out,
		      struct place_failure *failure)
{
	long shifted = (long)wanted->stated + moved;
	size_t expected = shifted > 0 ? (size_t)shifted : 0;
	bool as_stated = wanted->stated >= from && stands_at(text, wanted, wanted->stated);
	bool as_expected = expected >= from && stands_at(text, wanted, expected);

	if (as_expected && (!as_stated || expected == wanted->stated)) {
		*place_out = expected;
		return true;
	}
	AUTO_STRBUF list = STRBUF_INIT;
	size_t place = 0, n = find_places(text, wanted, from, &place, &list);
	if (n == 1) {
		*place_out = place;
		return true;
	}
	failure->ambiguous = n > 1;
	failure->reason = n > 1 ? xasprintf("its lines are not where its header says, and stand at more than one place: lines %s",
					    strbuf_str(&list))
				: explain_difference(text, wanted, expected);
	return false;
}

static void copy_lines(const struct text *text, size_t from, size_t to, struct strbuf *out)
{
	for (size_t i = from; i < to; i++)
		strbuf_add(out, text->lines[i].text, text->lines[i].len);
}

static void put_hunk(const struct hunk *hunk, bool reverse, struct strbuf *out)
{
	for (size_t i = 0; i < hunk->n; i++)
		if (hunk->lines[i].kind != (reverse ? '+' : '-'))
			strbuf_add(out, hunk->lines[i].text, hunk->lines[i].len);
}

static void note_move(struct strlist *notes, size_t hunk, size_t n_hunks, long moved)
{
	if (!notes || !moved)
		return;
	long by = labs(moved);
	AUTO_FREE char *which = n_hunks > 1 ? xasprintf("hunk %zu", hunk + 1) : xstrdup("hunk");
	strlist_addf(notes, "%s found %ld line%s %s", which, by, by == 1 ? "" : "s", moved > 0 ? "below" : "above");
}

static bool apply_hunks(const struct file_patch *file, const struct text *text, bool reverse, struct strbuf *out,
			struct strlist *notes, struct place_failure *failure)
{
	size_t done = 0; /* lines of `text` that are copied or replaced */
	long moved = 0;

	for (size_t i = 0; i < file->n; i++) {
		struct wanted wanted;
		size_t place = 0;
		make_wanted(&file->hunks[i], reverse, &wanted);
		bool found = find_hunk(text, &wanted, done, moved, &place, failure);
		size_t n = wanted.n;
		long stated = (long)wanted.stated;
		free(wanted.lines);
		if (!found) {
			failure->hunk = i;
			return false;
		}
		moved = (long)place - stated;
		note_move(notes, i, file->n, moved);
		copy_lines(text, done, place, out);
		put_hunk(&file->hunks[i], reverse, out);
		done = place + n;
	}
	copy_lines(text, done, text->n, out);
	return true;
}

bool place_apply(const struct file_patch *file, const struct strbuf *old, bool reverse, struct strbuf *out, struct strlist *notes,
		 struct place_failure *failure_out)
{
	struct text text;
	AUTO_STRBUF result = STRBUF_INIT;
	AUTO_STRLIST moved = { NULL, 0 };
	struct place_failure failure = { 0 };

	split_lines(old, &text);
	bool applied = apply_hunks(file, &text, reverse, &result, &moved, &failure);
	free(text.lines);
	if (!applied) {
		*failure_out = failure;
		return false;
	}
	strbuf_add(out, result.data, result.len);
	for (size_t i = 0; notes && i < moved.n; i++)
		strlist_add(notes, moved.items[i]);
	return true;
}
