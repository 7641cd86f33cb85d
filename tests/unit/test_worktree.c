/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <sys/stat.h>

#include "kernel/git.h"
#include "kernel/worktree.h"
#include "workdir.h"

/* A repository whose commits are the trees to move between. */
struct fixture {
	struct workdir *dir;
	struct cache *cache;
	char *objects;
	char *work; /* the work tree under test */
	char *trees[4];
};

static const char make_repo[] =
	"umask 022; git init -q r; cd r; mkdir -p a/b c; echo one >a/b/f; echo two >a/g; echo three >c/only; printf "
	"'#!/bin/sh\\n' >run; chmod 755 run; ln -s a/g link;"
	"echo same >same; git add -A; git commit -qm 0; git rev-parse HEAD^{tree};"
	"echo ONE >a/b/f; git rm -q -r c; chmod 644 run; rm link; echo file >link; echo new >a/b/new; git add -A; git commit -qm "
	"1; git rev-parse HEAD^{tree};"
	/* A file becomes a folder, and a folder a file. */
	"git rm -q -r a; echo file >a; rm run; mkdir run; echo x >run/x; git add -A; git commit -qm 2; git rev-parse HEAD^{tree};"
	"git rm -q -r .; echo end >z; git add -A; git commit -qm 3; git rev-parse HEAD^{tree}";

static int setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	void *dir = NULL;

	if (workdir_setup(&dir))
		return -1;
	fixture->dir = dir;
	AUTO_FREE char *cache = workdir_path(dir, "cache");
	assert_ok(cache_open(cache, UINT64_C(1) << 40, NULL, &fixture->cache));
	fixture->objects = workdir_path(dir, "r/.git/objects");
	fixture->work = workdir_path(dir, "work");
	AUTO_FREE char *out = workdir_run(dir, make_repo);
	char *rest = out;
	for (size_t i = 0; i < ARRAY_SIZE(fixture->trees); i++)
		fixture->trees[i] = xstrdup(strsep(&rest, "\n"));
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	void *dir = fixture->dir;

	cache_close(fixture->cache);
	free(fixture->objects);
	free(fixture->work);
	for (size_t i = 0; i < ARRAY_SIZE(fixture->trees); i++)
		free(fixture->trees[i]);
	free(fixture);
	return workdir_teardown(&dir);
}

static size_t update(const struct fixture *fixture, const char *tree)
{
	size_t changed = 77;

	assert_ok(worktree_update(fixture->cache, fixture->objects, tree, fixture->work, NULL, NO_GUARD, &changed));
	return changed;
}

/* What git says of the folder. */
static void check(const struct fixture *fixture, const char *tree)
{
	AUTO_FREE char *found =
		workdir_run(fixture->dir, "rm -rf i; export GIT_DIR=$PWD/r/.git GIT_WORK_TREE=$PWD/work GIT_INDEX_FILE=$PWD/i;"
					  "git add -Af .; git write-tree; find work -type d -empty");
	assert_string_equal(found, tree);
}

static void test_every_move(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(update(fixture, fixture->trees[0]), 6);
	check(fixture, fixture->trees[0]);
	for (size_t from = 0; from < 4; from++)
		for (size_t to = 0; to < 4; to++) {
			update(fixture, fixture->trees[from]);
			check(fixture, fixture->trees[from]);
			size_t changed = update(fixture, fixture->trees[to]);
			check(fixture, fixture->trees[to]);
			assert_true(from != to ? changed > 0 : changed == 0);
		}
}

static void test_only_changed_files_are_written(void **state)
{
	struct fixture *fixture = *state;

	update(fixture, fixture->trees[0]);
	AUTO_FREE char *before = workdir_run(fixture->dir, "stat -c '%i %y %z' work/same work/a/g");
	workdir_do(fixture->dir, "touch -d 2001-01-01 work/a/b/f; touch mark");
	/* a/b/f, a/b/new, c/only, link, run */
	assert_int_equal(update(fixture, fixture->trees[1]), 5);
	AUTO_FREE char *after = workdir_run(fixture->dir, "stat -c '%i %y %z' work/same work/a/g");
	assert_string_equal(before, after);
	AUTO_FREE char *newer = workdir_run(fixture->dir, "cd work; find . -type f -newer ../mark | sort");
	assert_string_equal(newer, "./a/b/f\n./a/b/new\n./link\n./run");
}

static void test_modes_and_links(void **state)
{
	struct fixture *fixture = *state;

	update(fixture, fixture->trees[0]);
	AUTO_FREE char *found =
		workdir_run(fixture->dir, "umask 022; stat -c '%A' work/run work/same work/link; readlink work/link");
	assert_string_equal(found, "-rwxr-xr-x\n-rw-r--r--\nlrwxrwxrwx\na/g");
	/* A link that somebody put in a file's place is replaced, not followed. */
	workdir_do(fixture->dir, "echo mine >outside; ln -sf ../../../outside work/a/b/f");
	update(fixture, fixture->trees[1]);
	AUTO_FREE char *outside = workdir_run(fixture->dir, "cat outside work/a/b/f");
	assert_string_equal(outside, "mine\nONE");
}

