/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/affinity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cores.h"
#include "agent/sysfile.h"

#define MOUNT_MAX 256

/* "WHAT WHERE TYPE OPTIONS ...": where cpusets of version 1 are. */
static bool find_cpuset_mount(const char *root, char mount_out[MOUNT_MAX])
{
	char *mounts = sysfile_read(root, "/proc/self/mounts", NULL);
	char *rest = mounts, *line;
	bool found = false;

	while (!found && rest && (line = strsep(&rest, "\n"))) {
		char type[32], options[512], padded[520];

		if (sscanf(line, "%*s %255s %31s %511s", mount_out, type, options) != 3 || strcmp(type, "cgroup") != 0)
			continue;
		snprintf(padded, sizeof(padded), ",%s,", options);
		found = strstr(padded, ",cpuset,") != NULL;
	}
	free(mounts);
	return found;
}

static void hold_cpuset(struct holds *holds)
{
	char mount[MOUNT_MAX], path[PATH_MAX], pid[24], now[HOLD_VALUE_MAX];

	if (!find_cpuset_mount(holds->root, mount))
		return;
	if (!hold_read_file(holds->root, "/proc/self/cpuset", now, sizeof(now))) {
		hold_fail(holds, "cpuset", "/proc/self/cpuset: %.100s", now);
		return;
	}
	snprintf(path, sizeof(path), "%s%s/cgroup.procs", holds->root, mount);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (strcmp(now, "/") != 0 && !sysfile_write(path, pid)) {
		hold_fail(holds, "cpuset", "cannot leave %.100s: %s", now, strerror(errno));
		return;
	}
	hold_add(holds, "cpuset", "/proc/self/cpuset", "/", hold_read_file, NULL);
}

static bool read_affinity(const char *root, const char *name, char *now, size_t size)
{
	static const char key[] = "Cpus_allowed_list:";
	char *status = sysfile_read(root, name, NULL);
	const char *line = status ? strstr(status, key) : NULL;

	if (line) {
		line += strlen(key);
		line += strspn(line, " \t");
		snprintf(now, size, "%.*s", (int)strcspn(line, "\n"), line);
	} else {
		snprintf(now, size, "%s has no %s", name, key);
	}
	free(status);
	return line != NULL;
}

void affinity_hold(struct holds *holds, const cpu_set_t *cpus)
{
	char list[HOLD_VALUE_MAX];

	hold_cpuset(holds);
	cores_format(cpus, list, sizeof(list));
	if (!*holds->root && sched_setaffinity(0, sizeof(*cpus), cpus))
		hold_fail(holds, "affinity", "cannot run on %.100s alone: %s", list, strerror(errno));
	else
		hold_add(holds, "affinity", "/proc/self/status", list, read_affinity, NULL);
}
