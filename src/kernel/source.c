/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/log.h"
#include "kernel/source_internal.h"

#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"
#define IMPORT_WAIT_MS (2 * 60 * 60 * 1000)
/* A kernel's pack takes 250 MB, its package 150 MB. */
#define IMPORT_BYTES (UINT64_C(600) << 20)

void source_say(const struct source_job *job, const char *format, ...)
{
	va_list args;

	if (!job->progress)
		return;
	va_start(args, format);
	AUTO_FREE char *text = xvasprintf(format, args);
	va_end(args);
	job->progress(job->arg, text);
}

void source_tree_free(struct source_tree *tree)
{
	if (!tree)
		return;
	free(tree->version);
	free(tree->origin);
	free(tree->objects);
	free(tree);
}

static struct source_tree *tree_of_record(const struct source_record *record)
{
	struct source_tree *tree = xcalloc(1, sizeof(*tree));

	memcpy(tree->tree, record->tree, OID_HEX_SIZE);
	memcpy(tree->commit, record->commit, OID_HEX_SIZE);
	tree->version = xstrdup(record->version);
	tree->origin = xstrdup(record->origin);
	return tree;
}

/* Says whether a file is still the one that was imported, without reading it. */
static struct error *file_stamp(const char *path, char stamp_out[65])
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return error_new(ERROR_INPUT, "there is no file %s", path);
	AUTO_FREE char *text =
		xasprintf("%lld %lld.%09ld %lld.%09ld %llu", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			  st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, (unsigned long long)st.st_ino);
	hash_bytes(text, strlen(text), stamp_out);
	return NULL;
}

static bool may_change(const struct source_alternative *from)
{
	return from->kind == SOURCE_FOLDER || (from->kind == SOURCE_TARBALL && !from->sha256);
}

/* *stamp_out stays NULL for what cannot change. */
static struct error *make_stamp(const struct source_alternative *from, struct guard guard, char **stamp_out)
{
	char digest[65];

	if (!may_change(from))
		return NULL;
	struct error *error =
		from->kind == SOURCE_FOLDER ? source_folder_stamp(from->path, guard, digest) : file_stamp(from->path, digest);
	if (!error)
		*stamp_out = xstrdup(digest);
	return error;
}

/* Stays NULL when the cache does not have it, or has another state of it. */
static struct error *find_record(const struct source_job *job, const char *key, struct source_record **record_out)
{
	AUTO_SOURCE_RECORD record = NULL;
	AUTO_FREE char *stamp = NULL;
	struct error *error = source_record_load(job->cache, key, &record);

	if (!error && record)
		error = make_stamp(job->from, job->guard, &stamp);
	if (error || !record || (stamp && (!record->stamp || strcmp(stamp, record->stamp))))
		return error;
	*record_out = take_ptr(record);
	return NULL;
}

static struct error *import_tarball(const struct source_job *job, const char *key, struct source_record *record)
{
	const struct source_alternative *from = job->from;
	const char *name = path_basename(from->path);
	char sha256[HASH_HEX_SIZE], tree[OID_HEX_SIZE];
	AUTO_TAR tar = NULL;

	if (!file_is_regular(from->path))
		return error_new(ERROR_INPUT, "there is no file %s", from->path);
	struct error *error = hash_file(from->path, sha256);
	if (error)
		return error;
	if (from->sha256 && strcasecmp(from->sha256, sha256))
		return error_new(ERROR_INPUT, "%s has sha256 %s, not %s", from->path, sha256, from->sha256);
	AUTO_SOURCE_RECORD before = NULL;
	error = source_record_load(job->cache, key, &before);
	if (!error && before && before->sha256 && !strcmp(before->sha256, sha256)) {
		memcpy(tree, before->tree, sizeof(tree));
	} else if (!error) {
		error = tar_open(from->path, &tar);
		if (!error)
			error = source_import_tar(job, tar, name, key, tree);
	}
	if (error)
		return error;
	record->sha256 = xstrdup(sha256);
	record->origin = xasprintf("tarball %s", name);
	return source_record_finish(job, key, tree, record);
}

static struct error *import_folder(const struct source_job *job, const char *key, struct source_record *record)
{
	char tree[OID_HEX_SIZE];
	struct error *error = source_import_folder(job, key, tree);

	if (error)
		return error;
	record->origin = xasprintf("folder %s", job->from->path);
	return source_record_finish(job, key, tree, record);
}

static struct error *import_downloaded(const struct source_job *job, const struct deb *deb, const char *key,
				       struct source_record *record)
{
	const char *package = job->from->package;
	AUTO_FREE char *inner = xasprintf("/%s.tar.xz", package);
	AUTO_FREE char *name = xasprintf("%s %s", package, deb->version);
	char tree[OID_HEX_SIZE];
	AUTO_TAR tar = NULL;
	struct error *error = tar_open_in_deb(deb->path, inner, &tar);

