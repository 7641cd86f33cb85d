/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct error *file_read(const char *path, struct strbuf *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);

	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return error_os(EISDIR, "cannot read %s", path);
	/* With room for the read that finds the end. */
	strbuf_reserve(out, (st.st_size > 0 ? (size_t)st.st_size : 0) + 4096);
	for (;;) {
		strbuf_reserve(out, 4096);
		ssize_t got = read(fd, out->data + out->len, out->cap - out->len - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_os(errno, "cannot read %s", path);
		out->len += (size_t)got;
		out->data[out->len] = '\0';
		if (!got)
			return NULL;
	}
}

static struct error *write_all(int fd, const char *path, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t put = write(fd, at, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return error_os(errno, "cannot write %s", path);
		at += put;
		len -= (size_t)put;
	}
	return NULL;
}

static struct error *sync_folder_of(const char *path)
{
	AUTO_FREE char *dir = path_dirname(path);
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "cannot open folder %s", dir);
	/* Some file systems refuse to sync a folder; there rename() alone has to do. */
	if (fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		return error_os(errno, "cannot sync folder %s", dir);
	return NULL;
}

/* Makes a temporary file beside `path`; the caller frees *name_out and closes the descriptor. */
static struct error *temporary_beside(const char *path, char **name_out, int *fd_out)
{
	char *name = xasprintf("%s.tmp-XXXXXX", path);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0) {
		struct error *error = error_os(errno, "cannot create a file beside %s", path);
		free(name);
		return error;
	}
	*name_out = name;
	*fd_out = fd;
	return NULL;
}

/* Syncs and renames a finished temporary file; removes it when that or what came before failed. */
static struct error *commit_temporary(struct error *error, int fd, mode_t mode, const char *temporary, const char *path)
{
	if (!error && fchmod(fd, mode & 07777) < 0)
		error = error_os(errno, "cannot set the mode of %s", path);
	if (!error && fsync(fd) < 0)
		error = error_os(errno, "cannot write %s", path);
	if (!error)
		error = file_rename(temporary, path);
	if (error)
		unlink(temporary);
	return error;
}

struct error *file_write_atomic(const char *path, const void *data, size_t len, mode_t mode)
{
	AUTO_FREE char *temporary = NULL;
	AUTO_CLOSE int fd = -1;
	struct error *error = temporary_beside(path, &temporary, &fd);

	if (error)
		return error;
	return commit_temporary(write_all(fd, path, data, len), fd, mode, temporary, path);
}

struct error *file_mkdirs(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);

	for (char *at = copy + 1; *copy; at++) {
		if (*at && *at != '/')
			continue;
		char kept = *at;
		*at = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return error_os(errno, "cannot make folder %s", copy);
		*at = kept;
		if (!kept)
			break;
	}
	return file_is_dir(path) ? NULL : error_os(ENOTDIR, "cannot make folder %s", path);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	int failed = type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path);
	return failed && errno != ENOENT ? -1 : 0;
}

