/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file system of a workload's own with one file in it: tmpfs, or ext4 on a disk (disk.h). Private to the agent. */
#ifndef AGENT_SCRATCH_H
#define AGENT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/disk.h"
#include "agent/workload_run.h"

#define SCRATCH_BUFFER ((size_t)1 << 20) /* the most that is read or written at once */

struct scratch {
	struct disk disk; /* not open: tmpfs */
	char dir[64];
	bool mounted;
	int fd; /* the file's */
	uint64_t size; /* bytes, whole pages */
	size_t page_size;
	char *buffer; /* SCRATCH_BUFFER bytes that have been touched */
	size_t block; /* how much of it is read or written at once */
};

/*
 * `on`: "tmpfs", or an OPTION_DISK's value. Makes an empty file that may grow to `bytes`, rounded up to pages; on a disk all of it
 * is hole, so that it needs no room. 0, or -1 with the reason in run->reason; scratch_close() is to be called in both cases.
 */
int scratch_open(struct scratch *scratch, struct workload_run *run, const char *on, uint64_t bytes, size_t block);
void scratch_close(struct scratch *scratch, struct workload_run *run);
/* The file's whole content once, from its start, a block at a time. False with errno, EIO when it is shorter. */
bool scratch_write(const struct scratch *scratch);
/* The same; false with errno also when a block does not begin with `word` (EILSEQ). */
bool scratch_read(const struct scratch *scratch, uint64_t word);
/* What scratch_write() has written at the start of each block. */
uint64_t scratch_word(const struct scratch *scratch);
/* How many of its pages are in the page cache; -1 with the reason in run->reason. */
int scratch_cached(const struct scratch *scratch, struct workload_run *run, uint64_t *pages_out);
/* Bytes that the file occupies; -1 with the reason in run->reason. */
int scratch_occupied(const struct scratch *scratch, struct workload_run *run, uint64_t *bytes_out);

#endif
