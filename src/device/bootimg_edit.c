/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "device/bootimg_format.h"

/* Control characters have no place on a command line, and a newline would end the line in a log. */
static struct error *check_characters(const char *cmdline)
{
	for (const char *at = cmdline; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			return error_new(ERROR_LAB, "the command line holds the control character 0x%02x at byte %zu",
					 (unsigned char)*at, (size_t)(at - cmdline) + 1);
	return NULL;
}

static void put_text(char *data, struct bootimg_field field, const char *text, size_t n)
{
	memcpy(data + field.offset, text, n);
	memset(data + field.offset + n, 0, field.size - n);
}

/*
 * How much of the line goes into the first of the two fields: all of it, or what stands before its last blank that
 * leaves a NUL there.
 */
static size_t first_part(const char *cmdline, size_t n)
{
	size_t cut = BOOT_CMDLINE.size - 1;

	if (n <= cut)
		return n;
	while (cut && cmdline[cut] != ' ')
		cut--;
	return cut;
}

static struct error *set_legacy(char *data, const char *cmdline, size_t n)
{
	size_t first = first_part(cmdline, n);

	if (n && !first)
		return error_new(ERROR_LAB,
				 "a command line of %zu bytes is divided before a blank in its first %zu: there is none", n,
				 BOOT_CMDLINE.size);
	if (n - first >= BOOT_EXTRA_CMDLINE.size)
		return error_new(ERROR_LAB,
				 "a command line of %zu bytes does not fit: divided before the blank at byte %zu it may have %zu",
				 n, first + 1, first + BOOT_EXTRA_CMDLINE.size - 1);
	put_text(data, BOOT_CMDLINE, cmdline, first);
	put_text(data, BOOT_EXTRA_CMDLINE, cmdline + first, n - first);
	return NULL;
}

struct error *bootimg_set_cmdline(void *data, size_t len, const char *cmdline)
{
	struct bootimg image;
	size_t n = strlen(cmdline);
	struct error *error = bootimg_parse(data, len, &image);

	if (!error)
		error = check_characters(cmdline);
	if (error)
		return error;
	if (n > image.cmdline_max)
		return error_new(ERROR_LAB, "a command line of %zu bytes does not fit: %zu do", n, image.cmdline_max);
	if (image.kind == BOOTIMG_BOOT && image.version < 3)
		return set_legacy(data, cmdline, n);
	put_text(data, image.kind == BOOTIMG_BOOT ? BOOT_V3_CMDLINE : VENDOR_CMDLINE, cmdline, n);
	return NULL;
}

/* What bootloader and kernel take together (XBC_DATA_MAX of the kernel's include/linux/bootconfig.h). */
#define BOOTCONFIG_MAX 32767
#define BOOTCONFIG_TRAILER "#BOOTCONFIG\n"
/* avbtool puts a footer into a partition's last 64 bytes. */
#define AVB_FOOTER_SIZE 64
#define AVB_FOOTER_MAGIC "AVBf"

/* The section's text, without NULs that some tools pad it with. */
static struct error *section_text(const char *data, size_t len, struct bootimg *image, const char **text_out, size_t *n_out)
{
	struct error *error = bootimg_parse(data, len, image);

	if (error)
		return error;
	if (image->kind != BOOTIMG_VENDOR_BOOT || image->version < 4)
		return error_new(
			ERROR_LAB,
			"only a vendor_boot image with header version 4 has a bootconfig section; this is %s with version %u",
			image->kind == BOOTIMG_BOOT ? "a boot image" : "vendor_boot", image->version);
	const char *text = image->bootconfig.size ? data + image->bootconfig.offset : "";
	size_t n = image->bootconfig.size, trailer = strlen(BOOTCONFIG_TRAILER);
	while (n && !text[n - 1])
		n--;
	if (n >= trailer && !memcmp(text + n - trailer, BOOTCONFIG_TRAILER, trailer))
		return error_new(ERROR_LAB, "the bootconfig section ends with a trailer of its own; the bootloader adds one, so "
					    "the kernel would read "
					    "neither");
	*text_out = text;
	*n_out = n;
	return NULL;
}

struct error *bootimg_get_bootconfig(const void *data, size_t len, struct strbuf *out)
{
	struct bootimg image;
	const char *text;
	size_t n;
	struct error *error = section_text(data, len, &image, &text, &n);

