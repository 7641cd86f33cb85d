/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as a command line: its words are no longer than it, together. */
#include <stdlib.h>
#include <string.h>

#include "agent/argwords.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	AUTO_FREE char **words = argwords_split(text);
	size_t sum = 0;

	for (size_t i = 0; words && words[i]; i++)
		sum += strlen(words[i]);
	if (sum > strlen(text) || (words && !words[0]))
		abort();
	return 0;
}
