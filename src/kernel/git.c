/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/git.h"

#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "kernel/git_internal.h"

#define REPOSITORY "objects.git"
#define INIT_WAIT_MS 60000

/* Packs are read through a window of this many bytes, and that much of them is kept mapped: it counts as the tool's memory. */
#define WINDOW_BYTES ((size_t)4 << 20)
#define MAPPED_BYTES ((size_t)16 << 20)
/* Decoded trees that libgit2 keeps. */
#define CACHE_BYTES ((ssize_t)4 << 20)

void git_start(void)
{
	/* Extensions of users' repositories that do not change how objects are read. */
	static const char *const extensions[] = { "partialclone", "worktreeconfig", "preciousobjects" };
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
				      GIT_CONFIG_LEVEL_PROGRAMDATA };

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, WINDOW_BYTES);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, MAPPED_BYTES);
	git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, CACHE_BYTES);
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	/* zlib's checksum covers every object that is read; hashing a whole kernel again at each checkout would double its cost. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	/* A user's repository may belong to somebody else: nothing of it is executed. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, ARRAY_SIZE(extensions));
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

struct error *git_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	AUTO_FREE char *what = xvasprintf(format, args);
	va_end(args);
	const git_error *why = git_error_last();
	return error_new(ERROR_LAB, "%s: %s", what, why && why->message ? why->message : "libgit2 gives no reason");
}

struct error *git_parse_oid(const char *hex, git_oid *oid_out)
{
	if (strlen(hex) != GIT_OID_HEXSZ || git_oid_fromstr(oid_out, hex))
		return error_new(ERROR_LAB, "'%s' is no git object id", hex);
	return NULL;
}

void git_oid_text(const git_oid *oid, char hex_out[OID_HEX_SIZE])
{
	git_oid_tostr(hex_out, OID_HEX_SIZE, oid);
}

static struct error *make_repository(const struct cache *cache, const char *path, git_repository **repo_out)
{
	git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	AUTO_FREE char *lock_path = cache_path(cache, "locks/objects");
	AUTO_LOCK lock = NULL;
	struct error *error = lock_take(lock_path, "another run making the object store", clock_deadline(INIT_WAIT_MS), &lock);

	if (error)
		return error;
	options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKDIR | GIT_REPOSITORY_INIT_MKPATH;
	if (git_repository_open_bare(repo_out, path) && git_repository_init_ext(repo_out, path, &options))
		return git_failure("cannot make the object store %s", path);
	return NULL;
}

static struct error *add_user_objects(struct gitdb *db, const char *objects)
{
	git_odb_backend *backend = NULL;
	struct error *error = git_readonly_backend(objects, &backend);

	if (error)
		return error;
	if (git_odb_add_alternate(db->odb, backend, 1)) {
		backend->free(backend);
		return git_failure("cannot read git objects %s", objects);
	}
	db->objects = xstrdup(objects);
	return NULL;
}

struct error *gitdb_open(const struct cache *cache, const char *objects, struct gitdb **db_out)
{
	AUTO_FREE char *path = cache_path(cache, REPOSITORY);
	struct error *error = NULL;

	git_start();
	AUTO_GITDB db = xcalloc(1, sizeof(*db));
	if (git_repository_open_bare(&db->repo, path))
		error = make_repository(cache, path, &db->repo);
	if (!error && git_repository_odb(&db->odb, db->repo))
		error = git_failure("cannot open the object store %s", path);
	if (!error && objects)
		error = add_user_objects(db, objects);
	if (!error)
		*db_out = take_ptr(db);
	return error;
}

void gitdb_close(struct gitdb *db)
{
	if (!db)
		return;
	git_odb_free(db->odb);
	git_repository_free(db->repo);
	free(db->objects);
	free(db);
	git_libgit2_shutdown();
}

void cleanup_gitdb(struct gitdb **db)
{
	gitdb_close(*db);
}

bool gitdb_has(struct gitdb *db, const char *oid)
{
	git_oid id;
	AUTO_ERROR error = git_parse_oid(oid, &id);

	return !error && git_odb_exists(db->odb, &id);
}

static struct error *take_blob(git_odb_object *object, const char *oid, struct strbuf *out)
{
	struct error *error = NULL;

	if (git_odb_object_type(object) == GIT_OBJECT_BLOB)
		strbuf_add(out, git_odb_object_data(object), git_odb_object_size(object));
	else
		error = error_new(ERROR_LAB, "git object %s is no file", oid);
	git_odb_object_free(object);
	return error;
}

struct error *gitdb_read_blob(struct gitdb *db, const char *oid, struct strbuf *out)
{
	git_odb_object *object;
	git_oid id;
	struct error *error = git_parse_oid(oid, &id);

	if (error)
		return error;
	if (git_odb_read(&object, db->odb, &id))
		return git_failure("cannot read git object %s", oid);
	return take_blob(object, oid, out);
}

struct error *gitdb_read_abbreviated(struct gitdb *db, const char *abbreviated, struct strbuf *out, bool *found_out)
{
	size_t digits = strlen(abbreviated);
	git_odb_object *object;
	git_oid prefix;

	*found_out = false;
	if (digits < GIT_OID_MINPREFIXLEN || digits > GIT_OID_HEXSZ || git_oid_fromstrn(&prefix, abbreviated, digits) ||
	    git_odb_read_prefix(&object, db->odb, &prefix, digits))
		return NULL;
	if (git_odb_object_type(object) != GIT_OBJECT_BLOB) {
		git_odb_object_free(object);
		return NULL;
	}
	*found_out = true;
	return take_blob(object, abbreviated, out);
}

struct error *gitdb_write_blob(struct gitdb *db, const void *data, size_t len, char oid_out[OID_HEX_SIZE])
{
	git_oid id;

	if (git_odb_write(&id, db->odb, data, len, GIT_OBJECT_BLOB))
		return git_failure("cannot write to the object store");
	git_oid_text(&id, oid_out);
	return NULL;
}

struct error *gitdb_read_ref(struct gitdb *db, const char *ref, char commit_out[OID_HEX_SIZE])
{
	git_oid id;

	if (git_reference_name_to_id(&id, db->repo, ref))
		return git_failure("cannot read %s of the object store", ref);
	git_oid_text(&id, commit_out);
	return NULL;
}

struct error *gitdb_commit_tree(struct gitdb *db, const char *commit, char tree_out[OID_HEX_SIZE])
{
	AUTO_GIT_COMMIT found = NULL;
	git_oid id;
	struct error *error = git_parse_oid(commit, &id);

	if (error)
		return error;
	if (git_commit_lookup(&found, db->repo, &id))
		return git_failure("cannot read commit %s", commit);
	git_oid_text(git_commit_tree_id(found), tree_out);
	return NULL;
}

struct error *gitdb_write_commit(struct gitdb *db, const struct gitdb_commit *commit, char oid_out[OID_HEX_SIZE])
{
	AUTO_GIT_TREE tree = NULL;
	AUTO_GIT_COMMIT parent = NULL;
	git_signature *author = NULL;
	git_oid tree_id, parent_id, id;
	struct error *error = git_parse_oid(commit->tree, &tree_id);

	if (!error && commit->parent)
		error = git_parse_oid(commit->parent, &parent_id);
	if (error)
		return error;
	const git_commit *parents[1];
	if (git_tree_lookup(&tree, db->repo, &tree_id) || (commit->parent && git_commit_lookup(&parent, db->repo, &parent_id)) ||
	    git_signature_new(&author, commit->author, commit->email, commit->time_s, commit->offset_min))
		return git_failure("cannot make a commit of tree %s", commit->tree);
	parents[0] = parent;
	if (git_commit_create(&id, db->repo, NULL, author, author, NULL, commit->message, tree, parent ? 1 : 0, parents))
		error = git_failure("cannot make a commit of tree %s", commit->tree);
	else
		git_oid_text(&id, oid_out);
	git_signature_free(author);
	return error;
}

static git_merge_file_input merge_input(const struct strbuf *text)
{
	git_merge_file_input input = GIT_MERGE_FILE_INPUT_INIT;

	input.ptr = strbuf_str(text);
	input.size = text->len;
	return input;
}

struct error *gitdb_merge(const struct strbuf *ancestor, const struct strbuf *ours, const struct strbuf *theirs,
			  struct strbuf *out, bool *clean_out)
{
	git_merge_file_input base = merge_input(ancestor), our = merge_input(ours), their = merge_input(theirs);
	git_merge_file_result result = { 0 };

	git_start();
	int status = git_merge_file(&result, &base, &our, &their, NULL);
	struct error *error = status ? git_failure("cannot merge") : NULL;
	if (!error) {
		*clean_out = result.automergeable;
		if (result.automergeable)
			strbuf_add(out, result.ptr, result.len);
		git_merge_file_result_free(&result);
	}
	git_libgit2_shutdown();
	return error;
}
