/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plain.h"

#include <string.h>

#include "report/utf8.h"

static const struct {
	uint32_t character;
	const char *ascii;
} looks[] = {
	{ 0x00a0, " " },     { 0x00b1, "+-" }, { 0x00b5, "u" },	 { 0x00d7, "x" },  { 0x03bc, "u" },
	{ 0x03c3, "sigma" }, { 0x2010, "-" },  { 0x2011, "-" },	 { 0x2013, "-" },  { 0x2014, "--" },
	{ 0x2018, "'" },     { 0x2019, "'" },  { 0x201c, "\"" }, { 0x201d, "\"" }, { 0x2026, "..." },
	{ 0x2192, "->" },    { 0x2212, "-" },  { 0x2264, "<=" }, { 0x2265, ">=" },
};

char *plain_ascii(const char *text)
{
	struct strbuf out = STRBUF_INIT;

	for (uint32_t character; (character = utf8_next(&text)) != 0;) {
		size_t i = 0;
		while (i < ARRAY_SIZE(looks) && looks[i].character != character)
			i++;
		if (i < ARRAY_SIZE(looks))
			strbuf_adds(&out, looks[i].ascii);
		else if (character > '~')
			strbuf_addch(&out, '?');
		else
			strbuf_addch(&out, character < ' ' ? ' ' : (char)character);
	}
	return strbuf_steal(&out);
}

static void add_blanks(struct strbuf *out, size_t n)
{
	while (n--)
		strbuf_addch(out, ' ');
}

void plain_fill(struct strbuf *out, size_t width, const char *lead, size_t indent, const char *text)
{
	AUTO_FREE char *plain = plain_ascii(text);
	AUTO_FREE char *start = plain_ascii(lead);
	size_t column = strlen(start);
	bool fresh = true; /* no word on this line yet */

	strbuf_adds(out, start);
	for (const char *at = plain + strspn(plain, " "); *at;) {
		size_t len = strcspn(at, " "), gap = fresh ? 0 : 1;
		if ((column + gap + len > width && !fresh) || column >= width) {
			strbuf_addch(out, '\n');
			add_blanks(out, indent);
			column = indent;
			fresh = true;
			continue;
		}
		if (column + len > width)
			len = width - column;
		if (gap)
			strbuf_addch(out, ' ');
		strbuf_add(out, at, len);
		column += gap + len;
		fresh = false;
		at += len;
		at += strspn(at, " ");
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

void plain_command(struct strbuf *out, size_t width, size_t indent, const char *command)
{
	AUTO_FREE char *plain = plain_ascii(command);
	size_t column = indent;
	bool fresh = true;

	add_blanks(out, indent);
	for (const char *at = plain + strspn(plain, " "); *at;) {
		size_t len = strcspn(at, " "), gap = fresh ? 0 : 1;
		/* Room for the " \" of a line that goes on. */
		if (column + gap + len > width - 2 && !fresh) {
			strbuf_adds(out, " \\\n");
			add_blanks(out, indent + 2);
			column = indent + 2;
			fresh = true;
			continue;
		}
		while (len > width - 2 - column) {
			size_t piece = width - 1 - column;
			strbuf_add(out, at, piece);
			strbuf_adds(out, "\\\n");
			at += piece;
			len -= piece;
			column = 0;
		}
		if (gap)
			strbuf_addch(out, ' ');
		strbuf_add(out, at, len);
		column += gap + len;
		fresh = false;
		at += len;
		at += strspn(at, " ");
	}
	strbuf_addch(out, '\n');
}
