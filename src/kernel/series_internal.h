/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by series.c and series_*.c alone. */
#ifndef KERNEL_SERIES_INTERNAL_H
#define KERNEL_SERIES_INTERNAL_H

#include "base/strbuf.h"
#include "kernel/git.h"
#include "kernel/series.h"

/* --- unified diffs (series_diff.c) --- */

struct hunk_line {
	char kind; /* ' ', '-' or '+' */
	const char *text; /* points into the diff; with its newline, unless the file ends without one there */
	size_t len;
};

struct hunk {
	unsigned long old_start, old_n, new_start, new_n; /* of its header */
	char *header; /* "@@ -1,2 +1,3 @@ function" */
	int line; /* of the header in the patch file; 0 = not known */
	struct hunk_line *lines;
	size_t n;
};

/* What a patch does to one file. */
struct file_patch {
	char *old_path; /* NULL for a new file */
	char *new_path; /* NULL for a deleted one */
	unsigned old_mode, new_mode; /* 0 = not said */
	char *old_oid; /* abbreviated blob id of the index line, or NULL */
	bool copied; /* old_path stays */
	int line; /* where it starts in the patch file; 0 = not known */
	struct hunk *hunks;
	size_t n;
};

struct diff {
	char *text; /* that lines point into */
	struct file_patch *files;
	size_t n;
};

/* Where a diff stands, for positions: its file, and the line of that file which is its first (0 = not known: it was decoded). */
struct diff_origin {
	const char *file; /* interned */
	int first_line;
};

/*
 * Parses the diffs in `text` (what stands around them is skipped), with `strip` leading parts of paths removed as patch -pN does.
 * ERROR_INPUT, all at once: binary and merge diffs, damaged hunks, paths that lead out of the tree.
 */
struct error *diff_parse(const char *text, size_t len, unsigned strip, struct diff_origin origin,
			 struct diff *diff_out) MUST_CHECK;
void diff_deinit(struct diff *diff);
/* Where the first diff starts, or `len` when there is none. */
size_t diff_find(const char *text, size_t len);
/* Its path after the patch, or before it for a deleted file. */
const char *file_patch_path(const struct file_patch *file);

/* --- placing hunks in texts (series_place.c) --- */

struct place_failure {
	size_t hunk; /* index of the one that did not fit */
	bool ambiguous;
	char *reason; /* "line 7 should be ... and is ...", or the places that match */
};
void place_failure_deinit(struct place_failure *failure);
/*
 * Applies all hunks to `old`: each at the line its header says, else at the one place where its context and removed lines stand
 * exactly. True: the result is appended to `out`, and what moved to `notes` ("hunk 2 found 40 lines below"). False: *failure_out.
 * `reverse`: takes the hunks back instead.
 */
bool place_apply(const struct file_patch *file, const struct strbuf *old, bool reverse, struct strbuf *out, struct strlist *notes,
		 struct place_failure *failure_out);

/* --- patches (series_patch.c) --- */

struct patch {
	const char *file; /* interned; what positions name */
	char *subject;
	char *message; /* subject, empty line, body */
	char *author, *email;
	int64_t time_s;
	int offset_min;
	struct diff diff;
};
void patch_deinit(struct patch *patch);

/* A tree while patches are applied to it. */
struct patching {
	struct gitdb *db;
	char tree[OID_HEX_SIZE];
	struct strlist
		tainted; /* paths that a failed patch should have changed: what later patches say of them is not reported */
};
/*
 * Applies one patch: patching->tree becomes the result. Everything in it that does not apply is reported; the rest is applied all the
 * same, so that later patches can be tried. `notes`: what was done besides plain applying.
 */
struct error *patch_apply(struct patching *patching, const struct patch *patch, struct strlist *notes) MUST_CHECK;

/* --- mails (series_mail.c) --- */

/* The mails of an mbox, or the one text that is no mbox. Each is without its "From " line's quoting. */
struct mail {
	char *text;
	size_t len;
	int first_line; /* in the file */
};
struct mails {
	struct mail *items;
	size_t n;
};
void mails_split(const char *text, size_t len, struct mails *mails_out);
void mails_deinit(struct mails *mails);
/* True when the text starts like a mail: a "From " line, or header lines with a From or Subject among them. */
bool mail_has_headers(const char *text);

/* "[PATCH v2 3/7] mm: x" taken apart. */
struct mail_subject {
	bool reply; /* Re:, Fwd: */
	unsigned version; /* 1 when not said */
	unsigned number, total; /* 0, 0 when not numbered */
	char *title; /* "mm: x" */
};
void mail_parse_subject(const char *subject, struct mail_subject *subject_out);
/* An RFC 5322 date; false when it is none. */
bool mail_parse_date(const char *text, int64_t *time_s_out, int *offset_min_out);

/* A mail decoded. */
struct decoded_mail {
	char *author, *email, *date; /* "" when missing */
	struct mail_subject subject;
	struct strbuf body; /* the commit message without its subject */
	struct strbuf rest; /* notes, diffs, signature */
};
/* Decodes with `git mailinfo`; texts that are no mails are taken as they are (subject: the first line before the diff). */
struct error *mail_decode(const struct mail *mail, const char *file, struct decoded_mail *decoded_out) MUST_CHECK;
void decoded_mail_deinit(struct decoded_mail *decoded);

/* --- reading (series_read.c) --- */

/* One element of the stack. */
struct series_part {
	struct pos pos;
	struct git_range *range; /* NULL = patches */
	struct patch *patches;
	size_t n; /* patches, or commits of the range */
	char *base_commit; /* from "base-commit:", or NULL */
};
struct error *series_read_part(const struct patch_source *source, struct series_part *part_out) MUST_CHECK;
void series_part_deinit(struct series_part *part);

#endif
