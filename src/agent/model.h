/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counter=model: made-up numbers for the sim device. The workloads run, with all their checks (pft on 4 MiB at most),
 * but what is reported for LABEL.PHASE.UNIT is the setting model.LABEL.PHASE.UNIT times the iteration's factor. A
 * reading without a setting is not reported. noise.factor.LABEL has a factor for each iteration in the order in which
 * they run, warm-ups first; without it all are 1. noise.throttled.LABEL likewise says which are reported as
 * health.throttled 1, the others as 0. What else happened while the workload ran is the host's own business, and not
 * reported.
 */
#ifndef AGENT_MODEL_H
#define AGENT_MODEL_H

#include "agent/workload_run.h"

/* What a workload's iterations are told. */
struct model {
	const struct conf *conf;
	double *factors, *throttled; /* one an iteration; NULL = no such setting */
};

/*
 * `settings` are checked, `conf` outlives the model. False with a one-line reason when there are too few numbers for its
 * iterations.
 */
bool model_open(struct model *model, const struct conf *conf, const struct conf_workload *settings, char *reason,
		size_t reason_size);
void model_close(struct model *model);
/* Fills in run->readings and run->health of the nth iteration, from 0, that is run. */
void model_readings(const struct model *model, struct workload_run *run, size_t nth);

#endif
