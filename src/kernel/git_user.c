/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Users' own repositories: opened, read and closed. */
#include <stdlib.h>
#include <string.h>

#include "kernel/git_internal.h"

static struct error *open_user(const char *path, git_repository **repo_out)
{
	if (git_repository_open_ext(repo_out, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL))
		return git_failure("cannot open the git repository %s", path);
	return NULL;
}

static char *objects_folder(git_repository *repo)
{
	return xasprintf("%sobjects", git_repository_commondir(repo));
}

static struct error *resolve_commit(git_repository *repo, const char *path, const char *rev, git_commit **commit_out)
{
	git_object *object = NULL, *peeled = NULL;
	struct error *error = NULL;

	if (git_revparse_single(&object, repo, rev) || git_object_peel(&peeled, object, GIT_OBJECT_COMMIT)) {
		const git_error *why = git_error_last();
		error = error_new(ERROR_INPUT, "'%s' names no commit of %s (%s)", rev, path, why ? why->message : "not found");
	} else {
		*commit_out = (git_commit *)peeled;
	}
	git_object_free(object);
	return error;
}

struct error *git_user_resolve(const char *path, const char *rev, char commit_out[OID_HEX_SIZE], char tree_out[OID_HEX_SIZE],
			       char **objects_out)
{
	git_start();
	AUTO_GIT_REPOSITORY repo = NULL;
	AUTO_GIT_COMMIT commit = NULL;
	struct error *error = open_user(path, &repo);

	if (!error)
		error = resolve_commit(repo, path, rev, &commit);
	if (!error) {
		git_oid_text(git_commit_id(commit), commit_out);
		git_oid_text(git_commit_tree_id(commit), tree_out);
		*objects_out = objects_folder(repo);
	}
	git_commit_free(take_ptr(commit));
	git_repository_free(take_ptr(repo));
	git_libgit2_shutdown();
	return error;
}

static const char *or_text(const char *text, const char *fallback)
{
	return text && *text ? text : fallback;
}

static struct error *add_commit(git_repository *repo, const git_oid *id, struct git_range *range)
{
	AUTO_GIT_COMMIT commit = NULL;
	char hex[OID_HEX_SIZE];

	git_oid_text(id, hex);
	if (git_commit_lookup(&commit, repo, id))
		return git_failure("cannot read commit %s", hex);
	if (git_commit_parentcount(commit) > 1)
		return error_new(ERROR_INPUT, "commit %.12s is a merge: a series is a straight line of commits", hex);
	const git_signature *author = git_commit_author(commit);
	range->commits = array_grow(range->commits, range->n, sizeof(*range->commits));
	struct git_range_commit *added = &range->commits[range->n++];
	*added = (struct git_range_commit){
		.subject = xstrdup(or_text(git_commit_summary(commit), hex)),
		.message = xstrdup(or_text(git_commit_message(commit), hex)),
		.author = xstrdup(or_text(author->name, "unknown")),
		.email = xstrdup(or_text(author->email, "unknown")),
		.time_s = author->when.time,
		.offset_min = author->when.offset,
	};
	memcpy(added->commit, hex, sizeof(hex));
	git_oid_text(git_commit_tree_id(commit), added->tree);
	return NULL;
}

/* The trees must follow one another without a gap: the range's first commit stands on `start`. */
static struct error *check_line(git_repository *repo, const struct git_range *range, const git_oid *start)
{
	for (size_t i = 0; i < range->n; i++) {
		AUTO_GIT_COMMIT commit = NULL;
		git_oid id, before;
		struct error *error = git_parse_oid(range->commits[i].commit, &id);
		if (!error && i)
			error = git_parse_oid(range->commits[i - 1].commit, &before);
		if (error)
			return error;
		if (!i)
			git_oid_cpy(&before, start);
		if (git_commit_lookup(&commit, repo, &id))
			return git_failure("cannot read commit %s", range->commits[i].commit);
		if (git_commit_parentcount(commit) != 1 || !git_oid_equal(git_commit_parent_id(commit, 0), &before))
			return error_new(ERROR_INPUT,
					 "commit %.12s (%s) does not stand on the one before it: the range is no straight line",
					 range->commits[i].commit, range->commits[i].subject);
	}
	return NULL;
}

static struct error *walk_range(git_repository *repo, const char *path, const char *from, const char *to, struct git_range *range)
{
	AUTO_GIT_COMMIT start = NULL;
	AUTO_GIT_COMMIT end = NULL;
	git_revwalk *walk = NULL;
	git_oid id;
	struct error *error = resolve_commit(repo, path, from, &start);

	error_join(&error, resolve_commit(repo, path, to, &end));
	if (error)
		return error;
	if (git_revwalk_new(&walk, repo) || git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) ||
	    git_revwalk_push(walk, git_commit_id(end)) || git_revwalk_hide(walk, git_commit_id(start)))
		error = git_failure("cannot walk the commits of %s", path);
	while (!error && !git_revwalk_next(&id, walk))
		error = add_commit(repo, &id, range);
	git_revwalk_free(walk);
	if (!error && !range->n)
		error = error_new(ERROR_INPUT, "range %s..%s has no commits", from, to);
	if (!error)
		error = check_line(repo, range, git_commit_id(start));
	if (!error)
		git_oid_text(git_commit_tree_id(start), range->start_tree);
	return error;
}

struct error *git_user_range(const char *path, const char *range, struct git_range **range_out)
{
	const char *dots = strstr(range, "..");

