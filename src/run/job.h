/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two kinds of forked work of a run: building one image, and a device lane's block of boots. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "base/worker.h"
#include "run/session.h"

enum job_kind { JOB_BUILD, JOB_LANE };

/* Building what the cache has once more, to see that it comes out the same. */
enum verify {
	VERIFY_NOTHING,
	VERIFY_AGAIN, /* in its build folder, on whatever step that stands at */
	VERIFY_CLEAN, /* from an empty folder */
};

struct job {
	enum job_kind kind;
	struct worker *worker;
	int64_t started_ms;
	size_t image; /* JOB_BUILD */
	char *doing; /* JOB_BUILD: "importing", "building", ... */
	unsigned objects, expected; /* JOB_BUILD */
	size_t device; /* JOB_LANE: index into session->devices */
	size_t *boots; /* JOB_LANE: indices into session->boots, in order */
	size_t n_boots;
	unsigned lane; /* JOB_LANE: its number among those of the device, from 0 */
	char *scratch; /* JOB_LANE */
	struct error *error; /* what the worker said went wrong, or how it died */
};

/*
 * Starts building session->images[image]. `verify`: when the cache has it, it is built once more, and another Image than the cached one is
 * ERROR_KERNEL.
 */
struct error *job_start_build(const struct session *session, size_t image, enum verify verify, struct job **job_out) MUST_CHECK;
/* Takes one of its records. */
void job_build_record(struct job *job, const struct jnode *record);

/* Starts lane `lane` on session->devices[device] with these boots (taken over). */
struct error *job_start_lane(const struct session *session, size_t device, unsigned lane, size_t *boots, size_t n_boots,
			     struct job **job_out) MUST_CHECK;
/* Removes what the lanes of a run that was killed left in the run folder. */
struct error *job_clear_scratch(const struct session *session) MUST_CHECK;
/* Stores the boot record, and marks its boot done. */
struct error *job_lane_record(struct session *session, struct store *store, const struct job *job,
			      const struct jnode *record) MUST_CHECK;
/* Stores a boot that never got a record of its own: its lane, or its kernel's build, failed. */
struct error *store_unbooted(struct session *session, struct store *store, struct session_boot *boot, enum boot_status status,
			     const char *reason) MUST_CHECK;

/* Stops the worker if it still runs, and removes what the job left. NULL is fine. */
void job_free(struct job *job);

#endif
