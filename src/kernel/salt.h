/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same kernel with its code moved: what differs when only the layout does. */
#ifndef KERNEL_SALT_H
#define KERNEL_SALT_H

#include "kernel/source.h"

/*
 * A tree that builds to the same functions as `tree`, all behind init/version.c (nearly all: init/ is linked first) a few instructions further on.
 * ERROR_INPUT when the tree has no such file. Written into the cache's objects alone; the same tree gives the same salted tree.
 */
struct error *salt_tree(const struct cache *cache, const char *objects, const char *tree, char tree_out[OID_HEX_SIZE]) MUST_CHECK;

#endif
