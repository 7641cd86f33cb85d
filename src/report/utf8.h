/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin (consoles, patches' subjects), read by characters. */
#ifndef REPORT_UTF8_H
#define REPORT_UTF8_H

#include "base/strbuf.h"

#define UTF8_BAD 0xfffdu /* the replacement character */

/*
 * The character at `*text`, which moves behind it; 0 at the end, where it stays. A byte that starts no well-formed character
 * (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF) is UTF8_BAD.
 */
uint32_t utf8_next(const char **text);
/* `character` as UTF-8. */
void utf8_add(struct strbuf *out, uint32_t character);

#endif
