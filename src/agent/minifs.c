/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout is that of the kernel's Documentation/filesystems/ext4: offsets below are the fields' places there. */
#include "agent/minifs.h"

#include <string.h>

enum block { SUPER, GROUPS, BLOCK_BITMAP, INODE_BITMAP, INODES, ROOT_DIR = INODES + 4, LOST_DIR, FIRST_FREE };

#define INODE_SIZE 256
#define N_INODES 64 /* in four blocks */
#define ROOT_INODE 2
#define LOST_INODE 11 /* the first that is not reserved */
#define BLOCKS_PER_GROUP 32768 /* the bits of one block */
#define SUPER_AT 1024

#define MAGIC 0xef53
#define STATE_CLEAN 1
#define ERRORS_CONTINUE 1
#define REVISION_DYNAMIC 1
#define INCOMPAT_FILETYPE 0x2
#define INCOMPAT_EXTENTS 0x40
#define RO_SPARSE_SUPER 0x1
#define RO_LARGE_FILE 0x2
#define RO_HUGE_FILE 0x8
#define RO_EXTRA_ISIZE 0x40
#define EXTRA_ISIZE 32
#define INODE_EXTENTS 0x80000
#define EXTENT_MAGIC 0xf30a
#define EXTENTS_IN_INODE 4
#define MODE_DIR 040755
#define TYPE_DIR 2

static void put16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)value;
	at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, uint32_t value)
{
	put16(at, value & 0xffff);
	put16(at + 2, value >> 16);
}

static void make_super(unsigned char *super, uint32_t blocks)
{
	put32(super + 0x00, N_INODES);
	put32(super + 0x04, blocks);
	put32(super + 0x0c, blocks - FIRST_FREE);
	put32(super + 0x10, N_INODES - LOST_INODE);
	put32(super + 0x18, 2); /* blocks of 1024 << 2 bytes */
	put32(super + 0x1c, 2); /* and clusters */
	put32(super + 0x20, BLOCKS_PER_GROUP);
	put32(super + 0x24, BLOCKS_PER_GROUP);
	put32(super + 0x28, N_INODES);
	put16(super + 0x36, 0xffff); /* may be mounted as often as one likes */
	put16(super + 0x38, MAGIC);
	put16(super + 0x3a, STATE_CLEAN);
	put16(super + 0x3c, ERRORS_CONTINUE);
	put32(super + 0x4c, REVISION_DYNAMIC);
	put32(super + 0x54, LOST_INODE);
	put16(super + 0x58, INODE_SIZE);
	put32(super + 0x60, INCOMPAT_FILETYPE | INCOMPAT_EXTENTS);
	put32(super + 0x64, RO_SPARSE_SUPER | RO_LARGE_FILE | RO_HUGE_FILE | RO_EXTRA_ISIZE);
	memcpy(super + 0x68, "memcg-ab scratch", 16); /* UUID */
	put16(super + 0x15c, EXTRA_ISIZE);
	put16(super + 0x15e, EXTRA_ISIZE);
}

static void make_group(unsigned char *group, uint32_t blocks)
{
	put32(group + 0x0, BLOCK_BITMAP);
	put32(group + 0x4, INODE_BITMAP);
	put32(group + 0x8, INODES);
	put16(group + 0xc, blocks - FIRST_FREE);
	put16(group + 0xe, N_INODES - LOST_INODE);
	put16(group + 0x10, 2); /* folders */
}

/* Bits 0 to used - 1, and those behind the last of n, which stand for nothing. */
static void make_bitmap(unsigned char *bitmap, unsigned used, unsigned n)
{
	for (unsigned bit = 0; bit < MINIFS_BLOCK * 8; bit++) {
		if (bit < used || bit >= n)
			bitmap[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
}

static void make_folder_inode(unsigned char *inode, unsigned links, uint32_t block)
{
	unsigned char *extents = inode + 0x28;

	put16(inode + 0x0, MODE_DIR);
	put32(inode + 0x4, MINIFS_BLOCK);
	put16(inode + 0x1a, links);
	put32(inode + 0x1c, MINIFS_BLOCK / 512);
	put32(inode + 0x20, INODE_EXTENTS);
	put16(extents, EXTENT_MAGIC);
	put16(extents + 0x2, 1);
	put16(extents + 0x4, EXTENTS_IN_INODE);
	put16(extents + 0x10, 1); /* one block, the file's first */
	put32(extents + 0x14, block);
	put16(inode + 0x80, EXTRA_ISIZE);
}

static unsigned char *make_entry(unsigned char *entry, uint32_t inode, const char *name, unsigned length)
{
	put32(entry, inode);
	put16(entry + 4, length);
	entry[6] = (unsigned char)strlen(name);
	entry[7] = TYPE_DIR;
	memcpy(entry + 8, name, strlen(name));
	return entry + length;
}

void minifs_make(unsigned char image[MINIFS_BLOCKS * MINIFS_BLOCK], uint64_t bytes)
{
	const uint32_t blocks = (uint32_t)(bytes / MINIFS_BLOCK);
	unsigned char *inodes = image + INODES * MINIFS_BLOCK;
	unsigned char *root = image + ROOT_DIR * MINIFS_BLOCK, *lost = image + LOST_DIR * MINIFS_BLOCK;

	memset(image, 0, MINIFS_BLOCKS * MINIFS_BLOCK);
	make_super(image + SUPER_AT, blocks);
	make_group(image + GROUPS * MINIFS_BLOCK, blocks);
	make_bitmap(image + BLOCK_BITMAP * MINIFS_BLOCK, FIRST_FREE, blocks);
	make_bitmap(image + INODE_BITMAP * MINIFS_BLOCK, LOST_INODE, N_INODES);
	make_folder_inode(inodes + (ROOT_INODE - 1) * INODE_SIZE, 3, ROOT_DIR);
	make_folder_inode(inodes + (LOST_INODE - 1) * INODE_SIZE, 2, LOST_DIR);
	root = make_entry(root, ROOT_INODE, ".", 12);
	root = make_entry(root, ROOT_INODE, "..", 12);
	make_entry(root, LOST_INODE, "lost+found", MINIFS_BLOCK - 24);
	lost = make_entry(lost, LOST_INODE, ".", 12);
	make_entry(lost, ROOT_INODE, "..", MINIFS_BLOCK - 12);
}
