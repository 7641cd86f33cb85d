/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boot images of ours for what Debian 12's mkbootimg cannot make. Include after unit.h. */
#ifndef UNIT_BOOT_SAMPLES_H
#define UNIT_BOOT_SAMPLES_H

#include <string.h>

#include "base/strbuf.h"

#define PAGE 4096

static inline uint32_t u32(const struct strbuf *data, size_t at)
{
	const unsigned char *p = (const unsigned char *)data->data + at;

	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put32(struct strbuf *data, size_t at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		data->data[at + i] = (char)(value >> (8 * i));
}

static inline void fill(struct strbuf *data, char c, size_t n)
{
	while (n--)
		strbuf_addch(data, c);
}

static inline void pad(struct strbuf *data)
{
	fill(data, 0, (PAGE - data->len % PAGE) % PAGE);
}

static inline void part(struct strbuf *data, char c, size_t n)
{
	fill(data, c, n);
	pad(data);
}

/* boot v1 with a recovery dtbo, at a place that the header names too. */
static inline void sample_v1(struct strbuf *data)
{
	strbuf_adds(data, "ANDROID!");
	fill(data, 0, PAGE - 8);
	put32(data, 8, 5000);
	put32(data, 16, 100);
	put32(data, 36, PAGE);
	put32(data, 40, 1);
	put32(data, 1632, 77);
	put32(data, 1636, 4 * PAGE);
	put32(data, 1644, 1648);
	part(data, 'k', 5000);
	part(data, 'r', 100);
	part(data, 'd', 77);
}

static inline void sample_v4(struct strbuf *data)
{
	strbuf_adds(data, "ANDROID!");
	fill(data, 0, PAGE - 8);
	put32(data, 8, 5000);
	put32(data, 12, 100);
	put32(data, 20, 1584);
	put32(data, 40, 4);
	put32(data, 1580, 4096);
	part(data, 'k', 5000);
	part(data, 'r', 100);
	part(data, 's', 4096);
}

/* vendor_boot v4 with two ramdisks and a bootconfig section. */
static inline void sample_vendor(struct strbuf *data, const char *bootconfig)
{
	strbuf_adds(data, "VNDRBOOT");
	fill(data, 0, PAGE - 8);
	put32(data, 8, 4);
	put32(data, 12, PAGE);
	put32(data, 24, 5000 + 300);
	put32(data, 2096, 2128);
	put32(data, 2100, 50);
	put32(data, 2112, 2 * 108);
	put32(data, 2116, 2);
	put32(data, 2120, 108);
	put32(data, 2124, (uint32_t)strlen(bootconfig));
	fill(data, '1', 5000);
	part(data, '2', 300);
	part(data, 'd', 50);
	size_t table = data->len;
	part(data, 0, 2 * 108);
	put32(data, table, 5000);
	put32(data, table + 108, 300);
	put32(data, table + 112, 5000);
	strbuf_adds(data, bootconfig);
	pad(data);
}

#endif
