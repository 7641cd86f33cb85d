/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pid 1 mounts before anything else, and what is mounted when it is needed. */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

#include <stdbool.h>

/* proc, sysfs, devtmpfs, tmpfs: each that the kernel has, where nothing is mounted yet. And a console for the streams. */
void mounts_make(void);
/*
 * pstore on `where` (a folder of sysfs, there when the kernel has it) and configfs, unless something is mounted there. False
 * with errno.
 */
bool mounts_pstore(const char *where);
bool mounts_configfs(const char *where);

#endif
