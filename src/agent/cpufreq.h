/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Governor and frequency of each policy of cpufreq (/sys/devices/system/cpu/cpufreq/policyN, one a cluster). A policy whose cores
 * are all offline has no attributes and is left out.
 */
#ifndef AGENT_CPUFREQ_H
#define AGENT_CPUFREQ_H

#include <sched.h>

#include "agent/hold.h"

/*
 * `governor`: its name, or NULL. `frequency`: "max", "min", "mid" (the middle one of those offered; halfway where none are
 * listed), kHz, or NULL; both limits are set to it, in the order that keeps them in order, and the current frequency is
 * compared with it (within 2%) when all is read back. A number of kHz that a policy cannot run at is an error only where it has
 * a core of `cpus`. Held under the keys governor.policyN, frequency.policyN (the current one), frequency.policyN.min and .max.
 */
void cpufreq_hold(struct holds *holds, const cpu_set_t *cpus, const char *governor, const char *frequency);

#endif