struct error *file_remove_tree(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? NULL : error_os(errno, "cannot remove %s", path);
	if (nftw(path, remove_entry, 64, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return error_os(errno, "cannot remove %s", path);
	return NULL;
}

static struct error *copy_bytes(int in, int out, const char *from, const char *to)
{
	if (ioctl(out, FICLONE, in) == 0)
		return NULL;
	AUTO_FREE char *block = xmalloc(1 << 16);
	for (;;) {
		ssize_t got = read(in, block, 1 << 16);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_os(errno, "cannot read %s", from);
		if (!got)
			return NULL;
		struct error *error = write_all(out, to, block, (size_t)got);
		if (error)
			return error;
	}
}

struct error *file_copy(const char *from, const char *to)
{
	AUTO_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return error_os(errno, "cannot open %s", from);
	struct stat st;
	if (fstat(in, &st) < 0)
		return error_os(errno, "cannot read %s", from);

	AUTO_FREE char *temporary = NULL;
	AUTO_CLOSE int out = -1;
	struct error *error = temporary_beside(to, &temporary, &out);
	if (error)
		return error;
	return commit_temporary(copy_bytes(in, out, from, to), out, st.st_mode, temporary, to);
}

struct error *file_rename(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		return error_os(errno, "cannot rename %s to %s", from, to);
	return sync_folder_of(to);
}

struct error *file_symlink(const char *target, const char *path)
{
	AUTO_FREE char *temporary = xasprintf("%s.tmp-%ld", path, (long)getpid());

	unlink(temporary);
	if (symlink(target, temporary) < 0)
		return error_os(errno, "cannot link %s", temporary);
	struct error *error = file_rename(temporary, path);
	if (error)
		unlink(temporary);
	return error;
}

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct error *file_size(const char *path, uint64_t *bytes_out)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_os(errno, "cannot read %s", path);
	*bytes_out = (uint64_t)st.st_size;
	return NULL;
}

static struct error *add_tree_size(int parent, const char *name, const char *path, uint64_t *bytes)
{
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? NULL : error_os(errno, "cannot read %s", path);
	*bytes += (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return NULL;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return errno == ENOENT ? NULL : error_os(errno, "cannot open folder %s", path);
	}
	struct error *error = NULL;
	for (struct dirent *entry; !error && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			error = add_tree_size(dirfd(dir), entry->d_name, path, bytes);
	closedir(dir);
	return error;
}

struct error *file_tree_size(const char *path, uint64_t *bytes_out)
{
	uint64_t bytes = 0;
	struct error *error = add_tree_size(AT_FDCWD, path, path, &bytes);

	if (!error)
		*bytes_out = bytes;
	return error;
}

struct error *file_free_space(const char *path, uint64_t *bytes_out)
{
	AUTO_FREE char *at = path_absolute(path);

	while (!file_exists(at) && strcmp(at, "/")) {
		char *parent = path_dirname(at);
		free(at);
		at = parent;
	}
	struct statvfs st;
	if (statvfs(at, &st) < 0)
		return error_os(errno, "cannot ask for the free space at %s", at);
	*bytes_out = (uint64_t)st.f_bavail * st.f_frsize;
	return NULL;
}

struct error *file_list(const char *path, struct strlist *names_out)
{
	DIR *dir = opendir(path);

	if (!dir)
		return error_os(errno, "cannot open folder %s", path);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			strlist_add(names_out, entry->d_name);
	closedir(dir);
	strlist_sort(names_out);
	return NULL;
}

char *path_join(const char *dir, const char *name)
{
	if (*name == '/' || !*dir)
		return xstrdup(name);
	return xasprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
}

char *path_dirname(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Removes "." and "NAME/.." parts and doubled slashes; leading ".." stay. */
static char *normalise(const char *path)
{
	AUTO_STRLIST parts = { NULL, 0 };
	AUTO_FREE char *copy = xstrdup(path);
	char *rest = copy, *part;

	while ((part = strsep(&rest, "/"))) {
		if (!*part || !strcmp(part, "."))
			continue;
		if (!strcmp(part, "..") && parts.n && strcmp(parts.items[parts.n - 1], "..")) {
			free(parts.items[--parts.n]);
			continue;
		}
		if (!strcmp(part, "..") && *path == '/')
			continue;
		parts.items = xreallocarray(parts.items, parts.n + 1, sizeof(*parts.items));
		parts.items[parts.n++] = xstrdup(part);
	}
	struct strbuf out = STRBUF_INIT;
	if (*path == '/')
		strbuf_addch(&out, '/');
	for (size_t i = 0; i < parts.n; i++)
		strbuf_addf(&out, "%s%s", i ? "/" : "", parts.items[i]);
	if (!out.len)
		strbuf_addch(&out, '.');
	return strbuf_steal(&out);
}

char *path_relative_to_file(const char *in_file, const char *path)
{
	AUTO_FREE char *dir = path_dirname(in_file);
	AUTO_FREE char *joined = path_join(dir, path);

	return normalise(joined);
}

char *path_absolute(const char *path)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *joined = path_join(cwd ? cwd : "/", path);

	return normalise(joined);
}
