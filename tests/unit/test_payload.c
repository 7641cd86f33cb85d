/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What goes to the device: files of the host's in an archive that is the same whenever they are, and found again by what they hold. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "kernel/payload.h"
#include "kernel/payload_files.h"
#include "workdir.h"

static size_t occurrences(const struct strbuf *bytes, const char *text)
{
	size_t n = 0;

	for (const char *at = bytes->data; (at = memmem(at, bytes->len - (size_t)(at - bytes->data), text, strlen(text))); at++)
		n++;
	return n;
}

static void equal_files_give_equal_bytes(void **state)
{
	struct payload_files one = { NULL, 0 }, other = { NULL, 0 };
	AUTO_STRBUF first = STRBUF_INIT;
	AUTO_STRBUF second = STRBUF_INIT;

	(void)state;
	payload_files_add(&one, "usr/bin/b", S_IFREG | 0755, "bbbb", 4);
	payload_files_add(&one, "a", S_IFREG | 0644, "old", 3);
	payload_files_add(&one, "a", S_IFREG | 0644, "aaaa", 4);
	payload_files_add(&other, "a", S_IFREG | 0644, "aaaa", 4);
	payload_files_add(&other, "usr/bin/b", S_IFREG | 0755, "bbbb", 4);
	assert_ok(payload_files_copy(&other, "a", "c"));
	assert_ok(payload_files_copy(&one, "a", "c"));
	AUTO_ERROR missing = payload_files_copy(&one, "nothing", "d");
	assert_int_equal(error_kind(missing), ERROR_LAB);
	assert_ok(payload_files_pack(&one, &first));
	assert_ok(payload_files_pack(&other, &second));
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
	assert_int_equal(occurrences(&first, "aaaa"), 2);
	assert_int_equal(occurrences(&first, "old"), 0);
	/* Its folders are there. */
	assert_true(occurrences(&first, "usr/bin") >= 2);
	payload_files_deinit(&one);
	payload_files_deinit(&other);
}

static void folders_are_taken_whole(void **state)
{
	struct payload_files files = { NULL, 0 };
	AUTO_FREE char *tree = workdir_path(*state, "tree");
	AUTO_FREE char *made =
		workdir_run(*state, "mkdir -p tree/sub; echo one >tree/sub/f; ln -s sub/f tree/link; printf x >tree/run;"
				    "chmod 700 tree/run; mkfifo pipe");
	AUTO_FREE char *pipe = workdir_path(*state, "pipe");

	assert_ok(payload_files_take(&files, tree, "src"));
	assert_int_equal(files.n, 3);
	AUTO_STRBUF packed = STRBUF_INIT;
	assert_ok(payload_files_pack(&files, &packed));
	assert_string_equal(files.items[0].path, "src/link");
	assert_int_equal(files.items[0].mode, S_IFLNK | 0777);
	assert_string_equal(strbuf_str(&files.items[0].data), "sub/f");
	assert_string_equal(files.items[1].path, "src/run");
	assert_int_equal(files.items[1].mode, S_IFREG | 0755);
	assert_string_equal(files.items[2].path, "src/sub/f");
	assert_int_equal(files.items[2].mode, S_IFREG | 0644);
	AUTO_ERROR special = payload_files_take(&files, pipe, "pipe");
	assert_int_equal(error_kind(special), ERROR_INPUT);
	payload_files_deinit(&files);
}

static void the_archive_follows_the_files(void **state)
{
	struct cache *cache = NULL;
	AUTO_FREE char *dir = workdir_path(*state, "cache");
	AUTO_FREE char *file = workdir_path(*state, "file");
	char to[] = "/x/y";
	const struct payload_item item = { .path = file, .to = to };
	AUTO_FREE char *first = NULL;
	AUTO_FREE char *again = NULL;
	AUTO_FREE char *changed = NULL;
	char digests[3][65];

	assert_ok(cache_open(dir, UINT64_C(1) << 40, NULL, &cache));
	assert_ok(file_write_atomic(file, "one", 3, 0644));
	assert_ok(payload_prepare(cache, &item, 1, NO_GUARD, NULL, NULL, &first, digests[0]));
	assert_ok(payload_prepare(cache, &item, 1, NO_GUARD, NULL, NULL, &again, digests[1]));
	assert_string_equal(first, again);
	assert_string_equal(digests[0], digests[1]);
	assert_ok(file_write_atomic(file, "two", 3, 0644));
	assert_ok(payload_prepare(cache, &item, 1, NO_GUARD, NULL, NULL, &changed, digests[2]));
	assert_string_not_equal(first, changed);
	assert_string_not_equal(digests[0], digests[2]);
	assert_ok(file_remove_tree(file));
	char *none = NULL;
	AUTO_ERROR missing = payload_prepare(cache, &item, 1, NO_GUARD, NULL, NULL, &none, digests[2]);
	assert_non_null(missing);
	assert_null(none);
	cache_close(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_files_give_equal_bytes),
		cmocka_unit_test_setup_teardown(folders_are_taken_whole, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(the_archive_follows_the_files, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
