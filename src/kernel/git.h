/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Git objects (libgit2, in git*.c alone). The cache's bare repository holds all that is written; a user's own repository is only
 * ever read: its objects stand behind the cache's in memory, and no call here writes, touches or locks anything of it.
 * Object ids are hexadecimal text; modes are git's (0100644, 0100755, 0120000, 040000, 0160000).
 */
#ifndef KERNEL_GIT_H
#define KERNEL_GIT_H

#include "base/proc.h"
#include "kernel/source.h"

struct gitdb;

/* Opens the cache's repository, making it if need be. `objects` (may be NULL): objects folder of a user's repository, read besides. */
struct error *gitdb_open(const struct cache *cache, const char *objects, struct gitdb **db_out) MUST_CHECK;
void gitdb_close(struct gitdb *db);
void cleanup_gitdb(struct gitdb **db);
#define AUTO_GITDB CLEANUP(cleanup_gitdb) struct gitdb *

bool gitdb_has(struct gitdb *db, const char *oid);
struct error *gitdb_read_blob(struct gitdb *db, const char *oid, struct strbuf *out) MUST_CHECK; /* appends */
/* A blob by an abbreviated id (at least 4 digits): *found_out is false when there is none, or more than one. */
struct error *gitdb_read_abbreviated(struct gitdb *db, const char *abbreviated, struct strbuf *out, bool *found_out) MUST_CHECK;
struct error *gitdb_write_blob(struct gitdb *db, const void *data, size_t len, char oid_out[OID_HEX_SIZE]) MUST_CHECK;
/* The commit that a ref of the cache's repository points to. */
struct error *gitdb_read_ref(struct gitdb *db, const char *ref, char commit_out[OID_HEX_SIZE]) MUST_CHECK;
struct error *gitdb_commit_tree(struct gitdb *db, const char *commit, char tree_out[OID_HEX_SIZE]) MUST_CHECK;

/* One entry of a tree. */
struct gitdb_entry {
	unsigned mode;
	char oid[OID_HEX_SIZE];
};
/* *found_out is false when `path` is not in the tree. */
struct error *gitdb_find(struct gitdb *db, const char *tree, const char *path, struct gitdb_entry *entry_out,
			 bool *found_out) MUST_CHECK;
/* If the tree has one entry and that is a tree (a tarball's leading folder): that one's id, else its own. */
struct error *gitdb_strip_folder(struct gitdb *db, const char *tree, char tree_out[OID_HEX_SIZE]) MUST_CHECK;

/* What differs between two trees at a path that is no folder. */
struct gitdb_change {
	const char *path; /* valid during the call */
	unsigned old_mode; /* 0 = new */
	unsigned mode; /* 0 = gone */
	char oid[OID_HEX_SIZE]; /* of the new side */
};
typedef struct error *gitdb_change_fn(void *arg, const struct gitdb_change *change);
/*
 * Calls `fn` for every file that differs, in the order of trees; what goes from a path comes before what is new below or in its
 * place. NULL stands for the empty tree. Stops at the first error of `fn` and returns it. Submodules are left out.
 */
struct error *gitdb_diff(struct gitdb *db, const char *old_tree, const char *new_tree, gitdb_change_fn *fn, void *arg) MUST_CHECK;

/* The tree that results from setting (mode not 0) and removing (mode 0) paths. */
struct gitdb_edit {
	const char *path;
	struct gitdb_entry entry;
};
struct error *gitdb_edit_tree(struct gitdb *db, const char *tree, const struct gitdb_edit *edits, size_t n,
			      char tree_out[OID_HEX_SIZE]) MUST_CHECK;

/* A commit to make. The committer is the author, so that the same input gives the same id. */
struct gitdb_commit {
	const char *tree;
	const char *parent; /* NULL = none */
	const char *author, *email;
	int64_t time_s;
	int offset_min; /* of the author's time zone */
	const char *message;
};
struct error *gitdb_write_commit(struct gitdb *db, const struct gitdb_commit *commit, char oid_out[OID_HEX_SIZE]) MUST_CHECK;

/* Three-way merge of texts; appends to `out` and sets *clean_out, or leaves both and sets it to false on a conflict. */
struct error *gitdb_merge(const struct strbuf *ancestor, const struct strbuf *ours, const struct strbuf *theirs,
			  struct strbuf *out, bool *clean_out) MUST_CHECK;

/* --- a user's repository, only read --- */

/* `rev` of the repository at `path`: its commit and tree; *objects_out, its objects folder, is the caller's to free. */
struct error *git_user_resolve(const char *path, const char *rev, char commit_out[OID_HEX_SIZE], char tree_out[OID_HEX_SIZE],
			       char **objects_out) MUST_CHECK;

/* A commit range, oldest first. */
struct git_range {
	char *objects;
	char start_tree[OID_HEX_SIZE]; /* of the first commit's parent */
	struct git_range_commit {
		char commit[OID_HEX_SIZE];
		char tree[OID_HEX_SIZE];
		char *subject;
		char *message;
		char *author, *email;
		int64_t time_s;
		int offset_min;
	} * commits;
	size_t n;
};
/* ERROR_INPUT when the range is malformed, empty or no straight line of single-parent commits. */
struct error *git_user_range(const char *path, const char *range, struct git_range **range_out) MUST_CHECK;
void git_range_free(struct git_range *range);
/* The i-th commit as a patch with full index lines and renames found, appended to `out`. */
struct error *git_range_patch(const struct git_range *range, size_t i, struct strbuf *out) MUST_CHECK;
/* Copies what the i-th commit's tree has and `db` does not, with the commit itself, into the cache. */
struct error *git_range_copy(const struct git_range *range, size_t i, struct gitdb *db) MUST_CHECK;

#endif
