/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "kernel/source_internal.h"

#define REPORT_EVERY 5000

/* Called for each regular file and symbolic link; `path` is relative to the folder. */
typedef struct error *visit_fn(void *arg, const char *path, const FTSENT *entry);

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static struct error *visit_entry(FTS *fts, FTSENT *entry, size_t root_len, visit_fn *visit, void *arg)
{
	switch (entry->fts_info) {
	case FTS_D:
		if (entry->fts_level && !strcmp(entry->fts_name, ".git"))
			fts_set(fts, entry, FTS_SKIP);
		return NULL;
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE:
		return visit(arg, entry->fts_path + root_len + 1, entry);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return error_os(entry->fts_errno, "cannot read %s", entry->fts_path);
	default:
		return NULL;
	}
}

static struct error *walk_folder(const char *path, struct guard guard, visit_fn *visit, void *arg)
{
	char *const roots[] = { (char *)path, NULL };
	struct error *error = NULL;
	FTS *fts = file_is_dir(path) ? fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, by_name) : NULL;

	if (!fts)
		return error_new(ERROR_INPUT, "%s is no folder", path);
	size_t seen = 0;
	for (FTSENT *entry; !error && (entry = fts_read(fts));) {
		error = visit_entry(fts, entry, strlen(path), visit, arg);
		if (!error && ++seen % 256 == 0)
			error = guard_check(guard);
	}
	fts_close(fts);
	return error;
}

static struct error *stamp_entry(void *arg, const char *path, const FTSENT *entry)
{
	const struct stat *st = entry->fts_statp;
	AUTO_FREE char *text = xasprintf("%o %lld %lld.%09ld %lld.%09ld %llu", st->st_mode, (long long)st->st_size,
					 (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (long long)st->st_ctim.tv_sec,
					 st->st_ctim.tv_nsec, (unsigned long long)st->st_ino);

	hash_field(arg, path, text);
	return NULL;
}

struct error *source_folder_stamp(const char *path, struct guard guard, char stamp_out[65])
{
	struct hash *hash = hash_new();
	char digest[HASH_HEX_SIZE];
	struct error *error = walk_folder(path, guard, stamp_entry, hash);

	hash_finish(hash, digest);
	if (!error)
		memcpy(stamp_out, digest, sizeof(digest));
	return error;
}

struct adding {
	const struct source_job *job;
	struct importer *importer;
	struct strbuf bytes;
	size_t files;
};

static struct error *add_entry(void *arg, const char *path, const FTSENT *entry)
{
	struct adding *adding = arg;
	mode_t mode = entry->fts_statp->st_mode;
	struct error *error = NULL;

	if (adding->files++ % REPORT_EVERY == 0)
		source_say(adding->job, "importing %s: %zu files", adding->job->from->path, adding->files - 1);
	strbuf_reset(&adding->bytes);
	if (S_ISLNK(mode)) {
		strbuf_reserve(&adding->bytes, PATH_MAX);
		ssize_t len = readlink(entry->fts_accpath, adding->bytes.data, PATH_MAX);
		if (len < 0)
			return error_os(errno, "cannot read link %s", entry->fts_path);
		adding->bytes.len = (size_t)len;
	} else {
		error = file_read(entry->fts_accpath, &adding->bytes);
	}
	return error ? error : importer_add(adding->importer, path, mode, strbuf_str(&adding->bytes), adding->bytes.len);
}

struct error *source_import_folder(const struct source_job *job, const char *key, char tree_out[OID_HEX_SIZE])
{
	AUTO_IMPORTER importer = NULL;
	struct error *error = importer_open(job, key, &importer);

	if (error)
		return error;
	struct adding adding = { .job = job, .importer = importer };
	error = walk_folder(job->from->path, job->guard, add_entry, &adding);
	strbuf_deinit(&adding.bytes);
	return error ? error : importer_finish(importer, tree_out);
}
