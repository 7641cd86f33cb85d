/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pid 1 mounts before anything else. */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

/* proc, sysfs, devtmpfs, tmpfs: each that the kernel has, where nothing is mounted yet. And a console for the streams. */
void mounts_make(void);

#endif
