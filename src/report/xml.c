/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/xml.h"

#include "report/utf8.h"

static bool allowed(uint32_t character)
{
	if (character < 0x20)
		return character == '\t' || character == '\n' || character == '\r';
	return character != 0xfffe && character != 0xffff;
}

static void add(struct strbuf *out, const char *text, bool attribute)
{
	for (uint32_t character; (character = utf8_next(&text)) != 0;) {
		if (!allowed(character))
			utf8_add(out, UTF8_BAD);
		else if (character == '&')
			strbuf_adds(out, "&amp;");
		else if (character == '<')
			strbuf_adds(out, "&lt;");
		else if (character == '>')
			strbuf_adds(out, "&gt;");
		else if (character == '"' && attribute)
			strbuf_adds(out, "&quot;");
		/* A reader turns white space of attributes into blanks, and every line end into a newline. */
		else if (character == '\r' || (attribute && character < 0x20))
			strbuf_addf(out, "&#%u;", (unsigned)character);
		else
			utf8_add(out, character);
	}
}

void xml_add_text(struct strbuf *out, const char *text)
{
	add(out, text, false);
}

void xml_add_attribute(struct strbuf *out, const char *name, const char *value)
{
	if (!value)
		return;
	strbuf_addf(out, " %s=\"", name);
	add(out, value, true);
	strbuf_addch(out, '"');
}
