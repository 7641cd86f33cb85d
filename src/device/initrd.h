/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The initial RAM file system of a boot: the agent as /init and its settings. */
#ifndef DEVICE_INITRD_H
#define DEVICE_INITRD_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Appends two uncompressed newc archives, one after the other, as the kernel takes them: the agent with the folders and device
 * nodes it needs, and /memcg-ab.conf with `settings`. Equal input gives equal bytes. ERROR_LAB when the agent cannot be read.
 */
struct error *initrd_build(const char *agent_path, const char *settings, struct strbuf *out) MUST_CHECK;

#endif
