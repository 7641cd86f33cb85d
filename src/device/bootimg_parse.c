/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/file.h"
#include "device/bootimg_format.h"

#define BOOT_MAGIC "ANDROID!"
#define VENDOR_MAGIC "VNDRBOOT"
#define MAGIC_SIZE 8

#define MAX_VERSION 4
/* mkbootimg makes 2048 to 16384; larger ones were seen on no device. */
#define MIN_PAGE 2048
#define MAX_PAGE 65536
#define V3_PAGE 4096

/*
 * Bytes of header that a version has fields in. mkbootimg 29 writes wrong sizes into v3 headers' own field, so that
 * is not looked at.
 */
static const size_t boot_header_size[] = { 1632, 1648, 1660, 1580, 1584 };
#define VENDOR_V3_HEADER 2112
#define VENDOR_V4_HEADER 2128
#define TABLE_ENTRY_SIZE 108

/* Parts are laid out one after another, each from a page boundary. */
struct layout {
	uint64_t page_size, len, end; /* len: bytes there are; end: of the last part so far */
};

static struct error *place(struct layout *layout, uint64_t size, const char *what, struct bootimg_part *part)
{
	uint64_t offset = bootimg_align(layout->end, layout->page_size);

	if (!size)
		return NULL;
	if (offset > layout->len || size > layout->len - offset)
		return error_new(ERROR_LAB, "%s (%llu bytes at %llu) goes beyond the end: there are %llu bytes", what,
				 (unsigned long long)size, (unsigned long long)offset, (unsigned long long)layout->len);
	*part = (struct bootimg_part){ offset, size };
	layout->end = offset + size;
	return NULL;
}

static void finish(const struct layout *layout, struct bootimg *image)
{
	uint64_t padded = bootimg_align(layout->end, layout->page_size);

	/* Some tools leave the last part's padding out. */
	image->total = padded < layout->len ? padded : layout->len;
}

static struct error *check_header(size_t len, size_t need)
{
	if (len < need)
		return error_new(ERROR_LAB, "%zu bytes are too few for the header (%zu)", len, need);
	return NULL;
}

static struct error *check_page_size(uint64_t size)
{
	if (size < MIN_PAGE || size > MAX_PAGE || (size & (size - 1)))
		return error_new(ERROR_LAB, "page size %llu is none: a power of two from %d to %d", (unsigned long long)size,
				 MIN_PAGE, MAX_PAGE);
	return NULL;
}

/* Appends a field's text, up to its NUL or its end. */
static size_t take_text(const char *data, struct bootimg_field field, char *to)
{
	size_t n = strnlen(data + field.offset, field.size);

	memcpy(to, data + field.offset, n);
	to[n] = '\0';
	return n;
}

/* v0 to v2. */
static struct error *parse_legacy(const char *data, size_t len, struct bootimg *image)
{
	image->page_size = bootimg_u32(data, 36);
	struct error *error = check_page_size(image->page_size);
	if (error)
		return error;
	image->kernel_addr = bootimg_u32(data, 12);
	image->ramdisk_addr = bootimg_u32(data, 20);
	image->second_addr = bootimg_u32(data, 28);
	image->tags_addr = bootimg_u32(data, 32);
	image->os_version = bootimg_u32(data, 44);
	take_text(data, (struct bootimg_field){ 48, 16 }, image->name);
	size_t n = take_text(data, BOOT_CMDLINE, image->cmdline);
	take_text(data, BOOT_EXTRA_CMDLINE, image->cmdline + n);
	image->cmdline_max = BOOT_CMDLINE.size - 1 + BOOT_EXTRA_CMDLINE.size - 1;

