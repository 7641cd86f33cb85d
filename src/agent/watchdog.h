/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A watchdog that the kernel or the firmware has started is fed by a process of its own, also while a workload keeps the agent
 * busy. Should the agent die, the feeding stops and the watchdog resets the device.
 */
#ifndef AGENT_WATCHDOG_H
#define AGENT_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct watchdog {
	pid_t feeder; /* 0 = none */
	int end_fd;
};

/*
 * Feeds `path` every 5 s, or every third of its time where that is shorter. False with a one-line reason; `watchdog` is usable
 * either way.
 */
bool watchdog_start(struct watchdog *watchdog, const char *path, char *reason, size_t reason_size);
/* Stops feeding and says to the watchdog that this is meant (magic close), which most of them take for an order to stop. */
void watchdog_stop(struct watchdog *watchdog);

#endif
