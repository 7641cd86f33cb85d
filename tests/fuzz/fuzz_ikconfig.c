/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a kernel: a config text or none, a release or none, and differences between the text and itself. */
#include <stdlib.h>
#include <string.h>

#include "kernel/image_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = NULL;
	AUTO_ERROR err = config_from_ikconfig(data, size, &text);
	AUTO_FREE char *release = image_release(data, size);
	AUTO_FREE char *raw = xstrndup((const char *)data, size);
	const char *config = text ? text : raw;
	AUTO_STRLIST differences = { NULL, 0 };

	if (err && text)
		abort();
	AUTO_FREE char *compiler = image_compiler(config);
	AUTO_FREE char *value = config_value(config, "MEMCG");
	config_difference(config, config, &differences);
	config_difference(config, "CONFIG_MEMCG=y\n", &differences);
	return 0;
}
