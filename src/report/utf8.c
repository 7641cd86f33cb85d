/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/utf8.h"

/* Bytes that follow a first byte, and the least character that may need so many. */
static const struct {
	unsigned char mask, lead;
	unsigned following;
	uint32_t least;
} forms[] = { { 0x80, 0x00, 0, 0 }, { 0xe0, 0xc0, 1, 0x80 }, { 0xf0, 0xe0, 2, 0x800 }, { 0xf8, 0xf0, 3, 0x10000 } };

uint32_t utf8_next(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;

	if (!*at)
		return 0;
	*text += 1;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if ((*at & forms[i].mask) != forms[i].lead)
			continue;
		uint32_t character = *at & (unsigned char)~forms[i].mask;
		for (unsigned k = 1; k <= forms[i].following; k++) {
			if ((at[k] & 0xc0) != 0x80)
				return UTF8_BAD;
			character = character << 6 | (at[k] & 0x3f);
		}
		if (character < forms[i].least || character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff))
			return UTF8_BAD;
		*text += forms[i].following;
		return character;
	}
	return UTF8_BAD;
}

void utf8_add(struct strbuf *out, uint32_t character)
{
	if (character < 0x80) {
		strbuf_addch(out, (char)character);
		return;
	}
	unsigned following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
	strbuf_addch(out, (char)(forms[following].lead | character >> 6 * following));
	while (following--)
		strbuf_addch(out, (char)(0x80 | (character >> 6 * following & 0x3f)));
}
