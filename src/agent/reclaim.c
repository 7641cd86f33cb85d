/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/reclaim.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define DROP_ALL "3" /* page cache, dentries and inodes */

/* A heading, then "NAME TYPE SIZE USED PRIORITY" for each area; as many as a text. */
static bool count_swaps(const char *root, const char *name, char *now, size_t size)
{
	char *swaps = sysfile_line(root, name);
	unsigned n = 0;

	if (!swaps) {
		snprintf(now, size, "%s", strerror(errno));
		return false;
	}
	for (const char *c = swaps; *c; c++)
		n += *c == '\n';
	snprintf(now, size, "%u areas", n);
	free(swaps);
	return true;
}

static void switch_off(struct holds *holds, const char *area, const char *priority)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", holds->root, area);
	if (!undo_note(holds->undo, UNDO_SWAP, full, priority)) {
		hold_fail(holds, "swap", "no room to remember %.100s", area);
		return;
	}
	if (!swapoff(full))
		return;
	hold_fail(holds, "swap", "%.100s stays on: %s", area, strerror(errno));
	undo_forget(holds->undo);
}

static void switch_all_off(struct holds *holds)
{
	char *swaps = sysfile_line(holds->root, "/proc/swaps");
	char *rest = swaps, *line = rest ? strsep(&rest, "\n") : NULL;
	const size_t n = holds->n;

	while (line && rest && (line = strsep(&rest, "\n"))) {
		char area[PATH_MAX], priority[16];

		if (sscanf(line, "%4095s %*s %*s %*s %15s", area, priority) == 2)
			switch_off(holds, area, priority);
	}
	free(swaps);
	if (holds->n == n)
		hold_add(holds, "swap", "/proc/swaps", "0 areas", count_swaps, NULL);
}

static void hold_swap(struct holds *holds, bool swap)
{
	char now[HOLD_VALUE_MAX];

	if (!count_swaps(holds->root, "/proc/swaps", now, sizeof(now)))
		return; /* a kernel without swap */
	if (swap)
		hold_add(holds, "swap", "/proc/swaps", now, count_swaps, NULL);
	else
		switch_all_off(holds);
}

static void drop_caches(struct holds *holds)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/sys/vm/drop_caches", holds->root);
	if (!*holds->root)
		sync();
	if (sysfile_write(path, DROP_ALL))
		hold_tell(holds, "drop_caches", DROP_ALL);
	else
		hold_fail(holds, "drop_caches", "%s", strerror(errno));
}

void reclaim_hold(struct holds *holds, bool swap)
{
	hold_file_if_there(holds, "ksm", "/sys/kernel/mm/ksm/run", "0");
	hold_file_if_there(holds, "compaction_proactiveness", "/proc/sys/vm/compaction_proactiveness", "0");
	hold_file_if_there(holds, "thp", "/sys/kernel/mm/transparent_hugepage/enabled", "never");
	hold_swap(holds, swap);
	drop_caches(holds);
}
