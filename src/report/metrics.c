/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

/* Derivations refer to each other; a table that goes round in circles ends here. */
#define MAX_DEPTH 8

static const struct workload_metric *find_metric(const struct workload_kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->n_metrics; i++) {
		const struct workload_metric *metric = &kind->metrics[i];
		size_t phase = strlen(metric->phase);
		if (!strncmp(name, metric->phase, phase) && name[phase] == '.' && !strcmp(name + phase + 1, metric->unit))
			return metric;
	}
	return NULL;
}

static double reading(const struct stored_sample *sample, const char *phase, const char *unit)
{
	size_t len = strlen(phase);

	for (size_t i = 0; i < sample->n_readings; i++)
		if (!strncmp(sample->names[i], phase, len) && sample->names[i][len] == '.' &&
		    !strcmp(sample->names[i] + len + 1, unit))
			return sample->values[i];
	return NAN;
}

static double compute(const struct workload_kind *kind, const struct workload_metric *metric, const struct stored_sample *sample,
		      int depth);

static double compute_named(const struct workload_kind *kind, const char *name, const struct stored_sample *sample, int depth)
{
	const struct workload_metric *metric = find_metric(kind, name);

	return metric && depth < MAX_DEPTH ? compute(kind, metric, sample, depth + 1) : NAN;
}

static double compute(const struct workload_kind *kind, const struct workload_metric *metric, const struct stored_sample *sample,
		      int depth)
{
	if (!metric->derived)
		return reading(sample, metric->phase, metric->unit);
	if (str_starts(metric->derived, "rate:"))
		return 1e9 / compute_named(kind, metric->derived + strlen("rate:"), sample, depth);
	if (!str_starts(metric->derived, "sum:"))
		return NAN;
	AUTO_FREE char *copy = xstrdup(metric->derived + strlen("sum:"));
	char *rest = copy, *name;
	double sum = 0;
	while ((name = strsep(&rest, ",")))
		sum += compute_named(kind, name, sample, depth);
	return sum;
}

double metric_of_sample(const struct workload_kind *kind, const struct workload_metric *metric,
			const struct stored_sample *sample)
{
	return compute(kind, metric, sample, 0);
}

bool metric_is_combined(const struct workload_metric *metric)
{
	AUTO_FREE char *own = xasprintf("%s.", metric->phase);

	return metric->derived && str_starts(metric->derived, "sum:") && !strstr(metric->derived, own);
}
