/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "device/bootimg_format.h"

/* As in the kernel (XBC_DEPTH_MAX of include/linux/bootconfig.h). */
#define MAX_DEPTH 16

/* One walk over the text. `kept` is how far it was copied to `out`. */
struct scan {
	const char *text;
	size_t len, at, kept;
	const char *key; /* what is left out */
	struct strbuf *out;
	struct strbuf path; /* key of the braces we are in, with dots */
	size_t depths[MAX_DEPTH]; /* length of `path` before each brace */
	unsigned depth;
};

static struct error *bad(const struct scan *scan, size_t at, const char *what)
{
	unsigned line = 1;

	for (size_t i = 0; i < at && i < scan->len; i++)
		line += scan->text[i] == '\n';
	return error_new(ERROR_LAB, "line %u: %s", line, what);
}

static size_t find(const struct scan *scan, size_t at, const char *any)
{
	while (at < scan->len && (!scan->text[at] || !strchr(any, scan->text[at])))
		at++;
	return at;
}

static bool blank(char c, bool newlines)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || (newlines && c == '\n');
}

static void skip_blanks(struct scan *scan, bool newlines)
{
	while (scan->at < scan->len && blank(scan->text[scan->at], newlines))
		scan->at++;
}

static void skip_blanks_and_comments(struct scan *scan)
{
	skip_blanks(scan, true);
	while (scan->at < scan->len && scan->text[scan->at] == '#') {
		scan->at = find(scan, scan->at, "\n");
		skip_blanks(scan, true);
	}
}

/* Cuts blanks off both ends of [*from, *to). */
static void trim(const struct scan *scan, size_t *from, size_t *to)
{
	while (*from < *to && blank(scan->text[*from], true))
		++*from;
	while (*to > *from && blank(scan->text[*to - 1], true))
		--*to;
}

