/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/payload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "kernel/entry.h"
#include "kernel/payload_files.h"
#include "kernel/source_internal.h"

#define RECIPE "1"
#define ARCHIVE "payload.cpio"
#define ARCHITECTURE "arm64"
#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"

/* What of a package nobody needs on the device. */
static bool is_left_out(const char *path)
{
	static const char *const folders[] = { "usr/share/doc/",     "usr/share/man/",	    "usr/share/locale/",
					       "usr/share/lintian/", "usr/share/doc-base/", "usr/share/info/" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (str_starts(path, folders[i]))
			return true;
	return false;
}

/* "lib/x" to "usr/lib/x"; the caller frees. */
static char *merged_path(const char *path)
{
	static const char *const merged[] = { "bin/", "sbin/", "lib/" };

	for (size_t i = 0; i < ARRAY_SIZE(merged); i++)
		if (str_starts(path, merged[i]))
			return xasprintf("usr/%s", path);
	return xstrdup(path);
}

static struct error *take_member(struct payload_files *files, struct tar *tar, const struct tar_member *member)
{
	AUTO_FREE char *path = merged_path(member->path);
	AUTO_STRBUF data = STRBUF_INIT;

	if (is_left_out(path) || S_ISDIR(member->mode))
		return NULL;
	if (member->hardlink) {
		AUTO_FREE char *target = merged_path(member->hardlink);
		return payload_files_copy(files, target, path);
	}
	if (S_ISLNK(member->mode)) {
		payload_files_add(files, path, member->mode, member->link_target, strlen(member->link_target));
		return NULL;
	}
	if (!S_ISREG(member->mode))
		return NULL;
	struct error *error = tar_read(tar, &data);
	if (!error)
		payload_files_add(files, path, member->mode, data.data, data.len);
	return error;
}

static struct error *add_members(struct payload_files *files, struct tar *tar)
{
	for (;;) {
		struct tar_member member;
		bool more = false;
		struct error *error = tar_next(tar, &member, &more);
		if (!error && more)
			error = take_member(files, tar, &member);
		if (error || !more)
			return error;
	}
}

static void add_links(struct payload_files *files)
{
	payload_files_add(files, "bin", S_IFLNK | 0777, "usr/bin", strlen("usr/bin"));
	payload_files_add(files, "sbin", S_IFLNK | 0777, "usr/sbin", strlen("usr/sbin"));
	payload_files_add(files, "lib", S_IFLNK | 0777, "usr/lib", strlen("usr/lib"));
}

static bool equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* `before`: the item before it, or NULL. */
static struct error *add_package(struct payload_files *files, const struct source_job *job, const struct payload_item *item,
				 const struct payload_item *before)
{
	const struct source_alternative from = { .package = item->package, .suite = item->suite, .pos = item->pos };
	struct source_job own = *job;
	struct deb deb = { NULL };
	AUTO_TAR tar = NULL;

	own.from = &from;
	own.architecture = ARCHITECTURE;
	own.has_lists = before && before->package && equal(before->suite, item->suite);
	struct error *error = source_fetch_deb(&own, KEYRING, &deb);
	if (!error)
		error = tar_open_deb(deb.path, &tar);
	if (!error)
		error = add_members(files, tar);
	add_links(files);
	deb_deinit(&deb);
	return error_place(error, item->pos);
}

static struct error *add_item(struct payload_files *files, const struct source_job *job, const struct payload_item *item,
			      const struct payload_item *before)
{
	if (item->package)
		return add_package(files, job, item, before);
	return error_place(payload_files_take(files, item->path, item->to + 1), item->pos);
}

/* Everything but what packages hold is looked at each time: a file that was changed makes another archive. */
static struct error *key_of(const struct payload_item *items, size_t n, char key_out[HASH_HEX_SIZE])
{
	struct hash *hash = hash_new();
	struct error *errors = NULL;

	hash_field(hash, "recipe", RECIPE);
	for (size_t i = 0; i < n; i++) {
		hash_field(hash, "package", items[i].package);
		hash_field(hash, "suite", items[i].suite);
		hash_field(hash, "to", items[i].to);
		if (items[i].path) {
			struct payload_files files = { NULL, 0 };
			error_join(&errors, error_place(payload_files_take(&files, items[i].path, "x"), items[i].pos));
			payload_files_hash(&files, hash);
			payload_files_deinit(&files);
		}
	}
	hash_finish(hash, key_out);
	return errors;
}

static struct error *make(const struct source_job *job, const struct payload_item *items, size_t n, const char *key)
{
	struct payload_files files = { NULL, 0 };
	AUTO_FREE char *stage = NULL;
	AUTO_STRBUF archive = STRBUF_INIT;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < n; i++)
		error = add_item(&files, job, &items[i], i ? &items[i - 1] : NULL);
	if (!error)
		error = payload_files_pack(&files, &archive);
	payload_files_deinit(&files);
	if (!error)
		error = entry_stage(job->cache, "payloads", key, &stage);
	if (error)
		return error;
	AUTO_FREE char *path = path_join(stage, ARCHIVE);
	error = file_write_atomic(path, archive.data, archive.len, 0644);
	return error ? error : entry_publish(job->cache, "payloads", key, stage);
}

struct error *payload_prepare(const struct cache *cache, const struct payload_item *items, size_t n, struct guard guard,
			      void (*progress)(void *arg, const char *what), void *arg, char **archive_out, char digest_out[65])
{
	const struct source_job job = { .cache = cache, .guard = guard, .progress = progress, .arg = arg };
	char key[HASH_HEX_SIZE], digest[HASH_HEX_SIZE];
	struct error *error = key_of(items, n, key);

	if (error)
		return error;
	AUTO_FREE char *relative = xasprintf("payloads/%s/" ARCHIVE, key);
	AUTO_FREE char *path = cache_path(cache, relative);
	AUTO_FREE char *dir = path_dirname(path);
	if (!file_is_regular(path))
		error = make(&job, items, n, key);
	if (!error)
		error = hash_file(path, digest);
	if (error)
		return error;
	entry_touch(dir);
	memcpy(digest_out, digest, sizeof(digest));
	*archive_out = take_ptr(path);
	return NULL;
}