	if (!error)
		error = source_import_tar(job, tar, name, key, tree);
	if (error)
		return error;
	record->sha256 = xstrdup(deb->sha256);
	record->origin = xasprintf("deb %s %s (%s)", package, deb->version, deb->suite);
	return source_record_finish(job, key, tree, record);
}

static struct error *import_deb(const struct source_job *job, const char *key, struct source_record *record)
{
	struct deb deb = { NULL };
	struct error *error = source_fetch_deb(job, KEYRING, &deb);

	if (error)
		return error;
	error = import_downloaded(job, &deb, key, record);
	/* What was in it is in the object store. After a failure it stays: the next try need not download it again. */
	if (!error)
		unlink(deb.path);
	deb_deinit(&deb);
	return error;
}

static struct error *import_locked(const struct source_job *job, const char *key, struct source_record **record_out)
{
	AUTO_SOURCE_RECORD record = NULL;
	/* Another run may have imported it while this one waited for the lock. */
	struct error *error = find_record(job, key, &record);

	if (error || record) {
		*record_out = take_ptr(record);
		return error;
	}
	struct strlist keep = { NULL, 0 };
	record = xcalloc(1, sizeof(*record));
	/* Taken before the files are read: what changes meanwhile is seen next time. */
	error = make_stamp(job->from, job->guard, &record->stamp);
	if (!error)
		error = cache_make_room(job->cache, IMPORT_BYTES, &keep);
	if (error)
		return error;
	switch (job->from->kind) {
	case SOURCE_FOLDER:
		error = import_folder(job, key, record);
		break;
	case SOURCE_TARBALL:
		error = import_tarball(job, key, record);
		break;
	default:
		error = import_deb(job, key, record);
	}
	if (!error)
		*record_out = take_ptr(record);
	return error;
}

static struct error *take_import(const struct source_job *job, struct source_tree **tree_out)
{
	AUTO_SOURCE_RECORD record = NULL;
	char key[65];

	source_key(job->from, key);
	struct error *error = find_record(job, key, &record);
	if (!error && !record) {
		AUTO_FREE char *lock_path = xasprintf("%s/locks/source-%.16s", job->cache->dir, key);
		AUTO_FREE char *holder = xasprintf("the import of a kernel source (pid %ld)", (long)getpid());
		AUTO_LOCK lock = NULL;
		error = lock_take(lock_path, holder, clock_deadline(IMPORT_WAIT_MS), &lock);
		if (!error)
			error = import_locked(job, key, &record);
	}
	if (!error)
		*tree_out = tree_of_record(record);
	return error;
}

static const char *revision(const struct source_alternative *from)
{
	return from->rev ? from->rev : "HEAD";
}

static struct error *take_git(const struct source_job *job, struct source_tree **tree_out)
{
	const char *rev = revision(job->from);
	struct source_tree *tree = xcalloc(1, sizeof(*tree));
	AUTO_GITDB db = NULL;
	struct error *error = git_user_resolve(job->from->path, rev, tree->commit, tree->tree, &tree->objects);

	if (!error)
		error = gitdb_open(job->cache, tree->objects, &db);
	if (!error)
		error = source_tree_version(db, tree->tree, &tree->version);
	if (error) {
		source_tree_free(tree);
		return error;
	}
	tree->origin = xasprintf("git %s %s (%.12s)", job->from->path, rev, tree->commit);
	*tree_out = tree;
	return NULL;
}

static struct error *take_alternative(const struct source_job *job, struct source_tree **tree_out)
{
	return job->from->kind == SOURCE_GIT ? take_git(job, tree_out) : take_import(job, tree_out);
}

static bool is_at_hand(const struct source_job *job)
{
	AUTO_SOURCE_RECORD record = NULL;
	char key[65];

	if (job->from->kind == SOURCE_GIT) {
		char commit[OID_HEX_SIZE], tree[OID_HEX_SIZE];
		AUTO_FREE char *objects = NULL;
		AUTO_ERROR unresolved = git_user_resolve(job->from->path, revision(job->from), commit, tree, &objects);
		return !unresolved;
	}
	source_key(job->from, key);
	AUTO_ERROR error = find_record(job, key, &record);
	return !error && record;
}

/*
 * Which alternative of a list was taken last, when earlier ones could not be had: a Debian suite that did not have the package is not
 * asked again at every run as long as the list is the same. sources/choice-KEY.json holds the position.
 */
