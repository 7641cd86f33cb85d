/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/argwords.h"

#include <stdlib.h>
#include <string.h>

struct splitter {
	const char *in;
	char *out; /* where the next character goes */
	bool failed;
};

static void take(struct splitter *splitter)
{
	*splitter->out++ = *splitter->in++;
}

static void take_escaped(struct splitter *splitter)
{
	splitter->in++;
	if (*splitter->in)
		take(splitter);
	else
		splitter->failed = true;
}

static void take_quoted(struct splitter *splitter)
{
	const char quote = *splitter->in++;

	while (*splitter->in && *splitter->in != quote && !splitter->failed) {
		if (quote == '"' && *splitter->in == '\\')
			take_escaped(splitter);
		else
			take(splitter);
	}
	if (*splitter->in == quote)
		splitter->in++;
	else
		splitter->failed = true;
}

static void take_word(struct splitter *splitter)
{
	while (*splitter->in && !strchr(" \t", *splitter->in) && !splitter->failed) {
		if (*splitter->in == '\\')
			take_escaped(splitter);
		else if (*splitter->in == '\'' || *splitter->in == '"')
			take_quoted(splitter);
		else
			take(splitter);
	}
	*splitter->out++ = '\0';
}

char **argwords_split(const char *text)
{
	/* No more words than every other character is one, and no longer than the text together. */
	const size_t len = strlen(text), room = len / 2 + 2;
	char **words = malloc(room * sizeof(*words) + len + 2);
	size_t n = 0;

	if (!words)
		return NULL;

	struct splitter splitter = { .in = text, .out = (char *)(words + room) };

	for (;;) {
		splitter.in += strspn(splitter.in, " \t");
		if (!*splitter.in || splitter.failed)
			break;
		words[n++] = splitter.out;
		take_word(&splitter);
	}
	words[n] = NULL;
	if (n && !splitter.failed)
		return words;
	free(words);
	return NULL;
}
