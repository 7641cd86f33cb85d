/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/salt.h"
#include "unit.h"

#include "kernel/worktree.h"
#include "minikernel.h"

static void the_padding_stands_behind_the_file_and_nothing_else_changes(void **state)
{
	struct mini *mini = *state;
	char tree[OID_HEX_SIZE], again[OID_HEX_SIZE];
	AUTO_STRBUF before = STRBUF_INIT;
	AUTO_STRBUF after = STRBUF_INIT;
	AUTO_STRBUF makefile = STRBUF_INIT;
	AUTO_STRBUF salted_makefile = STRBUF_INIT;

	workdir_do(&mini->dir, "mkdir -p src/init; echo 'int version;' >src/init/version.c");
	mini_import(mini);
	assert_ok(salt_tree(mini->cache, mini->source->objects, mini->source->tree, tree));
	assert_ok(salt_tree(mini->cache, mini->source->objects, mini->source->tree, again));
	assert_string_equal(tree, again);
	assert_string_not_equal(tree, mini->source->tree);
	assert_ok(worktree_read(mini->cache, mini->source->objects, mini->source->tree, "init/version.c", &before));
	assert_ok(worktree_read(mini->cache, mini->source->objects, tree, "init/version.c", &after));
	assert_string_equal(before.data, "int version;\n");
	assert_true(str_starts(after.data, before.data));
	assert_non_null(strstr(after.data + before.len, ".skip 36"));
	assert_ok(worktree_read(mini->cache, mini->source->objects, mini->source->tree, "Makefile", &makefile));
	assert_ok(worktree_read(mini->cache, mini->source->objects, tree, "Makefile", &salted_makefile));
	assert_string_equal(makefile.data, salted_makefile.data);

	/* It compiles, to 36 bytes of text. */
	AUTO_FREE char *file = workdir_path(&mini->dir, "salted.c");
	assert_ok(file_write_atomic(file, after.data, after.len, 0644));
	workdir_do(&mini->dir, "aarch64-linux-gnu-gcc -c -o salted.o salted.c");
	AUTO_FREE char *size = workdir_run(&mini->dir, "aarch64-linux-gnu-size salted.o | awk 'NR == 2 { print $1 }'");
	assert_string_equal(size, "36");
}

static void a_tree_without_the_file_is_refused(void **state)
{
	struct mini *mini = *state;
	char tree[OID_HEX_SIZE] = "untouched";

	workdir_do(&mini->dir, "rm -rf src/init");
	mini_import(mini);
	struct error *error = salt_tree(mini->cache, mini->source->objects, mini->source->tree, tree);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_INPUT);
	assert_non_null(strstr(error_message(error), "controls: {layout: false}"));
	assert_string_equal(tree, "untouched");
	error_free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_padding_stands_behind_the_file_and_nothing_else_changes, mini_setup,
						mini_teardown),
		cmocka_unit_test_setup_teardown(a_tree_without_the_file_is_refused, mini_setup, mini_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
