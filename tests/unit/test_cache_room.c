/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <unistd.h>

#include "base/lock.h"
#include "kernel/cache.h"
#include "kernel/entry.h"
#include "workdir.h"

static struct cache *open_cache(const struct workdir *dir, uint64_t max_bytes)
{
	AUTO_FREE char *path = workdir_path(dir, "cache");
	struct cache *cache = NULL;

	assert_ok(cache_open(path, max_bytes, NULL, &cache));
	return cache;
}

/* A megabyte each; used an hour, two, three ... ago in the order given. */
static void fill(const struct workdir *dir)
{
	workdir_do(
		dir,
		"i=1; for entry in images/new configs/c builds/b images/kept config-trees/t builds/locked images/old; do "
		"mkdir -p cache/$entry; head -c 1000000 /dev/urandom >cache/$entry/data; touch -d \"-$i hours\" "
		"cache/$entry/used; i=$((i + 1)); done;"
		"mkdir cache/objects.git; head -c 1000000 /dev/urandom >cache/objects.git/pack; echo 5 >cache/builds/b.objects");
}

static char *left(const struct workdir *dir)
{
	return workdir_run(dir,
			   "cd cache; ls -Ad images/* configs/* builds/* config-trees/* images/.t* 2>/dev/null | tr '\\n' ' '");
}

static void test_least_recently_used_goes_first(void **state)
{
	const struct workdir *dir = *state;
	AUTO_STRLIST keep = { NULL, 0 };

	strlist_add(&keep, "kept");
	fill(dir);
	struct cache *cache = open_cache(dir, 8500000);
	assert_ok(cache_make_room(cache, 0, &keep));
	AUTO_FREE char *all = left(dir);
	assert_string_equal(
		all, "builds/b builds/b.objects builds/locked config-trees/t configs/c images/kept images/new images/old ");

	/* The limit is for what is there and what is to come. */
	AUTO_FREE char *lock_path = workdir_path(dir, "cache/locks/build-locked");
	AUTO_LOCK lock = NULL;
	assert_ok(lock_take(lock_path, "a test", clock_ms(), &lock));
	assert_ok(cache_make_room(cache, 1000000, &keep));
	AUTO_FREE char *less = left(dir);
	assert_string_equal(less, "builds/b builds/b.objects builds/locked config-trees/t configs/c images/kept images/new ");

	cache->max_bytes = 5500000;
	assert_ok(cache_make_room(cache, 0, &keep));
	AUTO_FREE char *few = left(dir);
	assert_string_equal(few, "builds/b.objects builds/locked configs/c images/kept images/new ");

	/* What is wanted, locked or no entry at all stays, however full it is. */
	cache->max_bytes = 0;
	assert_ok(cache_make_room(cache, 0, &keep));
	AUTO_FREE char *last = left(dir);
	assert_string_equal(last, "builds/b.objects builds/locked images/kept ");
	cache_close(cache);
}

static void test_what_the_dead_left_goes_always(void **state)
{
	const struct workdir *dir = *state;
	struct cache *cache = open_cache(dir, UINT64_MAX);
	AUTO_FREE char *ours = NULL;

	assert_ok(entry_stage(cache, "images", "mine", &ours));
	AUTO_FREE char *script = xasprintf(
		"true & wait $!; mkdir -p cache/images/.tmp.$!.dead/x cache/builds/.tmp.$!.dead; touch cache/images/.tmp.none");
	workdir_do(dir, script);
	assert_ok(cache_make_room(cache, 0, NULL));
	AUTO_FREE char *names = workdir_run(dir, "ls -A cache/images cache/builds | sed 's/[0-9][0-9]*/PID/' | tr '\\n' ' '");
	assert_string_equal(names, "cache/builds:  cache/images: .tmp.PID.mine .tmp.none ");
	cache_close(cache);
}

static void test_full_disk(void **state)
{
	const struct workdir *dir = *state;
	struct cache *cache = open_cache(dir, UINT64_MAX);

	struct error *err = cache_make_room(cache, (uint64_t)1 << 60, NULL);
	assert_int_equal(error_kind(err), ERROR_LAB);
	AUTO_FREE char *start = xasprintf("the disk of the cache %s has ", cache->dir);
	assert_true(str_starts(error_message(err), start));
	assert_true(str_ends(error_message(err),
			     " MiB free, and 1099511627776 MiB are needed: make room, or put the cache elsewhere"));
	error_free(err);
	cache_close(cache);
}

static void test_entries(void **state)
{
	const struct workdir *dir = *state;
	struct cache *cache = open_cache(dir, UINT64_MAX);
	AUTO_FREE char *first = NULL;
	AUTO_FREE char *second = NULL;

	assert_ok(entry_stage(cache, "images", "k", &first));
	AUTO_FREE char *want = xasprintf("%s/images/.tmp.%ld.k", cache->dir, (long)getpid());
	assert_string_equal(first, want);
	AUTO_FREE char *file = path_join(first, "f");
	assert_ok(file_write_atomic(file, "1", 1, 0644));
	assert_ok(entry_publish(cache, "images", "k", first));
	assert_ok(entry_stage(cache, "images", "k", &second));
	assert_ok(entry_publish(cache, "images", "k", second));
	AUTO_FREE char *names = workdir_run(dir, "cd cache/images; ls -A . k | tr '\\n' ' '");
	assert_string_equal(names, ".: k  k: f used ");

	assert_int_equal(entry_stage_owner(".tmp.12.k"), 12);
	assert_int_equal(entry_stage_owner(".tmp.12"), 0);
	assert_int_equal(entry_stage_owner(".tmp.x.k"), 0);
	assert_int_equal(entry_stage_owner("k"), 0);
	cache_close(cache);
}

/* A wait for somebody else's lock ends when the guard fires, and at its deadline. */
static void test_lock_that_is_held(void **state)
{
	const struct workdir *dir = *state;
	struct cache *cache = open_cache(dir, UINT64_MAX);
	AUTO_LOCK held = NULL;
	struct lock *mine = NULL;
	int fds[2];

	assert_ok(entry_lock(cache, "l", "the first", clock_deadline(1000), NO_GUARD, &held));
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s/locks/l is held by the first\n", cache->dir);
	assert_error(entry_lock(cache, "l", "another", clock_deadline(100), NO_GUARD, &mine), want);
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	struct error *err = entry_lock(cache, "l", "another", clock_deadline(60000), (struct guard){ fds[0] }, &mine);
	assert_int_equal(error_kind(err), ERROR_INTERRUPTED);
	error_free(err);
	close(fds[0]);
	assert_null(mine);
	cache_close(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_least_recently_used_goes_first, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_what_the_dead_left_goes_always, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_full_disk, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_lock_that_is_held, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_entries, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
