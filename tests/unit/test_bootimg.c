/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * On images that mkbootimg made (v0 to v3 and vendor_boot v3), and on samples of ours for what Debian 12's cannot
 * make (v1 with a dtbo, v4).
 */
#include "unit.h"

#include "boot_samples.h"
#include "device/bootimg.h"
#include "workdir.h"

/* n times the character, as a string to free. */
static char *text_of(char c, size_t n)
{
	struct strbuf text = STRBUF_INIT;

	fill(&text, c, n);
	return strbuf_steal(&text);
}

/* Files that every image is made of: an Image (arm64 header, then bytes that do not pack to nothing), a ramdisk, a dtb. */
static int parts_setup(void **state)
{
	if (workdir_setup(state))
		return -1;
	workdir_do(*state, "{ head -c 56 /dev/zero; printf 'ARM\\144'; head -c 4 /dev/zero; seq 1 4000; } >Image;"
			   "seq 1 500 >ramdisk; printf 'dtb bytes' >dtb; printf second >second");
	return 0;
}

static void read_image(const struct workdir *dir, const char *name, struct strbuf *data, struct bootimg *image)
{
	AUTO_FREE char *path = workdir_path(dir, name);

	assert_ok(bootimg_read(path, data, image));
}

static void assert_part(const struct workdir *dir, const struct strbuf *data, const struct bootimg_part *its, const char *file)
{
	AUTO_FREE char *path = workdir_path(dir, file);
	AUTO_STRBUF want = STRBUF_INIT;

	assert_ok(file_read(path, &want));
	assert_int_equal(its->size, want.len);
	assert_int_equal(its->offset % PAGE, 0);
	assert_memory_equal(data->data + its->offset, want.data, want.len);
}

static void test_reads_what_mkbootimg_made(void **state)
{
	struct workdir *dir = *state;

	workdir_do(
		dir,
		"for v in 0 1 2; do mkbootimg --header_version $v --kernel Image --ramdisk ramdisk --second second --dtb dtb "
		"--pagesize 4096 "
		"--base 0x40000000 --kernel_offset 0x80000 --ramdisk_offset 0x6000000 --second_offset 0x7000000 --tags_offset "
		"0x100 "
		"--dtb_offset 0x8000000 --os_version 12.0.1 --os_patch_level 2023-04 --board phone --cmdline 'console=ttyAMA0 "
		"a=\"b c\"' "
		"-o v$v.img; done;"
		"mkbootimg --header_version 3 --kernel Image --ramdisk ramdisk --os_version 12 --cmdline 'x=1 y' -o v3.img;"
		"mkbootimg --header_version 3 --pagesize 4096 --vendor_ramdisk ramdisk --dtb dtb --base 0x40000000 --board phone "
		"--vendor_cmdline 'bootconfig a=b' --vendor_boot vb3.img");
	for (unsigned version = 0; version < 3; version++) {
		AUTO_FREE char *name = xasprintf("v%u.img", version);
		AUTO_STRBUF data = STRBUF_INIT;
		struct bootimg image;
		read_image(dir, name, &data, &image);
		assert_int_equal(image.kind, BOOTIMG_BOOT);
		assert_int_equal(image.version, version);
		assert_int_equal(image.page_size, 4096);
		assert_int_equal(image.kernel_addr, 0x40080000);
		assert_int_equal(image.ramdisk_addr, 0x46000000);
		assert_int_equal(image.second_addr, 0x47000000);
		assert_int_equal(image.tags_addr, 0x40000100);
		assert_int_equal(image.dtb_addr, version == 2 ? 0x48000000 : 0);
		assert_int_equal(image.os_version, (12 << 14 | 1) << 11 | 23 << 4 | 4);
		assert_string_equal(image.name, "phone");
		assert_string_equal(image.cmdline, "console=ttyAMA0 a=\"b c\"");
		assert_int_equal(image.cmdline_max, 1534);
		assert_part(dir, &data, &image.kernel, "Image");
		assert_part(dir, &data, &image.ramdisk, "ramdisk");
		assert_part(dir, &data, &image.second, "second");
		if (version == 2)
			assert_part(dir, &data, &image.dtb, "dtb");
		else
			assert_int_equal(image.dtb.size, 0);
		assert_int_equal(image.total, data.len);
	}

	AUTO_STRBUF data = STRBUF_INIT, vendor = STRBUF_INIT;
	struct bootimg image;
	read_image(dir, "v3.img", &data, &image);
	assert_int_equal(image.version, 3);
	assert_int_equal(image.os_version, 12 << 25);
	assert_string_equal(image.cmdline, "x=1 y");
	assert_int_equal(image.cmdline_max, 1535);
	assert_part(dir, &data, &image.kernel, "Image");
	assert_part(dir, &data, &image.ramdisk, "ramdisk");
	assert_int_equal(image.total, data.len);
	read_image(dir, "vb3.img", &vendor, &image);
	assert_int_equal(image.kind, BOOTIMG_VENDOR_BOOT);
	assert_int_equal(image.version, 3);
	assert_string_equal(image.cmdline, "bootconfig a=b");
	assert_string_equal(image.name, "phone");
	assert_int_equal(image.cmdline_max, 2047);
	assert_int_equal(image.tags_addr, 0x40000100);
	assert_part(dir, &vendor, &image.ramdisk, "ramdisk");
	assert_part(dir, &vendor, &image.dtb, "dtb");
	assert_int_equal(image.total, vendor.len);
}

