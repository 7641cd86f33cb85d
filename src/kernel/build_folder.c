/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/build_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "kernel/entry.h"

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Folders that become empty go too, so that one sees whether anything is left. */
static struct error *remove_newer(const char *dir, const struct timespec *since)
{
	AUTO_STRLIST names = { NULL, 0 };
	struct error *err = file_list(dir, &names);

	for (size_t i = 0; !err && i < names.n; i++) {
		AUTO_FREE char *path = path_join(dir, names.items[i]);
		struct stat st;
		if (lstat(path, &st))
			err = error_os(errno, "cannot look at %s", path);
		else if (S_ISDIR(st.st_mode))
			err = remove_newer(path, since);
		else if (!is_older(&st.st_mtim, since) && unlink(path))
			err = error_os(errno, "cannot remove %s", path);
	}
	if (!err)
		(void)!rmdir(dir);
	return err;
}

struct error *build_folder_mend(const char *dir, const char *marker)
{
	struct stat st;

	if (stat(marker, &st))
		return error_os(errno, "cannot look at %s", marker);
	return file_is_dir(dir) ? remove_newer(dir, &st.st_mtim) : NULL;
}

static struct error *take_lock(const struct image_build *build, struct lock **lock_out)
{
	AUTO_FREE char *name = xasprintf("build-%s", build->input->build_folder);
	AUTO_FREE char *holder = xasprintf("pid %ld building %s", (long)getpid(), build->input->subject);
	struct error *err = entry_lock(build->cache, name, holder, build->deadline_ms, build->guard, lock_out);

	return error_wrap(err, "%s waits for its build folder", build->input->subject);
}

static bool has_content(const char *path, const char *text)
{
	AUTO_STRBUF content = STRBUF_INIT;
	AUTO_ERROR err = file_exists(path) ? file_read(path, &content) : NULL;

	return !err && !strcmp(strbuf_str(&content), text);
}

static bool is_in_future(const char *path)
{
	struct stat st;
	struct timespec now;

	return !stat(path, &st) && !clock_gettime(CLOCK_REALTIME, &now) && is_older(&now, &st.st_mtim);
}

/* Objects are in obj, and may be in the tree as well when a command of the user's built there. */
static struct error *remove_objects(const struct build_folder *folder, enum unfinished unfinished)
{
	struct error *err = unfinished == UNFINISHED_REMOVE ? file_remove_tree(folder->src) : NULL;

	return err ? err : file_remove_tree(folder->obj);
}

static struct error *settle_unfinished(const struct build_folder *folder, const char *started, enum unfinished unfinished)
{
	if (!file_exists(started))
		return NULL;
	log_debug("%s: the last build did not end well, its objects are dropped", folder->root);
	return unfinished == UNFINISHED_MEND ? build_folder_mend(folder->obj, started) : remove_objects(folder, unfinished);
}

/* Brings a folder that this process has for itself into a state from which make can go on. */
static struct error *make_ready(struct build_folder *folder, const char *identity, enum unfinished unfinished)
{
	AUTO_FREE char *started = path_join(folder->root, "started");
	AUTO_FREE char *finished = path_join(folder->root, "finished");
	AUTO_FREE char *identity_path = path_join(folder->root, "identity");

	struct error *err = file_mkdirs(folder->root);
	if (!err)
		err = settle_unfinished(folder, started, unfinished);
	if (!err && (!has_content(identity_path, identity) || is_in_future(finished)))
		err = remove_objects(folder, unfinished);
	if (!err)
		err = file_mkdirs(folder->obj);
	if (!err)
		err = file_write_atomic(identity_path, identity, strlen(identity), 0644);
	/* A new file, so that its time is now by the clock that stamps the objects. */
	if (!err)
		err = file_write_atomic(started, "", 0, 0644);
	if (err)
		return err;
	AUTO_STRLIST names = { NULL, 0 };
	err = file_list(folder->obj, &names);
	folder->from_nothing = !names.n;
	entry_touch(folder->root);
	return err;
}

struct error *build_folder_open(const struct image_build *build, const char *key, const char *identity,
				enum unfinished unfinished, struct build_folder *folder_out)
{
	AUTO_BUILD_FOLDER folder = { NULL, NULL, NULL, NULL, false };
	struct error *err;

	if (build->clean) {
		err = entry_stage(build->cache, "builds", key, &folder.root);
	} else {
		AUTO_FREE char *relative = xasprintf("builds/%s", build->input->build_folder);
		err = take_lock(build, &folder.lock);
		folder.root = err ? NULL : cache_path(build->cache, relative);
	}
	if (err)
		return err;
	folder.src = path_join(folder.root, "src");
	folder.obj = path_join(folder.root, "obj");
	err = make_ready(&folder, identity, unfinished);
	if (err)
		return err;
	*folder_out = folder;
	folder = (struct build_folder){ NULL, NULL, NULL, NULL, false };
	return NULL;
}

struct error *build_folder_finish(const struct build_folder *folder)
{
	AUTO_FREE char *started = path_join(folder->root, "started");
	AUTO_FREE char *finished = path_join(folder->root, "finished");
	struct error *err = file_write_atomic(finished, "", 0, 0644);

	return err ? err : file_remove_tree(started);
}

void build_folder_close(struct build_folder *folder)
{
	/* A temporary folder that cannot be removed now goes when room is made. */
	if (folder->root && !folder->lock)
		error_free(file_remove_tree(folder->root));
	lock_release(folder->lock);
	free(folder->root);
	free(folder->src);
	free(folder->obj);
	*folder = (struct build_folder){ NULL, NULL, NULL, NULL, false };
}
