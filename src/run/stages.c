/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/stages.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

static bool is_staged(const struct matrix *matrix, size_t target)
{
	return !matrix->targets[target].device->profile->exact && (matrix->measure.half_width > 0 || matrix->measure.looks);
}

unsigned stage_first(const struct matrix *matrix, size_t target)
{
	unsigned blocks = plan_blocks(matrix, target);

	if (!is_staged(matrix, target))
		return blocks;
	unsigned first = matrix->measure.looks ? plan_look(&matrix->measure, 1) : matrix->measure.pilot;
	return first < blocks ? first : blocks;
}

/* Sets what is owed of a target: blocks below `blocks`. */
static void release(struct session *session, size_t target, unsigned blocks)
{
	session->targets[target].blocks = blocks;
	for (size_t i = 0; i < session->plan->n_boots; i++) {
		struct session_boot *boot = &session->boots[i];
		if (session->plan->rows[boot->plan->row].target != target)
			continue;
		if (boot->plan->block >= blocks && boot->state == BOOT_OWED)
			boot->state = BOOT_HELD;
		else if (boot->plan->block < blocks && boot->state == BOOT_HELD)
			boot->state = BOOT_OWED;
	}
}

/* Whether the decision `number` leaves nothing to decide. */
static bool is_last(const struct matrix *matrix, size_t target, const struct stored_look *look)
{
	if (!look->number)
		return look->blocks >= plan_blocks(matrix, target) && !matrix->measure.looks;
	return matrix->measure.half_width > 0 || look->number >= matrix->measure.looks || look->blocks <= look->seen;
}

static struct error *take_look(void *arg, const struct stored_look *look)
{
	struct session *session = arg;
	const struct matrix *matrix = session->plan->matrix;

	if (look->target < 0 || (size_t)look->target >= matrix->n_targets || !is_staged(matrix, (size_t)look->target))
		return NULL;
	struct session_target *target = &session->targets[look->target];
	target->looks = (unsigned)look->number + 1;
	target->decided = is_last(matrix, (size_t)look->target, look);
	release(session, (size_t)look->target, (unsigned)look->blocks);
	return NULL;
}

static struct error *record(struct session *session, struct store *store, size_t target, unsigned blocks, const char *reason)
{
	struct session_target *state = &session->targets[target];
	struct stored_look look = {
		.target = (int64_t)target,
		.number = state->looks,
		.seen = state->looks ? state->blocks : 0,
		.blocks = blocks,
		.reason = reason,
		.utc_s = clock_utc_s(),
	};
	struct error *error = store_put_look(store, &look);

	return error ? error : take_look(session, &look);
}

struct error *stages_open(struct session *session, struct store *store)
{
	const struct matrix *matrix = session->plan->matrix;
	struct error *error = store_each_look(store, take_look, session);

	for (size_t i = 0; !error && i < matrix->n_targets; i++)
		if (is_staged(matrix, i) && !session->targets[i].looks)
			error = record(session, store, i, stage_first(matrix, i), "the first stage");
	return error;
}

static bool has_open_boots(const struct session *session, size_t target)
{
	for (size_t i = 0; i < session->plan->n_boots; i++) {
		const struct session_boot *boot = &session->boots[i];
		if (session->plan->rows[boot->plan->row].target == target &&
		    (boot->state == BOOT_OWED || boot->state == BOOT_RUNNING))
			return true;
	}
	return false;
}

/* A decision never takes back what is measured, nor goes beyond the plan or, with looks, beyond the next look. */
static unsigned next_blocks(const struct session *session, size_t target, const struct stage_decision *decision)
{
	const struct matrix *matrix = session->plan->matrix;
	const struct session_target *state = &session->targets[target];
	unsigned most = matrix->measure.looks ? plan_look(&matrix->measure, state->looks + 1) : plan_blocks(matrix, target);

	if (decision->blocks <= state->blocks || state->blocks >= plan_blocks(matrix, target))
		return state->blocks;
	return decision->blocks < most && !matrix->measure.looks ? decision->blocks : most;
}

static struct error *decide_target(struct session *session, struct store *store, size_t target, stage_decide_fn *decide)
{
	struct stage_decision decision = { 0, NULL };
	struct error *error = decide(session->dir, target, &decision);

	if (error)
		return error;
	unsigned seen = session->targets[target].blocks, blocks = next_blocks(session, target, &decision);
	log_info("device '%s', %u blocks: %s: %s", session->plan->matrix->targets[target].device->name, seen, decision.reason,
		 blocks > seen ? "more follow" : "no more are taken");
	error = record(session, store, target, blocks, decision.reason);
	free(decision.reason);
	return error;
}

struct error *stages_advance(struct session *session, struct store *store, stage_decide_fn *decide)
{
	const struct matrix *matrix = session->plan->matrix;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < matrix->n_targets; i++)
		if (is_staged(matrix, i) && !session->targets[i].decided && !has_open_boots(session, i))
			error = decide_target(session, store, i, decide);
	return error;
}
