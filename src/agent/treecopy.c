/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/treecopy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/undo.h"

#define BLOCK 65536

/* Where it is, in both; after a failure where it failed, with errno. */
struct copier {
	char from[PATH_MAX], to[PATH_MAX];
};

static bool copy_bytes(int from, int to)
{
	char block[BLOCK];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, (size_t)n) != n)
			return false;
	}
	return n == 0;
}

static bool copy_file(const struct copier *copier, mode_t mode)
{
	int from = open(copier->from, O_RDONLY | O_CLOEXEC);
	int to = from < 0 ? -1 : open(copier->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 07777);
	bool good = to >= 0 && copy_bytes(from, to);
	const int failure = errno;

	if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
	errno = failure;
	return good;
}

static bool copy_link(const struct copier *copier)
{
	char target[PATH_MAX];
	ssize_t n = readlink(copier->from, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return !symlink(target, copier->to);
}

static bool copy_any(struct copier *copier);

/* Appends "/NAME" to both paths, or takes it off again. */
static bool enter(struct copier *copier, const char *name)
{
	const size_t len = strlen(name) + 2;

	if (strlen(copier->from) + len > sizeof(copier->from) || strlen(copier->to) + len > sizeof(copier->to)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcat(strcat(copier->from, "/"), name);
	strcat(strcat(copier->to, "/"), name);
	return true;
}

static void leave(struct copier *copier)
{
	*strrchr(copier->from, '/') = '\0';
	*strrchr(copier->to, '/') = '\0';
}

static bool copy_content(struct copier *copier)
{
	DIR *dir = opendir(copier->from);
	bool good = dir != NULL;

	for (struct dirent *entry; good && (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		good = enter(copier, entry->d_name) && copy_any(copier);
		if (good)
			leave(copier);
	}
	if (dir)
		closedir(dir);
	return good;
}

static bool copy_any(struct copier *copier)
{
	struct stat status;

	if (lstat(copier->from, &status))
		return false;
	if (S_ISDIR(status.st_mode))
		return !mkdir(copier->to, status.st_mode & 07777) && copy_content(copier);
	if (S_ISLNK(status.st_mode))
		return copy_link(copier);
	if (S_ISREG(status.st_mode))
		return copy_file(copier, status.st_mode);
	return true;
}

/* Where there is no /tmp (Android), /dev is a tmpfs. */
static bool make_folder(struct treecopy *copy)
{
	static const char *const parents[] = { "/tmp", "/dev" };

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(copy->dir, sizeof(copy->dir), "%s/memcg-ab-XXXXXX", parents[i]);
		if (mkdtemp(copy->dir))
			return true;
	}
	*copy->dir = '\0';
	return false;
}

static int mount_it(struct treecopy *copy, struct workload_run *run, uint64_t bytes)
{
	char size[32];

	snprintf(size, sizeof(size), "size=%llu", (unsigned long long)bytes);
	if (!make_folder(copy))
		return workload_fail(run, "no folder to mount on: %s", strerror(errno));
	if (!undo_note(run->undo, UNDO_MOUNT, copy->dir, ""))
		return workload_fail(run, "no room to remember %s", copy->dir);
	copy->mounted = !mount("none", copy->dir, "tmpfs", 0, size);
	if (copy->mounted)
		return 0;
	workload_fail(run, "cannot mount tmpfs: %s", strerror(errno));
	undo_forget(run->undo);
	return -1;
}

int treecopy_open(struct treecopy *copy, struct workload_run *run, const char *from, uint64_t bytes)
{
	struct copier copier;

	*copy = (struct treecopy){ 0 };
	if (mount_it(copy, run, bytes))
		return -1;
	snprintf(copier.from, sizeof(copier.from), "%s", from);
	snprintf(copier.to, sizeof(copier.to), "%s", copy->dir);
	if (copy_content(&copier))
		return 0;
	return workload_fail(run, "copying %.64s: %s", copier.from, strerror(errno));
}

void treecopy_close(struct treecopy *copy, struct workload_run *run)
{
	/* What is still in use stays noted. */
	if (copy->mounted && !umount(copy->dir))
		undo_forget(run->undo);
	if (*copy->dir)
		rmdir(copy->dir);
	*copy = (struct treecopy){ 0 };
}
