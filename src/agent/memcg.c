/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/memcg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "agent/hierarchy.h"
#include "agent/sysfile.h"

#define SYSLOG_READ_ALL 3
#define SYSLOG_SIZE_BUFFER 10

static const char *fact_name(enum fact fact)
{
	static const char *const names[] = { "unknown", "no", "yes" };

	return names[fact];
}

static const char *row_name(enum cgroups_row row)
{
	static const char *const names[] = { "unreadable", "no-cgroups", "missing", "disabled", "enabled" };

	return names[row];
}

enum fact memcg_v1_is_optional(const char *release)
{
	unsigned major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return FACT_UNKNOWN;
	return major > 6 || (major == 6 && minor >= 11) ? FACT_YES : FACT_NO;
}

static const char *decide_without_row(const struct memcg_facts *facts)
{
	if (facts->v1_optional == FACT_NO)
		return "none";
	if (facts->built == FACT_YES || facts->logged_off == FACT_YES)
		return "disabled";
	return facts->built == FACT_NO ? "none" : "unknown";
}

const char *memcg_decide(const struct memcg_facts *facts)
{
	bool seen_on = facts->v2 == FACT_YES || facts->probe == FACT_YES;

	switch (facts->row) {
	case ROW_UNREADABLE:
		return "unknown";
	case ROW_NO_CGROUPS:
		return seen_on ? "unknown" : "none";
	case ROW_DISABLED:
		return seen_on ? "unknown" : "disabled";
	case ROW_ENABLED:
		return facts->probe == FACT_NO || facts->logged_off == FACT_YES ? "unknown" : "on";
	case ROW_MISSING:
		break;
	}
	if (facts->v2 == FACT_YES)
		return facts->probe == FACT_NO ? "unknown" : "on";
	return facts->probe == FACT_YES ? "unknown" : decide_without_row(facts);
}

/* Columns of /proc/cgroups: name, hierarchy, number of groups, enabled. */
static enum cgroups_row read_row(const char *root)
{
	char *text = sysfile_read(root, "/proc/cgroups", NULL);
	enum cgroups_row row = ROW_MISSING;
	char *position = NULL;

	if (!text) {
		bool absent = errno == ENOENT;
		char *cmdline = sysfile_read(root, "/proc/cmdline", NULL);

		row = absent && cmdline ? ROW_NO_CGROUPS : ROW_UNREADABLE;
		free(cmdline);
		return row;
	}
	for (char *line = strtok_r(text, "\n", &position); line; line = strtok_r(NULL, "\n", &position)) {
		int enabled;

		if (sscanf(line, "memory %*u %*u %d", &enabled) == 1)
			row = enabled == 1 ? ROW_ENABLED : ROW_DISABLED;
	}
	free(text);
	return row;
}

static enum fact look_for_symbol(const char *root)
{
	char *symbols = sysfile_read(root, "/proc/kallsyms", NULL);
	enum fact built = FACT_UNKNOWN;

	/* A kernel that gives its symbols at all gives this one. */
	if (symbols && strstr(symbols, " handle_mm_fault\n"))
		built = strstr(symbols, " mem_cgroup_from_task\n") ? FACT_YES : FACT_NO;
	free(symbols);
	return built;
}

static enum fact look_into_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0);
	char *log = size > 0 ? malloc((size_t)size + 1) : NULL;
	int len = log ? klogctl(SYSLOG_READ_ALL, log, size) : -1;
	enum fact found = FACT_UNKNOWN;

	if (len >= 0) {
		log[len] = '\0';
		if (strstr(log, "cgroup: Disabling memory control group subsystem"))
			found = FACT_YES;
	}
	free(log);
	return found;
}

static enum fact read_v2(const char *root, const char *mount)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/cgroup.controllers", mount) >= (int)sizeof(path))
		return FACT_UNKNOWN;

	char *controllers = sysfile_line(root, path);
	enum fact found = FACT_UNKNOWN;

	if (controllers)
		found = hierarchy_has_word(controllers, "memory") ? FACT_YES : FACT_NO;
	free(controllers);
	return found;
}

static enum fact read_v1_optional(const char *root)
{
	char *release = sysfile_line(root, "/proc/sys/kernel/osrelease");
	enum fact optional = release ? memcg_v1_is_optional(release) : FACT_UNKNOWN;

