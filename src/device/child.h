/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine that is a child process: its standard output is the console, its standard error is its own words (not the kernel's). */
#ifndef DEVICE_CHILD_H
#define DEVICE_CHILD_H

#include "device/lane.h"

struct child {
	const char *program; /* for messages; the caller's */
	char *messages; /* path of the file with its standard error */
	struct proc *proc; /* NULL when it does not run */
	int console_fd; /* where the console is read; -1 = none */
};

/* `dir`: where the messages go. Nothing runs yet; child_end() must follow. */
void child_init(struct child *child, const char *program, const char *dir);
/*
 * Starts it, with `console[1]` as its standard output; takes over both descriptors of the pair, also on failure. ERROR_LAB when it
 * cannot be started.
 */
struct error *child_start(struct child *child, const struct strlist *argv, const int console[2]) MUST_CHECK;
/* The same in a folder of its own (NULL = ours), with NAME=VALUE entries on top of our environment (NULL = none). */
struct error *child_start_in(struct child *child, const struct strlist *argv, const struct strlist *env, const char *cwd,
			     const int console[2]) MUST_CHECK;
/* The last line of a file with standard error that has something in it, or NULL; the caller frees. */
char *child_last_line(const char *file);
/* Whether it has ended, or ends within `wait_ms`, with another exit status than 0. What it has left running goes on. */
bool child_failed(const struct child *child, int64_t wait_ms);
/* Waits up to `grace_ms`, stops it, tells how it ended (all but exit status 0 is a failure, as is a signal it caught), frees. */
void child_end(struct child *child, int64_t grace_ms, struct lane_ending *ending_out);

#endif