static void test_reads_samples(void **state)
{
	AUTO_STRBUF v1 = STRBUF_INIT, v4 = STRBUF_INIT, vendor = STRBUF_INIT;
	struct bootimg image;

	(void)state;
	sample_v1(&v1);
	assert_ok(bootimg_parse(v1.data, v1.len, &image));
	assert_int_equal(image.dtbo.offset, 4 * PAGE);
	assert_int_equal(image.dtbo.size, 77);
	assert_int_equal(image.total, v1.len);

	sample_v4(&v4);
	assert_ok(bootimg_parse(v4.data, v4.len, &image));
	assert_int_equal(image.version, 4);
	assert_int_equal(image.signature.offset, 4 * PAGE);
	assert_int_equal(image.signature.size, 4096);
	assert_int_equal(image.total, v4.len);

	sample_vendor(&vendor, "androidboot.hardware=phone\n");
	assert_ok(bootimg_parse(vendor.data, vendor.len, &image));
	assert_int_equal(image.ramdisk.offset, PAGE);
	assert_int_equal(image.ramdisk.size, 5300);
	assert_int_equal(image.dtb.offset, 3 * PAGE);
	assert_int_equal(image.table.offset, 4 * PAGE);
	assert_int_equal(image.table.size, 216);
	assert_int_equal(image.bootconfig.offset, 5 * PAGE);
	assert_int_equal(image.bootconfig.size, 27);
	assert_int_equal(image.total, 6 * PAGE);
	/* A partition's dump is longer, a file without the last padding shorter. */
	fill(&vendor, 0, 10 * PAGE);
	assert_ok(bootimg_parse(vendor.data, vendor.len, &image));
	assert_int_equal(image.total, 6 * PAGE);
	assert_ok(bootimg_parse(vendor.data, 5 * PAGE + 27, &image));
	assert_int_equal(image.total, 5 * PAGE + 27);
}

static void refused(const struct strbuf *data, const char *message)
{
	struct bootimg image, before;
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s\n", message);

	memset(&image, 0x55, sizeof(image));
	before = image;
	assert_error(bootimg_parse(data->data, data->len, &image), want);
	assert_memory_equal(&image, &before, sizeof(image));
}

static void test_refuses_what_is_no_image(void **state)
{
	AUTO_STRBUF data = STRBUF_INIT, vendor = STRBUF_INIT, none = STRBUF_INIT;

	(void)state;
	refused(&none, "neither a boot nor a vendor_boot image: it starts with neither ANDROID! nor VNDRBOOT");
	sample_v1(&data);
	size_t len = data.len;
	data.len = 1647;
	refused(&data, "1647 bytes are too few for the header (1648)");
	data.len = 43;
	refused(&data, "43 bytes are too few for the header (44)");
	data.len = 4 * PAGE + 76;
	refused(&data, "the recovery dtbo (77 bytes at 16384) goes beyond the end: there are 16460 bytes");
	data.len = len;
	put32(&data, 1636, 3 * PAGE);
	refused(&data, "the recovery dtbo is at 16384, the header says 12288");
	put32(&data, 8, 0xffffffff);
	refused(&data, "the kernel (4294967295 bytes at 4096) goes beyond the end: there are 20480 bytes");
	put32(&data, 36, 3000);
	refused(&data, "page size 3000 is none: a power of two from 2048 to 65536");
	put32(&data, 36, 0);
	refused(&data, "page size 0 is none: a power of two from 2048 to 65536");
	put32(&data, 40, 180224);
	refused(&data,
		"header version 180224 is not known (0 to 4); old Qualcomm images have the size of their device trees there");

	sample_vendor(&vendor, "a = b\n");
	put32(&vendor, 4 * PAGE + 112, 5001);
	refused(&vendor, "entry 1 of the ramdisk table (300 bytes at 5001) goes beyond the ramdisk's 5300 bytes");
	put32(&vendor, 2116, 0x80000000);
	refused(&vendor, "2147483648 entries of 108 bytes are no ramdisk table of 216 bytes");
	put32(&vendor, 8, 2);
	refused(&vendor, "vendor_boot header version 2 is not known (3 to 4)");
}

