/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requested kernel options: fragments and the matrix' option mappings. */
#ifndef PLAN_FRAGMENT_H
#define PLAN_FRAGMENT_H

#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"

struct config_request {
	char *name; /* without CONFIG_ */
	char *value; /* as .config has it: y, m, n (= "is not set"), 123, 0x1f, or "text" with its quotes */
	bool optional;
	struct pos pos; /* where it was asked for */
};

struct fragment {
	struct config_request *requests; /* in file order; the last of a name wins */
	size_t n;
	char *path; /* NULL for a mapping in the matrix */
};

/*
 * Parses a fragment file: "CONFIG_FOO=value", "# CONFIG_FOO is not set", comments, blank lines; the line "# memcg-ab: optional"
 * makes the next option optional. Every bad line is reported (file:line:col).
 */
struct error *fragment_load(const char *path, struct fragment **fragment_out) MUST_CHECK;
struct error *fragment_parse(const char *text, size_t len, const char *name, struct fragment **fragment_out) MUST_CHECK;
void fragment_free(struct fragment *fragment);
/* An empty one without a file, for a mapping in the matrix. */
struct fragment *fragment_new(void);
/* `value` in the form of config_request.value; see fragment_check_name and fragment_check_value. */
void fragment_add(struct fragment *fragment, const char *name, const char *value, bool optional, struct pos pos);
/* Adds all of `from` behind what is there, with its positions. */
void fragment_append(struct fragment *fragment, const struct fragment *from);
/* Kconfig's symbols are made of letters, digits and '_'. */
bool fragment_check_name(const char *name);
/* y, m, n, a decimal number, 0x and hex digits, or a text in '"' where only '"' and '\' are escaped. */
bool fragment_check_value(const char *value);
/* The same requests in the same order; NULL equals an empty fragment. */
bool fragment_equal(const struct fragment *a, const struct fragment *b);
/* Adds all that fragment_equal compares to a digest. */
void fragment_hash(const struct fragment *fragment, struct hash *hash);
/* Appends .config lines ("CONFIG_FOO=y", "# CONFIG_FOO is not set"), one a request, in order. */
void fragment_write(const struct fragment *fragment, struct strbuf *out);

#endif
