/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a sample's readings to the metrics of its workload's table (agent/workload.h). */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "agent/workload.h"
#include "base/mem.h"

/* How a workload's metrics come from samples whose readings have these names: looked up once, run on millions of samples. */
struct metric_program;
/* Never NULL. The names are needed only here. */
struct metric_program *metric_program_new(const struct workload_kind *kind, const char *const *names, size_t n_names);
void metric_program_free(struct metric_program *program);
/* values_out[i] = kind->metrics[i] of a sample with these readings, read or derived; NAN when a reading it needs is missing. */
void metric_program_run(const struct metric_program *program, const double *readings, double *values_out);

/* True when `metric` is made of other phases alone ("both" of fault and teardown). */
bool metric_is_combined(const struct workload_metric *metric);
/* True when the agent reads it, rather than the host deriving it. */
bool metric_is_measured(const struct workload_metric *metric);
/* True for an amount, such as KiB, which is no cost of an operation. */
bool metric_is_amount(const struct workload_metric *metric);
/*
 * True for what a PMU counts beside instructions (agent/events.h): it says why a time is what it is, and decides nothing unless a gate
 * names it.
 */
bool metric_is_event(const struct workload_metric *metric);
/* True for work in time: its physical mean is the harmonic one. */
bool metric_is_rate(const struct workload_metric *metric);
/* PHASE.UNIT of the time per operation that a rate is made of; NULL for what is no rate. */
const char *metric_rate_of(const struct workload_metric *metric);

#endif