static void test_names_the_file(void **state)
{
	struct workdir *dir = *state;
	struct bootimg image = { .version = 9 };

	workdir_write(dir, "vbmeta.img", "AVB0");
	AUTO_FREE char *path = workdir_path(dir, "vbmeta.img");
	AUTO_FREE char *want = xasprintf(
		"memcg-ab: error: %s: neither a boot nor a vendor_boot image: it starts with neither ANDROID! nor VNDRBOOT\n",
		path);
	assert_error(bootimg_read(path, NULL, &image), want);
	assert_int_equal(image.version, 9);
}

/* Sets it; every byte outside [from, to) and [from2, to2) must be as it was. */
static void set_cmdline(struct strbuf *data, const char *cmdline, size_t from, size_t to, size_t from2, size_t to2)
{
	AUTO_FREE char *before = xmemdup(data->data, data->len);
	struct bootimg image;

	assert_ok(bootimg_set_cmdline(data->data, data->len, cmdline));
	assert_ok(bootimg_parse(data->data, data->len, &image));
	assert_string_equal(image.cmdline, cmdline);
	for (size_t i = 0; i < data->len; i++)
		if ((i < from || i >= to) && (i < from2 || i >= to2))
			assert_int_equal(data->data[i], before[i]);
}

static void not_set(struct strbuf *data, const char *cmdline, const char *message)
{
	AUTO_FREE char *before = xmemdup(data->data, data->len);
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s\n", message);

	assert_error(bootimg_set_cmdline(data->data, data->len, cmdline), want);
	assert_memory_equal(data->data, before, data->len);
}

static void test_edits_each_version_in_place(void **state)
{
	struct workdir *dir = *state;
	const char *line = "cgroup_disable=memory dyndbg=\"file a.c +p; b\" -- x";
	AUTO_STRBUF v4 = STRBUF_INIT, vendor = STRBUF_INIT;

	workdir_do(
		dir,
		"for v in 0 1 2 3; do mkbootimg --header_version $v --kernel Image --ramdisk ramdisk --dtb dtb --cmdline 'old "
		"old old' "
		"-o v$v.img; done;"
		"mkbootimg --header_version 3 --vendor_ramdisk ramdisk --dtb dtb --vendor_cmdline 'old' --vendor_boot vb3.img");
	for (unsigned version = 0; version < 4; version++) {
		AUTO_FREE char *name = xasprintf("v%u.img", version);
		AUTO_STRBUF data = STRBUF_INIT;
		struct bootimg image;
		read_image(dir, name, &data, &image);
		if (version < 3)
			set_cmdline(&data, line, 64, 576, 608, 1632);
		else
			set_cmdline(&data, line, 44, 1580, 0, 0);
		set_cmdline(&data, "", 44, 1632, 0, 0);
	}
	AUTO_STRBUF vb3 = STRBUF_INIT;
	struct bootimg image;
	read_image(dir, "vb3.img", &vb3, &image);
	set_cmdline(&vb3, line, 28, 2076, 0, 0);
	sample_v4(&v4);
	set_cmdline(&v4, line, 44, 1580, 0, 0);
	sample_vendor(&vendor, "a = b\n");
	set_cmdline(&vendor, line, 28, 2076, 0, 0);
}

/* An image edited to a line is the image that mkbootimg makes with that line. */
static void test_editing_equals_packing(void **state)
{
	struct workdir *dir = *state;

	for (unsigned version = 0; version < 4; version++) {
		AUTO_FREE char *script =
			xasprintf("for c in 'a=1' 'another line'; do mkbootimg --header_version %u --kernel Image --ramdisk "
				  "ramdisk --dtb dtb --cmdline \"$c\" -o \"$c.img\"; done",
				  version);
		AUTO_STRBUF data = STRBUF_INIT, want = STRBUF_INIT;
		struct bootimg image;
		workdir_do(dir, script);
		read_image(dir, "another line.img", &data, &image);
		read_image(dir, "a=1.img", &want, &image);
		assert_ok(bootimg_set_cmdline(data.data, data.len, "a=1"));
		assert_int_equal(data.len, want.len);
		assert_memory_equal(data.data, want.data, want.len);
	}
}

