/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One patch applied to a tree, in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kernel/series_internal.h"

/* What the patch has done so far: a path's new entry; mode 0 = removed. */
struct edit {
	char *path;
	struct gitdb_entry entry;
};

struct applying {
	struct patching *patching;
	const struct patch *patch;
	const struct file_patch *file; /* the one at hand */
	struct edit *edits;
	size_t n;
	struct strlist *notes;
	struct error *errors;
	size_t failed; /* files that did not apply */
	size_t already; /* files, of all, that have the change already */
};

void patch_deinit(struct patch *patch)
{
	free(patch->subject);
	free(patch->message);
	free(patch->author);
	free(patch->email);
	diff_deinit(&patch->diff);
}

static const char *path_of(const struct applying *applying)
{
	return file_patch_path(applying->file);
}

static struct error *fail_at(const struct applying *applying, int line, const char *format, ...) PRINTF_FORMAT(3, 4);
static struct error *fail_at(const struct applying *applying, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	AUTO_FREE char *text = xvasprintf(format, args);
	va_end(args);
	return error_at((struct pos){ applying->patch->file, line, line ? 1 : 0 }, "%s: %s", path_of(applying), text);
}

static struct edit *find_edit(const struct applying *applying, const char *path)
{
	for (size_t i = 0; i < applying->n; i++)
		if (!strcmp(applying->edits[i].path, path))
			return &applying->edits[i];
	return NULL;
}

static void set_edit(struct applying *applying, const char *path, const struct gitdb_entry *entry)
{
	struct edit *edit = find_edit(applying, path);

	if (!edit) {
		applying->edits = array_grow(applying->edits, applying->n, sizeof(*applying->edits));
		edit = &applying->edits[applying->n++];
		edit->path = xstrdup(path);
	}
	edit->entry = *entry;
}

static bool is_file(unsigned mode)
{
	return mode == 0100644 || mode == 0100755 || mode == 0120000;
}

static bool renames(const struct file_patch *file)
{
	return file->old_path && file->new_path && strcmp(file->old_path, file->new_path);
}

/* The entry that a path has before this file's change; *found_out is false when there is no file of that name. */
static struct error *present_entry(struct applying *applying, const char *path, struct gitdb_entry *entry_out, bool *found_out)
{
	/* All renames of a patch are from the tree before it, so that two files can change places. */
	const struct edit *edit = renames(applying->file) ? NULL : find_edit(applying, path);

	if (edit) {
		*entry_out = edit->entry;
		*found_out = edit->entry.mode;
		return NULL;
	}
	struct error *error = gitdb_find(applying->patching->db, applying->patching->tree, path, entry_out, found_out);
	if (!error && *found_out)
		*found_out = is_file(entry_out->mode);
	return error;
}

/* True when another part of this patch takes the path away. */
static bool is_vacated(const struct applying *applying, const char *path)
{
	for (size_t i = 0; i < applying->patch->diff.n; i++) {
		const struct file_patch *file = &applying->patch->diff.files[i];
		if (file != applying->file && file->old_path && !strcmp(file->old_path, path) && !file->copied &&
		    (!file->new_path || renames(file)))
			return true;
	}
	return false;
}

/* A folder is in the way unless the patch takes away every file in it. */
struct folder_check {
	const struct applying *applying;
	bool vacated;
};

static struct error *check_in_folder(void *arg, const struct gitdb_change *change)
{
	struct folder_check *check = arg;
	AUTO_FREE char *path = path_join(check->applying->file->new_path, change->path);

	check->vacated = check->vacated && is_vacated(check->applying, path);
	return NULL;
}

static struct error *check_folder(const struct applying *applying, const char *tree)
{
	struct folder_check check = { .applying = applying, .vacated = true };
	struct error *error = gitdb_diff(applying->patching->db, NULL, tree, check_in_folder, &check);

	if (!error && !check.vacated)
		error = fail_at(applying, applying->file->line, "a folder stands where the patch makes a file");
	return error;
}

