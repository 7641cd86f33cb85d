/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many blocks of a target are measured, where the matrix leaves that to the data: with `half_width` a first stage and then as many as it takes (Stein's
 * two stages), with `looks` until the verdicts stand at one of the declared looks. Exact targets, and random ones with a fixed number, have
 * all their blocks from the start. Every decision is in the store before a boot follows from it, so that a killed run goes on with it.
 */
#ifndef RUN_STAGES_H
#define RUN_STAGES_H

#include "run/session.h"

struct stage_decision {
	unsigned blocks; /* wanted in all; as many as were seen = no more */
	char *reason; /* one line; the caller frees */
};
/* Judges what is stored in the run folder `dir` of a target whose released blocks are all done. (The report does it: it comes after this room.) */
typedef struct error *stage_decide_fn(const char *dir, size_t target, struct stage_decision *decision_out);

/* Blocks until the first decision; all of them where there is none. */
unsigned stage_first(const struct matrix *matrix, size_t target);
/* Holds back the boots that are not decided on yet; records the first stages of a new run. Call before boots are marked as stored. */
struct error *stages_open(struct session *session, struct store *store) MUST_CHECK;
/* Decides for every target that has done what was released, and releases what follows. */
struct error *stages_advance(struct session *session, struct store *store, stage_decide_fn *decide) MUST_CHECK;

#endif
