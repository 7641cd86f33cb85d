/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/series.h"

#include <math.h>
#include <stdlib.h>

#include "report/metrics.h"

#define LEVEL 0.01
#define SEED 1
/* Iterations that go through a permutation test, over all boots and metrics: a thousand permutations of so many take 0.4 s. */
#define BUDGET 15000.0
#define GOLDEN 0.6180339887498949

static size_t measured_metrics(const struct report_row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < row->n_metrics; i++)
		n += metric_is_measured(row->metrics[i].info);
	return n;
}

struct series_share series_share_of(const struct report *report)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	double iterations = 1, boots = 0;

	for (size_t i = 0; i < jnode_size(workloads); i++)
		iterations = fmax(iterations,
				  strtod(jnode_string(jnode_get(jnode_item(workloads, i), "options"), "iterations", "5"), NULL));
	for (size_t i = 0; i < report->n_rows; i++)
		if (!report_row_exact(&report->rows[i]))
			boots += (double)(report_target_blocks(report, report_row_target(&report->rows[i])) *
					  measured_metrics(&report->rows[i]));
	return (struct series_share){ .share = boots ? fmin(1, BUDGET / (boots * iterations)) : 1, .n_blocks = report->n_blocks };
}

bool series_share_has(const struct series_share *share, size_t row, size_t block)
{
	double turn = (double)(row * share->n_blocks + block) * GOLDEN;

	return share->share >= 1 || turn - floor(turn) < share->share;
}

static void append(double **list, size_t *n, double value)
{
	*list = array_grow(*list, *n, sizeof(**list));
	(*list)[(*n)++] = value;
}

void series_test(struct series_evidence *evidence, const double *y, size_t n)
{
	struct step_change step;
	struct dependence dependence;

	step_of(y, n, SEED, &step);
	dependence_of(y, n, &dependence);
	if (isnan(step.p) && isnan(dependence.p))
		return;
	evidence->tested++;
	if (step.p < LEVEL)
		append(&evidence->shifts, &evidence->n_shifts, step.shift);
	if (dependence.p < LEVEL)
		append(&evidence->correlations, &evidence->n_correlations, dependence.r1);
}