	free(release);
	return optional;
}

static void describe(struct memcg *memcg, const struct memcg_facts *facts)
{
	snprintf(memcg->raw, sizeof(memcg->raw), "row=%s v2=%s probe=%s v1-optional=%s built=%s logged-off=%s",
		 row_name(facts->row), fact_name(facts->v2), fact_name(facts->probe), fact_name(facts->v1_optional),
		 fact_name(facts->built), fact_name(facts->logged_off));
}

/* Finds or makes the hierarchy that has the controller, and tries it. */
static void look_at_hierarchies(bool may_mount, const char *want_version, struct memcg *memcg, struct memcg_facts *facts)
{
	char v1[PATH_MAX] = "", v2[PATH_MAX] = "";

	if (may_mount)
		hierarchy_mount(want_version);
	if (hierarchy_find("v2", v2))
		facts->v2 = read_v2("", v2);
	hierarchy_find("v1", v1);

	bool use_v2 = facts->v2 == FACT_YES || !*v1;

	snprintf(memcg->mount, sizeof(memcg->mount), "%s", use_v2 ? v2 : v1);
	memcg->version = use_v2 ? "v2" : "v1";
	if (*memcg->mount)
		facts->probe = hierarchy_probe(memcg->mount, use_v2, &memcg->gave_memory);
	hierarchy_self(memcg->version, memcg->home);
}

void memcg_examine(const char *root, bool may_mount, const char *want_version, struct memcg *memcg_out)
{
	struct memcg memcg = { .version = "", .told = *root != '\0' };
	struct memcg_facts facts = { .row = read_row(root), .v1_optional = read_v1_optional(root) };

	if (memcg.told) {
		facts.v2 = read_v2(root, "/sys/fs/cgroup");
		memcg.version = facts.v2 == FACT_YES ? "v2" : "v1";
	} else {
		look_at_hierarchies(may_mount, want_version, &memcg, &facts);
		facts.logged_off = look_into_log();
	}
	if (facts.row == ROW_MISSING && facts.v2 != FACT_YES && facts.v1_optional != FACT_NO)
		facts.built = look_for_symbol(root);
	memcg.state = memcg_decide(&facts);
	if (strcmp(memcg.state, "on") != 0)
		memcg.version = "";
	describe(&memcg, &facts);
	*memcg_out = memcg;
}

static bool enter_group(const struct memcg *memcg, bool child, char *reason, size_t reason_size)
{
	char self[PATH_MAX];

	if (!*memcg->mount) {
		snprintf(reason, reason_size, "memcg is on but its hierarchy is not mounted");
		return false;
	}
	if (child && !hierarchy_make_group(memcg->mount, reason, reason_size))
		return false;
	if (!hierarchy_move_self(memcg->mount, child ? "/" MEMCG_GROUP : "/", reason, reason_size))
		return false;
	if (!hierarchy_self(memcg->version, self) || strcmp(self, child ? "/" MEMCG_GROUP : "/") != 0) {
		snprintf(reason, reason_size, "asked to be in group /%s, but is in '%s'", child ? MEMCG_GROUP : "", self);
		return false;
	}
	return true;
}

bool memcg_enter(const struct memcg *memcg, const char *where, const char **place_out, char *reason, size_t reason_size)
{
	bool child = strcmp(where, "root") != 0;

	if (!strcmp(memcg->state, "none") || !strcmp(memcg->state, "disabled")) {
		*place_out = "none";
		return true;
	}
	if (strcmp(memcg->state, "on") != 0) {
		snprintf(reason, reason_size, "whether memcg is on is unknown: %s", memcg->raw);
		return false;
	}
	if (!memcg->told && !enter_group(memcg, child, reason, reason_size))
		return false;
	if (!child)
		*place_out = "root";
	else
		*place_out = !strcmp(memcg->version, "v1") ? "child-v1" : "child-v2";
	return true;
}

void memcg_leave(const struct memcg *memcg)
{
	char reason[160];

	if (memcg->told || !*memcg->mount)
		return;
	hierarchy_move_self(memcg->mount, memcg->home, reason, sizeof(reason));
	hierarchy_remove_group(memcg->mount);
}

void memcg_restore(const struct memcg *memcg)
{
	memcg_leave(memcg);
	if (memcg->gave_memory)
		hierarchy_take_memory(memcg->mount);
}
