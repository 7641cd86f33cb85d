/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cores are taken online and offline; what puts them back is switched off. */
#ifndef AGENT_HOTPLUG_H
#define AGENT_HOTPLUG_H

#include <sched.h>

#include "agent/hold.h"

/* Qualcomm's core_ctl takes cores offline (isolates them) and back by load: it is told not to, under the keys core_ctl.cpuN. */
void hotplug_stop_core_ctl(struct holds *holds);
/* All cores that are present, so that each can be ranked; those that will not are told under the keys cpuN.online. */
void hotplug_wake_all(struct holds *holds);
/*
 * With `offline` all others but `cpus` are taken offline, where that can be done: cpu0 often has no file for it. Held under the keys
 * cpuN.online and online.
 */
void hotplug_leave(struct holds *holds, const cpu_set_t *cpus, bool offline);

#endif
