/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/entry.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define STAGE_PREFIX ".tmp."
/* How long a wait for a lock goes on before it looks at the guard. */
#define LOCK_SLICE_MS 1000

struct error *entry_stage(const struct cache *cache, const char *kind, const char *name, char **path_out)
{
	AUTO_FREE char *relative = xasprintf("%s/" STAGE_PREFIX "%ld.%s", kind, (long)getpid(), name);
	AUTO_FREE char *path = cache_path(cache, relative);
	struct error *err = file_remove_tree(path);
	if (!err)
		err = file_mkdirs(path);
	if (err)
		return err;
	*path_out = take_ptr(path);
	return NULL;
}

struct error *entry_publish(const struct cache *cache, const char *kind, const char *name, const char *stage)
{
	AUTO_FREE char *relative = xasprintf("%s/%s", kind, name);
	AUTO_FREE char *path = cache_path(cache, relative);
	entry_touch(stage);
	if (!file_exists(path)) {
		struct error *err = file_rename(stage, path);
		if (!err || !file_exists(path))
			return err;
		error_free(err);
	}
	entry_touch(path);
	return file_remove_tree(stage);
}

pid_t entry_stage_owner(const char *name)
{
	if (!str_starts(name, STAGE_PREFIX))
		return 0;
	char *end;
	long pid = strtol(name + strlen(STAGE_PREFIX), &end, 10);
	return *end == '.' && pid > 0 ? (pid_t)pid : 0;
}

struct error *entry_lock(const struct cache *cache, const char *name, const char *holder, int64_t deadline_ms, struct guard guard,
			 struct lock **lock_out)
{
	AUTO_FREE char *relative = xasprintf("locks/%s", name);
	AUTO_FREE char *path = cache_path(cache, relative);

	/* A lock that cannot be had though nobody holds it was let go just now, or something else is the matter: that shows by and by. */
	for (int unheld = 0;;) {
		int64_t slice = clock_deadline(LOCK_SLICE_MS);
		bool last = slice >= deadline_ms;
		struct error *err = lock_take(path, holder, last ? deadline_ms : slice, lock_out);
		if (!err)
			return NULL;
		AUTO_FREE char *present = lock_holder(path);
		unheld += !present;
		if (last || unheld > 2)
			return err;
		error_free(err);
		err = guard_check(guard);
		if (err)
			return err;
	}
}

void entry_touch(const char *dir)
{
	AUTO_FREE char *path = path_join(dir, "used");
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	/* Only eviction looks at it: an entry on a read-only disk is as good. */
	if (fd >= 0)
		(void)!futimens(fd, NULL);
}

double entry_last_use(const char *dir)
{
	AUTO_FREE char *path = path_join(dir, "used");
	struct stat st;

	if (stat(path, &st) && stat(dir, &st))
		return 0;
	return (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
}
