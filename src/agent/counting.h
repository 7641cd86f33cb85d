/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the settings counter= and events= to what is counted. On arm64 the events are asked of the PMU of the cores that are measured
 * (pmu.h), once these are chosen; where nothing is asked for beside instructions and all cores are alike, nothing is looked up, and
 * the raw type is used. Private to the agent.
 */
#ifndef AGENT_COUNTING_H
#define AGENT_COUNTING_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/conf.h"
#include "agent/counter.h"
#include "agent/pmu.h"
#include "agent/records.h"

/* The kind alone, which is told before anything is looked at. */
enum counter_kind counting_kind(const struct conf *conf);
/*
 * The whole plan, for the cores that the calling thread may run on. With events it is told as IDENTITY events, "cycles on
 * armv8_cortex_a76". False with a one-line reason.
 */
bool counting_plan(const struct conf *conf, const char *root, struct counter_plan *plan_out, struct records *records,
		   char *reason, size_t reason_size);
/*
 * The part of it for arm64, of any machine below `root`: the PMU that `cpus` have in common, which must have the events. Without
 * events none need be found; then `type` is 0.
 */
bool counting_find_type(const char *root, const cpu_set_t *cpus, struct counter_plan *plan, char name_out[PMU_NAME_MAX],
			char *reason, size_t reason_size);

#endif
