/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "unit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_dir(void **state)
{
	char *dir = xstrdup("/tmp/memcg-ab-test-file-XXXXXX");

	*state = mkdtemp(dir);
	return *state ? 0 : -1;
}

static int remove_dir(void **state)
{
	assert_ok(file_remove_tree(*state));
	assert_false(file_exists(*state));
	free(*state);
	return 0;
}

static void writing_replaces_whole_files(void **state)
{
	AUTO_FREE char *path = path_join(*state, "f");
	AUTO_STRBUF text = STRBUF_INIT;
	struct stat st;

	assert_ok(file_write_atomic(path, "old", 3, 0600));
	assert_ok(file_write_atomic(path, "new text", 8, 0640));
	assert_ok(file_read(path, &text));
	assert_string_equal(strbuf_str(&text), "new text");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	AUTO_STRLIST names = { NULL, 0 };
	assert_ok(file_list(*state, &names));
	assert_int_equal(names.n, 1);
}

static void a_failed_write_leaves_nothing(void **state)
{
	AUTO_FREE char *path = path_join(*state, "no/such/folder");
	struct error *error = file_write_atomic(path, "x", 1, 0600);

	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	error_free(error);
	AUTO_STRLIST names = { NULL, 0 };
	assert_ok(file_list(*state, &names));
	assert_int_equal(names.n, 0);
}

static void trees_are_made_measured_and_removed(void **state)
{
	AUTO_FREE char *deep = path_join(*state, "a/b/c");
	AUTO_FREE char *file = path_join(deep, "f");
	AUTO_FREE char *outside = path_join(*state, "outside");
	AUTO_FREE char *link = path_join(deep, "link");
	AUTO_FREE char *top = path_join(*state, "a");
	char block[8192];
	uint64_t bytes = 0;

	memset(block, 1, sizeof(block));
	assert_ok(file_mkdirs(deep));
	assert_ok(file_mkdirs(deep));
	assert_ok(file_write_atomic(file, block, sizeof(block), 0600));
	assert_ok(file_write_atomic(outside, "x", 1, 0600));
	assert_int_equal(symlink(outside, link), 0);
	assert_ok(file_tree_size(top, &bytes));
	assert_true(bytes >= sizeof(block));
	assert_ok(file_remove_tree(top));
	assert_false(file_exists(top));
	assert_true(file_exists(outside));
	assert_ok(file_remove_tree(top));
}

static void copies_keep_bytes_and_mode(void **state)
{
	AUTO_FREE char *from = path_join(*state, "from");
	AUTO_FREE char *to = path_join(*state, "to");
	AUTO_STRBUF text = STRBUF_INIT;
	struct stat st;

	assert_ok(file_write_atomic(from, "abc", 3, 0755));
	assert_ok(file_copy(from, to));
	assert_ok(file_read(to, &text));
	assert_string_equal(strbuf_str(&text), "abc");
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

static void paths_are_joined_and_normalised(void **state)
{
	static const struct {
		const char *file, *path, *want;
	} cases[] = {
		{ "/lab/m.yaml", "x", "/lab/x" },
		{ "/lab/m.yaml", "../x", "/x" },
		{ "/lab/m.yaml", "/abs", "/abs" },
		{ "/lab/sub/m.yaml", "./a//b", "/lab/sub/a/b" },
		{ "m.yaml", ".", "." },
		{ "d/m.yaml", "..", "." },
		{ "m.yaml", "../../x", "../../x" },
		{ "/m.yaml", "../../x", "/x" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *got = path_relative_to_file(cases[i].file, cases[i].path);
		assert_string_equal(got, cases[i].want);
	}
	assert_string_equal(path_basename("a/b"), "b");
	AUTO_FREE char *root = path_dirname("/x");
	assert_string_equal(root, "/");
}

static void digests_are_the_published_ones(void **state)
{
	AUTO_FREE char *path = path_join(*state, "f");
	char hex[HASH_HEX_SIZE], of_file[HASH_HEX_SIZE];

	/* FIPS 180-2, appendix B.1 */
	hash_bytes("abc", 3, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_ok(file_write_atomic(path, "abc", 3, 0600));
	assert_ok(hash_file(path, of_file));
	assert_string_equal(of_file, hex);
}

static void fields_cannot_be_shifted(void **state)
{
	(void)state;
	char a[HASH_HEX_SIZE], b[HASH_HEX_SIZE], c[HASH_HEX_SIZE];
	struct hash *hash = hash_new();

	hash_field(hash, "x", "ab");
	hash_field(hash, "y", "c");
	hash_finish(hash, a);
	hash = hash_new();
	hash_field(hash, "x", "a");
	hash_field(hash, "y", "bc");
	hash_finish(hash, b);
	assert_string_not_equal(a, b);
	hash = hash_new();
	hash_field(hash, "x", NULL);
	hash_finish(hash, a);
	hash = hash_new();
	hash_field(hash, "x", "");
	hash_finish(hash, c);
	assert_string_not_equal(a, c);
}

static void a_held_lock_names_its_holder(void **state)
{
	AUTO_FREE char *path = path_join(*state, "locks/l");
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s is held by run 7\n", path);
	struct lock *lock = NULL, *second = NULL;

	assert_null(lock_holder(path));
	assert_ok(lock_take(path, "run 7", clock_deadline(1000), &lock));
	AUTO_FREE char *holder = lock_holder(path);
	assert_string_equal(holder, "run 7");
	assert_error(lock_take(path, "run 8", clock_deadline(100), &second), want);
	assert_null(second);
	lock_release(lock);
	assert_null(lock_holder(path));
	assert_ok(lock_take(path, "run 8", clock_deadline(100), &second));
	lock_release(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writing_replaces_whole_files, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_failed_write_leaves_nothing, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(trees_are_made_measured_and_removed, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(copies_keep_bytes_and_mode, make_dir, remove_dir),
		cmocka_unit_test(paths_are_joined_and_normalised),
		cmocka_unit_test_setup_teardown(digests_are_the_published_ones, make_dir, remove_dir),
		cmocka_unit_test(fields_cannot_be_shifted),
		cmocka_unit_test_setup_teardown(a_held_lock_names_its_holder, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
