/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever lies on a medium: only intact records come out, and what came out comes out again unchanged. */
#include <stdlib.h>
#include <string.h>

#include "agent/sift.h"
#include "agent/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct lines {
	char *data;
	size_t len, cap;
};

static bool collect(void *arg, const char *line, size_t len)
{
	struct lines *lines = arg;
	struct wire_record record;

	if (!len || line[len - 1] != '\n' || !wire_parse(line, len, &record) || lines->len + len > lines->cap)
		abort();
	memcpy(lines->data + lines->len, line, len);
	lines->len += len;
	return true;
}

static struct lines sift(const char *data, size_t len, const char *nonce, struct sift_counts *counts)
{
	/* A record is at least as long as what it was made from, but for the newline of the last. */
	struct lines lines = { malloc(len + 1), 0, len + 1 };

	if (!sift_records(data, len, nonce, collect, &lines, counts))
		abort();
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nonces[] = { NULL, "0123456789abcdef" };

	for (size_t i = 0; i < sizeof(nonces) / sizeof(nonces[0]); i++) {
		struct sift_counts counts, again_counts;
		struct lines lines = sift((const char *)data, size, nonces[i], &counts);
		struct lines again = sift(lines.data, lines.len, nonces[i], &again_counts);

		if (again.len != lines.len || memcmp(again.data, lines.data, lines.len) != 0 || again_counts.own != counts.own ||
		    again_counts.foreign)
			abort();
		free(lines.data);
		free(again.data);
	}
	return 0;
}
