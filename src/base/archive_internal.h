/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by archive.c and archive_pack.c alone. */
#ifndef BASE_ARCHIVE_INTERNAL_H
#define BASE_ARCHIVE_INTERNAL_H

#include "base/error.h"
#include "base/strbuf.h"

struct archive;

/* Lets `archive` read every compression this project knows. */
void archive_support_filters(struct archive *archive);
/* ERROR_LAB: "cannot read NAME: " and libarchive's reason. */
struct error *archive_failure(struct archive *archive, const char *name) MUST_CHECK;
/* Appends the present entry's bytes; ERROR_LAB when there are more than `limit`. */
struct error *archive_read_all(struct archive *archive, const char *name, uint64_t limit, struct strbuf *out) MUST_CHECK;

#endif
