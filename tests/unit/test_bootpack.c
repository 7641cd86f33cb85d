/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packing with the real mkbootimg, gzip and lz4; and with programs that lie. */
#include "unit.h"

#include "device/bootimg.h"
#include "workdir.h"

static const struct boot_layout plain = { .page_size = 4096,
					  .base = 0x40000000,
					  .kernel_offset = 0x400000,
					  .ramdisk_offset = 0x6000000,
					  .second_offset = 0xf00000,
					  .tags_offset = 0x100,
					  .dtb_offset = 0x8000000 };

struct files {
	char *kernel, *ramdisk, *dtb, *out;
};

static void files_deinit(struct files *files)
{
	free(files->kernel);
	free(files->ramdisk);
	free(files->dtb);
	free(files->out);
}

static struct files make_files(const struct workdir *dir)
{
	workdir_do(dir, "{ head -c 56 /dev/zero; printf 'ARM\\144'; head -c 4 /dev/zero; seq 1 4000; } >Image;"
			"seq 1 500 >ramdisk; printf 'dtb bytes' >dtb");
	return (struct files){ workdir_path(dir, "Image"), workdir_path(dir, "ramdisk"), workdir_path(dir, "dtb"),
			       workdir_path(dir, "boot.img") };
}

static void test_packs_each_version_and_compression(void **state)
{
	struct workdir *dir = *state;
	CLEANUP(files_deinit) struct files files = make_files(dir);
	/* mkbootimg itself takes no command line that starts with '-'. */
	const char *line = "-x console=ttyAMA0 cgroup_disable=memory a=\"b c\"";

	for (unsigned i = 0; i < 12; i++) {
		struct boot_layout layout = plain;
		struct bootimg image;
		AUTO_STRBUF data = STRBUF_INIT, kernel = STRBUF_INIT;
		layout.header_version = i / 3;
		layout.kernel = i % 3;
		layout.dtb = files.dtb;
		layout.os_version = (char[]){ "13.0.0" };
		layout.os_patch_level = (char[]){ "2024-05" };
		const struct bootimg_recipe recipe = { "mkbootimg", &layout, files.kernel, files.ramdisk, line, dir->path };
		assert_ok(bootimg_pack(&recipe, files.out, NO_GUARD));
		assert_ok(bootimg_read(files.out, &data, &image));
		assert_int_equal(image.version, layout.header_version);
		assert_string_equal(image.cmdline, line);
		assert_int_equal(image.os_version >> 25, 13);
		assert_int_equal(image.os_version & 15, 5);
		const unsigned char first = (unsigned char)data.data[image.kernel.offset];
		assert_int_equal(first, layout.kernel == KERNEL_RAW ? 0 : layout.kernel == KERNEL_GZIP ? 0x1f : 0x02);
		assert_ok(bootimg_kernel(data.data, data.len, &kernel));
		AUTO_STRBUF want = STRBUF_INIT;
		assert_ok(file_read(files.kernel, &want));
		assert_int_equal(kernel.len, want.len);
		assert_memory_equal(kernel.data, want.data, want.len);
	}
}

