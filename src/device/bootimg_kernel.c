/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/archive.h"
#include "device/bootimg_format.h"

/* The kernel's Documentation/arm64/booting. */
#define ARM64_HEADER 64
#define ARM64_MAGIC_AT 56
#define ARM64_MAGIC "ARM\x64"

/*
 * lz4 -l, the only form that kernels and Android bootloaders use: a magic, then blocks with their length before them
 * (lz4's lz4_Frame_format.md).
 */
#define LZ4_LEGACY_MAGIC 0x184c2102
#define LZ4_BLOCK_MAX (8388608 + 8388608 / 255 + 16)

static bool is_arm64_image(const char *data, size_t len)
{
	return len >= ARM64_HEADER && !memcmp(data + ARM64_MAGIC_AT, ARM64_MAGIC, strlen(ARM64_MAGIC));
}

/* Length of the blocks alone: the kernel's build appends four bytes (the unpacked size), and a device tree may follow. */
static size_t lz4_length(const char *data, size_t len)
{
	size_t at = 4;

	while (len - at > 4) {
		uint32_t block = bootimg_u32(data, at);
		if (!block || block > LZ4_BLOCK_MAX || block > len - at - 4)
			break;
		at += 4 + block;
	}
	return at;
}

static struct error *unpack(const char *data, size_t len, struct strbuf *out)
{
	bool lz4 = len >= 8 && bootimg_u32(data, 0) == LZ4_LEGACY_MAGIC;
	bool gzip = len >= 2 && !memcmp(data, "\x1f\x8b", 2);

	if (!lz4 && !gzip)
		return error_new(ERROR_LAB, "the kernel is neither an arm64 Image nor packed with gzip or lz4 -l");
	return error_wrap(decompress(data, lz4 ? lz4_length(data, len) : len, out), "the kernel");
}

struct error *bootimg_kernel(const void *data, size_t len, struct strbuf *out)
{
	struct bootimg image;
	AUTO_STRBUF unpacked = STRBUF_INIT;
	struct error *error = bootimg_parse(data, len, &image);

	if (error)
		return error;
	if (!image.kernel.size)
		return error_new(ERROR_LAB, "there is no kernel in it");
	const char *kernel = (const char *)data + image.kernel.offset;
	if (is_arm64_image(kernel, image.kernel.size)) {
		strbuf_add(out, kernel, image.kernel.size);
		return NULL;
	}
	error = unpack(kernel, image.kernel.size, &unpacked);
	if (error)
		return error;
	if (!is_arm64_image(strbuf_str(&unpacked), unpacked.len))
		return error_new(ERROR_LAB, "the kernel is no arm64 Image");
	strbuf_add(out, unpacked.data, unpacked.len);
	return NULL;
}
