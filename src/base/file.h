/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, folders and paths. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct error *file_read(const char *path, struct strbuf *out) MUST_CHECK; /* appends */
/* Writes a temporary file beside `path`, fsyncs it, renames it over `path` and fsyncs the folder: readers see the old or the new file, never half. */
struct error *file_write_atomic(const char *path, const void *data, size_t len, mode_t mode) MUST_CHECK;
/* mkdir -p */
struct error *file_mkdirs(const char *path) MUST_CHECK;
/* rm -rf; a missing path is no error; links are removed, not followed. */
struct error *file_remove_tree(const char *path) MUST_CHECK;
/* Copies bytes and permission bits (reflink where the file system can). The target is replaced atomically. */
struct error *file_copy(const char *from, const char *to) MUST_CHECK;
/* rename() with fsync of the target's folder. */
struct error *file_rename(const char *from, const char *to) MUST_CHECK;
/* Replaces the symbolic link `path` atomically. */
struct error *file_symlink(const char *target, const char *path) MUST_CHECK;
bool file_exists(const char *path); /* anything of that name (follows links) */
bool file_is_dir(const char *path);
bool file_is_regular(const char *path);
struct error *file_size(const char *path, uint64_t *bytes_out) MUST_CHECK;
/* Sum of allocated bytes below `path`. */
struct error *file_tree_size(const char *path, uint64_t *bytes_out) MUST_CHECK;
/* Free bytes for this user on the file system that holds `path` (or its nearest existing parent). */
struct error *file_free_space(const char *path, uint64_t *bytes_out) MUST_CHECK;
/* Names (not paths) in a folder, without . and .., sorted bytewise. */
struct error *file_list(const char *path, struct strlist *names_out) MUST_CHECK;

/* Each returns a string the caller frees. */
char *path_join(const char *dir, const char *name); /* `name` alone when it is absolute */
char *path_dirname(const char *path); /* "." when there is no '/' */
const char *path_basename(const char *path); /* points into `path` */
/* A path that stands in the file `in_file`, made relative to that file's folder, and normalised textually ("a/../b" to "b"). */
char *path_relative_to_file(const char *in_file, const char *path);
char *path_absolute(const char *path); /* textual, with the working folder */

#endif
