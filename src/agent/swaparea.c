/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/swaparea.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "agent/sysfile.h"
#include "agent/undo.h"

#define HEADER_AT 1024 /* behind room for a boot sector: version, last page, number of bad pages */
#define MAGIC "SWAPSPACE2" /* the last bytes of the first page */
#define PRIORITY SWAP_FLAG_PRIO_MASK
#define SPARE_BYTES ((uint64_t)4 << 20) /* slots are handed to CPUs in clusters and caches */
#define MAX_PAGE 65536

void swaparea_header(unsigned char *page, size_t page_size, uint32_t pages)
{
	const uint32_t header[] = { 1, pages - 1, 0 };

	memset(page, 0, page_size);
	memcpy(page + HEADER_AT, header, sizeof(header));
	memcpy(page + page_size - strlen(MAGIC), MAGIC, strlen(MAGIC));
}

static int write_header(const struct swaparea *area, struct workload_run *run)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char page[MAX_PAGE];
	char reason[WORKLOAD_REASON_MAX];

	swaparea_header(page, page_size, (uint32_t)(area->disk.bytes / page_size));
	if (disk_write(&area->disk, page, page_size, 0, reason, sizeof(reason)))
		return 0;
	return workload_fail(run, "%s", reason);
}

static bool is_listed(const struct workload_run *run, const char *path)
{
	char *swaps = sysfile_line(run->root, "/proc/swaps");
	const size_t len = strlen(path);
	bool found = false;

	for (const char *line = swaps; line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		found = !strncmp(line, path, len) && line[len] == ' ';
	}
	free(swaps);
	return found;
}

int swaparea_open(struct swaparea *area, struct workload_run *run, const char *place, uint64_t bytes)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	char reason[WORKLOAD_REASON_MAX];

	*area = (struct swaparea){ 0 };
	bytes = (bytes + page_size - 1) / page_size * page_size + page_size + SPARE_BYTES;
	if (!disk_open(&area->disk, run->root, place, DISK_FOR_SWAP, bytes, reason, sizeof(reason)))
		return workload_fail(run, "%s", reason);
	if (write_header(area, run))
		return -1;
	if (!undo_note(run->undo, UNDO_SWAPPING, area->disk.path, ""))
		return workload_fail(run, "no room to remember %.64s", area->disk.path);
	if (swapon(area->disk.path, SWAP_FLAG_PREFER | PRIORITY)) {
		workload_fail(run, "swapon %.64s: %s", area->disk.path, strerror(errno));
		undo_forget(run->undo);
		return -1;
	}
	area->on = true;
	return is_listed(run, area->disk.path) ? 0 : workload_fail(run, "%.64s is not in /proc/swaps", area->disk.path);
}

void swaparea_close(struct swaparea *area, struct workload_run *run)
{
	/* One that cannot be switched off stays noted. */
	if (area->on && !swapoff(area->disk.path))
		undo_forget(run->undo);
	area->on = false;
	disk_close(&area->disk, run->root);
}
