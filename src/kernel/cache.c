/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/cache.h"

#include <stdlib.h>

#include "base/file.h"

struct error *cache_open(const char *dir, uint64_t max_bytes, const char *share_dir, struct cache **cache_out)
{
	struct error *error = file_mkdirs(dir);

	if (error)
		return error_wrap(error, "cache");
	struct cache *cache = xcalloc(1, sizeof(*cache));
	cache->dir = path_absolute(dir);
	cache->max_bytes = max_bytes;
	cache->share_dir = share_dir ? xstrdup(share_dir) : NULL;
	*cache_out = cache;
	return NULL;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	free(cache->dir);
	free(cache->share_dir);
	free(cache);
}

char *cache_path(const struct cache *cache, const char *relative)
{
	return path_join(cache->dir, relative);
}
