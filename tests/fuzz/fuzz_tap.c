/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any line as what a test program printed: names stay printable and bounded. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tap.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, const char *more)
{
	if (strlen(text) >= TAP_NAME_MAX)
		abort();
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(more, *text) && (*text < ' ' || *text > '~' || !strchr(more, ' ')))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	struct tap_line line;

	tap_parse(text, &line);
	check_text(line.name, "_-+");
	check_text(line.why, " ");
	const char *outcome = tap_outcome(line.kind);
	bool result = line.kind == TAP_PASS || line.kind == TAP_FAIL || line.kind == TAP_SKIP;
	if (!outcome || result != (*line.name != '\0'))
		abort();
	return 0;
}