static char *choice_path(const struct cache *cache, const struct source *const *sources, size_t n)
{
	struct hash *hash = hash_new();
	char digest[HASH_HEX_SIZE];

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sources[i]->n; k++) {
			char key[65];
			source_key(&sources[i]->alternatives[k], key);
			hash_field(hash, sources[i]->name, key);
		}
	hash_finish(hash, digest);
	return xasprintf("%s/sources/choice-%.32s.json", cache->dir, digest);
}

static size_t load_choice(const char *path)
{
	AUTO_JNODE node = NULL;
	AUTO_ERROR error = file_exists(path) ? jnode_load(path, &node) : NULL;
	int64_t taken = node ? jnode_int(node, "taken", 0) : 0;

	return error || taken < 0 ? 0 : (size_t)taken;
}

static struct error *save_choice(const char *path, size_t taken)
{
	AUTO_JNODE node = jnode_object();
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *dir = path_dirname(path);
	struct error *error = file_mkdirs(dir);

	jnode_set_int(node, "taken", (int64_t)taken);
	jnode_write(node, 0, &text);
	return error ? error : file_write_atomic(path, strbuf_str(&text), text.len, 0644);
}

static struct error *list_failures(const struct source *const *sources, size_t n, struct error *failures)
{
	if (error_count(failures) == 1)
		return failures;
	struct error *error = error_new(error_kind(failures), "kernel source '%s'%s cannot be had from any of its alternatives",
					sources[0]->name, n > 1 ? " (or those after it)" : "");
	for (const struct error *each = failures; each; each = error_next(each))
		error_note(error, error_pos(each), "%s", error_message(each));
	error_free(failures);
	return error_place(error, sources[0]->pos);
}

/* All alternatives of all sources in order; debs before position `skip` are asked only if the cache has them. */
struct search {
	const struct cache *cache;
	const struct source *const *sources;
	size_t n;
	struct source_job job;
	size_t skip;
	size_t taken; /* position of the one that was taken */
	bool missed; /* one before it could not be had */
};

static struct error *search(struct search *search, struct source_tree **tree_out, struct error **failures)
{
	size_t position = 0;

	for (size_t i = 0; i < search->n; i++)
		for (size_t k = 0; k < search->sources[i]->n; k++, position++) {
			struct source_job job = search->job;
			job.from = &search->sources[i]->alternatives[k];
			if (position < search->skip && job.from->kind == SOURCE_DEB && !is_at_hand(&job)) {
				search->missed = true;
				continue;
			}
			struct error *error = take_alternative(&job, tree_out);
			if (!error) {
				(*tree_out)->source = i;
				search->taken = position;
				return NULL;
			}
			if (error_kind(error) == ERROR_INTERRUPTED)
				return error;
			search->missed = true;
			error_join(failures, error_place(error, job.from->pos));
		}
	return NULL;
}

struct error *source_import(const struct cache *cache, const struct source *const *sources, size_t n, struct guard guard,
			    void (*progress)(void *arg, const char *what), void *arg, struct source_tree **tree_out)
{
	AUTO_FREE char *choice = choice_path(cache, sources, n);
	struct search state = {
		.cache = cache,
		.sources = sources,
		.n = n,
		.job = { .cache = cache, .guard = guard, .progress = progress, .arg = arg },
		.skip = load_choice(choice),
	};
	AUTO_ERROR failures = NULL;
	struct source_tree *tree = NULL;
	struct error *error = search(&state, &tree, &failures);

	if (!error && !tree && state.skip) {
		error_free(take_ptr(failures));
		state.skip = 0;
		error = search(&state, &tree, &failures);
	}
	if (error)
		return error;
	if (!tree)
		return list_failures(sources, n, take_ptr(failures));
	if (state.missed && state.taken != state.skip) {
		error = save_choice(choice, state.taken);
		log_info("%s is taken from %s from now on; remove %s to have the alternatives before it tried again",
			 sources[tree->source]->name, tree->origin, choice);
	}
	if (error)
		source_tree_free(tree);
	else
		*tree_out = tree;
	return error;
}

bool source_is_cached(const struct cache *cache, const struct source *const *sources, size_t n)
{
	AUTO_FREE char *path = choice_path(cache, sources, n);
	size_t position = 0, choice = load_choice(path);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sources[i]->n; k++, position++) {
			struct source_job job = { .cache = cache, .from = &sources[i]->alternatives[k], .guard = NO_GUARD };
			if (is_at_hand(&job))
				return true;
			/* A file or folder that is there would be imported; one that is not is passed over. */
			bool local = job.from->kind != SOURCE_DEB;
			if (local ? file_exists(job.from->path) : position >= choice)
				return false;
		}
	return false;
}
