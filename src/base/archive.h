/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives and compression (libarchive): tarballs in, Debian packages in, cpio (newc) out, zstd out. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

/* A stream of tar members, straight from a compressed file; nothing is unpacked to disk. */
struct tar;

struct tar_member {
	const char *path; /* as stored, without a leading "./"; valid until the next call */
	mode_t mode; /* with type bits: S_IFREG, S_IFDIR, S_IFLNK */
	const char *link_target; /* symbolic link; NULL otherwise */
	const char *hardlink; /* path of the member it equals; NULL otherwise */
	uint64_t size;
};

/* Any compression that libarchive reads (xz, gzip, zstd, bzip2, lz4, none). */
struct error *tar_open(const char *path, struct tar **tar_out) MUST_CHECK;
/*
 * The tarball inside a Debian binary package: ar member data.tar.*, and in it the member whose path ends with `inner_suffix`
 * ("linux-source-5.10.tar.xz"), read as a stream through both.
 */
struct error *tar_open_in_deb(const char *deb_path, const char *inner_suffix, struct tar **tar_out) MUST_CHECK;
/* All that a Debian binary package installs: the members of its data.tar.*. */
struct error *tar_open_deb(const char *deb_path, struct tar **tar_out) MUST_CHECK;
/* *more_out is false at the end. */
struct error *tar_next(struct tar *tar, struct tar_member *member_out, bool *more_out) MUST_CHECK;
/* Appends the present member's bytes to `out`. */
struct error *tar_read(struct tar *tar, struct strbuf *out) MUST_CHECK;
void tar_close(struct tar *tar);
void cleanup_tar(struct tar **tar);
#define AUTO_TAR CLEANUP(cleanup_tar) struct tar *

struct cpio_entry {
	const char *path; /* without a leading '/' */
	mode_t mode; /* with type bits: S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR */
	const void *data; /* file bytes, or the link's target */
	size_t size;
	unsigned dev_major, dev_minor; /* S_IFCHR */
};

/* A newc cpio, uncompressed, all times and owners 0, so that equal entries give equal bytes. Appended to `out`. */
struct error *cpio_write(const struct cpio_entry *entries, size_t n, struct strbuf *out) MUST_CHECK;

/* Writes `data` zstd-compressed to `path`, atomically. */
struct error *zstd_write_file(const char *path, const void *data, size_t len) MUST_CHECK;
/* Decompresses any single-stream format libarchive knows (gzip of IKCONFIG, xz, zstd, lz4 with the frames of lz4 -l too). */
struct error *decompress(const void *data, size_t len, struct strbuf *out) MUST_CHECK;

#endif
