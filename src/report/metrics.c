/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "base/strbuf.h"

#define RATE "rate:"
#define SUM "sum:"

/* One metric: a reading, or made of metrics that stand before it in the program. */
struct operation {
	size_t result; /* index of the metric */
	enum { OPERATION_READ, OPERATION_SUM, OPERATION_RATE, OPERATION_NONE } what;
	size_t reading;
	size_t *operands;
	size_t n_operands;
};

struct metric_program {
	const struct workload_kind *kind;
	struct operation *operations; /* in an order in which each finds its operands done */
	size_t n;
	bool *placed; /* by metric */
};

static bool is_called(const char *name, const struct workload_metric *metric)
{
	size_t phase = strlen(metric->phase);

	return !strncmp(name, metric->phase, phase) && name[phase] == '.' && !strcmp(name + phase + 1, metric->unit);
}

/* The metric called `name`, or -1. */
static ssize_t find_metric(const struct workload_kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->n_metrics; i++)
		if (is_called(name, &kind->metrics[i]))
			return (ssize_t)i;
	return -1;
}

static void find_reading(struct operation *operation, const struct workload_metric *metric, const char *const *names, size_t n)
{
	operation->what = OPERATION_NONE;
	for (size_t i = 0; i < n; i++)
		if (is_called(names[i], metric)) {
			operation->what = OPERATION_READ;
			operation->reading = i;
			return;
		}
}

static void place(struct metric_program *program, size_t metric, const char *const *names, size_t n_names);

/* "A,B": places what it names first. A name that is no metric makes the whole unknown. */
static void find_operands(struct metric_program *program, struct operation *operation, const char *list, const char *const *names,
			  size_t n_names)
{
	AUTO_FREE char *copy = xstrdup(list);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ","))) {
		ssize_t operand = find_metric(program->kind, name);
		if (operand < 0) {
			operation->what = OPERATION_NONE;
			return;
		}
		place(program, (size_t)operand, names, n_names);
		operation->operands = array_grow(operation->operands, operation->n_operands, sizeof(*operation->operands));
		operation->operands[operation->n_operands++] = (size_t)operand;
	}
}

static void place(struct metric_program *program, size_t metric, const char *const *names, size_t n_names)
{
	const struct workload_metric *info = &program->kind->metrics[metric];
	struct operation operation = { .result = metric, .what = OPERATION_NONE };

	if (program->placed[metric])
		return;
	/* A table that goes round in circles ends here: the inner one finds no number yet. */
	program->placed[metric] = true;
	if (!info->derived) {
		find_reading(&operation, info, names, n_names);
	} else if (str_starts(info->derived, RATE)) {
		operation.what = OPERATION_RATE;
		find_operands(program, &operation, info->derived + strlen(RATE), names, n_names);
	} else if (str_starts(info->derived, SUM)) {
		operation.what = OPERATION_SUM;
		find_operands(program, &operation, info->derived + strlen(SUM), names, n_names);
	}
	/* Of what has no reading there is nothing to do, in each of millions of samples. */
	if (operation.what == OPERATION_NONE)
		free(operation.operands);
	else
		program->operations[program->n++] = operation;
}

struct metric_program *metric_program_new(const struct workload_kind *kind, const char *const *names, size_t n_names)
{
	struct metric_program *program = xcalloc(1, sizeof(*program));

	program->kind = kind;
	program->operations = xcalloc(kind->n_metrics, sizeof(*program->operations));
	program->placed = xcalloc(kind->n_metrics, sizeof(*program->placed));
	for (size_t i = 0; i < kind->n_metrics; i++)
		place(program, i, names, n_names);
	return program;
}

void metric_program_free(struct metric_program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->n; i++)
		free(program->operations[i].operands);
	free(program->operations);
	free(program->placed);
	free(program);
}

void metric_program_run(const struct metric_program *program, const double *readings, double *values_out)
{
	for (size_t i = 0; i < program->kind->n_metrics; i++)
		values_out[i] = NAN;
	for (size_t i = 0; i < program->n; i++) {
		const struct operation *operation = &program->operations[i];
		double sum = 0;

		for (size_t k = 0; k < operation->n_operands; k++)
			sum += values_out[operation->operands[k]];
		if (operation->what == OPERATION_READ)
			sum = readings[operation->reading];
		else if (operation->what == OPERATION_RATE)
			sum = 1e9 / sum;
		values_out[operation->result] = sum;
	}
}

bool metric_is_combined(const struct workload_metric *metric)
{
	AUTO_FREE char *own = xasprintf("%s.", metric->phase);

	return metric->derived && str_starts(metric->derived, SUM) && !strstr(metric->derived, own);
}

bool metric_is_measured(const struct workload_metric *metric)
{
	return !metric->derived;
}

bool metric_is_amount(const struct workload_metric *metric)
{
	return !metric->per;
}

bool metric_is_event(const struct workload_metric *metric)
{
	return event_of_unit(metric->unit) < N_EVENTS;
}

const char *metric_rate_of(const struct workload_metric *metric)
{
	return metric->derived && str_starts(metric->derived, RATE) ? metric->derived + strlen(RATE) : NULL;
}

bool metric_is_rate(const struct workload_metric *metric)
{
	return metric_rate_of(metric) != NULL;
}