/* No file may be where the new one's folders go. */
static struct error *check_parents(const struct applying *applying)
{
	AUTO_FREE char *path = xstrdup(applying->file->new_path);
	struct error *error = NULL;

	for (char *slash; !error && (slash = strrchr(path, '/'));) {
		struct gitdb_entry entry;
		bool found = false;
		*slash = '\0';
		error = gitdb_find(applying->patching->db, applying->patching->tree, path, &entry, &found);
		if (!error && found && is_file(entry.mode) && !is_vacated(applying, path))
			error = fail_at(applying, applying->file->line, "%s is a file, not a folder", path);
	}
	return error;
}

/* The place a new, renamed or copied file goes to must be free; or have that very content: then it is already applied. */
static struct error *check_free(struct applying *applying, const struct strbuf *content)
{
	const char *path = applying->file->new_path;
	struct gitdb_entry entry;
	bool found = false;
	struct error *error = check_parents(applying);

	if (!error)
		error = gitdb_find(applying->patching->db, applying->patching->tree, path, &entry, &found);
	if (error || !found || is_vacated(applying, path))
		return error;
	if (entry.mode == 0040000)
		return check_folder(applying, entry.oid);
	AUTO_STRBUF present = STRBUF_INIT;
	error = gitdb_read_blob(applying->patching->db, entry.oid, &present);
	if (error)
		return error;
	if (present.len == content->len && (!present.len || !memcmp(present.data, content->data, present.len)))
		applying->already++;
	return fail_at(applying, applying->file->line, "the patch makes this file, and it exists already");
}

static unsigned result_mode(const struct file_patch *file, unsigned present)
{
	return file->new_mode ? file->new_mode : present ? present : 0100644;
}

static struct error *store(struct applying *applying, const struct strbuf *content, unsigned mode)
{
	const struct file_patch *file = applying->file;
	const struct gitdb_entry gone = { 0 };
	struct gitdb_entry entry = { .mode = mode };
	struct error *error = gitdb_write_blob(applying->patching->db, strbuf_str(content), content->len, entry.oid);

	if (error)
		return error;
	/* A later part of the patch may already have put another file where this one was. */
	if (renames(file) && !file->copied && !find_edit(applying, file->old_path))
		set_edit(applying, file->old_path, &gone);
	set_edit(applying, file->new_path, &entry);
	return NULL;
}

static void add_notes(struct applying *applying, const struct strlist *moved)
{
	for (size_t i = 0; i < moved->n; i++)
		strlist_addf(applying->notes, "%s: %s", path_of(applying), moved->items[i]);
}

/*
 * Three-way merge: if the objects hold the very file the patch was made from, the patch is applied to that and the result merged
 * with the present file. *merged_out is false when the file is not known or the two changes conflict.
 */
static struct error *merge(struct applying *applying, const struct strbuf *present, struct strbuf *out, bool *merged_out)
{
	const struct file_patch *file = applying->file;
	AUTO_STRBUF ancestor = STRBUF_INIT;
	AUTO_STRBUF theirs = STRBUF_INIT;
	struct place_failure failure = { 0 };
	bool known = false;
	struct error *error =
		file->old_oid ? gitdb_read_abbreviated(applying->patching->db, file->old_oid, &ancestor, &known) : NULL;

	*merged_out = false;
	if (error || !known)
		return error;
	if (!place_apply(file, &ancestor, false, &theirs, NULL, &failure)) {
		place_failure_deinit(&failure);
		return NULL;
	}
	return gitdb_merge(&ancestor, present, &theirs, out, merged_out);
}

static bool is_applied_already(const struct file_patch *file, const struct strbuf *present)
{
	AUTO_STRBUF undone = STRBUF_INIT;
	struct place_failure failure = { 0 };
	bool fits = file->n && place_apply(file, present, true, &undone, NULL, &failure);

	place_failure_deinit(&failure);
	return fits;
}

