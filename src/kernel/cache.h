/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cache folder, which outlives runs and is shared by them:
 *
 *   objects.git/          bare repository: imported sources and applied steps as git objects
 *   sources/ apt/         imported sources' records (source.c); apt's lists, state and packages
 *   configs/KEY/          resolved .config (config.c)
 *   helpers/KEY/          built kconfig helpers
 *   images/KEY/           kernels (image.h)
 *   selftests/KEY/        the kernel's own test programs (selftests.h)
 *   payloads/KEY/         what matrices bring to devices (payload.h)
 *   builds/NAME/{src,obj} build folders, each with its own work tree, walking up a ladder (build.c)
 *   locks/
 */
#ifndef KERNEL_CACHE_H
#define KERNEL_CACHE_H

#include "base/error.h"

struct cache {
	char *dir;
	uint64_t max_bytes;
	char *share_dir; /* where the kconfig helper's source is */
};

struct error *cache_open(const char *dir, uint64_t max_bytes, const char *share_dir, struct cache **cache_out) MUST_CHECK;
void cache_close(struct cache *cache);
char *cache_path(const struct cache *cache, const char *relative); /* the caller frees */
/*
 * Makes room: removes the least recently used images, configs and build folders nobody has locked (except images whose KEY is in
 * `keep`) until the cache is under its limit; then ERROR_LAB when fewer than `need_bytes` are free on the disk.
 */
struct strlist;
struct error *cache_make_room(const struct cache *cache, uint64_t need_bytes, const struct strlist *keep) MUST_CHECK;

#endif
