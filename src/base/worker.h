/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forked workers: straight code with deadlines in a process of its own, which sends records (JSON documents) to its parent
 * over a pipe. A worker's guard fires when the parent has gone or has called worker_stop.
 */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include "base/json.h"
#include "base/proc.h"

/* What a worker knows of itself. */
struct worker_self {
	struct guard guard; /* pass it to everything that waits */
	int send_fd;
};

/* Sends one record; ERROR_INTERRUPTED when the parent has gone. */
struct error *worker_send(struct worker_self *self, const struct jnode *record) MUST_CHECK;

struct worker;
/*
 * The work. The frame sends its error, if any, as a record {"type": "error", "kind": ..., "message": ...}, and last what the worker itself took:
 * {"type": "usage", "cpu_ms": ..., "rss_kb": ...}.
 */
typedef struct error *worker_main(struct worker_self *self, void *arg);

/* Forks. `name` is for messages and the process title. The child closes all descriptors but 0-2 and its own. */
struct error *worker_start(const char *name, worker_main *main, void *arg, struct worker **worker_out) MUST_CHECK;
int worker_fd(const struct worker *worker); /* readable when a record or the end is there */
const char *worker_name(const struct worker *worker);
/*
 * Takes the next whole record that has arrived, without blocking: *record_out is NULL when there is none yet, *ended_out is
 * true once the worker has ended and all its records were taken (then it is reaped; a death by signal without an "error"
 * record is ERROR_LAB). The caller frees the record.
 */
struct error *worker_receive(struct worker *worker, struct jnode **record_out, bool *ended_out) MUST_CHECK;
/* Fires the guard, gives it `grace_ms` to clean up, kills what is left, reaps, frees. NULL is fine. */
void worker_stop(struct worker *worker, int64_t grace_ms);

/* {"type": "error", ...} back into an error value. */
struct error *worker_record_error(const struct jnode *record) MUST_CHECK;

#endif