	struct layout layout = { image->page_size, len, boot_header_size[image->version] };
	error = place(&layout, bootimg_u32(data, 8), "the kernel", &image->kernel);
	if (!error)
		error = place(&layout, bootimg_u32(data, 16), "the ramdisk", &image->ramdisk);
	if (!error)
		error = place(&layout, bootimg_u32(data, 24), "the second stage", &image->second);
	if (!error && image->version >= 1)
		error = place(&layout, bootimg_u32(data, 1632), "the recovery dtbo", &image->dtbo);
	/* Its place is in the header as well, for bootloaders that do not add up. */
	if (!error && image->dtbo.size && bootimg_u64(data, 1636) != image->dtbo.offset)
		error = error_new(ERROR_LAB, "the recovery dtbo is at %llu, the header says %llu",
				  (unsigned long long)image->dtbo.offset, (unsigned long long)bootimg_u64(data, 1636));
	if (!error && image->version >= 2) {
		image->dtb_addr = bootimg_u64(data, 1652);
		error = place(&layout, bootimg_u32(data, 1648), "the dtb", &image->dtb);
	}
	finish(&layout, image);
	return error;
}

/* v3 and v4. */
static struct error *parse_generic(const char *data, size_t len, struct bootimg *image)
{
	image->page_size = V3_PAGE;
	image->os_version = bootimg_u32(data, 16);
	take_text(data, BOOT_V3_CMDLINE, image->cmdline);
	image->cmdline_max = BOOT_V3_CMDLINE.size - 1;

	struct layout layout = { V3_PAGE, len, boot_header_size[image->version] };
	struct error *error = place(&layout, bootimg_u32(data, 8), "the kernel", &image->kernel);
	if (!error)
		error = place(&layout, bootimg_u32(data, 12), "the ramdisk", &image->ramdisk);
	if (!error && image->version >= 4)
		error = place(&layout, bootimg_u32(data, 1580), "the signature", &image->signature);
	finish(&layout, image);
	return error;
}

static struct error *parse_boot(const char *data, size_t len, struct bootimg *image)
{
	struct error *error = check_header(len, 44);
	if (error)
		return error;
	uint32_t version = bootimg_u32(data, 40);
	if (version > MAX_VERSION)
		return error_new(
			ERROR_LAB,
			"header version %u is not known (0 to %d); old Qualcomm images have the size of their device trees there",
			version, MAX_VERSION);
	error = check_header(len, boot_header_size[version]);
	if (error)
		return error;
	image->version = version;
	return version < 3 ? parse_legacy(data, len, image) : parse_generic(data, len, image);
}

/* Each vendor ramdisk of v4 is a piece of the ramdisk section. */
static struct error *check_table(const char *data, const struct bootimg *image)
{
	uint64_t entries = bootimg_u32(data, 2116), entry_size = bootimg_u32(data, 2120);

	if (!entries)
		return NULL;
	if (entry_size < TABLE_ENTRY_SIZE || entries * entry_size > image->table.size)
		return error_new(ERROR_LAB, "%llu entries of %llu bytes are no ramdisk table of %llu bytes",
				 (unsigned long long)entries, (unsigned long long)entry_size,
				 (unsigned long long)image->table.size);
	for (uint64_t i = 0; i < entries; i++) {
		const char *entry = data + image->table.offset + i * entry_size;
		uint64_t size = bootimg_u32(entry, 0), offset = bootimg_u32(entry, 4);
		if (offset + size > image->ramdisk.size)
			return error_new(
				ERROR_LAB,
				"entry %llu of the ramdisk table (%llu bytes at %llu) goes beyond the ramdisk's %llu bytes",
				(unsigned long long)i, (unsigned long long)size, (unsigned long long)offset,
				(unsigned long long)image->ramdisk.size);
	}
	return NULL;
}

static struct error *parse_vendor_parts(const char *data, size_t len, struct bootimg *image)
{
	bool v4 = image->version >= 4;
	struct layout layout = { image->page_size, len, v4 ? VENDOR_V4_HEADER : VENDOR_V3_HEADER };
	struct error *error = place(&layout, bootimg_u32(data, 24), "the vendor ramdisk", &image->ramdisk);

	if (!error)
		error = place(&layout, bootimg_u32(data, 2100), "the dtb", &image->dtb);
	if (!error && v4)
		error = place(&layout, bootimg_u32(data, 2112), "the ramdisk table", &image->table);
	if (!error && v4)
		error = check_table(data, image);
	if (!error && v4) {
		/* An empty section has a place too: there it would grow. */
		image->bootconfig.offset = bootimg_align(layout.end, layout.page_size);
		error = place(&layout, bootimg_u32(data, VENDOR_BOOTCONFIG_SIZE_AT), "the bootconfig section",
			      &image->bootconfig);
	}
	finish(&layout, image);
	return error;
}

