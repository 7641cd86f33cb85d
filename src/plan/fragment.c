/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/fragment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MARKER "# memcg-ab:"

struct reader {
	struct fragment *fragment;
	struct error *errors;
	struct pos pos; /* of the present line's first character */
	struct pos marker; /* of the "optional" that waits for its option; file NULL = none */
};

struct fragment *fragment_new(void)
{
	return xcalloc(1, sizeof(struct fragment));
}

void fragment_free(struct fragment *fragment)
{
	if (!fragment)
		return;
	for (size_t i = 0; i < fragment->n; i++) {
		free(fragment->requests[i].name);
		free(fragment->requests[i].value);
	}
	free(fragment->requests);
	free(fragment->path);
	free(fragment);
}

void fragment_add(struct fragment *fragment, const char *name, const char *value, bool optional, struct pos pos)
{
	fragment->requests = array_grow(fragment->requests, fragment->n, sizeof(*fragment->requests));
	fragment->requests[fragment->n++] = (struct config_request){ xstrdup(name), xstrdup(value), optional, pos };
}

void fragment_append(struct fragment *fragment, const struct fragment *from)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct config_request *request = &from->requests[i];
		fragment_add(fragment, request->name, request->value, request->optional, request->pos);
	}
}

static size_t name_length(const char *s)
{
	size_t len = 0;
	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	return len;
}

bool fragment_check_name(const char *name)
{
	return *name && !name[name_length(name)];
}

static bool is_quoted(const char *value)
{
	if (*value++ != '"')
		return false;
	while (*value && *value != '"') {
		if (*value == '\\' && value[1] != '"' && value[1] != '\\')
			return false;
		if (*value == '\n')
			return false;
		value += *value == '\\' ? 2 : 1;
	}
	return *value == '"' && !value[1];
}

bool fragment_check_value(const char *value)
{
	if (*value == '"')
		return is_quoted(value);
	if (strcmp(value, "y") == 0 || strcmp(value, "m") == 0 || strcmp(value, "n") == 0)
		return true;
	if (value[0] == '0' && (value[1] == 'x' || value[1] == 'X'))
		return value[2] && strspn(value + 2, "0123456789abcdefABCDEF") == strlen(value + 2);
	const char *digits = *value == '-' ? value + 1 : value;
	return *digits && strspn(digits, "0123456789") == strlen(digits);
}

bool fragment_equal(const struct fragment *a, const struct fragment *b)
{
	size_t n = a ? a->n : 0;
	if (n != (b ? b->n : 0))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct config_request *x = &a->requests[i];
		const struct config_request *y = &b->requests[i];
		if (strcmp(x->name, y->name) != 0 || strcmp(x->value, y->value) != 0 || x->optional != y->optional)
			return false;
	}
	return true;
}

void fragment_hash(const struct fragment *fragment, struct hash *hash)
{
	for (size_t i = 0; fragment && i < fragment->n; i++) {
		hash_field(hash, fragment->requests[i].optional ? "optional" : "option", fragment->requests[i].name);
		hash_field(hash, "value", fragment->requests[i].value);
	}
}

void fragment_write(const struct fragment *fragment, struct strbuf *out)
{
	for (size_t i = 0; i < fragment->n; i++) {
		const struct config_request *request = &fragment->requests[i];
		if (strcmp(request->value, "n") == 0)
			strbuf_addf(out, "# CONFIG_%s is not set\n", request->name);
		else
			strbuf_addf(out, "CONFIG_%s=%s\n", request->name, request->value);
	}
}

static void complain(struct reader *reader, size_t column, const char *message)
{
	struct pos pos = reader->pos;
	pos.col += (int)column;
	error_join(&reader->errors, error_at(pos, "%s", message));
}

static void take_request(struct reader *reader, const char *name, const char *value)
{
	fragment_add(reader->fragment, name, value, reader->marker.file != NULL, reader->pos);
	reader->marker = NO_POS;
}

