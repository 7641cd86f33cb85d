/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/hierarchy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sysfile.h"

bool hierarchy_has_word(const char *text, const char *word)
{
	while (*text) {
		size_t len = strcspn(text, ", \t\n");

		if (len == strlen(word) && !strncmp(text, word, len))
			return true;
		text += len;
		text += strspn(text, ", \t\n");
	}
	return false;
}

bool hierarchy_find(const char *version, char mount_out[PATH_MAX])
{
	const bool v2 = !strcmp(version, "v2");
	char *mounts = sysfile_read("", "/proc/self/mounts", NULL);
	char *position = NULL;
	bool found = false;

	for (char *line = mounts ? strtok_r(mounts, "\n", &position) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &position)) {
		char *fields[4] = { NULL };
		char *at = NULL;
		size_t n = 0;

		for (char *field = strtok_r(line, " ", &at); field && n < 4; field = strtok_r(NULL, " ", &at))
			fields[n++] = field;
		if (n < 4 || strlen(fields[1]) >= PATH_MAX)
			continue;
		found = v2 ? !strcmp(fields[2], "cgroup2")
			   : !strcmp(fields[2], "cgroup") && hierarchy_has_word(fields[3], "memory");
		if (found)
			memcpy(mount_out, fields[1], strlen(fields[1]) + 1);
	}
	free(mounts);
	return found;
}

static void mount_one(const char *version)
{
	char mounted[PATH_MAX];

	if (hierarchy_find(version, mounted))
		return;
	if (!strcmp(version, "v1")) {
		mkdir("/cgroup-v1", 0755);
		if (mount("none", "/cgroup-v1", "cgroup", 0, "memory"))
			rmdir("/cgroup-v1");
		return;
	}
	if (mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL)) {
		mkdir("/cgroup", 0755);
		if (mount("none", "/cgroup", "cgroup2", 0, NULL))
			rmdir("/cgroup");
	}
}

static bool v2_has_memory(void)
{
	char mount_point[PATH_MAX], path[PATH_MAX + 32];

	if (!hierarchy_find("v2", mount_point))
		return false;
	snprintf(path, sizeof(path), "%s/cgroup.controllers", mount_point);

	char *controllers = sysfile_line("", path);
	bool has = controllers && hierarchy_has_word(controllers, "memory");

	free(controllers);
	return has;
}

void hierarchy_mount(const char *want_version)
{
	if (!strcmp(want_version, "v1"))
		mount_one("v1");
	mount_one("v2");
	if (!v2_has_memory())
		mount_one("v1");
}

static bool has_controller(char *controllers, char *end)
{
	*end = '\0';
	return hierarchy_has_word(controllers, "memory");
}

/* A line is ID:CONTROLLERS:GROUP; v2's has ID 0 and no controllers. */
bool hierarchy_self(const char *version, char group_out[PATH_MAX])
{
	const bool v2 = !strcmp(version, "v2");
	char *text = sysfile_read("", "/proc/self/cgroup", NULL);
	char *position = NULL;
	bool found = false;

	*group_out = '\0';
	for (char *line = text ? strtok_r(text, "\n", &position) : NULL; line && !found; line = strtok_r(NULL, "\n", &position)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group || strlen(group + 1) >= PATH_MAX)
			continue;
		found = v2 ? !strncmp(line, "0::", 3) : has_controller(controllers + 1, group);
		if (found)
			memcpy(group_out, group + 1, strlen(group + 1) + 1);
	}
	free(text);
	return found;
}

static void group_path(char path[PATH_MAX + 64], const char *mount_point, const char *file)
{
	snprintf(path, PATH_MAX + 64, "%s/" MEMCG_GROUP "%s", mount_point, file);
}

static bool gives_memory(const char *mount_point)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mount_point);

	char *given = sysfile_line("", path);
	bool has = given && hierarchy_has_word(given, "memory");

	free(given);
	return has;
}

static bool write_subtree(const char *mount_point, const char *what)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mount_point);
	return sysfile_write(path, what);
}

void hierarchy_take_memory(const char *mount)
{
	write_subtree(mount, "-memory");
}

enum fact hierarchy_probe(const char *mount, bool v2, bool *gave_out)
{
	char reason[PATH_MAX + 160], path[PATH_MAX + 64];

	if (v2 && !gives_memory(mount) && write_subtree(mount, "+memory"))
		*gave_out = true;
	if (!hierarchy_make_group(mount, reason, sizeof(reason)))
		return FACT_UNKNOWN;
	group_path(path, mount, v2 ? "/memory.current" : "/memory.usage_in_bytes");

	enum fact found = access(path, F_OK) ? FACT_NO : FACT_YES;

	hierarchy_remove_group(mount);
	return found;
}

bool hierarchy_make_group(const char *mount, char *reason, size_t reason_size)
{
	char path[PATH_MAX + 64];

	group_path(path, mount, "");
	rmdir(path); /* left by an agent that was killed */
	if (!mkdir(path, 0755))
		return true;
	snprintf(reason, reason_size, "cannot make group " MEMCG_GROUP " in %.64s: %s", mount, strerror(errno));
	return false;
}

void hierarchy_remove_group(const char *mount)
{
	char path[PATH_MAX + 64];

	group_path(path, mount, "");
	rmdir(path);
}

bool hierarchy_move_self(const char *mount, const char *group, char *reason, size_t reason_size)
{
	char path[2 * PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", mount, strcmp(group, "/") ? group : "");
	if (sysfile_write(path, "0"))
		return true;
	snprintf(reason, reason_size, "cannot enter group %.64s: %s", group, strerror(errno));
	return false;
}
