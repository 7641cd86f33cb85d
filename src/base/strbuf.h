/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing text (struct strbuf) and growing lists of strings (struct strlist). */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include "base/mem.h"

/* `data` is always NUL terminated once anything was added; NULL before. All zero is a valid empty buffer. */
struct strbuf {
	char *data;
	size_t len;
	size_t cap;
};

#define STRBUF_INIT                                                                                                              \
	{                                                                                                                        \
		NULL, 0, 0                                                                                                       \
	}
#define AUTO_STRBUF CLEANUP(strbuf_deinit) struct strbuf

void strbuf_deinit(struct strbuf *sb);
void strbuf_reset(struct strbuf *sb); /* empty, capacity kept */
void strbuf_reserve(struct strbuf *sb, size_t extra); /* room for `extra` more bytes and a NUL */
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addch(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *format, ...) PRINTF_FORMAT(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *format, va_list args) PRINTF_FORMAT(2, 0);
void strbuf_remove_front(struct strbuf *sb, size_t len);
/* The text, never NULL. */
const char *strbuf_str(const struct strbuf *sb);
/* Hands the text to the caller, who frees it (never NULL); the buffer is empty afterwards. */
char *strbuf_steal(struct strbuf *sb);

struct strlist {
	char **items;
	size_t n;
};

#define AUTO_STRLIST CLEANUP(strlist_deinit) struct strlist

void strlist_deinit(struct strlist *list);
void strlist_add(struct strlist *list, const char *s); /* copies `s` */
void strlist_addf(struct strlist *list, const char *format, ...) PRINTF_FORMAT(2, 3);
bool strlist_has(const struct strlist *list, const char *s);
void strlist_sort(struct strlist *list); /* bytewise */
/* A NULL-terminated vector that borrows the list's strings; the caller frees the vector alone. For argv. */
const char **strlist_vector(const struct strlist *list);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Cuts white space (isspace) off both ends, in place; returns the new start. */
char *str_trim(char *s);
/* The one of `candidates` that a misspelt `word` most likely meant (Damerau-Levenshtein distance at most a third of its length, at least 1), or NULL. */
const char *str_suggest(const char *word, const char *const *candidates, size_t n);

#endif
