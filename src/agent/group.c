/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/group.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/memcg.h"
#include "agent/sysfile.h"

#define TRIES 16 /* v1 says EBUSY when a round of reclaim does not suffice */

static bool is_v2(const struct workload_run *run)
{
	return !strcmp(run->memcg->version, "v2");
}

static int group_file(const struct workload_run *run, const char *name, char path_out[PATH_MAX])
{
	return snprintf(path_out, PATH_MAX, "%s/" MEMCG_GROUP "/%s", run->memcg->mount, name) < PATH_MAX ? 0 : -1;
}

int group_can_limit(struct workload_run *run)
{
	if (run->memcg && run->place && !strncmp(run->place, "child", strlen("child")))
		return 0;
	return workload_fail(run, "a memory limit needs a child group, but this runs in %s",
			     run->place && !strcmp(run->place, "root") ? "the root group" : "none: memcg is off");
}

static const char *limit_file(const struct workload_run *run, enum group_limit which)
{
	if (!is_v2(run))
		return "memory.limit_in_bytes";
	return which == GROUP_HARD ? "memory.max" : "memory.high";
}

static bool write_limit(const char *path, const char *text)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (sysfile_write(path, text))
			return true;
		if (errno != EBUSY)
			break;
	}
	return false;
}

/* Rounded down to pages by the kernel; "max" on v2, a number near 2^63 on v1, when there is none. */
static bool is_limit(const char *text, uint64_t bytes)
{
	const uint64_t found = !strcmp(text, "max") ? GROUP_NO_LIMIT : strtoull(text, NULL, 10);

	if (bytes == GROUP_NO_LIMIT)
		return found >= (uint64_t)1 << 62;
	return found <= bytes && bytes - found < 65536;
}

int group_set_limit(struct workload_run *run, enum group_limit which, uint64_t bytes)
{
	const char *name = limit_file(run, which);
	char path[PATH_MAX], text[24];

	if (group_can_limit(run) || group_file(run, name, path))
		return -1;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (bytes == GROUP_NO_LIMIT)
		snprintf(text, sizeof(text), "%s", is_v2(run) ? "max" : "-1");
	if (!write_limit(path, text))
		return workload_fail(run, "%s=%s: %s", name, text, strerror(errno));

	char *found = sysfile_line("", path);
	int result = found && is_limit(found, bytes)
			     ? 0
			     : workload_fail(run, "the limit is not applied: %s is %.32s after %s was written", name,
					     found ? found : "gone", text);

	free(found);
	return result;
}

int group_usage(struct workload_run *run, uint64_t *bytes_out)
{
	const char *name = is_v2(run) ? "memory.current" : "memory.usage_in_bytes";
	char path[PATH_MAX];
	char *text = group_file(run, name, path) ? NULL : sysfile_line("", path);

	if (!text)
		return workload_fail(run, "%s: %s", name, strerror(errno));
	*bytes_out = strtoull(text, NULL, 10);
	free(text);
	return 0;
}
