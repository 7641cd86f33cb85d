/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/services.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/command.h"
#include "agent/node.h"

#define PROPERTY_MS 10000 /* one call of setprop or getprop */
#define SYSTEMCTL_MS 100000 /* systemd itself kills a service that has not stopped after 90 s */
#define CHANGE_MS 15000 /* until Android's init has done what it was asked for */

static bool is_there(const char *root, const char *path)
{
	struct stat found;
	char full[512];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) && !stat(full, &found);
}

enum service_manager services_manager(const char *root)
{
	if (is_there(root, "/dev/socket/property_service"))
		return SERVICES_ANDROID;
	return is_there(root, "/run/systemd/system") ? SERVICES_SYSTEMD : SERVICES_NONE;
}

bool property_get(const char *name, char *value, size_t size)
{
	const char *const argv[] = { "getprop", name, NULL };

	return command_run(argv, PROPERTY_MS, value, size);
}

bool property_set(const char *name, const char *value, char *reason, size_t size)
{
	const char *const argv[] = { "setprop", name, value, NULL };
	char now[256];

	if (!command_run(argv, PROPERTY_MS, reason, size))
		return false;
	if (!property_get(name, now, sizeof(now))) {
		snprintf(reason, size, "%s", now);
		return false;
	}
	if (strcmp(now, value))
		snprintf(reason, size, "it was set and is '%s'", now);
	return !strcmp(now, value);
}

static bool android_state(const char *name, char *state, size_t size)
{
	char property[300];

	snprintf(property, sizeof(property), "init.svc.%s", name);
	if (!property_get(property, state, size))
		return false;
	if (!*state)
		snprintf(state, size, "not there");
	return true;
}

/* LoadState tells a unit that is not there from one that is stopped; both are called inactive. */
static bool systemd_state(const char *name, char *state, size_t size)
{
	const char *const argv[] = { "systemctl", "show", "--property=LoadState,ActiveState", name, NULL };
	char said[256];

	if (!command_run(argv, SYSTEMCTL_MS, said, sizeof(said))) {
		snprintf(state, size, "%s", said);
		return false;
	}
	if (strstr(said, "LoadState=not-found"))
		snprintf(state, size, "not there");
	else if (strstr(said, "ActiveState=inactive") || strstr(said, "ActiveState=failed"))
		snprintf(state, size, "stopped");
	else
		snprintf(state, size, "running");
	return true;
}

bool services_state(enum service_manager manager, const char *name, char *state, size_t size)
{
	if (manager == SERVICES_ANDROID)
		return android_state(name, state, size);
	if (manager == SERVICES_SYSTEMD)
		return systemd_state(name, state, size);
	snprintf(state, size, "not there");
	return true;
}

/* Whether Android's init gets there in time. */
static bool wait_for_state(const char *name, const char *want, char *reason, size_t size)
{
	const long long deadline = node_clock_ms() + CHANGE_MS;
	char state[128];

	for (;;) {
		if (!android_state(name, state, sizeof(state))) {
			snprintf(reason, size, "%s", state);
			return false;
		}
		if (!strcmp(state, want))
			return true;
		if (node_clock_ms() >= deadline) {
			snprintf(reason, size, "it is %s after %d s", state, CHANGE_MS / 1000);
			return false;
		}
		node_pause();
	}
}

static bool tell(enum service_manager manager, const char *name, bool start, char *reason, size_t size)
{
	const char *const android[] = { "setprop", start ? "ctl.start" : "ctl.stop", name, NULL };
	const char *const systemd[] = { "systemctl", start ? "start" : "stop", name, NULL };

	if (manager == SERVICES_ANDROID)
		return command_run(android, PROPERTY_MS, reason, size) &&
		       wait_for_state(name, start ? "running" : "stopped", reason, size);
	return command_run(systemd, SYSTEMCTL_MS, reason, size);
}

bool services_stop(enum service_manager manager, const char *name, char *reason, size_t size)
{
	return tell(manager, name, false, reason, size);
}

bool services_start(enum service_manager manager, const char *name, char *reason, size_t size)
{
	return tell(manager, name, true, reason, size);
}