/* What Kconfig itself takes for "off"; every other line with '#' is a comment. */
static bool read_not_set(struct reader *reader, const char *line)
{
	static const char prefix[] = "# CONFIG_";
	if (!str_starts(line, prefix))
		return false;
	const char *name = line + strlen(prefix);
	size_t len = name_length(name);
	if (!len || strcmp(name + len, " is not set") != 0)
		return false;
	AUTO_FREE char *copy = xstrndup(name, len);
	take_request(reader, copy, "n");
	return true;
}

static void read_comment(struct reader *reader, const char *line)
{
	if (read_not_set(reader, line) || !str_starts(line, MARKER))
		return;
	const char *word = line + strlen(MARKER);
	word += strspn(word, " ");
	if (strcmp(word, "optional") == 0)
		reader->marker = reader->pos;
	else
		complain(reader, (size_t)(word - line), "'" MARKER "' is followed by 'optional'");
}

static void read_value(struct reader *reader, const char *line, const char *name, const char *value)
{
	size_t column = (size_t)(value - line);
	if (fragment_check_value(value)) {
		take_request(reader, name, value);
		return;
	}
	const char *message = "the value must be y, m, n, a number, or a text in double quotes";
	if (*value == ' ' || *value == '\t')
		message = "no blanks can stand around '='";
	else if (strstr(value, " #"))
		message = "a comment needs a line of its own";
	complain(reader, column, message);
	reader->marker = NO_POS;
}

static void read_option(struct reader *reader, const char *line)
{
	static const char prefix[] = "CONFIG_";
	const char *equals = strchr(line, '=');
	const char *name = line + strlen(prefix);
	const char *message = NULL;
	size_t column = 0;
	if (isspace((unsigned char)*line))
		message = "a line cannot begin with blanks";
	else if (!equals)
		message = "expected CONFIG_NAME=value, '# CONFIG_NAME is not set' or a comment";
	else if (!str_starts(line, prefix))
		message = "the name of an option begins with CONFIG_ here";
	else if (!name_length(name) || name + name_length(name) != equals) {
		column = strlen(prefix) + name_length(name);
		message = "the name of an option is made of letters, digits and '_', and '=' follows at once";
	}
	if (message) {
		complain(reader, column, message);
		reader->marker = NO_POS;
		return;
	}
	AUTO_FREE char *copy = xstrndup(name, name_length(name));
	read_value(reader, line, copy, name + strlen(copy) + 1);
}

static void read_line(struct reader *reader, const char *start, size_t len)
{
	while (len && isspace((unsigned char)start[len - 1]))
		len--;
	if (!len)
		return;
	if (memchr(start, '\0', len)) {
		complain(reader, 0, "a NUL character cannot stand here");
		return;
	}
	AUTO_FREE char *line = xstrndup(start, len);
	if (*line == '#')
		read_comment(reader, line);
	else
		read_option(reader, line);
}

struct error *fragment_parse(const char *text, size_t len, const char *name, struct fragment **fragment_out)
{
	struct reader reader = { .fragment = fragment_new(), .pos = { intern(name), 1, 1 } };
	reader.fragment->path = xstrdup(name);
	for (size_t at = 0; at < len; reader.pos.line++) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t line_len = newline ? (size_t)(newline - (text + at)) : len - at;
		read_line(&reader, text + at, line_len);
		at += line_len + 1;
	}
	if (reader.marker.file)
		error_join(&reader.errors, error_at(reader.marker, "no option follows this 'optional'"));
	if (reader.errors) {
		fragment_free(reader.fragment);
		return reader.errors;
	}
	*fragment_out = reader.fragment;
	return NULL;
}

struct error *fragment_load(const char *path, struct fragment **fragment_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);
	if (error)
		return error;
	return fragment_parse(strbuf_str(&text), text.len, path, fragment_out);
}
