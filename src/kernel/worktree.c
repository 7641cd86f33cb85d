/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "kernel/git.h"

/*
 * DIR.state holds one tree id a line: the one the folder was at, then each that it was on the way to. One line = at rest. Whatever
 * differs between two trees that follow one another may be in either state on disk, so the next update writes all of it.
 */
struct state {
	char *path;
	struct strlist trees;
};

/* Up to so many files are synced one by one; above that, the whole file system, which also waits for what others have written. */
#define SYNC_EACH 100

struct update {
	struct gitdb *db;
	const char *dir;
	const char *target;
	bool (*filter)(const char *path);
	struct guard guard;
	bool mending; /* what the change says is not what shall be on disk: look it up in `target` */
	size_t expected; /* files that will be written or removed */
	size_t changed;
	struct strbuf path; /* dir + '/' + path of the file at hand */
	struct strbuf bytes;
};

static bool is_tree_id(const char *text)
{
	return strlen(text) == OID_HEX_SIZE - 1 && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* The empty tree's id is git's for no entries at all. */
#define EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

static const char *tree_or_empty(const char *tree)
{
	return strcmp(tree, EMPTY_TREE) ? tree : NULL;
}

/* Trees stays empty when the folder is not known to be in any state. */
static struct error *load_state(struct state *state, struct gitdb *db, const char *dir)
{
	AUTO_STRBUF text = STRBUF_INIT;

	if (!file_is_dir(dir) || !file_exists(state->path))
		return NULL;
	struct error *error = file_read(state->path, &text);
	if (error)
		return error;
	bool good = true;
	for (char *rest = text.data, *line; rest && (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		good = good && is_tree_id(line) && (!tree_or_empty(line) || gitdb_has(db, line));
		strlist_add(&state->trees, line);
	}
	if (!good)
		strlist_deinit(&state->trees);
	return NULL;
}

static struct error *save_state(const struct state *state)
{
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < state->trees.n; i++)
		strbuf_addf(&text, "%s\n", state->trees.items[i]);
	return file_write_atomic(state->path, strbuf_str(&text), text.len, 0644);
}

static const char *full_path(struct update *update, const char *path)
{
	strbuf_reset(&update->path);
	strbuf_addf(&update->path, "%s/%s", update->dir, path);
	return strbuf_str(&update->path);
}

/* Makes the folders above `path`; what else stands in their place goes. */
static struct error *make_folders(const char *dir, const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);

	for (char *slash = copy + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		struct stat st;
		*slash = '\0';
		if (lstat(copy, &st) == 0 && !S_ISDIR(st.st_mode) && unlink(copy) < 0)
			return error_os(errno, "cannot remove %s", copy);
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return error_os(errno, "cannot make folder %s", copy);
	}
	return NULL;
}

/* Removes the folders above `path` that have become empty, up to the work tree itself. */
static void remove_empty_folders(const char *dir, const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *first = copy + strlen(dir) + 1;

	for (char *slash; (slash = strrchr(first, '/'));) {
		*slash = '\0';
		if (rmdir(copy) < 0)
			return;
	}
}

static int try_create(const char *path, unsigned mode, const struct strbuf *bytes)
{
	if (mode == 0120000)
		return symlink(strbuf_str(bytes), path);
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0111 ? 0777 : 0666);
}

static struct error *write_bytes(int fd, const char *path, const struct strbuf *bytes)
{
	for (size_t done = 0; done < bytes->len;) {
		ssize_t put = write(fd, bytes->data + done, bytes->len - done);
		if (put < 0 && errno != EINTR)
			return error_os(errno, "cannot write %s", path);
		done += put > 0 ? (size_t)put : 0;
	}
	return NULL;
}

/* Creates anew rather than overwrites: the old file may be linked elsewhere, and a link must not be followed. */
static struct error *write_file(struct update *update, const char *path, unsigned mode)
{
	int fd = try_create(path, mode, &update->bytes);

	for (int tries = 0; fd < 0 && tries < 2; tries++) {
		struct error *error = NULL;
		if (errno == ENOENT || errno == ENOTDIR)
			error = make_folders(update->dir, path);
		else if (errno == EEXIST)
			error = file_remove_tree(path);
		if (error)
			return error;
		fd = try_create(path, mode, &update->bytes);
	}
	if (fd < 0)
		return error_os(errno, "cannot write %s", path);
	if (mode == 0120000)
		return NULL;
	struct error *error = write_bytes(fd, path, &update->bytes);
	if (!error && update->expected <= SYNC_EACH && fsync(fd) < 0)
		error = error_os(errno, "cannot write %s", path);
	if (close(fd) < 0 && !error)
		error = error_os(errno, "cannot write %s", path);
	return error;
}

static struct error *remove_file(struct update *update, const char *path)
{
	struct stat st;

	/* A folder in its place is the work of a later tree: its files are removed one by one. */
	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode) && unlink(path) < 0 && errno != ENOENT)
		return error_os(errno, "cannot remove %s", path);
	remove_empty_folders(update->dir, path);
	return NULL;
}

static struct error *set_file(struct update *update, const char *path, unsigned mode, const char *oid)
{
	const char *full = full_path(update, path);

	update->changed++;
	if (!mode)
		return remove_file(update, full);
	strbuf_reset(&update->bytes);
	struct error *error = gitdb_read_blob(update->db, oid, &update->bytes);
	return error ? error : write_file(update, full, mode);
}

