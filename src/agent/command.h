/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device's own programs (setprop, systemctl), found in PATH. */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs it in a process group of its own, without input, and waits up to `deadline_ms`; then the group is killed. What it says
 * on either stream goes to `said` without white space at its end, cut to `size`. False when it could not be run, failed or took
 * too long; `said` then tells why.
 */
bool command_run(const char *const argv[], unsigned deadline_ms, char *said, size_t size);

#endif
