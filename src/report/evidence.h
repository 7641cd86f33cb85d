/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is seen while boots pass by, and not kept sample by sample: for statuses and findings. */
#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include "report/model.h"

/* Iterations within the boots of a target, in one metric. Where there are very many boots, only an even part of them is tested. */
struct series_evidence {
	size_t tested; /* boots */
	double *shifts; /* of the boots with a step at p < 0.01 */
	size_t n_shifts;
	double *correlations; /* lag 1, of the boots with dependent iterations at p < 0.01 */
	size_t n_correlations;
};

/* Samples of a row that were left out for one cause. */
struct drop_evidence {
	size_t row;
	char *cause;
	size_t samples;
};

/* What the agent could not make quiet on a target, or what did not stay so (agent/hold.h). */
struct unquiet_evidence {
	size_t target;
	bool changed; /* it was set and did not hold; else it could not be set */
	char *key; /* "governor.policy4" */
	char *reason; /* of the first boot */
	size_t boots;
};

struct row_evidence {
	size_t stored; /* boots, of any outcome */
	size_t lost; /* on a random target: lab or void */
	size_t thin; /* too few of its samples were left */
	enum row_status missing_status; /* of the first lost or thin one; and why it is missing */
	char *missing_reason;
};

/* One of several units that a target's boots ran on. */
struct unit_evidence {
	char *name;
	size_t boots;
	bool *blocks; /* of the target's blocks, those that it did */
};

struct target_evidence {
	struct unit_evidence *units;
	size_t n_units;
	size_t boots; /* that count */
	int64_t first_utc_s, last_utc_s; /* of boots that count */
	double wall_ms; /* sum over them */
	double frequency_sum; /* of the readings health.frequency */
	size_t n_frequency;
};

struct evidence {
	size_t n_metrics; /* that every row starts with */
	size_t n_rows, n_targets;
	struct row_evidence *rows;
	struct target_evidence *targets;
	struct series_evidence *series; /* by target, then metric */
	struct drop_evidence *drops;
	size_t n_drops;
	struct unquiet_evidence *unquiet;
	size_t n_unquiet;
	size_t *told; /* by target: boots whose agent was asked for a quiet environment */
};

void evidence_init(struct evidence *evidence, const struct report *report);
void evidence_deinit(struct evidence *evidence);
#define AUTO_EVIDENCE CLEANUP(evidence_deinit) struct evidence
/* By the metric's place in the workloads' tables. */
struct series_evidence *evidence_series(const struct evidence *evidence, size_t target, size_t metric);
/*
 * Notes that a boot of `block` (below `n_blocks`) ran on a unit. False when another unit has boots of that block: then this one is
 * compared with none of them.
 */
bool evidence_unit(struct target_evidence *target, const char *unit, size_t block, size_t n_blocks);
void evidence_drop(struct evidence *evidence, size_t row, const char *cause);
/* Takes down the records env.* of a boot's identity (JSON, or NULL). */
struct error *evidence_environment(struct evidence *evidence, size_t target, const char *identity) MUST_CHECK;

#endif
