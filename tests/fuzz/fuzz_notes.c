/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the kernel's ELF notes: a build id of whole bytes that fits, or none. */
#include <stdlib.h>
#include <string.h>

#include "agent/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char hex[41];

	if (identity_build_id(data, size, hex, sizeof(hex)) &&
	    (strlen(hex) % 2 || strspn(hex, "0123456789abcdef") != strlen(hex)))
		abort();
	return 0;
}