static struct error *apply_change(void *arg, const struct gitdb_change *change)
{
	struct update *update = arg;
	struct gitdb_entry wanted = { .mode = change->mode };
	bool found = true;

	if (update->filter && !update->filter(change->path))
		return NULL;
	struct error *error = guard_check(update->guard);
	if (error)
		return error;
	memcpy(wanted.oid, change->oid, sizeof(wanted.oid));
	if (update->mending)
		error = gitdb_find(update->db, update->target, change->path, &wanted, &found);
	if (error)
		return error;
	bool is_file = found && wanted.mode != 0040000 && wanted.mode != 0160000;
	return set_file(update, change->path, is_file ? wanted.mode : 0, wanted.oid);
}

static struct error *count_change(void *arg, const struct gitdb_change *change)
{
	struct update *update = arg;

	update->expected += !update->filter || update->filter(change->path);
	return NULL;
}

/* Calls `fn` for what differs from the tree the folder was last at, through those that it was on the way to, to the target. */
static struct error *each_difference(struct update *update, const struct state *state, gitdb_change_fn *fn)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i + 1 < state->trees.n; i++) {
		update->mending = i + 2 < state->trees.n;
		error = gitdb_diff(update->db, tree_or_empty(state->trees.items[i]), tree_or_empty(state->trees.items[i + 1]), fn,
				   update);
	}
	return error;
}

/* Files are on disk before the state says so: a machine that loses power must not leave a tree that is trusted and empty. */
static struct error *sync_files(const struct update *update)
{
	if (update->expected <= SYNC_EACH)
		return NULL;
	AUTO_CLOSE int fd = open(update->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || syncfs(fd) < 0 ? error_os(errno, "cannot write out %s", update->dir) : NULL;
}

static struct error *start_afresh(struct state *state, const char *dir)
{
	/* The state goes first: without it nothing in the folder is trusted. */
	struct error *error = file_remove_tree(state->path);

	if (!error)
		error = file_remove_tree(dir);
	if (!error)
		error = file_mkdirs(dir);
	if (!error)
		strlist_add(&state->trees, EMPTY_TREE);
	return error;
}

static struct error *update_from_state(struct update *update, struct state *state)
{
	struct error *error = load_state(state, update->db, update->dir);

	if (!error && !state->trees.n)
		error = start_afresh(state, update->dir);
	if (error)
		return error;
	if (state->trees.n == 1 && !strcmp(state->trees.items[0], update->target))
		return NULL;
	if (strcmp(state->trees.items[state->trees.n - 1], update->target))
		strlist_add(&state->trees, update->target);
	error = save_state(state);
	if (!error)
		error = each_difference(update, state, count_change);
	if (!error)
		error = each_difference(update, state, apply_change);
	if (!error)
		error = sync_files(update);
	if (error)
		return error;
	strlist_deinit(&state->trees);
	strlist_add(&state->trees, update->target);
	return save_state(state);
}

struct error *worktree_update(const struct cache *cache, const char *objects, const char *tree, const char *dir,
			      bool (*filter)(const char *path), struct guard guard, size_t *changed_out)
{
	AUTO_GITDB db = NULL;
	struct error *error = gitdb_open(cache, objects, &db);

	if (error)
		return error;
	struct update update = { .db = db, .dir = dir, .target = tree, .filter = filter, .guard = guard };
	struct state state = { .path = xasprintf("%s.state", dir) };
	error = update_from_state(&update, &state);
	if (!error && changed_out)
		*changed_out = update.changed;
	strbuf_deinit(&update.path);
	strbuf_deinit(&update.bytes);
	strlist_deinit(&state.trees);
	free(state.path);
	return error_wrap(error, "work tree %s", dir);
}

struct digest {
	struct hash *hash;
	bool (*filter)(const char *path);
};

static struct error *add_to_digest(void *arg, const struct gitdb_change *change)
{
	struct digest *digest = arg;

	if (digest->filter && !digest->filter(change->path))
		return NULL;
	AUTO_FREE char *text = xasprintf("%o %s", change->mode, change->oid);
	hash_field(digest->hash, change->path, text);
	return NULL;
}

struct error *worktree_digest(const struct cache *cache, const char *objects, const char *tree, bool (*filter)(const char *path),
			      char hex_out[65])
{
	AUTO_GITDB db = NULL;
	struct error *error = gitdb_open(cache, objects, &db);

	if (error)
		return error;
	struct digest digest = { .hash = hash_new(), .filter = filter };
	char hex[HASH_HEX_SIZE];
	error = gitdb_diff(db, NULL, tree, add_to_digest, &digest);
	hash_finish(digest.hash, hex);
	if (!error)
		memcpy(hex_out, hex, sizeof(hex));
	return error;
}

struct error *worktree_read(const struct cache *cache, const char *objects, const char *tree, const char *path,
			    struct strbuf *out)
{
	AUTO_GITDB db = NULL;
	struct gitdb_entry entry;
	bool found = false;
	struct error *error = gitdb_open(cache, objects, &db);

	if (!error)
		error = gitdb_find(db, tree, path, &entry, &found);
	if (!error && !found)
		error = error_new(ERROR_INPUT, "the kernel source has no file %s", path);
	return error ? error : gitdb_read_blob(db, entry.oid, out);
}
