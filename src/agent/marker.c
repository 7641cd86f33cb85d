/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/marker.h"

#include <stdio.h>

#define LINE_MAX_LEN 160

/* A line goes out bit by bit, the lowest of each byte first. */
static void say(const char *line)
{
	for (const char *c = line; *c; c++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			if ((unsigned char)*c >> bit & 1)
				MARK(MARKER_ONE);
			else
				MARK(MARKER_ZERO);
		}
	}
	MARK(MARKER_END);
}

void marker_iteration(const char *label, int iteration)
{
	char line[LINE_MAX_LEN];

	snprintf(line, sizeof(line), "iteration %s %d", label, iteration);
	say(line);
}

void marker_phase(unsigned slot, const char *phase, double operations)
{
	char line[LINE_MAX_LEN];

	snprintf(line, sizeof(line), "phase %u %s %.0f", slot, phase, operations);
	say(line);
}
