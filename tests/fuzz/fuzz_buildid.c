/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a kernel Image: a build id of whole bytes that fits, or none. */
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char hex[BUILD_ID_HEX_SIZE] = "untouched";
	bool found = build_id_in_bytes(data, size, hex);

	if (!found && strcmp(hex, "untouched"))
		abort();
	if (found && (strlen(hex) % 2 || strlen(hex) < 16 || strspn(hex, "0123456789abcdef") != strlen(hex)))
		abort();
	return 0;
}
