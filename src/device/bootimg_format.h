/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by bootimg_*.c alone: where things stand in the headers, and how numbers are read. */
#ifndef DEVICE_BOOTIMG_FORMAT_H
#define DEVICE_BOOTIMG_FORMAT_H

#include "base/strbuf.h"
#include "device/bootimg.h"

/* A header's text field. */
struct bootimg_field {
	size_t offset, size;
};

#define BOOT_CMDLINE ((struct bootimg_field){ 64, 512 })
#define BOOT_EXTRA_CMDLINE ((struct bootimg_field){ 608, 1024 })
#define BOOT_V3_CMDLINE ((struct bootimg_field){ 44, 1536 })
#define VENDOR_CMDLINE ((struct bootimg_field){ 28, 2048 })
#define VENDOR_BOOTCONFIG_SIZE_AT 2124

static inline uint32_t bootimg_u32(const void *data, size_t offset)
{
	const unsigned char *at = (const unsigned char *)data + offset;

	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t bootimg_u64(const void *data, size_t offset)
{
	return bootimg_u32(data, offset) | (uint64_t)bootimg_u32(data, offset + 4) << 32;
}

static inline uint64_t bootimg_align(uint64_t offset, uint64_t page_size)
{
	return (offset + page_size - 1) / page_size * page_size;
}

/*
 * A bootconfig text (the kernel's Documentation/admin-guide/bootconfig.rst) without what gives `key` a value,
 * appended to `out`: key = value, := and +=, alone or inside braces. Comments and all else stay byte for byte.
 * ERROR_LAB with the line where the text does not parse.
 */
struct error *bootconfig_without(const char *text, size_t len, const char *key, struct strbuf *out) MUST_CHECK;
/* Appends `key = "value"` and a newline; ERROR_LAB when key or value cannot be written so. */
struct error *bootconfig_line(const char *key, const char *value, struct strbuf *out) MUST_CHECK;

#endif
