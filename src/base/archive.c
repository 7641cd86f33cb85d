/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive_internal.h"
#include "base/file.h"

#define READ_BLOCK (1 << 18)

/* A tar inside a tar inside an ar: each level reads its bytes from the present member of the level before. */
#define MAX_LEVELS 3

struct level {
	struct archive *archive;
	struct archive *outer; /* where its bytes come from; NULL = a file */
	char *block;
};

struct tar {
	char *name; /* for messages */
	struct level levels[MAX_LEVELS];
	size_t n;
	struct archive_entry *entry; /* present member; belongs to the archive */
};

void archive_support_filters(struct archive *archive)
{
	/* Not archive_read_support_filter_all(): it also runs external programs. */
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_lzma(archive);
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_bzip2(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_lz4(archive);
}

struct error *archive_failure(struct archive *archive, const char *name)
{
	const char *why = archive_error_string(archive);

	return error_new(ERROR_LAB, "cannot read %s: %s", name, why ? why : "damaged archive");
}

static struct archive *innermost(const struct tar *tar)
{
	return tar->levels[tar->n - 1].archive;
}

static struct tar *tar_new(const char *name)
{
	struct tar *tar = xcalloc(1, sizeof(*tar));

	tar->name = xstrdup(name);
	return tar;
}

void tar_close(struct tar *tar)
{
	if (!tar)
		return;
	while (tar->n) {
		struct level *level = &tar->levels[--tar->n];
		archive_read_free(level->archive);
		free(level->block);
	}
	free(tar->name);
	free(tar);
}

void cleanup_tar(struct tar **tar)
{
	tar_close(*tar);
}

static la_ssize_t read_outer(struct archive *archive, void *arg, const void **block_out)
{
	struct level *level = arg;
	la_ssize_t got = archive_read_data(level->outer, level->block, READ_BLOCK);

	if (got < 0) {
		const char *why = archive_error_string(level->outer);
		archive_set_error(archive, archive_errno(level->outer), "%s", why ? why : "damaged outer archive");
		return ARCHIVE_FATAL;
	}
	*block_out = level->block;
	return got;
}

static struct level *add_level(struct tar *tar)
{
	struct level *level = &tar->levels[tar->n];

	level->outer = tar->n ? innermost(tar) : NULL;
	level->archive = archive_read_new();
	tar->n++;
	return level;
}

/* Opens a reader on the present member of the level before. */
static struct error *open_nested(struct tar *tar)
{
	struct level *level = add_level(tar);

	level->block = xmalloc(READ_BLOCK);
	archive_support_filters(level->archive);
	archive_read_support_format_tar(level->archive);
	if (archive_read_open(level->archive, level, NULL, read_outer, NULL) != ARCHIVE_OK)
		return archive_failure(level->archive, tar->name);
	return NULL;
}

static struct error *open_file(struct tar *tar, bool ar)
{
	struct level *level = add_level(tar);

	archive_support_filters(level->archive);
	if (ar)
		archive_read_support_format_ar(level->archive);
	else
		archive_read_support_format_tar(level->archive);
	if (!file_exists(tar->name))
		return error_new(ERROR_LAB, "cannot read %s: no such file", tar->name);
	if (archive_read_open_filename(level->archive, tar->name, READ_BLOCK) != ARCHIVE_OK)
		return archive_failure(level->archive, tar->name);
	return NULL;
}

static const char *entry_path(struct archive_entry *entry)
{
	/* NULL when the name cannot be converted to the locale's character set. */
	const char *path = archive_entry_pathname(entry);

	if (!path)
		path = archive_entry_pathname_utf8(entry);
	while (path && str_starts(path, "./"))
		path += 2;
	return path ? path : "";
}

static struct error *next_entry(struct tar *tar, bool *more_out)
{
	int status = archive_read_next_header(innermost(tar), &tar->entry);

	if (status != ARCHIVE_OK && status != ARCHIVE_WARN && status != ARCHIVE_EOF)
		return archive_failure(innermost(tar), tar->name);
	*more_out = status != ARCHIVE_EOF;
	return NULL;
}

static bool path_matches(const char *path, const char *wanted, bool as_prefix)
{
	return as_prefix ? str_starts(path, wanted) : str_ends(path, wanted);
}

/* Moves to the first regular member whose path starts (ends) with `wanted`. */
static struct error *seek_member(struct tar *tar, const char *wanted, bool as_prefix)
{
	for (;;) {
		bool more = false;
		struct error *error = next_entry(tar, &more);
		if (error)
			return error;
		if (!more)
			return error_new(ERROR_LAB, "%s has no member %s%s%s", tar->name, as_prefix ? "" : "*", wanted,
					 as_prefix ? "*" : "");
		/* ar members written by binutils have no type bits in their mode. */
		mode_t type = archive_entry_filetype(tar->entry);
		if (path_matches(entry_path(tar->entry), wanted, as_prefix) && (type == AE_IFREG || !type))
			return NULL;
	}
}

struct error *tar_open(const char *path, struct tar **tar_out)
{
	AUTO_TAR tar = tar_new(path);
	struct error *error = open_file(tar, false);

	if (!error)
		*tar_out = take_ptr(tar);
	return error;
}

struct error *tar_open_deb(const char *deb_path, struct tar **tar_out)
{
	AUTO_TAR tar = tar_new(deb_path);
	struct error *error = open_file(tar, true);

	if (!error)
		error = seek_member(tar, "data.tar", true);
	if (!error)
		error = open_nested(tar);
	if (!error)
		*tar_out = take_ptr(tar);
	return error;
}

struct error *tar_open_in_deb(const char *deb_path, const char *inner_suffix, struct tar **tar_out)
{
	AUTO_TAR tar = NULL;
	struct error *error = tar_open_deb(deb_path, &tar);

	if (!error)
		error = seek_member(tar, inner_suffix, false);
	if (!error)
		error = open_nested(tar);
	if (!error)
		*tar_out = take_ptr(tar);
	return error;
}

struct error *tar_next(struct tar *tar, struct tar_member *member_out, bool *more_out)
{
	bool more = false;
	struct error *error = next_entry(tar, &more);

	if (error)
		return error;
	if (more) {
		const char *hardlink = archive_entry_hardlink(tar->entry);
		while (hardlink && str_starts(hardlink, "./"))
			hardlink += 2;
		*member_out = (struct tar_member){
			.path = entry_path(tar->entry),
			.mode = archive_entry_mode(tar->entry) | (hardlink ? S_IFREG : 0),
			.link_target = archive_entry_symlink(tar->entry),
			.hardlink = hardlink,
			.size = (uint64_t)archive_entry_size(tar->entry),
		};
	}
	*more_out = more;
	return NULL;
}

struct error *archive_read_all(struct archive *archive, const char *name, uint64_t limit, struct strbuf *out)
{
	for (uint64_t total = 0;;) {
		strbuf_reserve(out, 1 << 16);
		la_ssize_t got = archive_read_data(archive, out->data + out->len, out->cap - out->len - 1);
		if (got < 0)
			return archive_failure(archive, name);
		out->len += (size_t)got;
		out->data[out->len] = '\0';
		total += (uint64_t)got;
		if (!got)
			return NULL;
		if (total > limit)
			return error_new(ERROR_LAB, "cannot read %s: it unpacks to more than %llu bytes", name,
					 (unsigned long long)limit);
	}
}

struct error *tar_read(struct tar *tar, struct strbuf *out)
{
	int64_t size = archive_entry_size(tar->entry);

	if (size > 0 && size < 1 << 30)
		strbuf_reserve(out, (size_t)size);
	return archive_read_all(innermost(tar), tar->name, UINT64_MAX, out);
}
