/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XML 1.0 escaping. Characters that XML cannot carry, escaped or not, become U+FFFD; so do bytes that are no UTF-8. */
#ifndef REPORT_XML_H
#define REPORT_XML_H

#include "base/strbuf.h"

/* As an element's content. */
void xml_add_text(struct strbuf *out, const char *text);
/* ` name="value"`, with white space kept as it is; nothing when `value` is NULL. */
void xml_add_attribute(struct strbuf *out, const char *name, const char *value);

#endif
