/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The initial RAM file system of a boot: the agent as /init and its settings. */
#ifndef DEVICE_INITRD_H
#define DEVICE_INITRD_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Appends uncompressed newc archives, one after the other, as the kernel takes them: the agent with the folders and device nodes it
 * needs, /memcg-ab.conf with `settings`, and the files `archives` (NULL, or up to a NULL), which are archives themselves. Equal input
 * gives equal bytes. ERROR_LAB when a file cannot be read.
 */
struct error *initrd_build(const char *agent_path, const char *settings, const char *const *archives,
			   struct strbuf *out) MUST_CHECK;

#endif