static struct error *parse_vendor(const char *data, size_t len, struct bootimg *image)
{
	struct error *error = check_header(len, VENDOR_V3_HEADER);
	if (error)
		return error;
	image->version = bootimg_u32(data, 8);
	if (image->version < 3 || image->version > MAX_VERSION)
		return error_new(ERROR_LAB, "vendor_boot header version %u is not known (3 to %d)", image->version, MAX_VERSION);
	if (image->version >= 4)
		error = check_header(len, VENDOR_V4_HEADER);
	image->page_size = bootimg_u32(data, 12);
	if (!error)
		error = check_page_size(image->page_size);
	if (error)
		return error;
	image->kernel_addr = bootimg_u32(data, 16);
	image->ramdisk_addr = bootimg_u32(data, 20);
	image->tags_addr = bootimg_u32(data, 2076);
	image->dtb_addr = bootimg_u64(data, 2104);
	take_text(data, (struct bootimg_field){ 2080, 16 }, image->name);
	take_text(data, VENDOR_CMDLINE, image->cmdline);
	image->cmdline_max = VENDOR_CMDLINE.size - 1;
	return parse_vendor_parts(data, len, image);
}

struct error *bootimg_parse(const void *data, size_t len, struct bootimg *image_out)
{
	struct bootimg image = { 0 };
	struct error *error;

	if (len >= MAGIC_SIZE && !memcmp(data, BOOT_MAGIC, MAGIC_SIZE)) {
		image.kind = BOOTIMG_BOOT;
		error = parse_boot(data, len, &image);
	} else if (len >= MAGIC_SIZE && !memcmp(data, VENDOR_MAGIC, MAGIC_SIZE)) {
		image.kind = BOOTIMG_VENDOR_BOOT;
		error = parse_vendor(data, len, &image);
	} else {
		error = error_new(ERROR_LAB, "neither a boot nor a vendor_boot image: it starts with neither " BOOT_MAGIC
					     " nor " VENDOR_MAGIC);
	}
	if (!error)
		*image_out = image;
	return error;
}

struct error *bootimg_read(const char *path, struct strbuf *data, struct bootimg *image_out)
{
	AUTO_STRBUF bytes = STRBUF_INIT;
	struct error *error = file_read(path, &bytes);

	if (error)
		return error;
	error = bootimg_parse(strbuf_str(&bytes), bytes.len, image_out);
	if (error)
		return error_wrap(error, "%s", path);
	if (data)
		strbuf_add(data, bytes.data, bytes.len);
	return NULL;
}

static const char *kind_name(enum bootimg_kind kind)
{
	return kind == BOOTIMG_BOOT ? "boot" : "vendor_boot";
}

char *bootimg_shape_difference(const struct bootimg *ours, const struct bootimg *stock)
{
	const struct {
		const char *what;
		uint64_t ours, stock;
		bool counts;
	} addresses[] = {
		{ "kernel", ours->kernel_addr, stock->kernel_addr, true },
		{ "ramdisk", ours->ramdisk_addr, stock->ramdisk_addr, ours->ramdisk.size && stock->ramdisk.size },
		{ "tags", ours->tags_addr, stock->tags_addr, true },
		{ "dtb", ours->dtb_addr, stock->dtb_addr, ours->dtb.size && stock->dtb.size },
	};

	if (ours->kind != stock->kind)
		return xasprintf("a %s image, the stock image is a %s image", kind_name(ours->kind), kind_name(stock->kind));
	if (ours->version != stock->version)
		return xasprintf("header version %u, the stock image has %u", ours->version, stock->version);
	if (ours->page_size != stock->page_size)
		return xasprintf("pages of %llu bytes, the stock image has %llu", (unsigned long long)ours->page_size,
				 (unsigned long long)stock->page_size);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (addresses[i].counts && addresses[i].ours != addresses[i].stock)
			return xasprintf("%s address 0x%llx, the stock image has 0x%llx", addresses[i].what,
					 (unsigned long long)addresses[i].ours, (unsigned long long)addresses[i].stock);
	return NULL;
}
