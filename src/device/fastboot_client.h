/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debian's fastboot client, executed: always with -s, in its own process group, with a deadline of its own, its text read as well as its
 * exit status (fastboot 29 has no time-out, ends with 0 when getvar failed, and polls a device that is gone for ever).
 */
#ifndef DEVICE_FASTBOOT_CLIENT_H
#define DEVICE_FASTBOOT_CLIENT_H

#include "base/proc.h"
#include "plan/profile.h"

struct fastboot {
	const struct fastboot_settings *settings;
	const char *journal; /* every call is appended to this file: time, arguments, outcome, duration; NULL = nowhere */
	struct guard guard;
};

enum fastboot_outcome {
	FASTBOOT_OKAY, /* the client says so; the device proves it */
	FASTBOOT_REFUSED, /* the device answered FAIL: `remote` has its words */
	FASTBOOT_ABSENT, /* the deadline passed while the client waited for the device */
	FASTBOOT_SILENT, /* the deadline passed after the device had been found: `step` says in what */
	FASTBOOT_BROKEN, /* transport error, unknown answer, usage, file that cannot be read: `remote` has the client's words */
};
const char *fastboot_outcome_name(enum fastboot_outcome outcome); /* "okay", "refused", "absent", "silent", "broken" */

struct fastboot_reply {
	enum fastboot_outcome outcome;
	char *remote; /* one line, or NULL */
	char *step; /* "Sending 'boot_a'", the step it was in; NULL when none was told */
	int64_t wall_ms;
};
void fastboot_reply_deinit(struct fastboot_reply *reply);
/* "flash boot_b: the device said 'Partition not found'": one line for a failed reply; the caller frees. */
char *fastboot_reply_text(const struct fastboot_reply *reply, const char *what);

/* All return an error only when the client cannot be started (ERROR_LAB) or the guard fired; what went wrong else is in the reply. */
struct error *fastboot_version(const struct fastboot *fastboot,
			       char **version_out) MUST_CHECK; /* "fastboot version 29.0.6-debian" */
/* The client's major version; 0 when its text does not tell. */
unsigned fastboot_major(const char *version);
/* *value_out: NULL when the device refused, does not know it or told nothing; else without blanks at its ends. */
struct error *fastboot_getvar(const struct fastboot *fastboot, const char *name, char **value_out,
			      struct fastboot_reply *reply_out) MUST_CHECK;
/* Whether it answers within `wait_ms` (polled with short calls; 0 = one call). */
struct error *fastboot_answers(const struct fastboot *fastboot, int64_t wait_ms, bool *answers_out) MUST_CHECK;
/* Waits until it does not answer any more, or the time is over. */
struct error *fastboot_gone(const struct fastboot *fastboot, int64_t wait_ms, bool *gone_out) MUST_CHECK;
/* Refuses (ERROR_LAB) partitions of fastboot_forbidden(), and those that the profile does not let be written. */
struct error *fastboot_flash(const struct fastboot *fastboot, const char *partition, const char *file,
			     struct fastboot_reply *reply_out) MUST_CHECK;
/* Refuses a file that does not begin with ANDROID! (fastboot would wrap it as a kernel); never passes --cmdline. */
struct error *fastboot_boot(const struct fastboot *fastboot, const char *file, struct fastboot_reply *reply_out) MUST_CHECK;
struct error *fastboot_set_active(const struct fastboot *fastboot, char slot, struct fastboot_reply *reply_out) MUST_CHECK;
struct error *fastboot_continue(const struct fastboot *fastboot, struct fastboot_reply *reply_out) MUST_CHECK;
/* `target`: NULL (the system), "bootloader" or "fastboot" (fastbootd). Judge by the next state, not by the reply. */
struct error *fastboot_reboot(const struct fastboot *fastboot, const char *target, struct fastboot_reply *reply_out) MUST_CHECK;

/*
 * Why nothing may ever be written to a partition of that name, with or without a slot's suffix (bootloaders, radios, keys, partition tables,
 * user data, super as a whole), or NULL. No option opens it.
 */
const char *fastboot_forbidden(const char *partition);
/* 0x10000000, 10000000 (hex, as partition sizes come) or 536870912 (decimal); `hex_bare`: digits without 0x are hex. False for others. */
bool fastboot_parse_size(const char *text, bool hex_bare, uint64_t *bytes_out);
/* 'a' or 'b' from "a", "_a", "A"; 0 for anything else. */
char fastboot_parse_slot(const char *text);

#endif
