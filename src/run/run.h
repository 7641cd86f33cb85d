/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One poll loop that builds, boots and stores: the only writer of the store. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/job.h"
#include "run/stages.h"

/*
 * Builds the images that are wanted and not cached (all of the plan's when `store` is NULL: then nothing is booted), boots what is owed and
 * stores every outcome. What a kernel or the lab did wrong is in the store (or, without one, in *failed_out); an error is returned only when the
 * run itself cannot go on (ERROR_INTERRUPTED, a full disk, a broken store).
 */
struct run_request {
	struct session *session;
	struct store *store; /* NULL: build only */
	enum verify verify; /* without a store: images that the cache has are built once more, and must come out the same */
	stage_decide_fn *decide; /* with a store: how many blocks follow (run/stages.h) */
	bool no_build; /* rows whose image is not cached get status lab */
	struct guard guard; /* fires on SIGINT and SIGTERM */
};
struct error *run_all(const struct run_request *request, struct error **failed_out) MUST_CHECK;

#endif