/* mkbootimg fills both fields of v0 to the last byte, and v3's too: no NUL ends them. */
static void test_reads_fields_without_nul(void **state)
{
	struct workdir *dir = *state;
	AUTO_STRBUF v0 = STRBUF_INIT, v3 = STRBUF_INIT;
	AUTO_FREE char *line = text_of('x', 1536);
	struct bootimg image;

	workdir_do(dir, "c=$(head -c 1536 /dev/zero | tr '\\0' x);"
			"mkbootimg --kernel Image --ramdisk ramdisk --cmdline $c -o v0.img;"
			"mkbootimg --header_version 3 --kernel Image --ramdisk ramdisk --cmdline $c -o v3.img;"
			"mkbootimg --kernel Image --cmdline ${c}x -o big.img 2>err && exit 1; grep -q 'max 1536, got 1537' err");
	read_image(dir, "v0.img", &v0, &image);
	assert_string_equal(image.cmdline, line);
	read_image(dir, "v3.img", &v3, &image);
	assert_string_equal(image.cmdline, line);
	/* Such a line is not written back: every field of ours ends. */
	not_set(&v3, line, "a command line of 1536 bytes does not fit: 1535 do");
	set_cmdline(&v3, line + 1, 44, 1580, 0, 0);
	not_set(&v0, line, "a command line of 1536 bytes does not fit: 1534 do");
	AUTO_FREE char *longer = text_of('x', 1537);
	not_set(&v0, longer, "a command line of 1537 bytes does not fit: 1534 do");
}

static void test_divides_a_long_line_before_a_blank(void **state)
{
	AUTO_STRBUF data = STRBUF_INIT;
	(void)state;
	sample_v1(&data);

	/* 511 bytes fit into the first field with its NUL. */
	AUTO_FREE char *full = text_of('a', 511);
	set_cmdline(&data, full, 64, 576, 608, 1632);
	assert_int_equal(data.data[64 + 510], 'a');
	assert_int_equal(data.data[64 + 511], 0);
	assert_int_equal(data.data[608], 0);

	/* One more, and it is divided before its last blank. */
	AUTO_FREE char *two = xasprintf("first %s", full);
	set_cmdline(&data, two, 64, 576, 608, 1632);
	assert_string_equal(data.data + 64, "first");
	assert_string_equal(data.data + 608, two + 5);

	/* A blank as the 512th byte: all before it fills the field. */
	AUTO_FREE char *exact = xasprintf("%s b", full);
	set_cmdline(&data, exact, 64, 576, 608, 1632);
	assert_string_equal(data.data + 64, full);
	assert_string_equal(data.data + 608, " b");

	/* The longest there is, and one byte more. */
	AUTO_FREE char *rest = text_of('b', 1022);
	AUTO_FREE char *most = xasprintf("%s %s", full, rest);
	set_cmdline(&data, most, 64, 576, 608, 1632);
	assert_int_equal(strlen(most), 1534);
	assert_int_equal(data.data[1631], 0);
	AUTO_FREE char *over = xasprintf("%s %sb", full, rest);
	not_set(&data, over, "a command line of 1535 bytes does not fit: 1534 do");
	AUTO_FREE char *early = xasprintf("abc %s%s", full + 3, rest);
	not_set(&data, early, "a command line of 1534 bytes does not fit: divided before the blank at byte 4 it may have 1026");
	AUTO_FREE char *whole = text_of('a', 512);
	not_set(&data, whole, "a command line of 512 bytes is divided before a blank in its first 512: there is none");
}

static void test_refuses_control_characters(void **state)
{
	AUTO_STRBUF v4 = STRBUF_INIT, vendor = STRBUF_INIT;
	AUTO_FREE char *most = text_of('v', 2047);
	AUTO_FREE char *over = text_of('v', 2048);

	(void)state;
	sample_v4(&v4);
	not_set(&v4, "quiet\nloglevel=3", "the command line holds the control character 0x0a at byte 6");
	sample_vendor(&vendor, "");
	set_cmdline(&vendor, most, 28, 2076, 0, 0);
	not_set(&vendor, over, "a command line of 2048 bytes does not fit: 2047 do");
	vendor.len = 100;
	not_set(&vendor, "x", "100 bytes are too few for the header (2112)");
}

