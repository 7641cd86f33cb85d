/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent: proves which kernel it runs on, runs the workloads of its settings, reports. Everything is measured
 * first and printed afterwards.
 *
 * RESULT records: case LABEL.PHASE.UNIT.ITERATION, iterations 0, 1, ... and warm-ups w0, w1, ...; one for each
 * reading of the workload's table that the counter gives: insn_k, insn_u and the events asked for with counter=pmu, ns with clock=1 or
 * counter=clock, what has a setting with counter=model; and LABEL.health.NAME.ITERATION (health.h). An iteration that
 * failed says so in all of the former, has none of the latter, and is its workload's last. Failures that belong to no iteration have the cases
 * agent.conf.error.0, agent.results.error.0, agent.counter.error.0 and LABEL.agent.error.0.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>

#include "agent/conf.h"

#define AGENT_VERSION "0.1.0"

/*
 * Does all of it and writes the records to where the settings say, or to `console_fd` (also when the former cannot be opened).
 * `init`: it is pid 1, may mount hierarchies and load modules. False when the records could not be written. A process is good
 * for one call.
 */
bool agent_run(const struct conf *conf, int console_fd, bool init);
/* Reports that there are no settings to go by. */
bool agent_refuse(const char *reason, int console_fd);

#endif
