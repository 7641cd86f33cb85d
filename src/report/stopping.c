/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/metrics.h"
#include "report/model.h"

#define ALPHA 0.05

/* The comparison that needs the most blocks so far. */
struct largest {
	size_t blocks;
	double sd;
	const char *metric, *variant, *against;
};

static bool is_of_target(const struct report *report, const struct report_row *row, size_t target)
{
	return row->target == jnode_item(jnode_get(report->run, "targets"), target);
}

static bool is_decisive(const struct report *report, const struct report_metric *metric)
{
	const struct jnode *gates = jnode_get(report->run, "gates");

	for (size_t i = 0; i < jnode_size(gates); i++)
		if (!strcmp(jnode_string(jnode_item(gates, i), "metric", ""), metric->name))
			return true;
	return !jnode_size(gates) && strcmp(metric->info->unit, "rate") && !metric_is_event(metric->info);
}

/* The sd of ln(b / a) over the first stage's blocks; NAN when fewer than two have both. */
static double sd_of_pairs(const double *a, const double *b, size_t pilot)
{
	AUTO_FREE double *differences = xcalloc(pilot, sizeof(*differences));
	struct level level;

	for (size_t i = 0; i < pilot; i++)
		differences[i] = log(b[i]) - log(a[i]);
	level_of(differences, pilot, &level);
	return level.sd;
}

static void consider(const struct report *report, const struct report_row *row, const struct report_metric *metric, ssize_t other,
		     const char *against, struct largest *largest)
{
	const struct jnode *measure = jnode_get(report->run, "measure");
	size_t pilot = (size_t)jnode_int(measure, "pilot", 0);
	const struct report_metric *reference =
		other >= 0 && &report->rows[other] != row ? report_find_metric(&report->rows[other], metric->name) : NULL;

	if (!reference)
		return;
	pilot = pilot < report->n_blocks ? pilot : report->n_blocks;
	double sd = sd_of_pairs(reference->boots, metric->boots, pilot);
	if (isnan(sd))
		return;
	size_t blocks = stein_size(sd, pilot, log1p(jnode_real(measure, "half_width", 0)), ALPHA);
	if (blocks <= largest->blocks && largest->metric)
		return;
	*largest = (struct largest){ blocks, sd, metric->name, row->variant, against };
}

static void decide_size(const struct report *report, size_t target, struct stage_decision *decision)
{
	struct largest largest = { .blocks = 0 };
	double half_width = jnode_real(jnode_get(report->run, "measure"), "half_width", 0);

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (!is_of_target(report, row, target) || row->control != CONTROL_NONE)
			continue;
		for (size_t k = 0; k < row->n_metrics; k++) {
			if (!is_decisive(report, &row->metrics[k]))
				continue;
			consider(report, row, &row->metrics[k], row->baseline, "the baseline", &largest);
			consider(report, row, &row->metrics[k], row->previous, "the step before", &largest);
		}
	}
	decision->blocks = (unsigned)largest.blocks;
	if (!largest.metric)
		decision->reason = xstrdup("nothing can be compared");
	else
		decision->reason = xasprintf("+-%g%% takes %zu blocks (%s of %s against %s, whose differences scatter by %.2f%%)",
					     100 * half_width, largest.blocks, largest.metric, largest.variant, largest.against,
					     100 * largest.sd);
}

static void decide_look(const struct report *report, size_t target, struct stage_decision *decision)
{
	size_t open = 0, all = 0;

	for (size_t i = 0; i < report->n_gates; i++) {
		if (!is_of_target(report, &report->rows[report->gates[i].row], target))
			continue;
		all++;
		open += report->gates[i].verdict == VERDICT_NOT_RESOLVED;
	}
	/* Beyond any plan: the next look bounds it. */
	decision->blocks = open ? UINT32_MAX : 0;
	decision->reason = xasprintf("%zu of %zu gates decided", all - open, all);
}

struct error *report_decide_stage(const char *dir, size_t target, struct stage_decision *decision_out)
{
	AUTO_REPORT report = NULL;
	struct error *error = report_load(dir, NULL, &report);

	if (error)
		return error;
	if (jnode_int(jnode_get(report->run, "measure"), "looks", 0))
		decide_look(report, target, decision_out);
	else
		decide_size(report, target, decision_out);
	return NULL;
}
