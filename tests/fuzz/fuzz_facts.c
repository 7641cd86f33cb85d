/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as what the kconfig helper printed, and as what a build printed. */
#include <stdlib.h>
#include <string.h>

#include "kernel/build_log.h"
#include "kernel/config_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const values[] = { "y", "m", "n", "12", "0x1f", "\"a\"", "-" };
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	struct config_facts facts;

	config_facts_parse(text, &facts);
	for (size_t i = 0; i < facts.n && i < 8; i++) {
		for (size_t w = 0; w < ARRAY_SIZE(values); w++) {
			AUTO_FREE char *on = config_reason(&facts, facts.items[i].name, values[w], "n", true);
			AUTO_FREE char *off = config_reason(&facts, facts.items[i].name, values[w], "y", false);
		}
	}
	config_facts_deinit(&facts);
	AUTO_FREE char *first = build_log_first_error(text, "/src");
	AUTO_FREE char *fault = build_log_lab_fault(text);
	AUTO_FREE char *summary = toolchain_summary(text);
	AUTO_FREE char *package = toolchain_package(text);
	if (!first || !summary)
		abort();
	build_log_warnings(text);
	return 0;
}
