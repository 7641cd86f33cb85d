/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/archive_internal.h"
#include "base/file.h"

/* Far above any kernel config, log or Image; stops a decompression bomb. */
#define MAX_UNPACKED (UINT64_C(1) << 30)

static la_ssize_t append(struct archive *archive, void *arg, const void *data, size_t len)
{
	(void)archive;
	strbuf_add(arg, data, len);
	return (la_ssize_t)len;
}

static struct error *write_failure(struct archive *archive, const char *what)
{
	const char *why = archive_error_string(archive);

	return error_new(ERROR_LAB, "cannot write %s: %s", what, why ? why : "libarchive gives no reason");
}

static struct error *write_entry(struct archive *archive, const struct cpio_entry *entry)
{
	struct archive_entry *header = archive_entry_new();
	bool link = S_ISLNK(entry->mode);
	AUTO_FREE char *target = link ? xstrndup(entry->data, entry->size) : NULL;
	size_t size = S_ISREG(entry->mode) ? entry->size : 0;

	archive_entry_set_pathname(header, entry->path);
	archive_entry_set_mode(header, entry->mode);
	archive_entry_set_nlink(header, 1);
	archive_entry_set_mtime(header, 0, 0);
	archive_entry_set_size(header, (int64_t)size);
	if (link)
		archive_entry_set_symlink(header, target);
	if (S_ISCHR(entry->mode)) {
		archive_entry_set_rdevmajor(header, entry->dev_major);
		archive_entry_set_rdevminor(header, entry->dev_minor);
	}
	int status = archive_write_header(archive, header);
	archive_entry_free(header);
	if (status != ARCHIVE_OK || (size && archive_write_data(archive, entry->data, size) != (la_ssize_t)size))
		return write_failure(archive, entry->path);
	return NULL;
}

struct error *cpio_write(const struct cpio_entry *entries, size_t n, struct strbuf *out)
{
	struct archive *archive = archive_write_new();
	AUTO_STRBUF bytes = STRBUF_INIT;
	struct error *error = NULL;

	archive_write_set_format_cpio_newc(archive);
	archive_write_set_bytes_in_last_block(archive, 1);
	if (archive_write_open(archive, &bytes, NULL, append, NULL) != ARCHIVE_OK)
		error = write_failure(archive, "cpio");
	for (size_t i = 0; !error && i < n; i++)
		error = write_entry(archive, &entries[i]);
	if (!error && archive_write_close(archive) != ARCHIVE_OK)
		error = write_failure(archive, "cpio");
	archive_write_free(archive);
	if (!error)
		strbuf_add(out, bytes.data, bytes.len);
	return error;
}

struct error *zstd_write_file(const char *path, const void *data, size_t len)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *header = archive_entry_new();
	AUTO_STRBUF bytes = STRBUF_INIT;
	struct error *error = NULL;

	archive_write_set_format_raw(archive);
	archive_write_add_filter_zstd(archive);
	archive_write_set_bytes_in_last_block(archive, 1);
	archive_entry_set_filetype(header, AE_IFREG);
	archive_entry_set_pathname(header, "data");
	if (archive_write_open(archive, &bytes, NULL, append, NULL) != ARCHIVE_OK ||
	    archive_write_header(archive, header) != ARCHIVE_OK ||
	    (len && archive_write_data(archive, data, len) != (la_ssize_t)len) || archive_write_close(archive) != ARCHIVE_OK)
		error = write_failure(archive, path);
	archive_entry_free(header);
	archive_write_free(archive);
	return error ? error : file_write_atomic(path, bytes.data, bytes.len, 0644);
}

#define DATA_NAME "compressed data" /* in messages */

/* libarchive passes unknown bytes through unchanged: only a filter that took hold says they were compressed. */
static struct error *read_raw(const void *data, size_t len, struct strbuf *out)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	struct error *error = NULL;

	archive_support_filters(archive);
	archive_read_support_format_raw(archive);
	if (archive_read_open_memory(archive, data, len) != ARCHIVE_OK || archive_read_next_header(archive, &entry) != ARCHIVE_OK)
		error = archive_failure(archive, DATA_NAME);
	else if (archive_filter_code(archive, 0) == ARCHIVE_FILTER_NONE)
		error = error_new(ERROR_LAB, "cannot read %s: not compressed in a known format", DATA_NAME);
	else
		error = archive_read_all(archive, DATA_NAME, MAX_UNPACKED, out);
	archive_read_free(archive);
	return error;
}

struct error *decompress(const void *data, size_t len, struct strbuf *out)
{
	AUTO_STRBUF bytes = STRBUF_INIT;
	struct error *error = read_raw(data, len, &bytes);

	if (!error)
		strbuf_add(out, bytes.data, bytes.len);
	return error;
}