/* The state as a kill in the middle leaves it: on the way from one tree to another, with some files of each. */
static void test_unfinished_move_is_mended(void **state)
{
	struct fixture *fixture = *state;

	for (size_t to = 0; to < 4; to++) {
		update(fixture, fixture->trees[0]);
		AUTO_FREE char *text = xasprintf("%s\n%s\n", fixture->trees[0], fixture->trees[1]);
		workdir_write(fixture->dir, "work.state", text);
		workdir_do(fixture->dir, "printf half >work/a/b/f; rm -rf work/c; : >work/a/b/new");
		update(fixture, fixture->trees[to]);
		check(fixture, fixture->trees[to]);
		AUTO_FREE char *after = workdir_read(fixture->dir, "work.state");
		AUTO_FREE char *want = xasprintf("%s\n", fixture->trees[to]);
		assert_string_equal(after, want);
	}
}

static void test_interrupted_update(void **state)
{
	struct fixture *fixture = *state;
	size_t changed = 77;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	struct error *error = worktree_update(fixture->cache, fixture->objects, fixture->trees[0], fixture->work, NULL,
					      (struct guard){ ends[0] }, &changed);
	assert_int_equal(error_kind(error), ERROR_INTERRUPTED);
	assert_int_equal(changed, 77);
	error_free(error);
	close(ends[0]);
	AUTO_FREE char *text = workdir_read(fixture->dir, "work.state");
	AUTO_FREE char *want = xasprintf("4b825dc642cb6eb9a060e54bf8d69288fbee4904\n%s\n", fixture->trees[0]);
	assert_string_equal(text, want);
	update(fixture, fixture->trees[1]);
	check(fixture, fixture->trees[1]);
}

static void test_folder_of_unknown_state(void **state)
{
	struct fixture *fixture = *state;
	static const char *const damaged[] = { "", "nonsense\n", "0123456789012345678901234567890123456789\n" };

	workdir_write(fixture->dir, "work/stray", "x");
	update(fixture, fixture->trees[0]);
	check(fixture, fixture->trees[0]);
	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		workdir_write(fixture->dir, "work.state", damaged[i]);
		workdir_write(fixture->dir, "work/stray", "x");
		update(fixture, fixture->trees[0]);
		check(fixture, fixture->trees[0]);
	}
	/* The folder gone, its state left. */
	workdir_do(fixture->dir, "rm -rf work");
	assert_int_equal(update(fixture, fixture->trees[0]), 6);
	check(fixture, fixture->trees[0]);
}

static bool only_a(const char *path)
{
	return str_starts(path, "a/");
}

static void test_filter_and_digest(void **state)
{
	struct fixture *fixture = *state;
	char all[65], some[65], again[65], other[65];
	size_t changed = 0;

	assert_ok(
		worktree_update(fixture->cache, fixture->objects, fixture->trees[0], fixture->work, only_a, NO_GUARD, &changed));
	assert_int_equal(changed, 2);
	AUTO_FREE char *files = workdir_run(fixture->dir, "cd work; find . -type f | sort");
	assert_string_equal(files, "./a/b/f\n./a/g");
	assert_ok(worktree_digest(fixture->cache, fixture->objects, fixture->trees[0], NULL, all));
	assert_ok(worktree_digest(fixture->cache, fixture->objects, fixture->trees[0], only_a, some));
	assert_ok(worktree_digest(fixture->cache, fixture->objects, fixture->trees[0], only_a, again));
	assert_ok(worktree_digest(fixture->cache, fixture->objects, fixture->trees[1], only_a, other));
	assert_string_equal(some, again);
	assert_string_not_equal(all, some);
	assert_string_not_equal(some, other);
}

static void test_read(void **state)
{
	struct fixture *fixture = *state;
	AUTO_STRBUF out = STRBUF_INIT;

	assert_ok(worktree_read(fixture->cache, fixture->objects, fixture->trees[0], "a/b/f", &out));
	assert_ok(worktree_read(fixture->cache, fixture->objects, fixture->trees[1], "a/b/f", &out));
	assert_string_equal(out.data, "one\nONE\n");
	assert_error(worktree_read(fixture->cache, fixture->objects, fixture->trees[0], "no/such", &out),
		     "memcg-ab: error: the kernel source has no file no/such\n");
	assert_string_equal(out.data, "one\nONE\n");
	struct error *error = worktree_update(fixture->cache, NULL, fixture->trees[0], fixture->work, NULL, NO_GUARD, NULL);
	assert_non_null(strstr(error_message(error), "cannot read tree"));
	error_free(error);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_every_move),	       TEST(test_only_changed_files_are_written),
		TEST(test_modes_and_links),    TEST(test_unfinished_move_is_mended),
		TEST(test_interrupted_update), TEST(test_folder_of_unknown_state),
		TEST(test_filter_and_digest),  TEST(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
