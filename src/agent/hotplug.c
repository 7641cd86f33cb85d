/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/hotplug.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/cores.h"

#define CPU_DIR "/sys/devices/system/cpu"

static bool is_there(const struct holds *holds, const char *path)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof(full), "%s%s", holds->root, path) < (int)sizeof(full) && !access(full, F_OK);
}

/* Older ones have no switch: as many as there are at most is also the least then. */
static void stop_one(struct holds *holds, int cpu)
{
	char key[HOLD_KEY_MAX], path[128], most[HOLD_VALUE_MAX];

	snprintf(key, sizeof(key), "core_ctl.cpu%d", cpu);
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/core_ctl/enable", cpu);
	if (is_there(holds, path)) {
		hold_file(holds, key, path, "0");
		return;
	}
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/core_ctl/max_cpus", cpu);
	if (!hold_read_file(holds->root, path, most, sizeof(most)))
		return;
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/core_ctl/min_cpus", cpu);
	hold_file(holds, key, path, most);
}

void hotplug_stop_core_ctl(struct holds *holds)
{
	cpu_set_t present;

	if (!cores_read_list(holds->root, "present", &present))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &present))
			stop_one(holds, cpu);
	}
}

static void hold_one(struct holds *holds, int cpu, bool online)
{
	char key[HOLD_KEY_MAX], path[128];

	snprintf(key, sizeof(key), "cpu%d.online", cpu);
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
	if (is_there(holds, path))
		hold_file(holds, key, path, online ? "1" : "0");
	else
		hold_fail(holds, key, "this kernel cannot take it %s: there is no %s", online ? "online" : "offline", path);
}

/* A core that is woken to be ranked may go offline again: it is held only where it stays. */
static void wake(struct holds *holds, int cpu)
{
	const size_t n = holds->n;

	hold_one(holds, cpu, true);
	if (holds->n > n && holds->items[n].state == HOLD_HELD)
		holds->n = n;
}

void hotplug_wake_all(struct holds *holds)
{
	cpu_set_t present, online;

	if (!cores_read_list(holds->root, "present", &present) || !cores_read_list(holds->root, "online", &online))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &present) && !CPU_ISSET(cpu, &online))
			wake(holds, cpu);
	}
}

static bool read_online(const char *root, const char *name, char *now, size_t size)
{
	cpu_set_t online;

	if (!cores_read_list(root, name, &online)) {
		snprintf(now, size, "unreadable");
		return false;
	}
	cores_format(&online, now, size);
	return true;
}

void hotplug_leave(struct holds *holds, const cpu_set_t *cpus, bool offline)
{
	cpu_set_t online;
	char list[HOLD_VALUE_MAX];

	if (!cores_read_list(holds->root, "online", &online))
		return;
	for (int cpu = 0; offline && cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &online) && !CPU_ISSET(cpu, cpus))
			hold_one(holds, cpu, false);
	}
	if (read_online(holds->root, "online", list, sizeof(list)))
		hold_add(holds, "online", "online", list, read_online, NULL);
}
