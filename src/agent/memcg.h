/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the memory controller there, and is it on? What the kernel says of it differs by version and by how it was
 * switched off, so several facts are looked at and combined; when they do not agree, or are too few, the state is
 * unknown.
 *
 *   /proc/cgroups' memory row: enabled=1 on, enabled=0 switched off by cgroup_disable=. No row: not built, or (since
 *     6.11, where the v1 files have an option of their own; the row goes with them since 6.12) just no v1, or no v1 and
 *     switched off.
 *   memory in the root cgroup.controllers of v2: on. Not there: off, or bound to a v1 hierarchy.
 *   a group can be made and has memory.* files (the probe): on.
 *   for a missing row on 6.11 or later: /proc/kallsyms has mem_cgroup_from_task (an inline function without
 *     CONFIG_MEMCG) when it is built, and the kernel log may still have "cgroup: Disabling memory control group
 *     subsystem".
 */
#ifndef AGENT_MEMCG_H
#define AGENT_MEMCG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum fact { FACT_UNKNOWN, FACT_NO, FACT_YES };

enum cgroups_row {
	ROW_UNREADABLE,
	ROW_NO_CGROUPS, /* a kernel without control groups */
	ROW_MISSING,
	ROW_DISABLED,
	ROW_ENABLED,
};

struct memcg_facts {
	enum cgroups_row row;
	enum fact v2; /* memory in the root's cgroup.controllers */
	enum fact probe; /* a group with memory.* files could be made */
	enum fact v1_optional; /* kernel 6.11 or later */
	enum fact built; /* by /proc/kallsyms; looked at only where it decides */
	enum fact logged_off; /* the kernel's log has the line; never FACT_NO, since the log wraps */
};

struct memcg {
	const char *state; /* "none" (not built), "disabled" (by command line), "on", "unknown" */
	const char *version; /* "v1" or "v2": the hierarchy that has the controller; "" unless on */
	char raw[160]; /* the facts, for the record */
	bool told; /* by files below a root: nothing may be moved */
	char mount[PATH_MAX]; /* where that hierarchy is mounted; "" when it is not, or with a root */
	char home[PATH_MAX]; /* the group that this process came from, "/" and more, in that hierarchy */
	bool gave_memory; /* "+memory" was written to the v2 root's cgroup.subtree_control */
};

/* The table above: "none", "disabled", "on" or "unknown". */
const char *memcg_decide(const struct memcg_facts *facts);
/* Is kernel release "6.11.0-rc1-foo" 6.11 or later? */
enum fact memcg_v1_is_optional(const char *release);

/*
 * Looks. With a `root` other than "" only files below it are read. Else, when `may_mount` (pid 1), the hierarchy of
 * `want_version` is mounted first if none is, and the probe makes and removes a group MEMCG_GROUP.
 */
void memcg_examine(const char *root, bool may_mount, const char *want_version, struct memcg *memcg_out);

#define MEMCG_GROUP "memcg-ab"

/*
 * Moves this process for the workload and says where it is then, read back from /proc/self/cgroup: "none" when memcg
 * is none or disabled, "root", "child-v1", "child-v2". `where`: auto and child = a fresh group MEMCG_GROUP, root =
 * the root group. False with a one-line reason, also when the state is unknown. With a root nothing is moved: what
 * would be is told.
 */
bool memcg_enter(const struct memcg *memcg, const char *where, const char **place_out, char *reason, size_t reason_size);
/* Moves this process back to where it came from and removes the workload's. */
void memcg_leave(const struct memcg *memcg);
/* memcg_leave(), and takes back what memcg_examine() changed in a mounted hierarchy. */
void memcg_restore(const struct memcg *memcg);

#endif
