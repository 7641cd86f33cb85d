/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <sys/stat.h>

#include "base/archive.h"
#include "workdir.h"

/* Lists members as "MODE PATH [-> LINK] [= HARDLINK] [CONTENT]" lines. */
static char *list(struct tar *tar)
{
	struct strbuf out = STRBUF_INIT;
	bool more = true;

	for (;;) {
		struct tar_member member;
		assert_ok(tar_next(tar, &member, &more));
		if (!more)
			return strbuf_steal(&out);
		strbuf_addf(&out, "%o %s", member.mode, member.path);
		if (member.link_target)
			strbuf_addf(&out, " -> %s", member.link_target);
		if (member.hardlink)
			strbuf_addf(&out, " = %s", member.hardlink);
		if (S_ISREG(member.mode) && !member.hardlink) {
			AUTO_STRBUF bytes = STRBUF_INIT;
			assert_ok(tar_read(tar, &bytes));
			assert_int_equal(bytes.len, member.size);
			strbuf_addf(&out, " %s", strbuf_str(&bytes));
		}
		strbuf_addch(&out, '\n');
	}
}

static const char make_tree[] =
	"umask 022; mkdir -p t/d; printf one >t/a; printf two >t/d/b; chmod 755 t/d/b; ln -s ../a t/d/l; ln t/a t/h;"
	"tar --sort=name -cf plain.tar ./t";

static const char tree_listing[] =
	"40755 t/\n100644 t/a one\n40755 t/d/\n100755 t/d/b two\n120777 t/d/l -> ../a\n100644 t/h = t/a\n";

static void test_tar_in_every_compression(void **state)
{
	static const char *const files[] = { "plain.tar", "plain.tar.xz", "plain.tar.gz", "plain.tar.zst", "plain.tar.bz2" };

	workdir_do(*state, make_tree);
	workdir_do(*state, "xz -k plain.tar; gzip -k plain.tar; zstd -q plain.tar; bzip2 -k plain.tar");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = workdir_path(*state, files[i]);
		AUTO_TAR tar = NULL;
		assert_ok(tar_open(path, &tar));
		AUTO_FREE char *found = list(tar);
		assert_string_equal(found, tree_listing);
	}
}

static void test_tar_in_deb(void **state)
{
	workdir_do(*state, make_tree);
	workdir_do(*state, "mkdir -p r/usr/src; xz -c plain.tar >r/usr/src/src-1.tar.xz; echo x >r/usr/src/README; tar -C r -cf "
			   "data.tar ./usr;"
			   "xz -k data.tar; echo 2.0 >debian-binary; tar -cf control.tar plain.tar; ar rc one.deb debian-binary "
			   "control.tar data.tar.xz");
	AUTO_FREE char *path = workdir_path(*state, "one.deb");
	AUTO_TAR tar = NULL;
	assert_ok(tar_open_in_deb(path, "/src-1.tar.xz", &tar));
	AUTO_FREE char *found = list(tar);
	assert_string_equal(found, tree_listing);

	struct tar *untouched = NULL;
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s has no member */src-2.tar.xz\n", path);
	assert_error(tar_open_in_deb(path, "/src-2.tar.xz", &untouched), want);
	assert_null(untouched);
}

static void test_damaged_tar(void **state)
{
	workdir_do(*state, "head -c 300000 /dev/urandom >noise; tar -cJf good.tar.xz noise; head -c 200000 good.tar.xz "
			   ">cut.tar.xz; echo text >no.tar; : >empty.tar");
	AUTO_FREE char *cut = workdir_path(*state, "cut.tar.xz");
	AUTO_FREE char *text = workdir_path(*state, "no.tar");
	AUTO_FREE char *missing = workdir_path(*state, "missing.tar");
	AUTO_TAR tar = NULL;
	struct tar_member member = { .path = "untouched" };
	AUTO_STRBUF bytes = STRBUF_INIT;
	bool more = false;

	assert_ok(tar_open(cut, &tar));
	assert_ok(tar_next(tar, &member, &more));
	assert_true(more);
	struct error *error = tar_read(tar, &bytes);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_non_null(strstr(error_message(error), "cut.tar.xz: "));
	error_free(error);

	struct tar *none = NULL;
	error = tar_open(text, &none);
	assert_non_null(error);
	assert_null(none);
	error_free(error);
	AUTO_FREE char *want = xasprintf("memcg-ab: error: cannot read %s: no such file\n", missing);
	assert_error(tar_open(missing, &none), want);
}

