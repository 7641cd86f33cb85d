/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a boot is told: its command line with the padding of a nuisance, and the agent's settings (agent/conf.h). */
#ifndef DEVICE_SETTINGS_H
#define DEVICE_SETTINGS_H

#include "agent/sift.h"
#include "base/strbuf.h"
#include "device/device.h"

/*
 * The command line without white space at its end, and with exactly `pad` more bytes there: a parameter with a dot in its name,
 * which every kernel takes for one of a module that it does not have and leaves alone. One byte is a blank at the start, since
 * the agent tells /proc/cmdline without white space at its end. The caller frees the result.
 */
char *settings_pad_cmdline(const char *cmdline, unsigned pad);

struct settings {
	const char *counter; /* "pmu", "clock", "none", "model" */
	bool clock; /* report times too */
	const char *finish; /* "poweroff", "exit" */
	const char *nonce; /* this boot's, where records may lie that another boot left; NULL or "" = none */
	const struct profile *profile; /* whose environment and events are wanted; NULL = the device has neither */
	const char *extra; /* more lines, each with its newline; NULL = none */
};

/* A new one from the kernel's random numbers (agent/sift.h), always of the same length. ERROR_OS when there are none. */
struct error *settings_draw_nonce(char nonce_out[SIFT_NONCE_LEN + 1]) MUST_CHECK;

/*
 * All of the agent's settings for a request, workloads included, appended to `out`. Settings env.* are among them where the target's
 * cores or the profile's environment ask for something, and on every real device that is not exact: there the agent also sees
 * to what moves memory about by itself.
 */
void settings_write(const struct settings *settings, const struct boot_request *request, struct strbuf *out);

#endif
