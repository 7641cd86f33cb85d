/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel sources: imported once into the cache's git object store. */
#ifndef KERNEL_SOURCE_H
#define KERNEL_SOURCE_H

#include "base/proc.h"
#include "kernel/cache.h"
#include "plan/lab.h"

#define OID_HEX_SIZE 41

/* A source at hand as git objects. */
struct source_tree {
	char tree[OID_HEX_SIZE];
	char commit
		[OID_HEX_SIZE]; /* git sources: the commit; others: a synthetic parentless commit of the tree (fixed author and date) */
	char *version; /* from the tree's Makefile: "5.10.262" */
	char *origin; /* for reports: "deb linux-source-5.10 5.10.262-1 (bullseye-security)" */
	char *objects; /* objects folder of the user's own repository that must be read besides the cache's, or NULL */
	size_t source; /* which of the sources given was taken */
};

/*
 * Takes the first alternative that can be had of the first source that can be had, importing it if the cache does not have it
 * (under a lock). `progress` (may be NULL) is told in words what is done now. Fails with one error that lists why each alternative failed.
 * Offline-friendly: an alternative that was imported before is taken from the cache without asking the archive again.
 */
struct error *source_import(const struct cache *cache, const struct source *const *sources, size_t n, struct guard guard,
			    void (*progress)(void *arg, const char *what), void *arg, struct source_tree **tree_out) MUST_CHECK;
/* True when source_import would have nothing to fetch for it. */
bool source_is_cached(const struct cache *cache, const struct source *const *sources, size_t n);
void source_tree_free(struct source_tree *tree);

#endif
