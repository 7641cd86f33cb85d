/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the fastboot client prints, read: versions 29 (Debian 12) and 34 (Debian 13), and the older wording of devices' refusals.
 * All comes on standard error: "STEP" padded to 50 columns, then "OKAY [  0.123s]" or "FAILED (why)", without a newline before
 * the step has ended; "(bootloader) text" lines of the device in the middle of that; "NAME: value" for getvar; "fastboot: error:
 * ..." and "error: ..." of the client.
 */
#ifndef DEVICE_FASTBOOT_TEXT_H
#define DEVICE_FASTBOOT_TEXT_H

#include "device/fastboot_client.h"

/* How the client ended. */
struct fastboot_ending {
	bool stopped; /* the deadline passed, or it was stopped because it only waits: it never ended by itself */
	int exit_status; /* -1 when a signal ended it */
	int64_t wall_ms;
	bool network; /* the device has an address (udp:, tcp:): the client says nothing while it shakes hands */
};

/*
 * `final`: the word that the last step begins with ("Writing"); without it an exit status of 0 is no success. NULL = getvar,
 * which has no steps. `reply_out` is filled in but for wall_ms, which is the ending's.
 */
void fastboot_text_parse(const char *text, const char *final, const struct fastboot_ending *ending,
			 struct fastboot_reply *reply_out);
/*
 * The value that getvar printed, without blanks at its ends and on one line; NULL when there is none or it is empty. The caller
 * frees.
 */
char *fastboot_text_value(const char *text, const char *name);
/* Whether the client has said that it cannot find or open the device, and waits for it. */
bool fastboot_text_waits(const char *text);

#endif
