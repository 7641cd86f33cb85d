/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/floor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/unit_level.h"

#define STEP_SEED 1
#define PAGE_BYTES 4096.0

/*
 * What an iteration takes, in milliseconds, by the workload's own times: pft's are a page's. NAN where that cannot be said. Good to a
 * factor: it enters as a square root.
 */
static double iteration_ms(const struct report *report, const struct report_row *row, const char *label)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	AUTO_FREE char *name = xasprintf("%s.both.ns", label);
	const struct report_metric *metric = report_find_metric(row, name);

	for (size_t i = 0; metric && i < jnode_size(workloads); i++) {
		const struct jnode *workload = jnode_item(workloads, i);
		const char *size = jnode_string(jnode_get(workload, "options"), "size", NULL);
		if (size && !strcmp(jnode_string(workload, "label", ""), label))
			return metric->mean * strtod(size, NULL) / PAGE_BYTES / 1e6;
	}
	return NAN;
}

/* A boot without its iterations over an iteration; NAN when times are not known. */
static double boot_cost(const struct report *report, const struct report_row *row, const struct report_metric *metric,
			const struct target_evidence *target)
{
	double iteration = iteration_ms(report, row, metric->label);
	double boot = target->boots ? target->wall_ms / (double)target->boots : 0;
	double rest = boot - iteration * (double)metric->moments[0].n;

	return rest > 0 && iteration > 0 ? rest / iteration : NAN;
}

/* Appends the moments of a row's boots that ran on a unit (NULL = of all); how many. */
static size_t append_moments(const struct report_metric *metric, const struct unit_evidence *unit, struct boot_moments *out)
{
	size_t n = 0;

	for (size_t i = 0; i < metric->n_all; i++)
		if (!unit || unit->blocks[metric->all_blocks[i]])
			out[n++] = metric->moments[i];
	return n;
}

/*
 * Over all rows of the target: variance is a property of device and workload more than of a variant. What its units differ in is no
 * scatter of boots: each is taken by itself.
 */
static void pool_components(const struct report *report, const struct target_evidence *target, const struct report_row *baseline,
			    struct report_floor *floor)
{
	size_t n_units = target->n_units ? target->n_units : 1;
	AUTO_FREE size_t *first = xcalloc(report->n_rows * n_units + 1, sizeof(*first));
	struct boot_moments *moments = NULL;
	size_t n_rows = 0, n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_metric *metric = report_find_metric(&report->rows[i], floor->metric);
		if (!metric || report_row_target(&report->rows[i]) != floor->target)
			continue;
		moments = xreallocarray(moments, n + metric->n_all, sizeof(*moments));
		for (size_t k = 0; k < n_units; k++) {
			n += append_moments(metric, target->n_units ? &target->units[k] : NULL, moments + n);
			first[++n_rows] = n;
		}
	}
	double cost = boot_cost(report, baseline, report_find_metric(baseline, floor->metric), target);
	components_of(moments, first, n_rows, isnan(cost) ? 1 : cost, &floor->components);
	if (isnan(cost))
		floor->components.best_iterations = 0;
	free(moments);
}

static void add_floor(struct report *report, const struct evidence *evidence, const struct report_row *baseline,
		      const struct report_metric *metric)
{
	report->floors = array_grow(report->floors, report->n_floors, sizeof(*report->floors));
	struct report_floor *floor = &report->floors[report->n_floors++];
	*floor = (struct report_floor){ .target = report_row_target(baseline), .metric = xstrdup(metric->name) };
	size_t blocks = report_target_blocks(report, floor->target);
	AUTO_FREE double *levelled = unit_level(evidence, floor->target, metric->boots, blocks);
	trend_of(levelled, blocks, &floor->drift);
	step_of(levelled, blocks, STEP_SEED, &floor->step);
	/* What two units differ in is no difference of kernels: blocks, which stay on one unit, are what is compared. */
	floor->units = has_units(evidence, floor->target);
	floor->paired = floor->drift.p < REPORT_DRIFT_LEVEL || floor->units;
	pool_components(report, &evidence->targets[floor->target], baseline, floor);
}

void floors_compute(struct report *report, const struct evidence *evidence)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->baseline != (ssize_t)i || report_row_exact(row))
			continue;
		for (size_t k = 0; k < row->n_metrics; k++)
			add_floor(report, evidence, row, &row->metrics[k]);
	}
}

static void take_control(const struct report *report, struct report_floor *floor, enum row_control control,
			 struct comparison *out)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (row->control != control || report_row_target(row) != floor->target)
			continue;
		const struct report_metric *metric = report_find_metric(row, floor->metric);
		if (!metric || !metric->baseline.present)
			continue;
		*out = metric->baseline.random;
		if (out->p < REPORT_ALPHA)
			floor->floor = fmax(floor->floor, fabs(compare_ratio(out)));
	}
}

void floors_set(struct report *report)
{
	for (size_t i = 0; i < report->n_floors; i++) {
		take_control(report, &report->floors[i], CONTROL_AA, &report->floors[i].aa);
		take_control(report, &report->floors[i], CONTROL_LAYOUT, &report->floors[i].layout);
	}
}

const struct report_metric *floor_baseline(const struct report *report, const struct report_floor *floor)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].baseline == (ssize_t)i && report_row_target(&report->rows[i]) == floor->target)
			return report_find_metric(&report->rows[i], floor->metric);
	return NULL;
}

void floors_free(struct report *report)
{
	for (size_t i = 0; i < report->n_floors; i++)
		free(report->floors[i].metric);
	free(report->floors);
}