static bool valid_key(const char *key, size_t n)
{
	if (!n || key[0] == '.' || key[n - 1] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (key[i] == '.' ? key[i - 1] == '.' : !isalnum((unsigned char)key[i]) && key[i] != '-' && key[i] != '_')
			return false;
	return true;
}

/* Is path + "." + the word the key that is left out? */
static bool is_wanted(const struct scan *scan, const char *word, size_t n)
{
	size_t prefix = scan->path.len ? scan->path.len + 1 : 0;

	if (strlen(scan->key) != prefix + n || memcmp(scan->key + prefix, word, n))
		return false;
	return !prefix || (!memcmp(scan->key, scan->path.data, scan->path.len) && scan->key[prefix - 1] == '.');
}

/* Copies what stands before `from` and leaves [from, to) out, with the blanks before it. */
static void leave_out(struct scan *scan, size_t from, size_t to)
{
	while (from > scan->kept && from < to && blank(scan->text[from - 1], false))
		from--;
	strbuf_add(scan->out, scan->text + scan->kept, from - scan->kept);
	scan->kept = to;
}

/* Moves behind one value, to what ends it. */
static struct error *skip_value(struct scan *scan)
{
	skip_blanks_and_comments(scan);
	if (scan->at >= scan->len || (scan->text[scan->at] != '"' && scan->text[scan->at] != '\'')) {
		scan->at = find(scan, scan->at, ",;\n#}");
		return NULL;
	}
	size_t start = scan->at;
	scan->at = find(scan, start + 1, scan->text[start] == '"' ? "\"" : "'");
	if (scan->at >= scan->len)
		return bad(scan, start, "a quoted value without its second quote");
	scan->at++;
	skip_blanks(scan, false);
	if (scan->at < scan->len && (!scan->text[scan->at] || !strchr(",;\n#}", scan->text[scan->at])))
		return bad(scan, scan->at, "text behind a quoted value");
	return NULL;
}

/* Moves behind all values of an array, and behind the ';' or newline that ends it; a comment or a '}' stays. */
static struct error *skip_values(struct scan *scan)
{
	for (;;) {
		struct error *error = skip_value(scan);
		if (error)
			return error;
		/* In an array a comment may stand before the next comma's value only. */
		if (scan->at >= scan->len || scan->text[scan->at] != ',')
			break;
		scan->at++;
	}
	if (scan->at < scan->len && (scan->text[scan->at] == ';' || scan->text[scan->at] == '\n'))
		scan->at++;
	return NULL;
}

static struct error *check_key(const struct scan *scan, size_t from, size_t to)
{
	if (!valid_key(scan->text + from, to - from))
		return bad(scan, from, "not a key: words of letters, digits, '-' and '_' with dots between");
	return NULL;
}

static struct error *open_brace(struct scan *scan, size_t from, size_t to)
{
	struct error *error = check_key(scan, from, to);

	if (error)
		return error;
	if (scan->depth == MAX_DEPTH)
		return bad(scan, from, "more than 16 braces inside each other");
	scan->depths[scan->depth++] = scan->path.len;
	if (scan->path.len)
		strbuf_addch(&scan->path, '.');
	strbuf_add(&scan->path, scan->text + from, to - from);
	return NULL;
}

static struct error *close_brace(struct scan *scan)
{
	if (!scan->depth)
		return bad(scan, scan->at - 1, "a '}' too many");
	scan->path.len = scan->depths[--scan->depth];
	return NULL;
}

/*
 * A key without a value, which may also be nothing at all: an empty line. [from, to) is the word, `end` is behind
 * what ended it.
 */
static struct error *lone_key(struct scan *scan, size_t from, size_t to, size_t end)
{
	if (from == to)
		return NULL;
	struct error *error = check_key(scan, from, to);
	if (!error && is_wanted(scan, scan->text + from, to - from))
		leave_out(scan, from, end);
	return error;
}

static struct error *assignment(struct scan *scan, size_t from, size_t to)
{
	struct error *error = check_key(scan, from, to);
	bool wanted = !error && is_wanted(scan, scan->text + from, to - from);

	if (!error)
		error = skip_values(scan);
	if (!error && wanted)
		leave_out(scan, from, scan->at);
	return error;
}

/* One statement: what stands before the next delimiter, and the delimiter. */
static struct error *statement(struct scan *scan)
{
	size_t from = scan->at, stop = find(scan, from, "{}=+;:\n#"), to = stop;

	trim(scan, &from, &to);
	if (stop >= scan->len) {
		scan->at = scan->len;
		return lone_key(scan, from, to, scan->len);
	}
	scan->at = stop + 1;
	switch (scan->text[stop]) {
	case '+':
	case ':':
		if (scan->at >= scan->len || scan->text[scan->at] != '=')
			return bad(scan, stop, "a '+' or ':' without '='");
		scan->at++;
		return assignment(scan, from, to);
	case '=':
		return assignment(scan, from, to);
	case '{':
		return open_brace(scan, from, to);
	case '#':
		scan->at = find(scan, stop, "\n");
		return lone_key(scan, from, to, stop);
	case '}': {
		struct error *error = lone_key(scan, from, to, stop);
		return error ? error : close_brace(scan);
	}
	default:
		return lone_key(scan, from, to, scan->at);
	}
}

struct error *bootconfig_without(const char *text, size_t len, const char *key, struct strbuf *out)
{
	AUTO_STRBUF rest = STRBUF_INIT;
	struct scan scan = { .text = text, .len = len, .key = key, .out = &rest };
	struct error *error = NULL;

	if (memchr(text, 0, len))
		error = bad(&scan, (size_t)((const char *)memchr(text, 0, len) - text), "a NUL in the text");
	while (!error && scan.at < scan.len)
		error = statement(&scan);
	if (!error && scan.depth)
		error = bad(&scan, scan.len, "a '{' without its '}'");
	strbuf_deinit(&scan.path);
	if (error)
		return error;
	leave_out(&scan, len, len);
	strbuf_add(out, strbuf_str(&rest), rest.len);
	return NULL;
}

struct error *bootconfig_line(const char *key, const char *value, struct strbuf *out)
{
	char quote = strchr(value, '"') ? '\'' : '"';

	if (!valid_key(key, strlen(key)))
		return error_new(ERROR_LAB,
				 "'%s' is not a bootconfig key: words of letters, digits, '-' and '_' with dots between", key);
	if (strchr(value, quote))
		return error_new(ERROR_LAB, "a bootconfig value cannot hold both kinds of quotes: %s", value);
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			return error_new(ERROR_LAB, "a bootconfig value cannot hold the character 0x%02x", (unsigned char)*at);
	strbuf_addf(out, "%s = %c%s%c\n", key, quote, value, quote);
	return NULL;
}
