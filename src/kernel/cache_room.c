/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room in the cache: what was left by the dead and what was not used for longest goes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "kernel/cache.h"
#include "kernel/entry.h"

/* What may be removed; `lock`: the name of its lock begins so, NULL when it has none. */
static const struct kind {
	const char *name, *lock;
} kinds[] = {
	{ "images", NULL },
	{ "configs", NULL },
	{ "helpers", NULL },
	{ "failed", NULL },
	{ "selftests", NULL },
	{ "payloads", NULL },
	{ "config-trees", "config-tree-" },
	{ "builds", "build-" },
};

struct candidate {
	const struct kind *kind;
	char *name;
	double last_use;
};

struct candidates {
	struct candidate *items;
	size_t n;
};

static void candidates_deinit(struct candidates *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].name);
	free(list->items);
}

static bool is_dead(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static struct error *collect_kind(const struct cache *cache, const struct kind *kind, const struct strlist *keep,
				  struct candidates *list)
{
	AUTO_FREE char *dir = cache_path(cache, kind->name);
	AUTO_STRLIST names = { NULL, 0 };
	struct error *err = file_is_dir(dir) ? file_list(dir, &names) : NULL;

	for (size_t i = 0; !err && i < names.n; i++) {
		const char *name = names.items[i];
		AUTO_FREE char *path = path_join(dir, name);
		pid_t owner = entry_stage_owner(name);
		if (owner && is_dead(owner))
			err = file_remove_tree(path);
		if (owner || str_ends(name, ".objects") || (keep && !strcmp(kind->name, "images") && strlist_has(keep, name)))
			continue;
		list->items = array_grow(list->items, list->n, sizeof(*list->items));
		list->items[list->n++] = (struct candidate){ kind, xstrdup(name), entry_last_use(path) };
	}
	return err;
}

static int by_last_use(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->last_use > y->last_use) - (x->last_use < y->last_use);
}

/* Removes one entry unless it is locked; *freed_out is 0 then. It vanishes at once, by a rename, so that nobody meets half of it. */
static struct error *evict(const struct cache *cache, const struct candidate *candidate, uint64_t *freed_out)
{
	const struct kind *kind = candidate->kind;
	AUTO_FREE char *relative = xasprintf("%s/%s", kind->name, candidate->name);
	AUTO_FREE char *path = cache_path(cache, relative);
	AUTO_FREE char *stage = NULL;
	AUTO_LOCK lock = NULL;
	uint64_t bytes;

	*freed_out = 0;
	if (kind->lock) {
		AUTO_FREE char *lock_relative = xasprintf("locks/%s%s", kind->lock, candidate->name);
		AUTO_FREE char *lock_path = cache_path(cache, lock_relative);
		AUTO_ERROR locked = lock_take(lock_path, "making room in the cache", clock_ms(), &lock);
		if (locked)
			return NULL;
	}
	struct error *err = file_tree_size(path, &bytes);
	if (!err)
		err = entry_stage(cache, kind->name, "evicted", &stage);
	if (err)
		return err;
	AUTO_FREE char *target = path_join(stage, "entry");
	log_debug("cache: %s is removed (%llu MiB)", relative, (unsigned long long)(bytes >> 20));
	err = file_rename(path, target);
	if (!err)
		err = file_remove_tree(stage);
	if (!err)
		*freed_out = bytes;
	return err;
}

struct error *cache_make_room(const struct cache *cache, uint64_t need_bytes, const struct strlist *keep)
{
	CLEANUP(candidates_deinit) struct candidates list = { NULL, 0 };
	uint64_t used, available;
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !err; i++)
		err = collect_kind(cache, &kinds[i], keep, &list);
	if (!err)
		err = file_tree_size(cache->dir, &used);
	if (!err)
		err = file_free_space(cache->dir, &available);
	if (err)
		return error_wrap(err, "cache %s", cache->dir);
	if (list.n)
		qsort(list.items, list.n, sizeof(*list.items), by_last_use);

	for (size_t i = 0; i < list.n && (used + need_bytes > cache->max_bytes || available < need_bytes); i++) {
		uint64_t freed;
		err = evict(cache, &list.items[i], &freed);
		if (err)
			return error_wrap(err, "cache %s", cache->dir);
		used -= freed < used ? freed : used;
		available += freed;
	}
	err = file_free_space(cache->dir, &available);
	if (err || available >= need_bytes)
		return err;
	return error_new(
		ERROR_LAB,
		"the disk of the cache %s has %llu MiB free, and %llu MiB are needed: make room, or put the cache elsewhere",
		cache->dir, (unsigned long long)(available >> 20), (unsigned long long)(need_bytes >> 20));
}
