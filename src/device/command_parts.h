/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Within command devices: one boot, and the shell of the device that it brings up. */
#ifndef DEVICE_COMMAND_PARTS_H
#define DEVICE_COMMAND_PARTS_H

#include "device/child.h"

struct command_boot {
	struct child machine; /* `boot` */
	struct child console; /* `console` */
	struct child shell; /* `shell`, while it runs the agent */
	struct strlist env;
	char *dir; /* the boot's, absolute */
	char *initrd, *settings; /* files */
	char *log; /* file with what `boot` and `console` print, where the records do not come from them */
	char *unreached; /* why the device's shell could not be used, or NULL */
};

/* What the kernel says of its death in `log`, or NULL. */
char *command_death(const struct lane_boot *boot);
/* Starts one of the commands with its standard output in a new pipe. */
struct error *command_start_piped(const struct lane_boot *boot, struct child *child, const char *const *argv) MUST_CHECK;
/*
 * Waits for the device's shell, sends agent and settings, and starts the agent, whose output is then read from `shell`. Without a shell
 * that answers the console is one that has ended, and `unreached` says why.
 */
struct error *command_start_agent(struct lane_boot *boot) MUST_CHECK;

#endif
