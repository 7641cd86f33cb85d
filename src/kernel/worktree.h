/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work trees: a folder brought from one git tree to another by rewriting the changed files alone, so that make sees just those. */
#ifndef KERNEL_WORKTREE_H
#define KERNEL_WORKTREE_H

#include "base/proc.h"
#include "kernel/source.h"

/*
 * Brings `dir` to `tree`. The folder's present tree and an unfinished move are remembered in `dir`.state beside it, so that a
 * killed update is done again rather than trusted. `filter` (may be NULL) says which paths are wanted (for config trees).
 * `objects`: source_tree.objects. *changed_out (may be NULL) gets the number of files written or removed.
 */
struct error *worktree_update(const struct cache *cache, const char *objects, const char *tree, const char *dir,
			      bool (*filter)(const char *path), struct guard guard, size_t *changed_out) MUST_CHECK;
/* A digest over the blobs of the tree that `filter` lets through (mode, path, oid). */
struct error *worktree_digest(const struct cache *cache, const char *objects, const char *tree, bool (*filter)(const char *path),
			      char hex_out[65]) MUST_CHECK;
/* One file of a tree, appended to `out`. */
struct error *worktree_read(const struct cache *cache, const char *objects, const char *tree, const char *path,
			    struct strbuf *out) MUST_CHECK;

#endif
