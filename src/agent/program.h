/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program of a workload's: in a process group of its own, without input, its output (both streams) read line by line, with a
 * deadline by CLOCK_MONOTONIC after which the group is killed. Private to the agent.
 */
#ifndef AGENT_PROGRAM_H
#define AGENT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROGRAM_TAIL 1024

struct program {
	const char *const *argv; /* argv[0] is looked for in PATH */
	const char *const *env; /* the whole environment */
	const char *dir; /* where it starts */
	unsigned deadline_ms;
	/* NULL, or called with each line, without its newline; a longer one than PROGRAM_TAIL in pieces. */
	void (*line)(void *arg, const char *line);
	/* NULL, or called when the process is there and before it executes the program; false ends it. */
	bool (*started)(void *arg, pid_t pid);
	/* NULL, or called about every 5 s. */
	void (*alive)(void *arg);
	void *arg;
};

struct program_end {
	bool started; /* false: `reason` says why not */
	bool timed_out; /* it was killed */
	int status; /* as waitpid() gives it */
	char reason[128];
	char tail[PROGRAM_TAIL + 1]; /* the last of what it said, lines kept whole where they fit */
};

/* Waits for the end, and for all of its process group. */
void program_run(const struct program *program, struct program_end *end);
/* "exit status 3", "signal 9", "no end within 60 s" */
void program_tell(const struct program *program, const struct program_end *end, char *text, size_t size);

#endif
