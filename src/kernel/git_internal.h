/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by git.c and git_*.c alone: what knows libgit2's types. */
#ifndef KERNEL_GIT_INTERNAL_H
#define KERNEL_GIT_INTERNAL_H

#include <git2.h>

#include "kernel/git.h"

struct gitdb {
	git_repository *repo;
	git_odb *odb; /* the repository's, with the user's objects behind */
	char *objects; /* or NULL */
};

/* Starts libgit2 with the settings this project needs; each call has its git_libgit2_shutdown(). */
void git_start(void);
/* ERROR_LAB: the message, then libgit2's reason. */
struct error *git_failure(const char *format, ...) PRINTF_FORMAT(1, 2) MUST_CHECK;
struct error *git_parse_oid(const char *hex, git_oid *oid_out) MUST_CHECK;
void git_oid_text(const git_oid *oid, char hex_out[OID_HEX_SIZE]);
/* An object database backend that reads from the objects folder at `path` and has no way to write there. */
struct error *git_readonly_backend(const char *path, git_odb_backend **backend_out) MUST_CHECK;

static inline void cleanup_git_tree(git_tree **tree)
{
	git_tree_free(*tree);
}
static inline void cleanup_git_repository(git_repository **repo)
{
	git_repository_free(*repo);
}
static inline void cleanup_git_commit(git_commit **commit)
{
	git_commit_free(*commit);
}
#define AUTO_GIT_TREE CLEANUP(cleanup_git_tree) git_tree *
#define AUTO_GIT_REPOSITORY CLEANUP(cleanup_git_repository) git_repository *
#define AUTO_GIT_COMMIT CLEANUP(cleanup_git_commit) git_commit *

#endif