static struct error *explain(struct applying *applying, const struct place_failure *failure, bool already)
{
	const struct hunk *hunk = &applying->file->hunks[failure->hunk];

	applying->already += already;
	return fail_at(applying, hunk->line, "hunk %zu (%s) does not apply: %s%s", failure->hunk + 1, hunk->header,
		       failure->reason, already ? "; the file has this patch's change already" : "");
}

/* The text of the file after the patch. */
static struct error *change_text(struct applying *applying, const struct strbuf *present, struct strbuf *out)
{
	AUTO_STRLIST moved = { NULL, 0 };
	struct place_failure failure = { 0 };
	bool merged = false;

	if (place_apply(applying->file, present, false, out, &moved, &failure)) {
		add_notes(applying, &moved);
		return NULL;
	}
	bool already = is_applied_already(applying->file, present);
	struct error *error = already ? NULL : merge(applying, present, out, &merged);
	if (!error && merged)
		strlist_addf(applying->notes, "%s: three-way merge", path_of(applying));
	else if (!error)
		error = explain(applying, &failure, already);
	place_failure_deinit(&failure);
	return error;
}

static struct error *read_present(struct applying *applying, struct gitdb_entry *entry, struct strbuf *out)
{
	const struct file_patch *file = applying->file;
	bool found = false;
	struct error *error = present_entry(applying, file->old_path, entry, &found);

	if (!error && !found) {
		applying->already += !file->new_path;
		error = fail_at(applying, file->line, "the kernel source has no file %s%s", file->old_path,
				file->new_path ? "" : ", which the patch deletes");
	}
	return error ? error : gitdb_read_blob(applying->patching->db, entry->oid, out);
}

static struct error *apply_change(struct applying *applying)
{
	struct gitdb_entry entry = { 0 };
	AUTO_STRBUF present = STRBUF_INIT;
	AUTO_STRBUF changed = STRBUF_INIT;
	struct error *error = read_present(applying, &entry, &present);

	if (!error)
		error = change_text(applying, &present, &changed);
	if (!error && renames(applying->file))
		error = check_free(applying, &changed);
	return error ? error : store(applying, &changed, result_mode(applying->file, entry.mode));
}

static struct error *apply_deletion(struct applying *applying)
{
	const struct gitdb_entry gone = { 0 };
	struct gitdb_entry entry;
	AUTO_STRBUF present = STRBUF_INIT;
	AUTO_STRBUF left = STRBUF_INIT;
	struct error *error = read_present(applying, &entry, &present);

	if (!error)
		error = change_text(applying, &present, &left);
	if (!error && left.len)
		error = fail_at(applying, applying->file->line,
				"the patch deletes this file, and it has more in it than the patch removes");
	if (!error)
		set_edit(applying, applying->file->old_path, &gone);
	return error;
}

static struct error *apply_new(struct applying *applying)
{
	const struct strbuf nothing = STRBUF_INIT;
	AUTO_STRBUF content = STRBUF_INIT;
	struct place_failure failure = { 0 };

	if (!place_apply(applying->file, &nothing, false, &content, NULL, &failure)) {
		struct error *error = explain(applying, &failure, false);
		place_failure_deinit(&failure);
		return error;
	}
	struct error *error = check_free(applying, &content);
	return error ? error : store(applying, &content, result_mode(applying->file, 0));
}

/* A diff without git's headers does not say "new file": it is one when there is none and the hunk starts from nothing. */
static struct error *is_new_file(struct applying *applying, bool *new_out)
{
	const struct file_patch *file = applying->file;
	bool from_nothing = file->n == 1 && !file->hunks[0].old_start && !file->hunks[0].old_n;
	struct gitdb_entry entry;
	bool found = true;
	struct error *error = NULL;

	if (file->old_path && from_nothing && !renames(file))
		error = present_entry(applying, file->old_path, &entry, &found);
	*new_out = !file->old_path || !found;
	return error;
}

static struct error *apply_file(struct applying *applying)
{
	bool new_file = false;
	struct error *error = is_new_file(applying, &new_file);