static void test_tells_the_shape(void **state)
{
	struct bootimg stock = {
		.version = 2, .page_size = 4096, .kernel_addr = 0x8000, .ramdisk_addr = 0x100, .ramdisk = { 1, 1 }
	};
	struct bootimg ours = stock;

	(void)state;
	assert_null(bootimg_shape_difference(&ours, &stock));
	ours.ramdisk_addr = 0x200;
	AUTO_FREE char *address = bootimg_shape_difference(&ours, &stock);
	assert_string_equal(address, "ramdisk address 0x200, the stock image has 0x100");
	/* mkbootimg writes no address for a ramdisk that there is none of. */
	ours.ramdisk.size = 0;
	assert_null(bootimg_shape_difference(&ours, &stock));
	ours.page_size = 2048;
	AUTO_FREE char *page = bootimg_shape_difference(&ours, &stock);
	assert_string_equal(page, "pages of 2048 bytes, the stock image has 4096");
	ours.version = 0;
	AUTO_FREE char *version = bootimg_shape_difference(&ours, &stock);
	assert_string_equal(version, "header version 0, the stock image has 2");
	ours.kind = BOOTIMG_VENDOR_BOOT;
	AUTO_FREE char *kind = bootimg_shape_difference(&ours, &stock);
	assert_string_equal(kind, "a vendor_boot image, the stock image is a boot image");
}

/* A v0 image around a file as its kernel. */
static void image_around(const struct workdir *dir, const char *kernel, struct strbuf *data)
{
	AUTO_FREE char *path = workdir_path(dir, kernel);

	strbuf_adds(data, "ANDROID!");
	fill(data, 0, PAGE - 8);
	assert_ok(file_read(path, data));
	put32(data, 8, (uint32_t)(data->len - PAGE));
	put32(data, 36, PAGE);
	pad(data);
}

static void test_finds_the_kernel(void **state)
{
	struct workdir *dir = *state;
	const char *const names[] = { "Image", "gz", "gz-dtb", "lz4", "lz4-size", "lz4-dtb" };
	AUTO_FREE char *path = workdir_path(dir, "Image");
	AUTO_STRBUF want = STRBUF_INIT;

	assert_ok(file_read(path, &want));
	workdir_do(dir, "gzip -c Image >gz; cat gz dtb >gz-dtb; lz4 -q -l -9 -c Image >lz4; "
			"{ cat lz4; printf '\\154\\116\\000\\000'; } >lz4-size; { cat lz4; printf '\\320\\015\\376\\355'; cat "
			"ramdisk; } >lz4-dtb");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_STRBUF data = STRBUF_INIT, kernel = STRBUF_INIT;
		image_around(dir, names[i], &data);
		assert_ok(bootimg_kernel(data.data, data.len, &kernel));
		assert_int_equal(kernel.len, want.len);
		assert_memory_equal(kernel.data, want.data, want.len);
	}
}

static void no_kernel(const struct strbuf *data, const char *message)
{
	AUTO_STRBUF kernel = STRBUF_INIT;
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s\n", message);

	assert_error(bootimg_kernel(data->data, data->len, &kernel), want);
	assert_int_equal(kernel.len, 0);
}

static void test_refuses_what_is_no_kernel(void **state)
{
	struct workdir *dir = *state;
	const char *const unknown[] = { "ramdisk", "frame", "short" };
	AUTO_STRBUF packed = STRBUF_INIT, vendor = STRBUF_INIT;

	workdir_do(dir, "gzip -c ramdisk >text.gz; lz4 -q -c Image >frame; head -c 63 Image >short");
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		AUTO_STRBUF data = STRBUF_INIT;
		image_around(dir, unknown[i], &data);
		no_kernel(&data, "the kernel is neither an arm64 Image nor packed with gzip or lz4 -l");
	}
	image_around(dir, "text.gz", &packed);
	no_kernel(&packed, "the kernel is no arm64 Image");
	sample_vendor(&vendor, "");
	no_kernel(&vendor, "there is no kernel in it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads_what_mkbootimg_made, parts_setup, workdir_teardown),
		cmocka_unit_test(test_reads_samples),
		cmocka_unit_test(test_refuses_what_is_no_image),
		cmocka_unit_test_setup_teardown(test_names_the_file, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_edits_each_version_in_place, parts_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_editing_equals_packing, parts_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_reads_fields_without_nul, parts_setup, workdir_teardown),
		cmocka_unit_test(test_divides_a_long_line_before_a_blank),
		cmocka_unit_test(test_refuses_control_characters),
		cmocka_unit_test(test_tells_the_shape),
		cmocka_unit_test_setup_teardown(test_finds_the_kernel, parts_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_refuses_what_is_no_kernel, parts_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
