/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as what the plugin in QEMU left, and as a System.map: read, or refused with a reason. */
#include <stdlib.h>
#include <string.h>

#include "device/counts.h"
#include "kernel/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const char *text)
{
	struct symbols *symbols = NULL;
	AUTO_ERROR error = symbols_parse(text, "map", &symbols);

	if (!error == !symbols)
		abort();
	for (uint64_t address = 0; symbols && address < 64; address++) {
		const char *name = symbols_find(symbols, address);
		if (*name && strstr(name + 1, ".isra."))
			abort();
	}
	symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	struct device_counts counts = { NULL, 0 };
	AUTO_ERROR error = device_counts_parse(text, "counts", &counts);

	for (size_t i = 0; i < counts.n; i++)
		for (size_t k = 0; k < counts.phases[i].n; k++)
			if (error || !counts.phases[i].blocks[k].n)
				abort();
	device_counts_deinit(&counts);
	look_up(text);
	return 0;
}