	if (error)
		return error;
	if (!applying->file->new_path)
		return apply_deletion(applying);
	return new_file ? apply_new(applying) : apply_change(applying);
}

static bool is_tainted(const struct applying *applying)
{
	const struct strlist *tainted = &applying->patching->tainted;
	const struct file_patch *file = applying->file;

	return (file->old_path && strlist_has(tainted, file->old_path)) ||
	       (file->new_path && strlist_has(tainted, file->new_path));
}

static void taint(struct applying *applying)
{
	struct strlist *tainted = &applying->patching->tainted;

	if (applying->file->old_path)
		strlist_add(tainted, applying->file->old_path);
	if (applying->file->new_path)
		strlist_add(tainted, applying->file->new_path);
}

/* A file that the patch makes and takes away again was never in the tree. */
static struct error *drop_vain_removals(struct applying *applying)
{
	size_t kept = 0;

	for (size_t i = 0; i < applying->n; i++) {
		struct edit *edit = &applying->edits[i];
		struct gitdb_entry entry;
		bool found = true;
		struct error *error = edit->entry.mode ? NULL
						       : gitdb_find(applying->patching->db, applying->patching->tree, edit->path,
								    &entry, &found);
		if (error)
			return error;
		struct edit kept_edit = *edit;
		*edit = applying->edits[kept];
		applying->edits[kept] = kept_edit;
		kept += found;
	}
	while (applying->n > kept)
		free(applying->edits[--applying->n].path);
	return NULL;
}

static struct error *make_tree(struct applying *applying)
{
	AUTO_FREE struct gitdb_edit *edits = xcalloc(applying->n ? applying->n : 1, sizeof(*edits));
	char tree[OID_HEX_SIZE];

	memcpy(tree, applying->patching->tree, sizeof(tree));
	/* What goes first goes: a folder may take a file's place. */
	for (int setting = 0; setting < 2; setting++) {
		size_t n = 0;
		for (size_t i = 0; i < applying->n; i++)
			if (!applying->edits[i].entry.mode == !setting)
				edits[n++] = (struct gitdb_edit){ applying->edits[i].path, applying->edits[i].entry };
		struct error *error = n ? gitdb_edit_tree(applying->patching->db, tree, edits, n, tree) : NULL;
		if (error)
			return error;
	}
	memcpy(applying->patching->tree, tree, sizeof(tree));
	return NULL;
}

/* All of the patch is there already: that is said once, not file by file. */
static void shorten_errors(struct applying *applying)
{
	const struct patch *patch = applying->patch;

	if (!applying->errors || applying->already != patch->diff.n)
		return;
	error_free(applying->errors);
	applying->errors = error_at((struct pos){ patch->file, 0, 0 },
				    "patch '%s' is already applied: the kernel source has its changes", patch->subject);
}

struct error *patch_apply(struct patching *patching, const struct patch *patch, struct strlist *notes)
{
	struct applying applying = { .patching = patching, .patch = patch, .notes = notes };
	char before[OID_HEX_SIZE];

	memcpy(before, patching->tree, sizeof(before));
	for (size_t i = 0; i < patch->diff.n; i++) {
		applying.file = &patch->diff.files[i];
		bool tainted = is_tainted(&applying);
		struct error *failure = tainted ? NULL : apply_file(&applying);
		if (failure || tainted)
			taint(&applying);
		applying.failed += failure || tainted;
		error_join(&applying.errors, failure);
	}
	shorten_errors(&applying);
	struct error *error = drop_vain_removals(&applying);
	error_join(&applying.errors, error ? error : make_tree(&applying));
	if (!applying.errors && !applying.failed && !strcmp(before, patching->tree))
		applying.errors =
			error_at((struct pos){ patch->file, 0, 0 },
				 "patch '%s' changes nothing: the kernel source has its changes already", patch->subject);
	for (size_t i = 0; i < applying.n; i++)
		free(applying.edits[i].path);
	free(applying.edits);
	return applying.errors;
}
