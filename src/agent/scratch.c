/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/minifs.h"
#include "agent/undo.h"

#define WINDOW_PAGES 4096 /* asked for at once */
#define SECTOR 512
#define SPARE_BYTES ((uint64_t)1 << 20)

/* A folder to mount on: where there is no /tmp (Android), /dev is a tmpfs. */
static bool make_folder(struct scratch *scratch)
{
	static const char *const parents[] = { "/tmp", "/dev" };

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(scratch->dir, sizeof(scratch->dir), "%s/memcg-ab-XXXXXX", parents[i]);
		if (mkdtemp(scratch->dir))
			return true;
	}
	*scratch->dir = '\0';
	return false;
}

static int make_file_system(struct scratch *scratch, struct workload_run *run, const char *on)
{
	static unsigned char image[MINIFS_BLOCKS * MINIFS_BLOCK];
	char reason[WORKLOAD_REASON_MAX];

	minifs_make(image, MINIFS_SMALLEST);
	if (disk_open(&scratch->disk, run->root, on, DISK_FOR_FILES, MINIFS_SMALLEST, reason, sizeof(reason)) &&
	    disk_write(&scratch->disk, image, sizeof(image), 0, reason, sizeof(reason)))
		return 0;
	return workload_fail(run, "%s", reason);
}

static int mount_it(struct scratch *scratch, struct workload_run *run)
{
	const char *type = *scratch->disk.path ? "ext4" : "tmpfs";
	char size[32];

	snprintf(size, sizeof(size), "size=%llu", (unsigned long long)(scratch->size + SPARE_BYTES));
	if (!make_folder(scratch))
		return workload_fail(run, "no folder to mount on: %s", strerror(errno));
	if (!undo_note(run->undo, UNDO_MOUNT, scratch->dir, ""))
		return workload_fail(run, "no room to remember %s", scratch->dir);
	scratch->mounted = !mount(*scratch->disk.path ? scratch->disk.path : "none", scratch->dir, type, MS_NOATIME,
				  *scratch->disk.path ? NULL : size);
	if (scratch->mounted)
		return 0;
	workload_fail(run, "cannot mount %s: %s", type, strerror(errno));
	undo_forget(run->undo);
	return -1;
}

static int make_file(struct scratch *scratch, struct workload_run *run)
{
	char path[sizeof(scratch->dir) + 8];

	snprintf(path, sizeof(path), "%s/file", scratch->dir);
	scratch->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (scratch->fd < 0)
		return workload_fail(run, "cannot make a file: %s", strerror(errno));
	if (*scratch->disk.path && ftruncate(scratch->fd, (off_t)scratch->size))
		return workload_fail(run, "a file of %llu bytes: %s", (unsigned long long)scratch->size, strerror(errno));
	return 0;
}

int scratch_open(struct scratch *scratch, struct workload_run *run, const char *on, uint64_t bytes, size_t block)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	*scratch = (struct scratch){ .fd = -1, .page_size = page_size, .block = block };
	scratch->size = (bytes + page_size - 1) / page_size * page_size;
	scratch->buffer = malloc(SCRATCH_BUFFER);
	if (!scratch->buffer)
		return workload_fail(run, "out of memory");
	memset(scratch->buffer, 'x', SCRATCH_BUFFER);
	if (strcmp(on, "tmpfs") != 0 && make_file_system(scratch, run, on))
		return -1;
	return mount_it(scratch, run) || make_file(scratch, run) ? -1 : 0;
}

void scratch_close(struct scratch *scratch, struct workload_run *run)
{
	if (scratch->fd >= 0)
		close(scratch->fd);
	if (scratch->mounted && !umount(scratch->dir))
		undo_forget(run->undo);
	if (*scratch->dir)
		rmdir(scratch->dir);
	disk_close(&scratch->disk, run->root);
	free(scratch->buffer);
	*scratch = (struct scratch){ .fd = -1 };
}

/* How many bytes come next; the last block may be shorter. */
static size_t next_block(const struct scratch *scratch, uint64_t at)
{
	return scratch->size - at < scratch->block ? (size_t)(scratch->size - at) : scratch->block;
}

static bool is_whole(ssize_t done, size_t wanted)
{
	if (done == (ssize_t)wanted)
		return true;
	if (done >= 0)
		errno = EIO;
	return false;
}

uint64_t scratch_word(const struct scratch *scratch)
{
	uint64_t word;

	memcpy(&word, scratch->buffer, sizeof(word));
	return word;
}

bool scratch_write(const struct scratch *scratch)
{
	if (lseek(scratch->fd, 0, SEEK_SET))
		return false;
	for (uint64_t at = 0; at < scratch->size;) {
		const size_t n = next_block(scratch, at);

		if (!is_whole(write(scratch->fd, scratch->buffer, n), n))
			return false;
		at += n;
	}
	return true;
}

bool scratch_read(const struct scratch *scratch, uint64_t word)
{
	if (lseek(scratch->fd, 0, SEEK_SET))
		return false;
	for (uint64_t at = 0; at < scratch->size;) {
		const size_t n = next_block(scratch, at);

		if (!is_whole(read(scratch->fd, scratch->buffer, n), n))
			return false;
		if (scratch_word(scratch) != word) {
			errno = EILSEQ;
			return false;
		}
		at += n;
	}
	return true;
}

/* Mapped a window at a time, and never touched: pages of the tables would be charged. */
static int count_window(const struct scratch *scratch, struct workload_run *run, uint64_t at, size_t n, uint64_t *pages)
{
	unsigned char states[WINDOW_PAGES];
	void *window = mmap(NULL, n * scratch->page_size, PROT_READ, MAP_SHARED, scratch->fd, (off_t)at);

	if (window == MAP_FAILED)
		return workload_fail(run, "mmap of the file: %s", strerror(errno));

	int failed = mincore(window, n * scratch->page_size, states) ? errno : 0;

	munmap(window, n * scratch->page_size);
	if (failed)
		return workload_fail(run, "mincore of the file: %s", strerror(failed));
	for (size_t i = 0; i < n; i++)
		*pages += states[i] & 1;
	return 0;
}

int scratch_cached(const struct scratch *scratch, struct workload_run *run, uint64_t *pages_out)
{
	const uint64_t window = (uint64_t)WINDOW_PAGES * scratch->page_size;

	*pages_out = 0;
	for (uint64_t at = 0; at < scratch->size; at += window) {
		const uint64_t left = scratch->size - at < window ? scratch->size - at : window;

		if (count_window(scratch, run, at, (size_t)(left / scratch->page_size), pages_out))
			return -1;
	}
	return 0;
}

int scratch_occupied(const struct scratch *scratch, struct workload_run *run, uint64_t *bytes_out)
{
	struct stat status;

	if (fstat(scratch->fd, &status))
		return workload_fail(run, "fstat of the file: %s", strerror(errno));
	*bytes_out = (uint64_t)status.st_blocks * SECTOR;
	return 0;
}