static void test_cpio(void **state)
{
	static const struct cpio_entry entries[] = {
		{ .path = "dev", .mode = S_IFDIR | 0755 },
		{ .path = "dev/console", .mode = S_IFCHR | 0600, .dev_major = 5, .dev_minor = 1 },
		{ .path = "init", .mode = S_IFREG | 0755, .data = "#!run", .size = 5 },
		{ .path = "link", .mode = S_IFLNK | 0777, .data = "initXX", .size = 4 },
	};
	AUTO_STRBUF bytes = STRBUF_INIT;
	AUTO_STRBUF again = STRBUF_INIT;

	strbuf_adds(&bytes, "1234");
	assert_ok(cpio_write(entries, ARRAY_SIZE(entries), &bytes));
	assert_ok(cpio_write(entries, ARRAY_SIZE(entries), &again));
	assert_int_equal(bytes.len, again.len + 4);
	assert_memory_equal(bytes.data + 4, again.data, again.len);
	assert_memory_equal(again.data, "070701", 6);
	/* A second archive may be appended: the kernel wants it at a multiple of four. */
	assert_int_equal(again.len % 4, 0);
	assert_true(again.len < 1024);
	/* Not on every machine. */
	if (!proc_find("cpio"))
		return;
	AUTO_FREE char *path = workdir_path(*state, "one.cpio");
	assert_ok(file_write_atomic(path, again.data, again.len, 0644));
	AUTO_FREE char *listing = workdir_run(*state, "cpio -tv --quiet <one.cpio | awk '{print $1, $NF}'");
	assert_string_equal(listing, "drwxr-xr-x dev\ncrw------- dev/console\n-rwxr-xr-x init\nlrwxrwxrwx init");
}

static void test_zstd(void **state)
{
	AUTO_FREE char *path = workdir_path(*state, "log.zst");
	AUTO_FREE char *data = xcalloc(300000, 1);
	AUTO_STRBUF packed = STRBUF_INIT;
	AUTO_STRBUF back = STRBUF_INIT;

	memset(data + 1000, 'x', 200000);
	assert_ok(zstd_write_file(path, data, 300000));
	AUTO_FREE char *check = workdir_run(*state, "zstd -dc log.zst | wc -c");
	assert_string_equal(check, "300000");
	strbuf_adds(&back, "before ");
	assert_ok(file_read(path, &packed));
	assert_ok(decompress(packed.data, packed.len, &back));
	assert_int_equal(back.len, 300007);
	assert_memory_equal(back.data + 7, data, 300000);
	assert_ok(zstd_write_file(path, "", 0));
}

static void test_decompress(void **state)
{
	AUTO_STRBUF packed = STRBUF_INIT;
	AUTO_STRBUF out = STRBUF_INIT;
	AUTO_FREE char *path = workdir_path(*state, "x.gz");

	workdir_do(*state, "printf hello | gzip -c >x.gz");
	assert_ok(file_read(path, &packed));
	assert_ok(decompress(packed.data, packed.len, &out));
	assert_string_equal(out.data, "hello");
	assert_error(decompress("plain text", 10, &out),
		     "memcg-ab: error: cannot read compressed data: not compressed in a known format\n");
	struct error *error = decompress(packed.data, packed.len - 6, &out);
	assert_non_null(error);
	error_free(error);
	assert_string_equal(out.data, "hello");
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, workdir_setup, workdir_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_tar_in_every_compression),
		TEST(test_tar_in_deb),
		TEST(test_damaged_tar),
		TEST(test_cpio),
		TEST(test_zstd),
		TEST(test_decompress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
