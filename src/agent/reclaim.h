/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What moves memory about by itself. */
#ifndef AGENT_RECLAIM_H
#define AGENT_RECLAIM_H

#include "agent/hold.h"

/*
 * No merging of pages (ksm), no compaction in advance (compaction_proactiveness), transparent huge pages as quiet.h has set them
 * (thp), each where the kernel has it; clean caches dropped (drop_caches). `swap`: its areas stay, and must stay as many; else they are
 * switched off (swap).
 */
void reclaim_hold(struct holds *holds, bool swap);

#endif