static void test_packing_repeats_itself(void **state)
{
	struct workdir *dir = *state;
	CLEANUP(files_deinit) struct files files = make_files(dir);
	struct boot_layout layout = plain;
	AUTO_STRBUF first = STRBUF_INIT, second = STRBUF_INIT;

	layout.kernel = KERNEL_GZIP;
	const struct bootimg_recipe recipe = { "mkbootimg", &layout, files.kernel, NULL, "quiet", dir->path };
	assert_ok(bootimg_pack(&recipe, files.out, NO_GUARD));
	assert_ok(file_read(files.out, &first));
	workdir_do(dir, "touch -d 2001-01-01 Image");
	assert_ok(bootimg_pack(&recipe, files.out, NO_GUARD));
	assert_ok(file_read(files.out, &second));
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

static void not_packed(const struct bootimg_recipe *recipe, const struct files *files, const char *message)
{
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s\n", message);

	assert_error(bootimg_pack(recipe, files->out, NO_GUARD), want);
	assert_false(file_exists(files->out));
}

static void test_says_what_is_wrong(void **state)
{
	struct workdir *dir = *state;
	CLEANUP(files_deinit) struct files files = make_files(dir);
	struct boot_layout layout = plain;
	struct bootimg_recipe recipe = { "mkbootimg", &layout, files.kernel, files.ramdisk, "quiet", dir->path };

	layout.header_version = 2;
	not_packed(&recipe, &files, "a boot image with header version 2 needs a dtb");
	layout.header_version = 0;
	recipe.kernel_file = files.ramdisk;
	not_packed(&recipe, &files,
		   "the boot image that mkbootimg made: the kernel is neither an arm64 Image nor packed with gzip or lz4 -l");
	recipe.kernel_file = files.kernel;
	AUTO_STRBUF line = STRBUF_INIT;
	for (size_t i = 0; i < 1537; i++)
		strbuf_addch(&line, 'x');
	recipe.cmdline = line.data;
	not_packed(&recipe, &files, "a command line of 1537 bytes does not fit: 1534 do");
	layout.header_version = 3;
	not_packed(&recipe, &files, "a command line of 1537 bytes does not fit: 1535 do");
	recipe.cmdline = "quiet";
	recipe.mkbootimg = "no-such-mkbootimg";
	struct error *error = bootimg_pack(&recipe, files.out, NO_GUARD);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_non_null(strstr(error_message(error), "no-such-mkbootimg"));
	error_free(error);
}

/* Debian 12's knows no v4; a newer one makes it. */
static void test_version_4_depends_on_mkbootimg(void **state)
{
	struct workdir *dir = *state;
	CLEANUP(files_deinit) struct files files = make_files(dir);
	struct boot_layout layout = plain;
	const struct bootimg_recipe recipe = { "mkbootimg", &layout, files.kernel, files.ramdisk, "quiet", dir->path };
	struct bootimg image;

	layout.header_version = 4;
	AUTO_FREE char *knows =
		workdir_run(dir, "mkbootimg --header_version 4 --kernel Image -o probe.img 2>/dev/null && echo yes || echo no");
	AUTO_ERROR error = bootimg_pack(&recipe, files.out, NO_GUARD);
	if (!strcmp(knows, "yes")) {
		assert_null(error);
		assert_ok(bootimg_read(files.out, NULL, &image));
		assert_int_equal(image.version, 4);
		return;
	}
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_true(str_starts(error_message(error), "a boot image with header version 4: mkbootimg"));
	assert_non_null(strstr(error_message(error), "ValueError: Boot header version 4 not supported"));
	assert_false(file_exists(files.out));
}

/* A mkbootimg that gives other things than it was asked for. */
static void test_reads_back(void **state)
{
	struct workdir *dir = *state;
	CLEANUP(files_deinit) struct files files = make_files(dir);
	struct boot_layout layout = plain;
	AUTO_FREE char *liar = workdir_path(dir, "liar");
	struct bootimg_recipe recipe = { liar, &layout, files.kernel, files.ramdisk, "quiet", dir->path };
	const struct {
		const char *swap, *message, *file; /* the message ends with the file's name */
	} lies[] = {
		{ "--header_version 1", "header version 1 came out, not 0", "" },
		{ "--pagesize 2048", "page size 2048 came out, not 4096", "" },
		{ "--base 0x1000", "other addresses came out than base and offsets give", "" },
		{ "--ramdisk dtb", "its ramdisk is not that of ", files.ramdisk },
		{ "--kernel other", "its kernel is not ", files.kernel },
	};

	workdir_do(dir, "cp Image other; echo more >>other");
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		AUTO_FREE char *script = xasprintf("#!/bin/sh\ncd %s && exec mkbootimg \"$@\" %s\n", dir->path, lies[i].swap);
		assert_ok(file_write_atomic(liar, script, strlen(script), 0755));
		AUTO_FREE char *message = xasprintf("the boot image that %s made: %s%s", liar, lies[i].message, lies[i].file);
		not_packed(&recipe, &files, message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packs_each_version_and_compression, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_packing_repeats_itself, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_says_what_is_wrong, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_version_4_depends_on_mkbootimg, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_reads_back, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
