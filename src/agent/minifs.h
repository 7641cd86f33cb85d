/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An empty ext4 file system of one block group without a journal, for files that are all hole: nothing on a device without
 * mke2fs can make one, and one made elsewhere would differ from host to host. Private to the agent.
 */
#ifndef AGENT_MINIFS_H
#define AGENT_MINIFS_H

#include <stddef.h>
#include <stdint.h>

#define MINIFS_BLOCK 4096
#define MINIFS_BLOCKS 10 /* that are written; the rest of the disk is free */
#define MINIFS_SMALLEST ((uint64_t)1 << 20) /* bytes */
#define MINIFS_LARGEST ((uint64_t)128 << 20)

/* Fills in the first MINIFS_BLOCKS blocks of a file system on `bytes`, between the smallest and the largest. */
void minifs_make(unsigned char image[MINIFS_BLOCKS * MINIFS_BLOCK], uint64_t bytes);

#endif
