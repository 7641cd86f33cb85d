/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a sample's readings to the metrics of its workload's table (agent/workload.h). */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "agent/workload.h"
#include "store/store.h"

/* PHASE.UNIT of one sample, read or derived; NAN when a reading it needs is missing. */
double metric_of_sample(const struct workload_kind *kind, const struct workload_metric *metric,
			const struct stored_sample *sample);
/* True when `metric` is made of other phases alone ("both" of fault and teardown). */
bool metric_is_combined(const struct workload_metric *metric);

#endif