	if (!dots || dots == range || !dots[2] || dots[2] == '.')
		return error_new(ERROR_INPUT, "'%s' is no commit range: write FROM..TO", range);
	AUTO_FREE char *from = xstrndup(range, (size_t)(dots - range));
	struct git_range *found = xcalloc(1, sizeof(*found));
	git_start();
	AUTO_GIT_REPOSITORY repo = NULL;
	struct error *error = open_user(path, &repo);
	if (!error)
		error = walk_range(repo, path, from, dots + 2, found);
	if (!error)
		found->objects = objects_folder(repo);
	git_repository_free(take_ptr(repo));
	git_libgit2_shutdown();
	if (error)
		git_range_free(found);
	else
		*range_out = found;
	return error;
}

void git_range_free(struct git_range *range)
{
	if (!range)
		return;
	for (size_t i = 0; i < range->n; i++) {
		free(range->commits[i].subject);
		free(range->commits[i].message);
		free(range->commits[i].author);
		free(range->commits[i].email);
	}
	free(range->commits);
	free(range->objects);
	free(range);
}

/* Opens the objects folder alone, as a repository without refs, config or index. */
static struct error *open_objects(const char *objects, git_odb **odb_out, git_repository **repo_out)
{
	if (git_odb_open(odb_out, objects) || git_repository_wrap_odb(repo_out, *odb_out))
		return git_failure("cannot open git objects %s", objects);
	return NULL;
}

static struct error *lookup_tree(git_repository *repo, const char *hex, git_tree **tree_out)
{
	git_oid id;
	struct error *error = git_parse_oid(hex, &id);

	if (!error && git_tree_lookup(tree_out, repo, &id))
		error = git_failure("cannot read tree %s", hex);
	return error;
}

static struct error *print_patch(git_repository *repo, const char *old_hex, const char *new_hex, struct strbuf *out)
{
	AUTO_GIT_TREE old_tree = NULL;
	AUTO_GIT_TREE new_tree = NULL;
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	git_diff *diff = NULL;
	git_buf text = { 0 };
	struct error *error = lookup_tree(repo, old_hex, &old_tree);

	options.id_abbrev = GIT_OID_HEXSZ;
	if (!error)
		error = lookup_tree(repo, new_hex, &new_tree);
	if (error)
		return error;
	if (git_diff_tree_to_tree(&diff, repo, old_tree, new_tree, &options) || git_diff_find_similar(diff, NULL) ||
	    git_diff_to_buf(&text, diff, GIT_DIFF_FORMAT_PATCH))
		error = git_failure("cannot compare trees %s and %s", old_hex, new_hex);
	else
		strbuf_add(out, text.ptr, text.size);
	git_buf_dispose(&text);
	git_diff_free(diff);
	return error;
}

struct error *git_range_patch(const struct git_range *range, size_t i, struct strbuf *out)
{
	git_odb *odb = NULL;

	git_start();
	AUTO_GIT_REPOSITORY repo = NULL;
	struct error *error = open_objects(range->objects, &odb, &repo);
	if (!error)
		error = print_patch(repo, i ? range->commits[i - 1].tree : range->start_tree, range->commits[i].tree, out);
	git_repository_free(take_ptr(repo));
	git_odb_free(odb);
	git_libgit2_shutdown();
	return error;
}

static struct error *copy_object(git_odb *from, struct gitdb *to, const git_oid *id)
{
	git_odb_object *object;
	git_oid written;

	if (git_odb_read(&object, from, id))
		return git_failure("cannot read git object %s", git_oid_tostr_s(id));
	struct error *error = NULL;
	if (git_odb_write(&written, to->odb, git_odb_object_data(object), git_odb_object_size(object),
			  git_odb_object_type(object)))
		error = git_failure("cannot write to the object store");
	git_odb_object_free(object);
	return error;
}

/* A tree that is there is complete: this copies what a tree holds before the tree, and imports are all or nothing. */
static struct error *copy_tree(git_repository *repo, git_odb *from, struct gitdb *to, const git_oid *id)
{
	AUTO_GIT_TREE tree = NULL;
	struct error *error = NULL;

	if (git_odb_exists(to->odb, id))
		return NULL;
	if (git_tree_lookup(&tree, repo, id))
		return git_failure("cannot read tree %s", git_oid_tostr_s(id));
	for (size_t i = 0; !error && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const git_oid *child = git_tree_entry_id(entry);
		if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
			error = copy_tree(repo, from, to, child);
		else if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB && !git_odb_exists(to->odb, child))
			error = copy_object(from, to, child);
	}
	return error ? error : copy_object(from, to, id);
}

struct error *git_range_copy(const struct git_range *range, size_t i, struct gitdb *db)
{
	git_odb *odb = NULL;
	git_oid tree, commit;

	git_start();
	AUTO_GIT_REPOSITORY repo = NULL;
	struct error *error = open_objects(range->objects, &odb, &repo);
	if (!error)
		error = git_parse_oid(range->commits[i].tree, &tree);
	if (!error)
		error = git_parse_oid(range->commits[i].commit, &commit);
	if (!error)
		error = copy_tree(repo, odb, db, &tree);
	if (!error && !git_odb_exists(db->odb, &commit))
		error = copy_object(odb, db, &commit);
	git_repository_free(take_ptr(repo));
	git_odb_free(odb);
	git_libgit2_shutdown();
	return error;
}
