/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/group_events.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/memcg.h"
#include "agent/sysfile.h"

#define BYTES_PER_KIB 1024.0
#define PAGES_MAX 65536 /* limits are rounded to pages */

static bool is_v2(const struct workload_run *run)
{
	return !strcmp(run->memcg->version, "v2");
}

static bool in_group(const struct workload_run *run)
{
	return run->memcg && run->place && !strncmp(run->place, "child", strlen("child"));
}

/* The file's text, which the caller frees; NULL when there is none. */
static char *read_file(const struct workload_run *run, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" MEMCG_GROUP "/%s", run->memcg->mount, name) >= (int)sizeof(path))
		return NULL;
	return sysfile_line("", path);
}

double group_events_value(const char *text, const char *key)
{
	const size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ' ' && line[len + 1] >= '0' && line[len + 1] <= '9')
			return strtod(line + len + 1, NULL);
	}
	return NAN;
}

static double value_in(const struct workload_run *run, const char *name, const char *key)
{
	char *text = read_file(run, name);
	double value = NAN;

	if (text)
		value = key ? group_events_value(text, key) : strtod(text, NULL);
	free(text);
	return value;
}

void group_events_read(const struct workload_run *run, struct group_events *events_out)
{
	*events_out = (struct group_events){ NAN, NAN, NAN };
	if (!in_group(run))
		return;
	if (is_v2(run)) {
		events_out->hits = value_in(run, "memory.events", "max");
		events_out->oom_kills = value_in(run, "memory.events", "oom_kill");
		events_out->peak_kib = value_in(run, "memory.peak", NULL) / BYTES_PER_KIB;
	} else {
		events_out->hits = value_in(run, "memory.failcnt", NULL);
		events_out->oom_kills = value_in(run, "memory.oom_control", "oom_kill");
		events_out->peak_kib = value_in(run, "memory.max_usage_in_bytes", NULL) / BYTES_PER_KIB;
	}
}

int group_set_swap_limit(struct workload_run *run, uint64_t memory, uint64_t swap)
{
	const char *name = is_v2(run) ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
	const uint64_t bytes = is_v2(run) ? swap : memory + swap;
	char path[PATH_MAX], text[24];

	snprintf(path, sizeof(path), "%.3900s/" MEMCG_GROUP "/%s", run->memcg->mount, name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (!sysfile_write(path, text))
		return workload_fail(run, "%s=%s: %s (CONFIG_SWAP, swapaccount=1?)", name, text, strerror(errno));

	char *found = sysfile_line("", path);
	const uint64_t now = found ? strtoull(found, NULL, 10) : 0;
	const bool good = found && *found >= '0' && *found <= '9' && now <= bytes && bytes - now < PAGES_MAX;

	if (!good)
		workload_fail(run, "the limit is not applied: %s is %.32s after %s was written", name, found ? found : "gone",
			      text);
	free(found);
	return good ? 0 : -1;
}
