/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/evidence.h"

#include <stdlib.h>
#include <string.h>

void evidence_init(struct evidence *evidence, const struct report *report)
{
	*evidence = (struct evidence){
		.n_metrics = report->n_rows ? report->rows[0].n_metrics : 0,
		.n_rows = report->n_rows,
		.n_targets = jnode_size(jnode_get(report->run, "targets")),
	};
	evidence->rows = xcalloc(evidence->n_rows, sizeof(*evidence->rows));
	evidence->targets = xcalloc(evidence->n_targets, sizeof(*evidence->targets));
	evidence->series = xcalloc(evidence->n_targets * evidence->n_metrics, sizeof(*evidence->series));
}

void evidence_deinit(struct evidence *evidence)
{
	for (size_t i = 0; i < evidence->n_rows; i++)
		free(evidence->rows[i].missing_reason);
	for (size_t i = 0; i < evidence->n_targets * evidence->n_metrics; i++) {
		free(evidence->series[i].shifts);
		free(evidence->series[i].correlations);
	}
	for (size_t i = 0; i < evidence->n_drops; i++)
		free(evidence->drops[i].cause);
	free(evidence->rows);
	free(evidence->targets);
	free(evidence->series);
	free(evidence->drops);
}

struct series_evidence *evidence_series(const struct evidence *evidence, size_t target, size_t metric)
{
	return &evidence->series[target * evidence->n_metrics + metric];
}

void evidence_drop(struct evidence *evidence, size_t row, const char *cause)
{
	for (size_t i = 0; i < evidence->n_drops; i++)
		if (evidence->drops[i].row == row && !strcmp(evidence->drops[i].cause, cause)) {
			evidence->drops[i].samples++;
			return;
		}
	evidence->drops = array_grow(evidence->drops, evidence->n_drops, sizeof(*evidence->drops));
	evidence->drops[evidence->n_drops++] = (struct drop_evidence){ row, xstrdup(cause), 1 };
}
