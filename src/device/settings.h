/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a boot is told: its command line with the padding of a nuisance, and the agent's settings (agent/conf.h). */
#ifndef DEVICE_SETTINGS_H
#define DEVICE_SETTINGS_H

#include "base/strbuf.h"
#include "device/device.h"

/*
 * The command line without white space at its end, and with exactly `pad` more bytes there: a parameter with a dot in its name,
 * which every kernel takes for one of a module that it does not have and leaves alone. One byte is a blank at the start, since
 * the agent tells /proc/cmdline without white space at its end. The caller frees the result.
 */
char *settings_pad_cmdline(const char *cmdline, unsigned pad);

struct settings {
	const char *counter; /* "pmu", "clock", "model" */
	bool clock; /* report times too */
	const char *finish; /* "poweroff", "exit" */
	const char *extra; /* more lines, each with its newline; NULL = none */
};

/* All of the agent's settings for a request, workloads included, appended to `out`. */
void settings_write(const struct settings *settings, const struct boot_request *request, struct strbuf *out);

#endif
