/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line that is taken for a record is exactly what the record is written as, and nothing else ever is. */
#include <stdlib.h>
#include <string.h>

#include "agent/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *line, size_t len)
{
	struct wire_record record;
	char again[WIRE_LINE_MAX];

	if (!wire_parse(line, len, &record))
		return;

	size_t again_len = wire_format(&record, again);

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (!again_len || again_len - 1 > len || memcmp(again, line + len - (again_len - 1), again_len - 1) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *sealed = malloc(size + 9);

	check((const char *)data, size);
	/* The same as the body of a line with a right checksum: otherwise nothing gets past it. */
	if (size)
		memcpy(sealed, data, size);
	sealed[size] = ' ';
	for (int i = 0; i < 8; i++)
		sealed[size + 1 + (size_t)i] = digits[wire_crc32(data, size) >> (28 - 4 * i) & 15];
	check(sealed, size + 9);
	free(sealed);
	return 0;
}
