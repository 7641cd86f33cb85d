/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/vmstat.h"

#include <stdlib.h>
#include <string.h>

#include "agent/sysfile.h"

/* The number behind `name` and one of `ends` at the start of a line of a file. */
static uint64_t find_count(const char *root, const char *path, const char *name, const char *ends)
{
	const size_t len = strlen(name);
	char *text = sysfile_read(root, path, NULL);
	uint64_t count = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] && strchr(ends, line[len])) {
			count = strtoull(line + len + 1, NULL, 10);
			break;
		}
	}
	free(text);
	return count;
}

uint64_t vmstat_count(const char *root, const char *name)
{
	return find_count(root, "/proc/vmstat", name, " ");
}

void vmstat_swap(const char *root, struct swap_counts *counts_out)
{
	counts_out->in = vmstat_count(root, "pswpin") + vmstat_count(root, "swpin_zero");
	counts_out->out = vmstat_count(root, "pswpout") + vmstat_count(root, "swpout_zero");
}

uint64_t vmstat_meminfo_kib(const char *root, const char *name)
{
	return find_count(root, "/proc/meminfo", name, ":");
}
