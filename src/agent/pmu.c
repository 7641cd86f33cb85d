/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/pmu.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/conf.h"
#include "agent/cores.h"
#include "agent/events.h"
#include "agent/sysfile.h"

#define DEVICES "/sys/bus/event_source/devices"

static char *read_line(const char *root, const char *pmu, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	return sysfile_line(root, path);
}

/* False for what is no PMU of cores: those of memory controllers and the like have `cpumask` in place of `cpus`. */
static bool read_pmu(const char *root, const char *name, struct pmu *pmu, cpu_set_t *cpus)
{
	char *list = read_line(root, name, "cpus");
	char *type_text = list ? read_line(root, name, "type") : NULL;
	uint64_t type = 0;
	const bool good = list && cores_parse(list, cpus) && type_text && conf_count(type_text, &type) && type <= UINT32_MAX &&
			  strlen(name) < PMU_NAME_MAX;

	free(list);
	free(type_text);
	if (good)
		strcpy(pmu->name, name);
	pmu->type = (uint32_t)type;
	return good;
}

/* Does this one have some of them, or all? */
static bool look_at(const char *root, const char *name, const cpu_set_t *cpus, struct pmu *pmu, bool *all)
{
	cpu_set_t own, both;

	if (!read_pmu(root, name, pmu, &own))
		return false;
	CPU_AND(&both, &own, cpus);
	*all = CPU_EQUAL(&both, cpus);
	return CPU_COUNT(&both) > 0;
}

bool pmu_find(const char *root, const cpu_set_t *cpus, struct pmu *pmu_out, char *reason, size_t reason_size)
{
	char path[PATH_MAX], list[CORES_TEXT_MAX];

	snprintf(path, sizeof(path), "%s" DEVICES, root);
	cores_format(cpus, list, sizeof(list));
	snprintf(reason, reason_size, "CPUs %.40s have no PMU in " DEVICES, list);

	DIR *dir = opendir(path);
	bool found = false;

	for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
		struct pmu pmu;
		bool all;

		if (*entry->d_name == '.' || !look_at(root, entry->d_name, cpus, &pmu, &all))
			continue;
		if (!all) {
			snprintf(reason, reason_size, "CPUs %.40s are of several PMUs, %s is one: measure cores of one class",
				 list, pmu.name);
			continue;
		}
		*pmu_out = pmu;
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool pmu_has_events(const char *root, const struct pmu *pmu, unsigned events, char *reason, size_t reason_size)
{
	for (enum event event = 0; event < N_EVENTS; event++) {
		const struct event_info *info = &event_infos[event];
		char file[64];

		if (!(events & 1u << event))
			continue;
		snprintf(file, sizeof(file), "events/%s", info->arm_name);

		char *text = read_line(root, pmu->name, file);

		free(text);
		if (text)
			continue;
		snprintf(reason, reason_size, "%s: %.40s has no event %s (0x%02x): leave it out of 'events'", info->name,
			 pmu->name, info->arm_name, info->arm_number);
		return false;
	}
	return true;
}
