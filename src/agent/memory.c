/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sysfile.h"
#include "agent/workload_run.h"

bool memory_is_wanted(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_workloads; i++) {
		if (!strcmp(conf->workloads[i].kind, workload_memory.name))
			return true;
	}
	return false;
}

/* "NAME:       123 kB", at the start of a line. */
static double find_amount(const char *meminfo, const char *name)
{
	const size_t len = strlen(name);

	for (const char *line = meminfo; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':')
			return strtod(line + len + 1, NULL);
	}
	return NAN;
}

void memory_read(struct memory *memory_out, const char *root)
{
	char *meminfo = sysfile_read(root, "/proc/meminfo", NULL);

	memory_out->total = find_amount(meminfo, "MemTotal");
	memory_out->available = find_amount(meminfo, "MemAvailable");
	memory_out->slab = find_amount(meminfo, "Slab");
	memory_out->percpu = find_amount(meminfo, "Percpu");
	free(meminfo);
}
