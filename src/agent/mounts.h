/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pid 1 mounts before anything else. */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

/* proc, sysfs, devtmpfs and tmpfs, each where the kernel has it and nothing is mounted there yet; a console for standard streams. */
void mounts_make(void);

#endif
