/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stepwise lane: what all devices have in common that are deployed to, booted and listened to one boot at a time. A kind of
 * device is a table of steps; the lane has the order, the deadlines, the retries and the judgement.
 */
#ifndef DEVICE_LANE_H
#define DEVICE_LANE_H

#include "device/device.h"

/* One attempt at one boot, as the steps see it. */
struct lane_boot {
	const struct device_context *context;
	const struct boot_request *request;
	unsigned attempt; /* from 0, over all attempts at this request */
	const char *cmdline; /* padding included */
	const char *dir; /* exists, empty, private to this attempt; removed afterwards */
	struct strlist *boot_ids; /* of boots before this one; a step adds the one that runs before it boots another */
	void *state; /* the steps' own; `power` frees it */
};

/* How the device came to its end. */
struct lane_ending {
	bool stopped; /* it was still on: the lane switched it off */
	bool failed; /* it ended for a reason that has nothing to do with the kernel: told in `message` */
	char *message; /* one line, or NULL; the lane frees it */
};

struct lane_ops {
	/* Each boot is a process of its own that the lane starts, and an exact one repeats the boot id of its twin. */
	bool boot_id_repeats;
	char *(*check)(const struct device_context *context); /* device_check() */
	struct error *(*version)(const struct device_context *context, char **version_out); /* device_version() */
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
