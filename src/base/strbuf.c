/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_deinit(struct strbuf *sb)
{
	free(sb->data);
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->data)
		sb->data[0] = '\0';
}

void strbuf_reserve(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;

	if (need <= sb->cap)
		return;
	size_t cap = sb->cap ? sb->cap : 64;
	while (cap < need)
		cap += cap / 2;
	sb->data = xreallocarray(sb->data, cap, 1);
	sb->cap = cap;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	strbuf_reserve(sb, len);
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addch(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);

	strbuf_adds(sb, text);
	free(text);
}

void strbuf_addf(struct strbuf *sb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vaddf(sb, format, args);
	va_end(args);
}

void strbuf_remove_front(struct strbuf *sb, size_t len)
{
	if (!len)
		return;
	memmove(sb->data, sb->data + len, sb->len - len + 1);
	sb->len -= len;
}

const char *strbuf_str(const struct strbuf *sb)
{
	return sb->data ? sb->data : "";
}

char *strbuf_steal(struct strbuf *sb)
{
	char *text = sb->data ? sb->data : xstrdup("");

	*sb = (struct strbuf)STRBUF_INIT;
	return text;
}

void strlist_deinit(struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct strlist){ NULL, 0 };
}

static void strlist_take(struct strlist *list, char *s)
{
	list->items = array_grow(list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = s;
}

void strlist_add(struct strlist *list, const char *s)
{
	strlist_take(list, xstrdup(s));
}

void strlist_addf(struct strlist *list, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strlist_take(list, xvasprintf(format, args));
	va_end(args);
}

bool strlist_has(const struct strlist *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->items[i], s))
			return true;
	return false;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strlist_sort(struct strlist *list)
{
	if (list->n)
		qsort(list->items, list->n, sizeof(*list->items), compare_strings);
}

const char **strlist_vector(const struct strlist *list)
{
	const char **vector = xcalloc(list->n + 1, sizeof(*vector));

	for (size_t i = 0; i < list->n; i++)
		vector[i] = list->items[i];
	return vector;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), tail = strlen(suffix);

	return len >= tail && !strcmp(s + len - tail, suffix);
}

char *str_trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	size_t len = strlen(s);
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	s[len] = '\0';
	return s;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Damerau-Levenshtein distance with adjacent transpositions ("optimal string alignment"). */
static size_t edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), width = lb + 1;
	size_t *d = xcalloc((la + 1) * width, sizeof(*d));

	for (size_t i = 0; i <= la; i++)
		d[i * width] = i;
	for (size_t j = 0; j <= lb; j++)
		d[j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] != b[j - 1];
			size_t best =
				min3(d[(i - 1) * width + j] + 1, d[i * width + j - 1] + 1, d[(i - 1) * width + j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[(i - 2) * width + j - 2] + 1 < best)
				best = d[(i - 2) * width + j - 2] + 1;
			d[i * width + j] = best;
		}
	}
	size_t distance = d[la * width + lb];
	free(d);
	return distance;
}

const char *str_suggest(const char *word, const char *const *candidates, size_t n)
{
	size_t len = strlen(word);
	size_t limit = len / 3 ? len / 3 : 1;
	const char *best = NULL;

	if (len > 200)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t distance = edit_distance(word, candidates[i]);
		if (distance <= limit && distance < len) {
			limit = distance;
			if (!best || distance < edit_distance(word, best))
				best = candidates[i];
		}
	}
	return best;
}
