/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk for a workload's swap or file system, by the value of its option: "zram", "brd" (the RAM disk driver's /dev/ramN, whose
 * size only the kernel's command line or the module can set) or "block:" and a partition's GPT name or a node's path. What is on
 * it is overwritten. Private to the agent.
 */
#ifndef AGENT_DISK_H
#define AGENT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/node.h"

enum disk_kind { DISK_ZRAM, DISK_BRD, DISK_BLOCK };

struct disk {
	enum disk_kind kind;
	char path[NODE_PATH_MAX]; /* its node; "" = not open */
	char name[64]; /* zram0, ram1; of a block device what was asked for */
	uint64_t bytes; /* how much of it is used */
};

/* Which RAM disk is for what, so that a boot may have both. */
enum disk_use { DISK_FOR_SWAP, DISK_FOR_FILES };

/*
 * Finds the disk and makes sure it has `bytes`. Zram: the first that nobody has set up, or a new one, is set to that size. RAM
 * disk: every page that will be used is written once, since what it has never written it has yet to allocate. False with a one-line
 * reason. `root`: in front of /sys and /dev.
 */
bool disk_open(struct disk *disk, const char *root, const char *place, enum disk_use use, uint64_t bytes, char *reason,
	       size_t reason_size);
/* Gives a zram's memory back. Does nothing to a disk that is not open. */
void disk_close(struct disk *disk, const char *root);
/* Writes `n` bytes at `at`, and waits until they are there; false with a reason. */
bool disk_write(const struct disk *disk, const void *data, size_t n, uint64_t at, char *reason, size_t reason_size);

#endif
