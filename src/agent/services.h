/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Services and properties of the system that runs beside the agent.
 *
 *   Android  where /dev/socket/property_service is: init is told by `setprop ctl.stop NAME` and ctl.start, and says in the
 *            property init.svc.NAME what became of it (running, stopped, restarting, stopping; empty: there is no such service)
 *   systemd  where /run/systemd/system is (sd_booted(3)): systemctl
 *
 * Under our own init there is neither, and nothing to stop.
 */
#ifndef AGENT_SERVICES_H
#define AGENT_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

enum service_manager { SERVICES_NONE, SERVICES_ANDROID, SERVICES_SYSTEMD };

/* `root` is put in front of the two paths. */
enum service_manager services_manager(const char *root);
/* "running", "stopped" or "not there" into `state`; false with what the manager says in its place. */
bool services_state(enum service_manager manager, const char *name, char *state, size_t size);
/* Asks, and waits until it is so. False with a one-line reason. */
bool services_stop(enum service_manager manager, const char *name, char *reason, size_t size);
bool services_start(enum service_manager manager, const char *name, char *reason, size_t size);
/* Android alone. What it says; "" also of a property that is not there. */
bool property_get(const char *name, char *value, size_t size);
/* Sets it and reads it back. */
bool property_set(const char *name, const char *value, char *reason, size_t size);

#endif
