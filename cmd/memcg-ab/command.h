/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A subcommand: one file each, ending in its own struct. */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/error.h"

struct command {
	const char *name;
	const char *usage; /* what follows the name */
	const char *summary; /* one line */
	const char *help; /* the options, a line each; "" = none */
	/* argv[0] is the command's name. Returns an exit status (design.md); prints its own errors. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_run, command_check, command_build, command_report, command_explain, command_devices,
	command_cache;

/* Prints "usage: memcg-ab NAME ..." to stderr; returns 2. */
int command_usage(const struct command *command);
/* Prints the error, frees it and returns its exit status. */
int command_fail(struct error *error);

#endif
