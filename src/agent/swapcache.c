/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/swapcache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/node.h"
#include "agent/sysfile.h"
#include "agent/undo.h"
#include "agent/vmstat.h"

#define SETTING "/proc/sys/vm/min_free_kbytes"
#define DEADLINE_MS 20000
#define TOUCHED_BYTES ((size_t)1 << 20)

/* The low watermark is a quarter above the setting and the high one half: so kswapd begins, and ends with `cached_kib` more free. */
static uint64_t wanted_kib(uint64_t free_kib, uint64_t cached_kib)
{
	const uint64_t wanted = (free_kib + 2 * cached_kib) * 2 / 3, most = free_kib / 10 * 9;

	return wanted < most ? wanted : most;
}

/* Kswapd looks at the watermarks when somebody allocates. */
static void allocate(void)
{
	char *memory = mmap(NULL, TOUCHED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory != MAP_FAILED)
		munmap(memory, TOUCHED_BYTES);
}

static int reclaim(struct workload_run *run)
{
	const long long deadline = node_clock_ms() + DEADLINE_MS;
	uint64_t cached_kib;

	while ((cached_kib = vmstat_meminfo_kib(run->root, "SwapCached"))) {
		char text[24];

		if (node_clock_ms() >= deadline)
			return workload_fail(run, "%llu KiB are left in the swap cache after %d s",
					     (unsigned long long)cached_kib, DEADLINE_MS / 1000);
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)wanted_kib(vmstat_meminfo_kib(run->root, "MemFree"), cached_kib));
		if (!sysfile_write(SETTING, text))
			return workload_fail(run, "min_free_kbytes=%s: %s", text, strerror(errno));
		allocate();
		node_pause();
	}
	return 0;
}

int swapcache_drop(struct workload_run *run)
{
	char *before = sysfile_line("", SETTING);

	if (!before)
		return workload_fail(run, "min_free_kbytes: %s", strerror(errno));
	if (!undo_note(run->undo, UNDO_FILE, SETTING, before)) {
		free(before);
		return workload_fail(run, "no room to remember min_free_kbytes");
	}

	int result = reclaim(run);

	if (sysfile_write(SETTING, before))
		undo_forget(run->undo);
	free(before);
	return result;
}
