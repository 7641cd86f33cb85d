/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Android boot images: reading, editing in place, packing. Formats: AOSP's mkbootimg include/bootimg/bootimg.h and
 * the pages boot-image-header, vendor-boot-partitions and implementing-bootconfig of source.android.com (facts; the
 * code is ours). All is little-endian.
 *
 *   boot v0-v2  "ANDROID!": kernel, ramdisk, second[, recovery dtbo][, dtb], each from a page boundary; cmdline 512
 *   bytes at 64 and 1024 more
 *   boot v3/v4  "ANDROID!": kernel, ramdisk[, signature] in pages of 4096; cmdline 1536 bytes
 *   vendor_boot v3/v4 "VNDRBOOT": vendor ramdisk(s), dtb[, ramdisk table][, bootconfig]; cmdline 2048 bytes
 */
#ifndef DEVICE_BOOTIMG_H
#define DEVICE_BOOTIMG_H

#include "base/error.h"
#include "base/proc.h"
#include "plan/profile.h"

enum bootimg_kind { BOOTIMG_BOOT, BOOTIMG_VENDOR_BOOT };

struct bootimg_part {
	uint64_t offset, size; /* bytes from the image's start; size 0 = none */
};

struct bootimg {
	enum bootimg_kind kind;
	unsigned version; /* 0 to 4 */
	uint64_t page_size;
	uint64_t kernel_addr, ramdisk_addr, second_addr, tags_addr, dtb_addr; /* 0 where the version has none */
	uint32_t os_version; /* packed: version << 11 | patch level; 0 = none */
	char name[17]; /* v0 to v2 and vendor_boot: board or product */
	char cmdline[2049]; /* v0 to v2: both fields put together */
	/* Bytes that fit, without the NUL that ends each field: 1534 (v0 to v2), 1535 (v3, v4), 2047 (vendor_boot). */
	size_t cmdline_max;
	struct bootimg_part kernel, ramdisk, second, dtbo, dtb, signature, table, bootconfig;
	/* Bytes the image takes, with the last part's padding; a file may be longer (a partition's dump with a footer). */
	uint64_t total;
};

/*
 * Reads the header of `data`; ERROR_LAB that says what is wrong (no magic, unknown version, a part beyond the end, a
 * ramdisk table that lies).
 */
struct error *bootimg_parse(const void *data, size_t len, struct bootimg *image_out) MUST_CHECK;
/* The same of a file, whose bytes are appended to `data` if it is not NULL. Messages name `path`. */
struct error *bootimg_read(const char *path, struct strbuf *data, struct bootimg *image_out) MUST_CHECK;
/*
 * What tells an image of ours from the device's own in shape (kind, header version, page size, load addresses), in one
 * line that the caller frees: "header version 0, the stock image has 2"; NULL = nothing.
 */
char *bootimg_shape_difference(const struct bootimg *ours, const struct bootimg *stock);

/*
 * Puts another command line into the header; nothing else changes, and the id (sha1) of v0 to v2 does not cover it.
 * ERROR_LAB when it does not fit, with how many bytes do, or holds control characters; the image is then untouched.
 *
 * Every field keeps a NUL at its end: mkbootimg fills them to the last byte, but a bootloader that prints them as C
 * strings (U-Boot) would then go on with what follows: the id, or the signature's size. A line of more than 511 bytes
 * in v0 to v2 is divided before a blank, because some readers put the two fields together as they are (AOSP) and
 * others put a blank between them (U-Boot).
 */
struct error *bootimg_set_cmdline(void *data, size_t len, const char *cmdline) MUST_CHECK;

/*
 * bootconfig of a vendor_boot v4: `key = "value"` as the first line, in place of all that gave `key` a value before. The
 * section is text alone: the bootloader adds its own parameters and then size, checksum and "#BOOTCONFIG" behind
 * them. It grows within its padding, then over a file's zero bytes behind the image, then by inserted pages; what is
 * behind it is kept, so a file that ends in an AVB footer is refused where pages would have to be inserted. `key` is
 * words of letters, digits, '-', '_' with dots between; ERROR_LAB for one that is not, for a value that cannot be
 * quoted, for an image without such a section, and for a section that does not parse (the kernel would drop all of
 * it). Only keys below "kernel." reach the command line.
 */
struct error *bootimg_set_bootconfig(struct strbuf *data, const char *key, const char *value) MUST_CHECK;
/* Appends the text of the bootconfig section. */
struct error *bootimg_get_bootconfig(const void *data, size_t len, struct strbuf *out) MUST_CHECK;

/* The arm64 Image inside a boot image, decompressed (raw, gzip, lz4 legacy); ERROR_LAB when it is none. Appended to `out`. */
struct error *bootimg_kernel(const void *data, size_t len, struct strbuf *out) MUST_CHECK;

/* What goes into a boot image of ours. */
struct bootimg_recipe {
	const char *mkbootimg; /* program */
	const struct boot_layout *layout;
	const char *kernel_file; /* arm64 Image; compressed as layout->kernel says, in `dir` (gzip, lz4) */
	const char *ramdisk_file; /* NULL = none */
	const char *cmdline;
	const char *dir; /* for what is made in between */
};
/*
 * Packs it with mkbootimg, puts the command line in (bootimg_set_cmdline) and reads all of it back: version, page
 * size, addresses, command line, ramdisk and the unpacked kernel must be as asked for. ERROR_LAB with mkbootimg's
 * last line, for instance that it cannot make this version (Debian 12's knows v0 to v3). `out_file` is replaced
 * atomically.
 */
struct error *bootimg_pack(const struct bootimg_recipe *recipe, const char *out_file, struct guard guard) MUST_CHECK;

#endif
