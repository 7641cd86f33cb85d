/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/thermal.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/node.h"
#include "agent/sysfile.h"

#define LOOK_MS 500 /* between two looks */
#define ALIVE_MS 5000

static bool read_zone(const char *zone, struct thermal *thermal_out)
{
	char *temp = sysfile_line(zone, "/temp");
	char *type = sysfile_line(zone, "/type");
	char *end = NULL;
	long thousandths = temp ? strtol(temp, &end, 10) : 0;
	bool good = temp && end != temp && !*end;

	if (good) {
		thermal_out->celsius = (double)thousandths / 1000;
		snprintf(thermal_out->zone, sizeof(thermal_out->zone), "%s", type ? type : "a zone without a type");
	}
	free(temp);
	free(type);
	return good;
}

bool thermal_read(const char *root, struct thermal *hottest_out)
{
	char pattern[PATH_MAX];
	bool any = false;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/sys/class/thermal/thermal_zone*", root);
	if (glob(pattern, 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct thermal zone;

		if (!read_zone(found.gl_pathv[i], &zone))
			continue;
		if (!any || zone.celsius > hottest_out->celsius)
			*hottest_out = zone;
		any = true;
	}
	globfree(&found);
	return any;
}

static void sleep_between(void)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&pause, NULL);
}

bool thermal_wait(const char *root, double limit, long long wait_ms, void (*alive)(void *arg), void *arg, char *text, size_t size)
{
	const long long start = node_clock_ms();
	long long sign = start + ALIVE_MS;
	struct thermal hottest;

	for (;;) {
		const long long now = node_clock_ms();

		if (!thermal_read(root, &hottest)) {
			snprintf(text, size, "no thermal zone can be read");
			return false;
		}
		if (hottest.celsius < limit) {
			snprintf(text, size, "%.1f C (%s) after %lld s", hottest.celsius, hottest.zone, (now - start) / 1000);
			return true;
		}
		if (now - start >= wait_ms) {
			snprintf(text, size, "%s is at %.1f C after %lld s, not below %g C", hottest.zone, hottest.celsius,
				 (now - start) / 1000, limit);
			return false;
		}
		if (now >= sign) {
			sign = now + ALIVE_MS;
			alive(arg);
		}
		sleep_between();
	}
}
