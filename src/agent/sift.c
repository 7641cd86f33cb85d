/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/sift.h"

#include <string.h>

#include "agent/wire.h"

bool sift_valid_nonce(const char *nonce)
{
	return strspn(nonce, "0123456789abcdef") == SIFT_NONCE_LEN && !nonce[SIFT_NONCE_LEN];
}

static bool is_own_hello(const struct wire_record *hello, const char *nonce)
{
	const char *slash = strchr(hello->name, '/');

	return slash && !strcmp(slash + 1, nonce);
}

/* Up to the next newline or NUL, or all of it. */
static size_t line_length(const char *data, size_t len)
{
	const char *newline = memchr(data, '\n', len);
	const size_t to_newline = newline ? (size_t)(newline - data) : len;

	return strnlen(data, to_newline);
}

bool sift_records(const char *data, size_t len, const char *nonce, sift_emit *emit, void *arg, struct sift_counts *counts_out)
{
	bool own = !nonce;

	*counts_out = (struct sift_counts){ 0 };
	while (len) {
		const size_t line_len = line_length(data, len);
		const size_t taken = line_len < len ? line_len + 1 : len;
		struct wire_record record;
		char line[WIRE_LINE_MAX];

		if (wire_parse(data, line_len, &record)) {
			if (nonce && record.type == WIRE_HELLO)
				own = is_own_hello(&record, nonce);
			counts_out->own += own;
			counts_out->foreign += !own;
			if (own && !emit(arg, line, wire_format(&record, line)))
				return false;
		}
		data += taken;
		len -= taken;
	}
	return true;
}
