/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Build folders: builds/NAME/{src,obj}, kept between builds so that the next step of a ladder compiles only what changed. Three files
 * stand beside them:
 *
 *	started		there while a build is not known to have ended well; its time is that build's start
 *	finished	its time is the end of the last build that ended well
 *	identity	what the objects were made with
 *
 * kbuild trusts an object that is newer than its source, also one that a killed compiler left half written. So after a build that did
 * not end well everything in obj that is as new as `started` or newer is removed before make runs again.
 */
#ifndef KERNEL_BUILD_FOLDER_H
#define KERNEL_BUILD_FOLDER_H

#include "base/lock.h"
#include "kernel/image.h"

struct build_folder {
	char *root, *src, *obj;
	struct lock *lock; /* NULL for a temporary one */
	bool from_nothing; /* obj is empty */
};

/* What becomes of a build that did not end well: obj is mended as said above; or obj and src are removed (a command may have built in src). */
enum unfinished { UNFINISHED_MEND, UNFINISHED_REMOVE };

/*
 * Opens (and locks, until the build's deadline) the build's folder; for build->clean an empty one of its own instead. Objects made under
 * another `identity` are removed, and all objects after the clock was set back. On return the folder counts as unfinished, until
 * build_folder_finish.
 */
struct error *build_folder_open(const struct image_build *build, const char *key, const char *identity,
				enum unfinished unfinished, struct build_folder *folder_out) MUST_CHECK;
struct error *build_folder_finish(const struct build_folder *folder) MUST_CHECK;
/* Unlocks; a temporary folder is removed. A zeroed one is fine. */
void build_folder_close(struct build_folder *folder);
#define AUTO_BUILD_FOLDER CLEANUP(build_folder_close) struct build_folder

/* Removes what is below `dir` and not older than the file `marker`. */
struct error *build_folder_mend(const char *dir, const char *marker) MUST_CHECK;

#endif
