/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks between processes: flock() on a file that names its holder. The descriptor is inherited by children, so that a
 * folder or device stays locked while an orphaned make or qemu of a killed run still works on it.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/error.h"

struct lock;

/*
 * Takes the lock at `path` (its folder is made), waiting until `deadline_ms` (base/clock.h). `holder` is what others read
 * ("run 123 building memcg/plain/1, pid 77"). When the deadline passes: ERROR_LAB that names the present holder.
 */
struct error *lock_take(const char *path, const char *holder, int64_t deadline_ms, struct lock **lock_out) MUST_CHECK;
void lock_release(struct lock *lock); /* NULL is fine */
void cleanup_lock(struct lock **lock);
#define AUTO_LOCK CLEANUP(cleanup_lock) struct lock *
/* Who holds it: a string the caller frees, or NULL when nobody does. */
char *lock_holder(const char *path);

#endif
