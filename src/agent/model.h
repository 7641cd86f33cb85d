/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counter=model: made-up numbers for the sim device. The workloads run, with all their checks (pft on 4 MiB at most),
 * but what is reported for LABEL.PHASE.UNIT is the setting model.LABEL.PHASE.UNIT times (1 + model.sd * g). g is a
 * standard normal number by Box and Muller out of a splitmix64 stream, which starts anew for each iteration at
 * model.seed + iteration + (crc32(label) << 32) (a warm-up's iteration is negative; modulo 2^64) and is drawn from
 * once a reading, in the order of the workload's table, also for readings without a setting. A reading without a
 * setting is not reported.
 */
#ifndef AGENT_MODEL_H
#define AGENT_MODEL_H

#include "agent/workload_run.h"

/* The next number of a splitmix64 stream. */
uint64_t model_random(uint64_t *state);
/* Fills in run->readings. */
void model_readings(const struct conf *conf, struct workload_run *run);

#endif
