/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/bootimg_format.h"

/* Kernels are tens of MB; the slowest step is lz4 -9 or gzip -9 on a busy machine. */
#define PACK_TIMEOUT_MS 300000

static struct error *run(const char *const *argv, struct guard guard, struct strbuf *out)
{
	struct proc_spec spec = { .argv = argv, .deadline_ms = clock_deadline(PACK_TIMEOUT_MS), .guard = guard };

	return proc_run_ok(&spec, ERROR_LAB, out);
}

/* *path_out is the kernel as it goes into the image: the file itself, or a packed copy in the recipe's folder. */
static struct error *pack_kernel(const struct bootimg_recipe *recipe, struct guard guard, char **path_out)
{
	/* No name and time in the gzip header: equal kernels give equal images. */
	const char *const gzip[] = { "gzip", "-n", "-9", "-c", "--", recipe->kernel_file, NULL };
	const char *const lz4[] = { "lz4", "-l", "-9", "-c", "-q", "--", recipe->kernel_file, NULL };
	AUTO_STRBUF packed = STRBUF_INIT;

	if (recipe->layout->kernel == KERNEL_RAW) {
		*path_out = xstrdup(recipe->kernel_file);
		return NULL;
	}
	bool is_gzip = recipe->layout->kernel == KERNEL_GZIP;
	AUTO_FREE char *path = path_join(recipe->dir, is_gzip ? "kernel.gz" : "kernel.lz4");
	struct error *error = run(is_gzip ? gzip : lz4, guard, &packed);
	if (!error)
		error = file_write_atomic(path, packed.data, packed.len, 0644);
	if (!error)
		*path_out = take_ptr(path);
	return error;
}

static void add_number(struct strlist *argv, const char *option, uint64_t value)
{
	strlist_add(argv, option);
	strlist_addf(argv, "0x%llx", (unsigned long long)value);
}

static void add_text(struct strlist *argv, const char *option, const char *value)
{
	if (!value)
		return;
	strlist_add(argv, option);
	strlist_add(argv, value);
}

/* The command line is not among the arguments: Python's argparse takes one that starts with '-' for an option. */
static void arguments(const struct bootimg_recipe *recipe, const char *kernel, const char *image, struct strlist *argv)
{
	const struct boot_layout *layout = recipe->layout;

	strlist_add(argv, recipe->mkbootimg);
	strlist_add(argv, "--header_version");
	strlist_addf(argv, "%u", layout->header_version);
	add_text(argv, "--kernel", kernel);
	add_text(argv, "--ramdisk", recipe->ramdisk_file);
	add_text(argv, "--os_version", layout->os_version);
	add_text(argv, "--os_patch_level", layout->os_patch_level);
	if (layout->header_version < 3) {
		strlist_add(argv, "--pagesize");
		strlist_addf(argv, "%llu", (unsigned long long)layout->page_size);
		add_number(argv, "--base", layout->base);
		add_number(argv, "--kernel_offset", layout->kernel_offset);
		add_number(argv, "--ramdisk_offset", layout->ramdisk_offset);
		add_number(argv, "--second_offset", layout->second_offset);
		add_number(argv, "--tags_offset", layout->tags_offset);
	}
	if (layout->header_version == 2) {
		add_number(argv, "--dtb_offset", layout->dtb_offset);
		add_text(argv, "--dtb", layout->dtb);
	}
	add_text(argv, "-o", image);
}

static struct error *make(const struct bootimg_recipe *recipe, const char *kernel, const char *image, struct guard guard)
{
	CLEANUP(strlist_deinit) struct strlist words = { NULL, 0 };

	arguments(recipe, kernel, image, &words);
	AUTO_FREE const char **argv = strlist_vector(&words);
	return error_wrap(run(argv, guard, NULL), "a boot image with header version %u", recipe->layout->header_version);
}

static struct error *check_layout(const struct boot_layout *layout, const struct bootimg *image)
{
	if (image->kind != BOOTIMG_BOOT || image->version != layout->header_version)
		return error_new(ERROR_LAB, "header version %u came out, not %u", image->version, layout->header_version);
	if (image->version >= 3)
		return NULL;
	if (image->page_size != layout->page_size)
		return error_new(ERROR_LAB, "page size %llu came out, not %llu", (unsigned long long)image->page_size,
				 (unsigned long long)layout->page_size);
	if (image->kernel_addr != layout->base + layout->kernel_offset ||
	    image->tags_addr != layout->base + layout->tags_offset ||
	    (image->ramdisk.size && image->ramdisk_addr != layout->base + layout->ramdisk_offset))
		return error_new(ERROR_LAB, "other addresses came out than base and offsets give");
	return NULL;
}

/* Are the part's bytes those of the file (NULL: is there none)? */
static struct error *check_part(const struct strbuf *data, const struct bootimg_part *part, const char *file, const char *what)
{
	AUTO_STRBUF want = STRBUF_INIT;
	struct error *error = file ? file_read(file, &want) : NULL;

	if (!error && (want.len != part->size || (want.len && memcmp(data->data + part->offset, want.data, want.len))))
		error = error_new(ERROR_LAB, "%s is not that of %s", what, file ? file : "the recipe, which has none");
	return error;
}

static struct error *check_kernel(const struct strbuf *data, const char *file)
{
	AUTO_STRBUF want = STRBUF_INIT, got = STRBUF_INIT;
	struct error *error = file_read(file, &want);

	if (!error)
		error = bootimg_kernel(data->data, data->len, &got);
	if (!error && (want.len != got.len || memcmp(want.data, got.data, got.len)))
		error = error_new(ERROR_LAB, "its kernel is not %s", file);
	return error;
}

static struct error *check(const struct bootimg_recipe *recipe, const struct strbuf *data)
{
	struct bootimg image;
	struct error *error = bootimg_parse(data->data, data->len, &image);

	if (!error)
		error = check_layout(recipe->layout, &image);
	if (!error && strcmp(image.cmdline, recipe->cmdline))
		error = error_new(ERROR_LAB, "another command line came out: %s", image.cmdline);
	if (!error)
		error = check_part(data, &image.ramdisk, recipe->ramdisk_file, "its ramdisk");
	if (!error)
		error = check_part(data, &image.dtb, image.version == 2 ? recipe->layout->dtb : NULL, "its dtb");
	return error ? error : check_kernel(data, recipe->kernel_file);
}

struct error *bootimg_pack(const struct bootimg_recipe *recipe, const char *out_file, struct guard guard)
{
	AUTO_FREE char *kernel = NULL;
	AUTO_FREE char *image = path_join(recipe->dir, "mkbootimg.img");
	AUTO_STRBUF data = STRBUF_INIT;

	if (recipe->layout->header_version == 2 && !recipe->layout->dtb)
		return error_new(ERROR_LAB, "a boot image with header version 2 needs a dtb");
	struct error *error = pack_kernel(recipe, guard, &kernel);
	if (!error)
		error = make(recipe, kernel, image, guard);
	if (!error)
		error = file_read(image, &data);
	if (!error)
		error = bootimg_set_cmdline(data.data, data.len, recipe->cmdline);
	if (!error)
		error = error_wrap(check(recipe, &data), "the boot image that %s made", recipe->mkbootimg);
	return error ? error : file_write_atomic(out_file, data.data, data.len, 0644);
}
