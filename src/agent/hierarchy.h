/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cgroup hierarchy that may have the memory controller: "v2", the unified one, or "v1", the one with option memory. */
#ifndef AGENT_HIERARCHY_H
#define AGENT_HIERARCHY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/memcg.h"

/* Is `word` one of the words of `text`, set apart by blanks or commas? */
bool hierarchy_has_word(const char *text, const char *word);
/*
 * For pid 1: mounts what the kernel has and nobody mounted, `want_version` first, since the controller stays with the
 * first that takes it. v2 at /sys/fs/cgroup (/cgroup without sysfs), v1 at /cgroup-v1.
 */
void hierarchy_mount(const char *want_version);
/* Where it is mounted, by /proc/self/mounts; false, `mount_out` untouched, when it is not. */
bool hierarchy_find(const char *version, char mount_out[PATH_MAX]);
/* This process' group in it, by /proc/self/cgroup; false, with "" in `group_out`, when there is none. */
bool hierarchy_self(const char *version, char group_out[PATH_MAX]);
/*
 * Makes group MEMCG_GROUP, says if it has memory.* files, and removes it. On v2 the controller is first given to the
 * root's children; `gave_out` is set when it was not before. Unknown without the right to do that.
 */
enum fact hierarchy_probe(const char *mount, bool v2, bool *gave_out);
void hierarchy_take_memory(const char *mount); /* undoes that */
/* A fresh MEMCG_GROUP below the root; false with a reason. */
bool hierarchy_make_group(const char *mount, char *reason, size_t reason_size);
void hierarchy_remove_group(const char *mount);
/* `group`: "/" or "/NAME". */
bool hierarchy_move_self(const char *mount, const char *group, char *reason, size_t reason_size);

#endif
