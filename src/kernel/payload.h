/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a matrix brings to the device besides the agent: files, folders and the contents of Debian arm64 packages, packed into one cpio
 * archive for the initial RAM file system. Kept in the cache as payloads/KEY/; the versions of packages that were newest when it was
 * made stay with it, as a kernel source does.
 */
#ifndef KERNEL_PAYLOAD_H
#define KERNEL_PAYLOAD_H

#include "base/proc.h"
#include "kernel/cache.h"
#include "plan/matrix.h"

/*
 * *archive_out is the archive's path, which the caller frees, and `digest_out` its sha256: what the boot's validity holds. It is made unless
 * the cache has it; then packages are fetched with apt. Errors stand at the items' positions. Where two items have a file at one place
 * the later one stays. Of packages: no maintainer scripts are run, documentation, manuals and translations are left out, and what is in /bin, /sbin
 * and /lib is in /usr, with links from there.
 */
struct error *payload_prepare(const struct cache *cache, const struct payload_item *items, size_t n, struct guard guard,
			      void (*progress)(void *arg, const char *what), void *arg, char **archive_out,
			      char digest_out[65]) MUST_CHECK;

#endif
