/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stepwise lane: what all devices have in common that are deployed to, booted and listened to one boot at a time. A kind of
 * device is a table of steps; the lane has the order, the deadlines, the retries and the judgement.
 */
#ifndef DEVICE_LANE_H
#define DEVICE_LANE_H

#include "agent/sift.h"
#include "base/elf.h"
#include "device/device.h"

/* A block of boots on one device, as the steps see it. */
struct lane_session {
	const struct device_context *context;
	void *state; /* the steps' own: made by `begin`, freed by `end` */
	char *lost; /* set by a step when the device cannot be used any more (its ladder of recovery is at its end): why. The block ends */
};

/* One attempt at one boot, as the steps see it. */
struct lane_boot {
	struct lane_session *session;
	const struct device_context *context;
	const struct boot_request *request;
	unsigned attempt; /* from 0, over all attempts at this request */
	const char *cmdline; /* padding included */
	const char *dir; /* exists, empty, private to this attempt; removed afterwards */
	char nonce[SIFT_NONCE_LEN + 1]; /* "" = none. A step that puts one into the settings sets it (settings_draw_nonce()) */
	struct strlist *boot_ids; /* of boots before this one; a step adds the one that runs before it boots another */
	char build_id[BUILD_ID_HEX_SIZE]; /* "" = the request's. A step that boots the device's own kernel sets it */
	struct jnode *identity; /* strings that the steps add to the record's identity: "device.host_ms" */
	bool finished; /* set before `power`: the agent said its last word, so that the device comes to its end by itself */
	bool heard; /* set before `power`: something came from the console */
	void *state; /* the steps' own; `power` frees it */
};

/* How the device came to its end. */
struct lane_ending {
	bool stopped; /* it was still on: the lane switched it off */
	bool failed; /* it ended for a reason that has nothing to do with the kernel: told in `message` */
	char *message; /* one line, or NULL; the lane frees it */
	char *death; /* what became of the kernel, where its console cannot tell: "hang: not back in fastboot after 300 s"; the lane frees it */
};

struct lane_ops {
	/* Each boot is a process of its own that the lane starts, and an exact one repeats the boot id of its twin. */
	bool boot_id_repeats;
	/* The console goes on after the boot (another kernel's, the firmware's): reading ends with the agent's last word. */
	bool console_goes_on;
	char *(*check)(const struct device_context *context); /* device_check() */
	struct error *(*version)(const struct device_context *context, char **version_out); /* device_version() */
	struct error *(*can_count)(const struct device_context *context, bool *can_out); /* device_can_count(); NULL: no */
	/*
	 * Both may be NULL. `begin` is called when the lock is held, before the first boot: proves that the device is the one that was asked for and
	 * can be used; an error ends the block. `end` is always called after it, and leaves the device as it was found.
	 */
	struct error *(*begin)(struct lane_session *session);
	struct error *(*end)(struct lane_session *session);
	/* NULL, or what device_preflight() says; as in device.h. */
	struct error *(*preflight)(const struct device_context *context, struct preflight *preflight_out);
	/*
	 * The steps, in this order. An error ends the attempt: ERROR_INTERRUPTED ends the block, any other is the lab's fault.
	 * After `deploy`, whether it worked or not, `power` is always called.
	 */
	struct error *(*deploy)(struct lane_boot *boot); /* puts everything in place */
	struct error *(*boot)(struct lane_boot *boot); /* starts the kernel */
	struct error *(*console)(struct lane_boot *boot, int *fd_out); /* where its console is read; `power` closes it */
	/* Waits up to `grace_ms` until the device is off, switches it off if it is not, and tells how it ended. */
	void (*power)(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out);
};

/* ERROR_LAB when the agent at `path` is not the one whose numbers the run holds. */
struct error *lane_check_agent(const struct device_context *context, const char *path) MUST_CHECK;

/* device_run_block() for a kind of device. */
struct error *lane_run_block(const struct lane_ops *ops, const struct device_context *context,
			     const struct boot_request *requests, size_t n, boot_emit *emit, void *arg) MUST_CHECK;

#endif
