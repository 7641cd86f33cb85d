/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/tap.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r");
}

/* What stands behind `word` when the text begins with it as a whole word; NULL otherwise. */
static const char *behind(const char *text, const char *word)
{
	const size_t len = strlen(word);

	if (strncasecmp(text, word, len) != 0 || isalnum((unsigned char)text[len]) || text[len] == '_')
		return NULL;
	return skip_blanks(text + len);
}

static size_t length_without_blanks(const char *text, size_t len)
{
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	return len;
}

/* Printable ASCII, cut. */
static void set_why(struct tap_line *line, const char *text)
{
	size_t len = length_without_blanks(text, strlen(text)), n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof(line->why); i++)
		line->why[n++] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	line->why[n] = '\0';
}

static void set_name(struct tap_line *line, const char *text, size_t len)
{
	size_t n = 0;

	len = length_without_blanks(text, len);
	for (size_t i = 0; i < len && n + 1 < sizeof(line->name); i++) {
		const unsigned char c = (unsigned char)text[i];

		line->name[n++] = c < 0x80 && (isalnum(c) || strchr("_-+", c)) ? (char)c : '_';
	}
	line->name[n] = '\0';
}

/* "# SKIP why", "# XFAIL", "# error": what becomes of a result that says so. NULL: it is no directive. */
static const char *take_directive(const char *text, struct tap_line *line)
{
	static const struct {
		const char *word;
		enum tap_kind kind;
	} directives[] = {
		{ "SKIP", TAP_SKIP }, { "XFAIL", TAP_SKIP }, { "TODO", TAP_SKIP }, { "XPASS", TAP_PASS }, { "error", TAP_FAIL },
	};

	text = skip_blanks(text);
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
		const char *rest = behind(text, directives[i].word);

		if (!rest)
			continue;
		line->kind = directives[i].kind;
		return rest;
	}
	return NULL;
}

/* Behind "ok" or "not ok". */
static void take_result(const char *text, struct tap_line *line)
{
	const size_t digits = strspn(text, "0123456789");
	const char *number = text;

	text = skip_blanks(text + digits);
	if (behind(text, "-"))
		text = behind(text, "-");

	const char *hash = strchr(text, '#');
	const char *rest = hash ? take_directive(hash + 1, line) : NULL;

	set_name(line, text, hash && rest ? (size_t)(hash - text) : strlen(text));
	if (rest && *line->name)
		set_why(line, rest);
	else if (rest)
		set_name(line, rest, strlen(rest));
	if (!*line->name)
		snprintf(line->name, sizeof(line->name), "test-%.*s", digits < 9 ? (int)digits : 9, number);
}

/* "1..0 # SKIP why" */
static bool take_empty_plan(const char *text, struct tap_line *line)
{
	struct tap_line ignored;

	if (strncmp(text, "1..0", 4) != 0 || isdigit((unsigned char)text[4]))
		return false;
	text = skip_blanks(text + 4);
	line->kind = TAP_SKIP_ALL;

	const char *rest = *text == '#' ? take_directive(text + 1, &ignored) : NULL;

	set_why(line, rest ? rest : "");
	return true;
}

void tap_parse(const char *text, struct tap_line *line_out)
{
	struct tap_line line = { .kind = TAP_OTHER };
	const char *rest;

	if ((rest = behind(text, "ok"))) {
		line.kind = TAP_PASS;
		take_result(rest, &line);
	} else if ((rest = behind(text, "not ok"))) {
		line.kind = TAP_FAIL;
		take_result(rest, &line);
	} else if (!strncasecmp(text, "Bail out!", strlen("Bail out!"))) {
		line.kind = TAP_BAIL;
		set_why(&line, skip_blanks(text + strlen("Bail out!")));
	} else {
		take_empty_plan(text, &line);
	}
	*line_out = line;
}

const char *tap_outcome(enum tap_kind kind)
{
	static const char *const names[] = {
		[TAP_OTHER] = "",    [TAP_PASS] = "pass",     [TAP_FAIL] = "fail",
		[TAP_SKIP] = "skip", [TAP_SKIP_ALL] = "skip", [TAP_BAIL] = "fail",
	};

	return names[kind];
}
