/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define SECTOR 512
#define NODE_WAIT_MS 5000
#define CHUNK ((size_t)1 << 20)
#define MAX_ZRAMS 32
#define SYS_PATH_MAX 128

static bool refuse(char *reason, size_t reason_size, const char *what, const char *name)
{
	snprintf(reason, reason_size, "%s %.64s: %s", what, name, strerror(errno));
	return false;
}

/* A number in /sys/class/block/NAME/FILE; false when there is none. */
static bool read_number(const char *root, const char *name, const char *file, uint64_t *value_out)
{
	char path[SYS_PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/block/%s/%s", name, file);

	char *text = sysfile_line(root, path);

	if (text)
		*value_out = strtoull(text, NULL, 10);
	free(text);
	return text != NULL;
}

static bool write_setting(const char *root, const char *name, const char *file, const char *value)
{
	char path[NODE_PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/block/%s/%s", root, name, file);
	return sysfile_write(path, value);
}

/* Also of a device that is no disk, for tests. */
static int open_disk(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC);
}

bool disk_write(const struct disk *disk, const void *data, size_t n, uint64_t at, char *reason, size_t reason_size)
{
	int fd = open_disk(disk->path, O_WRONLY);
	bool good = fd >= 0 && pwrite(fd, data, n, (off_t)at) == (ssize_t)n && !fsync(fd);

	if (!good)
		refuse(reason, reason_size, "cannot write", disk->path);
	if (fd >= 0)
		close(fd);
	return good;
}

static bool write_zeroes(const struct disk *disk, char *reason, size_t reason_size)
{
	char *zeroes = calloc(1, CHUNK);
	int fd = open_disk(disk->path, O_WRONLY);
	bool good = zeroes && fd >= 0;

	for (uint64_t at = 0; good && at < disk->bytes; at += CHUNK) {
		const size_t n = disk->bytes - at < CHUNK ? (size_t)(disk->bytes - at) : CHUNK;

		good = pwrite(fd, zeroes, n, (off_t)at) == (ssize_t)n;
	}
	good = good && !fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (!good)
		refuse(reason, reason_size, "cannot write", disk->path);
	if (fd >= 0)
		close(fd);
	free(zeroes);
	return good;
}

static bool open_brd(struct disk *disk, const char *root, enum disk_use use, char *reason, size_t reason_size)
{
	const unsigned long long kib = (disk->bytes + 1023) / 1024;
	uint64_t sectors = 0;

	disk->kind = DISK_BRD;
	snprintf(disk->name, sizeof(disk->name), "ram%u", use == DISK_FOR_SWAP ? 0 : 1);
	if (!read_number(root, disk->name, "size", &sectors)) {
		snprintf(reason, reason_size, "this kernel has no RAM disk %s (CONFIG_BLK_DEV_RAM)", disk->name);
		return false;
	}
	if (sectors * SECTOR < disk->bytes) {
		snprintf(reason, reason_size, "%s has %llu KiB, but %llu are needed: ramdisk_size=%llu on the command line",
			 disk->name, (unsigned long long)(sectors / 2), kib, kib);
		return false;
	}
	return node_block(root, disk->name, NODE_WAIT_MS, disk->path, reason, reason_size) &&
	       write_zeroes(disk, reason, reason_size);
}

/* One that nobody has given a size to; -1 when there is none. */
static int find_free_zram(const char *root)
{
	for (int i = 0; i < MAX_ZRAMS; i++) {
		char name[16];
		uint64_t bytes = 0;

		snprintf(name, sizeof(name), "zram%d", i);
		if (read_number(root, name, "disksize", &bytes) && !bytes)
			return i;
	}
	return -1;
}

/* Reading this file makes a new one and says its number. */
static int add_zram(const char *root)
{
	char *text = sysfile_line(root, "/sys/class/zram-control/hot_add");
	int number = text && *text ? atoi(text) : -1;

	free(text);
	return number;
}

static bool open_zram(struct disk *disk, const char *root, char *reason, size_t reason_size)
{
	int number = find_free_zram(root);
	char size[24];

	disk->kind = DISK_ZRAM;
	if (number < 0)
		number = add_zram(root);
	if (number < 0) {
		snprintf(reason, reason_size, "this kernel has no zram that is free (CONFIG_ZRAM)");
		return false;
	}
	snprintf(disk->name, sizeof(disk->name), "zram%d", number);
	snprintf(size, sizeof(size), "%llu", (unsigned long long)disk->bytes);
	if (!node_block(root, disk->name, NODE_WAIT_MS, disk->path, reason, reason_size))
		return false;
	return write_setting(root, disk->name, "disksize", size) || refuse(reason, reason_size, "cannot size", disk->name);
}

static bool open_block(struct disk *disk, const char *root, const char *name, char *reason, size_t reason_size)
{
	disk->kind = DISK_BLOCK;
	snprintf(disk->name, sizeof(disk->name), "%.63s", name);
	if (!node_partition(root, name, NODE_WAIT_MS, disk->path, reason, reason_size))
		return false;

	/* O_EXCL on a block device: not while it is mounted or part of something. */
	int fd = open_disk(disk->path, O_RDWR | O_EXCL);
	off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (fd < 0)
		return refuse(reason, reason_size, "cannot use", disk->path);
	close(fd);
	if (bytes >= 0 && (uint64_t)bytes >= disk->bytes)
		return true;
	snprintf(reason, reason_size, "%.64s has %lld KiB, but %llu are needed", disk->name, (long long)bytes / 1024,
		 (unsigned long long)(disk->bytes + 1023) / 1024);
	return false;
}

bool disk_open(struct disk *disk, const char *root, const char *place, enum disk_use use, uint64_t bytes, char *reason,
	       size_t reason_size)
{
	struct disk opened = { .bytes = bytes };
	bool good;

	*disk = (struct disk){ 0 };
	if (!strcmp(place, "zram"))
		good = open_zram(&opened, root, reason, reason_size);
	else if (!strcmp(place, "brd"))
		good = open_brd(&opened, root, use, reason, reason_size);
	else
		good = open_block(&opened, root, place + strlen("block:"), reason, reason_size);
	if (good)
		*disk = opened;
	return good;
}

void disk_close(struct disk *disk, const char *root)
{
	if (*disk->path && disk->kind == DISK_ZRAM)
		write_setting(root, disk->name, "reset", "1");
	*disk = (struct disk){ 0 };
}
