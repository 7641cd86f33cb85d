/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain ASCII lines of a given width, for mail. */
#ifndef REPORT_PLAIN_H
#define REPORT_PLAIN_H

#include "base/strbuf.h"

/* In printable ASCII: common typography by what it looks like, every other character as '?', control characters as blanks. */
char *plain_ascii(const char *text);
/*
 * `lead` and `text` (made plain) filled into lines of at most `width`; from the second on they start with `indent` blanks. A
 * word too long for a line is cut. `lead` is part of the first line and shorter than `width`; no line has blanks at its end.
 */
void plain_fill(struct strbuf *out, size_t width, const char *lead, size_t indent, const char *text);
/*
 * A shell command: lines end with " \" where it goes on. Longer words are cut by a backslash at the end of the line with
 * nothing before the next, which the shell joins (unless in single quotes).
 */
void plain_command(struct strbuf *out, size_t width, size_t indent, const char *command);

#endif
