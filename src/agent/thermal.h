/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits until a device has cooled down. */
#ifndef AGENT_THERMAL_H
#define AGENT_THERMAL_H

#include <stdbool.h>
#include <stddef.h>

/* The hottest zone. */
struct thermal {
	double celsius;
	char zone[64]; /* its type, "cpu-big" */
};

/* /sys/class/thermal/thermal_zoneN/{temp,type}, temp in thousandths of a degree. False when there is no zone to read. */
bool thermal_read(const char *root, struct thermal *hottest_out);
/*
 * Until every zone is below `limit` degrees Celsius, up to `wait_ms`; `alive` is called every few seconds. True with how hot it
 * is in `text`; false with why it was given up.
 */
bool thermal_wait(const char *root, double limit, long long wait_ms, void (*alive)(void *arg), void *arg, char *text,
		  size_t size);

#endif