	if (!error)
		strbuf_add(out, text, n);
	return error;
}

static bool all_zero(const char *data, uint64_t from, uint64_t to)
{
	while (from < to && !data[from])
		from++;
	return from >= to;
}

static bool has_avb_footer(const struct strbuf *data, uint64_t image_end)
{
	return data->len >= image_end + AVB_FOOTER_SIZE &&
	       !memcmp(data->data + data->len - AVB_FOOTER_SIZE, AVB_FOOTER_MAGIC, strlen(AVB_FOOTER_MAGIC));
}

static void add_zeros(struct strbuf *to, uint64_t n)
{
	strbuf_reserve(to, n);
	memset(to->data + to->len, 0, n + 1);
	to->len += n;
}

/*
 * Makes room, so that bytes [from, to) may be written: `from` is where the image's last page begins to be free, `to`
 * a page boundary.
 */
static struct error *make_room(struct strbuf *data, uint64_t from, uint64_t to)
{
	AUTO_STRBUF grown = STRBUF_INIT;

	if (to <= data->len ? all_zero(data->data, from, to) : all_zero(data->data, from, data->len)) {
		if (to > data->len)
			add_zeros(data, to - data->len);
		return NULL;
	}
	if (has_avb_footer(data, from))
		return error_new(
			ERROR_LAB,
			"the bootconfig section needs %llu bytes more, and the file ends with an AVB footer that says where the "
			"bytes behind it are: remove it first (avbtool erase_footer)",
			(unsigned long long)(to - from));
	strbuf_add(&grown, data->data, from);
	add_zeros(&grown, to - from);
	strbuf_add(&grown, data->data + from, data->len - from);
	strbuf_deinit(data);
	*data = grown;
	grown = (struct strbuf)STRBUF_INIT;
	return NULL;
}

static struct error *put_section(struct strbuf *data, const struct bootimg *image, const struct strbuf *text)
{
	uint64_t offset = image->bootconfig.offset, size = image->bootconfig.size;
	uint64_t old_end = bootimg_align(offset + size, image->page_size),
		 new_end = bootimg_align(offset + text->len, image->page_size);

	if (text->len > size && offset + size < data->len &&
	    !all_zero(data->data, offset + size, old_end < data->len ? old_end : data->len))
		return error_new(ERROR_LAB, "the bootconfig section cannot grow: its padding is in use");
	if (old_end > data->len)
		add_zeros(data, old_end - data->len);
	if (new_end > old_end) {
		struct error *error = make_room(data, old_end, new_end);
		if (error)
			return error;
	}
	memcpy(data->data + offset, text->data, text->len);
	if (text->len < size)
		memset(data->data + offset + text->len, 0, size - text->len);
	for (unsigned i = 0; i < 4; i++)
		data->data[VENDOR_BOOTCONFIG_SIZE_AT + i] = (char)(text->len >> (8 * i));
	return NULL;
}

struct error *bootimg_set_bootconfig(struct strbuf *data, const char *key, const char *value)
{
	struct bootimg image;
	const char *old;
	size_t n;
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = section_text(strbuf_str(data), data->len, &image, &old, &n);

	/* In front: a value that the text leaves open at its end ("a =") would take the line for its own. */
	if (!error)
		error = bootconfig_line(key, value, &text);
	if (!error)
		error = error_wrap(bootconfig_without(old, n, key, &text), "the bootconfig section");
	if (!error && text.len > BOOTCONFIG_MAX)
		error = error_new(ERROR_LAB, "the bootconfig section would have %zu bytes; the kernel reads no more than %d",
				  text.len, BOOTCONFIG_MAX);
	return error ? error : put_section(data, &image, &text);
}
