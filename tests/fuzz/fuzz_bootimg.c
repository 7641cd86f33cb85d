/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a boot image. What parses has its parts inside; an edited command line is read back, and an edited
 * bootconfig too, with everything else as it was; a kernel that is found is an arm64 Image.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bootimg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY "kernel.cgroup_disable"
#define LINE KEY " = \"memory\"\n"

static void check_parts(const struct bootimg *image, size_t size)
{
	const struct bootimg_part *const parts[] = { &image->kernel, &image->ramdisk,	&image->second, &image->dtbo,
						     &image->dtb,    &image->signature, &image->table,	&image->bootconfig };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i]->size && (parts[i]->offset > size || parts[i]->size > size - parts[i]->offset))
			abort();
	if (image->total > size || strlen(image->cmdline) > 2048 || strlen(image->name) > 16)
		abort();
}

static void edit_cmdline(const uint8_t *data, size_t size)
{
	static const char line[] = "console=ttyMSM0 cgroup_disable=memory";
	AUTO_FREE char *copy = xmemdup(data, size);
	struct bootimg before, after;

	AUTO_ERROR first = bootimg_parse(data, size, &before);
	AUTO_ERROR error = bootimg_set_cmdline(copy, size, line);
	AUTO_ERROR second = bootimg_parse(copy, size, &after);
	if (first || error || second || strcmp(after.cmdline, line))
		abort();
	/* Nothing but the command line is another. */
	memcpy(after.cmdline, before.cmdline, sizeof(after.cmdline));
	if (memcmp(&before, &after, sizeof(before)))
		abort();
}

static void edit_bootconfig(const uint8_t *data, size_t size)
{
	AUTO_STRBUF copy = STRBUF_INIT, text = STRBUF_INIT;
	struct bootimg image;

	strbuf_add(&copy, data, size);
	AUTO_ERROR error = bootimg_set_bootconfig(&copy, KEY, "memory");
	if (error) {
		if (copy.len != size || memcmp(copy.data, data, size))
			abort();
		return;
	}
	AUTO_ERROR unread = bootimg_get_bootconfig(copy.data, copy.len, &text);
	AUTO_ERROR unparsed = bootimg_parse(copy.data, copy.len, &image);
	if (unread || unparsed || !str_starts(strbuf_str(&text), LINE) || copy.len < size)
		abort();
	/* The header but the section's size, and all parts before the section. */
	size_t same = image.bootconfig.offset < size ? image.bootconfig.offset : size;
	if (memcmp(copy.data, data, 2124) || memcmp(copy.data + 2128, data + 2128, same - 2128))
		abort();
	/* Once more gives the same. */
	AUTO_STRBUF again = STRBUF_INIT;
	strbuf_add(&again, copy.data, copy.len);
	AUTO_ERROR repeated = bootimg_set_bootconfig(&again, KEY, "memory");
	if (repeated || again.len != copy.len || memcmp(again.data, copy.data, copy.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STRBUF kernel = STRBUF_INIT;
	struct bootimg image;
	AUTO_ERROR error = bootimg_parse(data, size, &image);

	if (error)
		return 0;
	check_parts(&image, size);
	edit_cmdline(data, size);
	edit_bootconfig(data, size);
	AUTO_ERROR none = bootimg_kernel(data, size, &kernel);
	if (!none == !kernel.len || (kernel.len && memcmp(kernel.data + 56, "ARM\x64", 4)))
		abort();
	return 0;
}
