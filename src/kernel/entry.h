/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries of the cache: folders KIND/NAME that appear whole (made under another name, then renamed) and remember when they were
 * last used, in the time of their file `used`.
 */
#ifndef KERNEL_ENTRY_H
#define KERNEL_ENTRY_H

#include <sys/types.h>

#include "base/lock.h"
#include "base/proc.h"
#include "kernel/cache.h"

/* Makes the empty folder KIND/.tmp.PID.NAME; the caller frees the path, and publishes or removes the folder. */
struct error *entry_stage(const struct cache *cache, const char *kind, const char *name, char **path_out) MUST_CHECK;
/* Renames a staged folder to KIND/NAME. When another process was first, its folder stays and `stage` is removed: equal names mean equal contents. */
struct error *entry_publish(const struct cache *cache, const char *kind, const char *name, const char *stage) MUST_CHECK;
/* The process that a name as of entry_stage belongs to, or 0 for other names. */
pid_t entry_stage_owner(const char *name);
/* Takes the lock locks/NAME; unlike lock_take it does not outwait the guard. */
struct error *entry_lock(const struct cache *cache, const char *name, const char *holder, int64_t deadline_ms, struct guard guard,
			 struct lock **lock_out) MUST_CHECK;
/* Notes that the entry was used now. */
void entry_touch(const char *dir);
/* When it was used last: seconds since the epoch, with a fraction. */
double entry_last_use(const char *dir);

#endif
