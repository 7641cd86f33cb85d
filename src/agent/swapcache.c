/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/swapcache.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/group.h"
#include "agent/node.h"
#include "agent/vmstat.h"

#define DEADLINE_MS 60000
#define CHUNK ((size_t)1 << 20)
#define SMALLEST_LIMIT ((uint64_t)1 << 20)

/* Pages that have left the page tables and are in memory all the same; -1 with the reason. */
static long count_waiting(struct workload_run *run, const struct region *region)
{
	const long swapped = region_swapped(region), resident = region_resident(region);

	if (swapped < 0 || resident < 0)
		return workload_fail(run, "%s: %s", swapped < 0 ? "/proc/self/pagemap" : "mincore", strerror(errno));
	return swapped + resident - (long)region->pages;
}

/* The group gives up as much as waits, and its oldest pages are those. */
static int press_group(struct workload_run *run, const struct region *region, long waiting)
{
	const uint64_t bytes = (uint64_t)waiting * region->page_size;
	uint64_t usage;

	if (group_usage(run, &usage))
		return -1;
	return group_set_limit(run, GROUP_SOFT, usage > bytes + SMALLEST_LIMIT ? usage - bytes : SMALLEST_LIMIT);
}

/* Memory that cannot be swapped, in a list through its first words. */
struct ballast {
	struct ballast *next;
};

static int press_machine(struct workload_run *run, struct ballast **ballast)
{
	struct ballast *more = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (more == MAP_FAILED || mlock(more, CHUNK)) {
		workload_fail(run, "locking memory: %s", strerror(errno));
		if (more != MAP_FAILED)
			munmap(more, CHUNK);
		return -1;
	}
	more->next = *ballast;
	*ballast = more;
	return 0;
}

static void drop_ballast(struct ballast *ballast)
{
	while (ballast) {
		struct ballast *next = ballast->next;

		munmap(ballast, CHUNK);
		ballast = next;
	}
}

static bool is_in_group(const struct workload_run *run)
{
	return !strncmp(run->place, "child", strlen("child"));
}

static int press(struct workload_run *run, const struct region *region, long left, struct ballast **ballast)
{
	const long long deadline = node_clock_ms() + DEADLINE_MS;
	long waiting;

	while ((waiting = count_waiting(run, region)) > left) {
		if (node_clock_ms() >= deadline)
			return workload_fail(run, "%ld pages are left in the swap cache after %d s", waiting, DEADLINE_MS / 1000);
		if (is_in_group(run) ? press_group(run, region, waiting) : press_machine(run, ballast))
			return -1;
	}
	return waiting < 0 ? -1 : 0;
}

/* While a page is being written nobody can have it back, and who presses then is told that there is no memory. */
static int wait_for_writes(struct workload_run *run)
{
	const long long deadline = node_clock_ms() + DEADLINE_MS;
	uint64_t kib;

	while ((kib = vmstat_meminfo_kib(run->root, "Writeback"))) {
		if (node_clock_ms() >= deadline)
			return workload_fail(run, "%llu KiB are still being written after %d s", (unsigned long long)kib,
					     DEADLINE_MS / 1000);
		node_pause();
	}
	return 0;
}

int swapcache_drop(struct workload_run *run, const struct region *region, long left)
{
	struct ballast *ballast = NULL;
	int result = wait_for_writes(run);

	if (!result)
		result = press(run, region, left, &ballast);

	drop_ballast(ballast);
	if (is_in_group(run) && group_set_limit(run, GROUP_SOFT, GROUP_NO_LIMIT))
		result = -1;
	return result;
}
