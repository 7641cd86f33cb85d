/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by source.c and source_*.c alone. */
#ifndef KERNEL_SOURCE_INTERNAL_H
#define KERNEL_SOURCE_INTERNAL_H

#include "base/archive.h"
#include "kernel/git.h"
#include "kernel/source.h"

/* One alternative that is being looked at or imported. */
struct source_job {
	const struct cache *cache;
	const struct source_alternative *from;
	const char *architecture; /* of packages; NULL = the machine's own */
	bool has_lists; /* apt's lists of this suite were fetched just now, by another package's job */
	struct guard guard;
	void (*progress)(void *arg, const char *what); /* or NULL */
	void *arg;
};
void source_say(const struct source_job *job, const char *format, ...) PRINTF_FORMAT(2, 3);

/* What the cache knows of an import: sources/KEY.json, written when all its objects are there. Strings are owned. */
struct source_record {
	char *tree;
	char *commit;
	char *version;
	char *origin;
	char *sha256; /* of the file it came from, or NULL */
	char *stamp; /* says whether the folder or file is still what was imported; NULL = it cannot change (pinned, deb) */
};
void source_record_free(struct source_record *record);
void cleanup_source_record(struct source_record **record);
#define AUTO_SOURCE_RECORD CLEANUP(cleanup_source_record) struct source_record *

/* Names an alternative in the cache. */
void source_key(const struct source_alternative *from, char key_out[65]);
/* *record_out is NULL when there is none, or none whose objects are there. */
struct error *source_record_load(const struct cache *cache, const char *key, struct source_record **record_out) MUST_CHECK;
struct error *source_record_save(const struct cache *cache, const char *key, const struct source_record *record) MUST_CHECK;
/* Completes and saves a record from the tree as imported: version, and the synthetic commit. Takes over the strings of `record` as they are. */
struct error *source_record_finish(const struct source_job *job, const char *key, const char *tree,
				   struct source_record *record) MUST_CHECK;

/* VERSION.PATCHLEVEL.SUBLEVEL EXTRAVERSION of a kernel Makefile's text; NULL when it has none. The caller frees. */
char *source_makefile_version(const char *text);
/* The same from a tree; ERROR_INPUT when it is no kernel source. */
struct error *source_tree_version(struct gitdb *db, const char *tree, char **version_out) MUST_CHECK;

/* --- files streamed into the object store (`git fast-import`) --- */

struct importer;
/* `key` names the import's ref. Waits for other imports: there is one at a time. */
struct error *importer_open(const struct source_job *job, const char *key, struct importer **importer_out) MUST_CHECK;
/* A file or link; `path` from the root, checked here. Folders and special files are not for git. */
struct error *importer_add(struct importer *importer, const char *path, mode_t mode, const void *data, size_t len) MUST_CHECK;
/* The file that was added as `from`, once more as `path`. */
struct error *importer_copy(struct importer *importer, const char *from, const char *path) MUST_CHECK;
/* Ends the import: all objects are on disk when it returns. */
struct error *importer_finish(struct importer *importer, char tree_out[OID_HEX_SIZE]) MUST_CHECK;
void importer_close(struct importer *importer); /* kills an unfinished one, which leaves nothing; NULL is fine */
void cleanup_importer(struct importer **importer);
#define AUTO_IMPORTER CLEANUP(cleanup_importer) struct importer *

/* Imports every member of an archive; *tree_out is the tree without a leading single folder. */
struct error *source_import_tar(const struct source_job *job, struct tar *tar, const char *name, const char *key,
				char tree_out[OID_HEX_SIZE]) MUST_CHECK;

/* --- folders --- */

/* Digest over path, kind, size and times of all files of a folder. */
struct error *source_folder_stamp(const char *path, struct guard guard, char stamp_out[65]) MUST_CHECK;
struct error *source_import_folder(const struct source_job *job, const char *key, char tree_out[OID_HEX_SIZE]) MUST_CHECK;

/* --- Debian packages --- */

struct deb {
	char *path; /* the downloaded file */
	char *version;
	char *suite; /* what to call it in reports */
	char sha256[65];
};
/* Downloads with apt; `keyring` is a file. */
struct error *source_fetch_deb(const struct source_job *job, const char *keyring, struct deb *deb_out) MUST_CHECK;
/* The same from the archive at `uri` (the suite must be named); NULL = the machine's mirror. */
struct error *source_fetch_deb_from(const struct source_job *job, const char *keyring, const char *uri,
				    struct deb *deb_out) MUST_CHECK;
void deb_deinit(struct deb *deb);

/* One `deb` line of a sources.list. */
struct apt_line {
	char *uri;
	char *suite;
};
struct apt_lines {
	struct apt_line *items;
	size_t n;
};
void apt_lines_deinit(struct apt_lines *lines);
/*
 * Chooses the lines for `suite` (NULL = all that the machine itself uses) from what
 * `apt-get indextargets --format '$(CREATED_BY)|$(ORIGIN)|$(RELEASE)|$(REPO_URI)'` printed; `codename` is the machine's own or NULL.
 * None when the machine has no mirror that could have it.
 */
void apt_choose_lines(const char *indextargets, const char *suite, const char *codename, struct apt_lines *lines_out);
/* Takes "'URI' FILE SIZE HASH:DIGEST" apart; false when it is no such line. *sha256_out may become NULL. */
bool apt_parse_uri_line(const char *text, char **file_out, char **version_out, char **sha256_out);

#endif
