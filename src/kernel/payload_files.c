/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/payload_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"

void payload_files_deinit(struct payload_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->items[i].path);
		strbuf_deinit(&files->items[i].data);
	}
	free(files->items);
	*files = (struct payload_files){ NULL, 0 };
}

static struct payload_file *find(const struct payload_files *files, const char *path)
{
	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(files->items[i].path, path))
			return &files->items[i];
	return NULL;
}

void payload_files_add(struct payload_files *files, const char *path, mode_t mode, const void *data, size_t len)
{
	struct payload_file *file = find(files, path);

	if (!file) {
		files->items = array_grow(files->items, files->n, sizeof(*files->items));
		file = &files->items[files->n++];
		*file = (struct payload_file){ .path = xstrdup(path), .data = STRBUF_INIT };
	}
	strbuf_deinit(&file->data);
	file->data = (struct strbuf)STRBUF_INIT;
	file->mode = mode;
	strbuf_add(&file->data, data, len);
}

struct error *payload_files_copy(struct payload_files *files, const char *from, const char *path)
{
	const struct payload_file *file = find(files, from);
	AUTO_STRBUF data = STRBUF_INIT;

	if (!file)
		return error_new(ERROR_LAB, "%s is a link to %s, which is not there", path, from);
	strbuf_add(&data, file->data.data, file->data.len);
	payload_files_add(files, path, file->mode, data.data, data.len);
	return NULL;
}

static struct error *take_folder(struct payload_files *files, const char *from, const char *path)
{
	AUTO_STRLIST names = { NULL, 0 };
	struct error *error = file_list(from, &names);

	for (size_t i = 0; !error && i < names.n; i++) {
		AUTO_FREE char *inner_from = path_join(from, names.items[i]);
		AUTO_FREE char *inner_path = path_join(path, names.items[i]);
		error = payload_files_take(files, inner_from, inner_path);
	}
	return error;
}

static struct error *take_link(struct payload_files *files, const char *from, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target));

	if (n < 0)
		return error_os(errno, "cannot read the link %s", from);
	payload_files_add(files, path, S_IFLNK | 0777, target, (size_t)n);
	return NULL;
}

struct error *payload_files_take(struct payload_files *files, const char *from, const char *path)
{
	AUTO_STRBUF data = STRBUF_INIT;
	struct stat status;

	if (lstat(from, &status))
		return error_os(errno, "cannot read %s", from);
	if (S_ISDIR(status.st_mode))
		return take_folder(files, from, path);
	if (S_ISLNK(status.st_mode))
		return take_link(files, from, path);
	if (!S_ISREG(status.st_mode))
		return error_new(ERROR_INPUT, "%s is neither file, folder nor symbolic link", from);
	struct error *error = file_read(from, &data);
	/* Who may read it on the device is no matter, who may execute it is. */
	if (!error)
		payload_files_add(files, path, S_IFREG | (status.st_mode & 0111 ? 0755 : 0644), data.data, data.len);
	return error;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct payload_file *)a)->path, ((const struct payload_file *)b)->path);
}

static void sort(struct payload_files *files)
{
	if (files->n)
		qsort(files->items, files->n, sizeof(*files->items), by_path);
}

void payload_files_hash(struct payload_files *files, struct hash *hash)
{
	sort(files);
	for (size_t i = 0; i < files->n; i++) {
		char digest[HASH_HEX_SIZE];
		AUTO_FREE char *mode = xasprintf("%o", files->items[i].mode);
		hash_bytes(files->items[i].data.data, files->items[i].data.len, digest);
		hash_field(hash, "path", files->items[i].path);
		hash_field(hash, "mode", mode);
		hash_field(hash, "content", digest);
	}
}

/* The folders above `path`, each once. */
static void add_folders(const char *path, struct strlist *folders)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		AUTO_FREE char *folder = xstrndup(path, (size_t)(slash - path));
		if (!strlist_has(folders, folder))
			strlist_add(folders, folder);
	}
}

struct error *payload_files_pack(struct payload_files *files, struct strbuf *out)
{
	AUTO_STRLIST folders = { NULL, 0 };

	sort(files);
	for (size_t i = 0; i < files->n; i++)
		add_folders(files->items[i].path, &folders);
	AUTO_FREE struct cpio_entry *entries = xcalloc(folders.n + files->n + 1, sizeof(*entries));
	size_t n = 0;
	for (size_t i = 0; i < folders.n; i++)
		entries[n++] = (struct cpio_entry){ .path = folders.items[i],
						    .mode = S_IFDIR | (strcmp(folders.items[i], "tmp") ? 0755 : 01777) };
	for (size_t i = 0; i < files->n; i++) {
		const struct payload_file *file = &files->items[i];
		if (!strlist_has(&folders, file->path))
			entries[n++] = (struct cpio_entry){
				.path = file->path, .mode = file->mode, .data = strbuf_str(&file->data), .size = file->data.len
			};
	}
	return cpio_write(entries, n, out);
}
