/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the controls moved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"

#define INVALID_LEVEL 0.001 /* over all subjects of a target */

static void find_invalid(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	struct interval interval = compare_interval(&floor->aa, REPORT_ALPHA, 1);

	finding_add(
		subject->report, FINDING_AA, floor->target, floor->metric, true,
		xasprintf("%s: the baseline differs from itself (A/A) by %+.2f%% [%+.2f, %+.2f], p = %.2g: something changes "
			  "between boots that is not the kernel; look at temperature, charger and neighbours, then `run --new`",
			  floor->metric, 100 * compare_ratio(&floor->aa), 100 * interval.lo, 100 * interval.hi, floor->aa.p));
}

/* Rows whose difference is resolved, and no larger than what the controls moved. */
static size_t count_below(const struct report *report, const struct report_floor *floor)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_metric *metric = report_find_metric(&report->rows[i], floor->metric);
		if (metric && report_row_target(&report->rows[i]) == floor->target)
			n += metric->baseline.below_floor + metric->previous.below_floor;
	}
	return n;
}

static void find_floor(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;
	bool layout = floor->layout.p < REPORT_ALPHA && fabs(compare_ratio(&floor->layout)) == floor->floor;
	const struct comparison *control = layout ? &floor->layout : &floor->aa;
	AUTO_FREE char *below = xasprintf("%zu differences are below it", count_below(subject->report, floor));

	finding_add(subject->report, FINDING_FLOOR, floor->target, floor->metric, false,
		    xasprintf("%s: %s moved by %+.2f%% (p = %.2g): no claim is made below %.2f%%, and %s; %s", floor->metric,
			      layout ? "the baseline rebuilt with its code moved" : "the baseline measured again (A/A)",
			      100 * compare_ratio(control), control->p, 100 * floor->floor, below,
			      layout ? "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y in all configs makes layout matter less"
				     : "more blocks make it smaller if it is chance"));
}

void find_controls(const struct subject *subject)
{
	const struct report_floor *floor = subject->floor;

	if (floor->aa.method != COMPARE_NONE && floor->aa.p < INVALID_LEVEL / (double)subject->n_subjects)
		find_invalid(subject);
	if (floor->floor > 0)
		find_floor(subject);
}
