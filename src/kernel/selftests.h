/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's own test programs (tools/testing/selftests/cgroup/test_*.c) of a tree, built static for the device. They are kept in the
 * cache as selftests/KEY/, with the programs packed into one cpio archive for the initial RAM file system. They are built in a folder
 * of their own from the part of the tree that they can see, headers included, so that no build folder of a kernel is touched and
 * patches elsewhere in the tree do not make others.
 */
#ifndef KERNEL_SELFTESTS_H
#define KERNEL_SELFTESTS_H

#include "kernel/image.h"

/* The compiler that it takes: the kernel's own gcc, or where the kernel has another toolchain the cross compiler of the machine. */
#define SELFTESTS_CROSS "aarch64-linux-gnu-"

/*
 * Over the tree's part, the compiler's version, the names and the recipe. `programs`: "memcontrol", each a test_NAME.c; those that the
 * tree does not have are left out. ERROR_INPUT when the kernel comes without a tree (prebuilt).
 */
struct error *selftests_key(const struct cache *cache, const struct image_input *input, const struct strlist *programs,
			    struct guard guard, char key_out[65]) MUST_CHECK;
/* The path of KEY's archive, which the caller frees; NULL when the cache does not have it. */
char *selftests_lookup(const struct cache *cache, const char *key);
/* Where that archive is, or will be once they are built; the caller frees. */
char *selftests_path(const struct cache *cache, const char *key);
/* Builds and stores them, unless they are there. ERROR_KERNEL when one does not compile; the log's last line is in the message. */
struct error *selftests_build(const struct image_build *build, const char *key, const struct strlist *programs) MUST_CHECK;
/* Is the path one of those that are looked at? For tests. */
bool selftests_wants(const char *path);

#endif
