/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "kernel/git_internal.h"

static struct error *open_tree(struct gitdb *db, const git_oid *oid, git_tree **tree_out)
{
	char hex[OID_HEX_SIZE];

	if (!git_tree_lookup(tree_out, db->repo, oid))
		return NULL;
	git_oid_text(oid, hex);
	return git_failure("cannot read tree %s", hex);
}

static struct error *open_tree_hex(struct gitdb *db, const char *hex, git_tree **tree_out)
{
	git_oid id;
	struct error *error = git_parse_oid(hex, &id);

	return error ? error : open_tree(db, &id, tree_out);
}

struct error *gitdb_find(struct gitdb *db, const char *tree, const char *path, struct gitdb_entry *entry_out, bool *found_out)
{
	AUTO_GIT_TREE root = NULL;
	git_tree_entry *entry = NULL;
	struct error *error = open_tree_hex(db, tree, &root);

	if (error)
		return error;
	int status = git_tree_entry_bypath(&entry, root, path);
	if (status && status != GIT_ENOTFOUND)
		return git_failure("cannot look for %s in tree %s", path, tree);
	if (!status) {
		entry_out->mode = git_tree_entry_filemode(entry);
		git_oid_text(git_tree_entry_id(entry), entry_out->oid);
		git_tree_entry_free(entry);
	}
	*found_out = !status;
	return NULL;
}

struct error *gitdb_strip_folder(struct gitdb *db, const char *tree, char tree_out[OID_HEX_SIZE])
{
	AUTO_GIT_TREE root = NULL;
	struct error *error = open_tree_hex(db, tree, &root);

	if (error)
		return error;
	const git_tree_entry *only = git_tree_entrycount(root) == 1 ? git_tree_entry_byindex(root, 0) : NULL;
	bool folder = only && git_tree_entry_type(only) == GIT_OBJECT_TREE;
	git_oid_text(folder ? git_tree_entry_id(only) : git_tree_id(root), tree_out);
	return NULL;
}

/* A comparison of two trees under way. */
struct walk {
	struct gitdb *db;
	gitdb_change_fn *fn;
	void *arg;
	struct strbuf path; /* of the entry at hand, from the root */
};

static struct error *compare(struct walk *walk, const git_oid *old_id, const git_oid *new_id);

static bool is_tree(const git_tree_entry *entry)
{
	return entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE;
}

/* Files and links; neither folders nor submodules. */
static bool is_blob(const git_tree_entry *entry)
{
	return entry && git_tree_entry_type(entry) == GIT_OBJECT_BLOB;
}

static struct error *report(struct walk *walk, const git_tree_entry *old_entry, const git_tree_entry *new_entry)
{
	struct gitdb_change change = {
		.path = strbuf_str(&walk->path),
		.old_mode = old_entry ? git_tree_entry_filemode(old_entry) : 0,
		.mode = new_entry ? git_tree_entry_filemode(new_entry) : 0,
	};

	if (new_entry)
		git_oid_text(git_tree_entry_id(new_entry), change.oid);
	return walk->fn(walk->arg, &change);
}

static struct error *compare_entries(struct walk *walk, const git_tree_entry *old_entry, const git_tree_entry *new_entry)
{
	struct error *error = NULL;

	if (old_entry && new_entry && git_tree_entry_filemode(old_entry) == git_tree_entry_filemode(new_entry) &&
	    git_oid_equal(git_tree_entry_id(old_entry), git_tree_entry_id(new_entry)))
		return NULL;
	if (is_tree(old_entry) && is_tree(new_entry))
		return compare(walk, git_tree_entry_id(old_entry), git_tree_entry_id(new_entry));
	if (is_blob(old_entry) && is_blob(new_entry))
		return report(walk, old_entry, new_entry);
	if (is_tree(old_entry))
		error = compare(walk, git_tree_entry_id(old_entry), NULL);
	else if (is_blob(old_entry))
		error = report(walk, old_entry, NULL);
	if (!error && is_tree(new_entry))
		error = compare(walk, NULL, git_tree_entry_id(new_entry));
	else if (!error && is_blob(new_entry))
		error = report(walk, NULL, new_entry);
	return error;
}

static struct error *compare_named(struct walk *walk, const git_tree_entry *old_entry, const git_tree_entry *new_entry)
{
	size_t len = walk->path.len;

	if (len)
		strbuf_addch(&walk->path, '/');
	strbuf_adds(&walk->path, git_tree_entry_name(old_entry ? old_entry : new_entry));
	struct error *error = compare_entries(walk, old_entry, new_entry);
	walk->path.len = len;
	if (walk->path.data)
		walk->path.data[len] = '\0';
	return error;
}

/* NULL = empty. What only the old tree has goes first. */
static struct error *compare(struct walk *walk, const git_oid *old_id, const git_oid *new_id)
{
	AUTO_GIT_TREE old_tree = NULL;
	AUTO_GIT_TREE new_tree = NULL;
	struct error *error = old_id ? open_tree(walk->db, old_id, &old_tree) : NULL;

	if (!error && new_id)
		error = open_tree(walk->db, new_id, &new_tree);
	size_t n_old = old_tree ? git_tree_entrycount(old_tree) : 0, n_new = new_tree ? git_tree_entrycount(new_tree) : 0;
	for (size_t i = 0; !error && i < n_old; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(old_tree, i);
		if (!new_tree || !git_tree_entry_byname(new_tree, git_tree_entry_name(entry)))
			error = compare_named(walk, entry, NULL);
	}
	for (size_t i = 0; !error && i < n_new; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(new_tree, i);
		error = compare_named(walk, old_tree ? git_tree_entry_byname(old_tree, git_tree_entry_name(entry)) : NULL, entry);
	}
	return error;
}

struct error *gitdb_diff(struct gitdb *db, const char *old_tree, const char *new_tree, gitdb_change_fn *fn, void *arg)
{
	struct walk walk = { .db = db, .fn = fn, .arg = arg };
	git_oid old_id, new_id;
	struct error *error = old_tree ? git_parse_oid(old_tree, &old_id) : NULL;

	if (!error && new_tree)
		error = git_parse_oid(new_tree, &new_id);
	if (!error && !(old_tree && new_tree && git_oid_equal(&old_id, &new_id)))
		error = compare(&walk, old_tree ? &old_id : NULL, new_tree ? &new_id : NULL);
	strbuf_deinit(&walk.path);
	return error;
}

struct error *gitdb_edit_tree(struct gitdb *db, const char *tree, const struct gitdb_edit *edits, size_t n,
			      char tree_out[OID_HEX_SIZE])
{
	AUTO_GIT_TREE root = NULL;
	struct error *error = open_tree_hex(db, tree, &root);

	if (error)
		return error;
	AUTO_FREE git_tree_update *updates = xcalloc(n ? n : 1, sizeof(*updates));
	for (size_t i = 0; i < n; i++) {
		updates[i].action = edits[i].entry.mode ? GIT_TREE_UPDATE_UPSERT : GIT_TREE_UPDATE_REMOVE;
		updates[i].filemode = edits[i].entry.mode;
		updates[i].path = edits[i].path;
		error = edits[i].entry.mode ? git_parse_oid(edits[i].entry.oid, &updates[i].id) : NULL;
		if (error)
			return error;
	}
	git_oid id;
	if (git_tree_create_updated(&id, db->repo, root, n, updates))
		return git_failure("cannot make a tree from %s", tree);
	git_oid_text(&id, tree_out);
	return NULL;
}
