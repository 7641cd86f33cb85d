/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Child processes. Each has its own process group, a deadline and no standard input; all of its group is killed when the
 * deadline passes, when the guard closes, or when the caller gives up; it is always reaped.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"

/* A descriptor that becomes readable or hangs up when the work is to stop (the parent has gone, or the user interrupted); -1 = none. */
struct guard {
	int fd;
};

#define NO_GUARD ((struct guard){ -1 })
/* True when the guard has fired. */
bool guard_fired(struct guard guard);
/* ERROR_INTERRUPTED when it has, NULL otherwise: call it now and then in long computations. */
struct error *guard_check(struct guard guard) MUST_CHECK;
/* Sleeps; ERROR_INTERRUPTED as soon as the guard fires. */
struct error *guard_sleep(struct guard guard, int64_t ms) MUST_CHECK;

struct proc_spec {
	const char *const *argv; /* argv[0] is searched in PATH */
	const char *const *env; /* NULL, or NAME=VALUE entries set on top of ours, NULL-terminated; "NAME" alone unsets */
	const char *cwd; /* NULL = ours */
	struct strbuf *out; /* NULL, or collects standard output */
	struct strbuf *err; /* NULL, or collects standard error; may be == out: both in order */
	int out_fd; /* where standard output goes when `out` is NULL: a descriptor, or 0 for /dev/null */
	int err_fd; /* likewise for standard error */
	int64_t deadline_ms; /* base/clock.h; NO_DEADLINE is refused by assert: every wait has one */
	struct guard guard;
	/* NULL, or called with each chunk of standard output as it comes (instead of `out`). */
	void (*on_output)(void *arg, const char *data, size_t len);
	void *arg;
};

struct proc_result {
	int exit_status; /* 0..255, or -1 when a signal ended it */
	int signal; /* 0, or the signal */
	bool timed_out; /* the deadline passed and the group was killed */
	int64_t wall_ms;
	int64_t cpu_ms; /* user + system of the child and what it reaped */
};

/*
 * Runs to the end. An error only when it could not be started (ERROR_LAB: names the program and, for a missing one, says so)
 * or the guard fired (ERROR_INTERRUPTED); exit status, signal and time-out are results.
 */
struct error *proc_run(const struct proc_spec *spec, struct proc_result *result_out) MUST_CHECK;
/* The same, where everything but exit status 0 is an error of `kind` that ends with the last line of standard error. Output is collected into `out` if not NULL. */
struct error *proc_run_ok(const struct proc_spec *spec, enum error_kind kind, struct strbuf *out) MUST_CHECK;

/* A child that goes on while the caller does other things (qemu). */
struct proc;
struct proc_start {
	const char *const *argv;
	const char *const *env;
	const char *cwd;
	int in_fd; /* 0 = /dev/null */
	int out_fd; /* 0 = /dev/null */
	int err_fd; /* 0 = /dev/null */
};
struct error *proc_start(const struct proc_start *spec, struct proc **proc_out) MUST_CHECK;
pid_t proc_pid(const struct proc *proc);
/* Waits until it ends, the deadline passes or the guard fires. *ended_out tells. */
struct error *proc_wait(struct proc *proc, int64_t deadline_ms, struct guard guard, bool *ended_out,
			struct proc_result *result_out) MUST_CHECK;
/* SIGTERM to the group, SIGKILL after `grace_ms`, reap, free. NULL is fine. */
void proc_stop(struct proc *proc, int64_t grace_ms);
void cleanup_proc(struct proc **proc); /* proc_stop with 2 s */
#define AUTO_PROC CLEANUP(cleanup_proc) struct proc *

/* True when `program` is found in PATH (or is an executable path). */
bool proc_find(const char *program);

#endif
