/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row against the same row of an earlier run: release history. */
#ifndef REPORT_EARLIER_H
#define REPORT_EARLIER_H

#include "report/model.h"

/*
 * The earlier run of that NAME: the newest that is finished and, where NAME is the report's own, older than it. Or the folder that
 * `run` is. An error when there is none.
 */
struct error *earlier_load(const struct report *report, const char *run, struct report **earlier_out) MUST_CHECK;

struct earlier_difference {
	char *reason; /* why the two runs cannot be compared in this metric; then nothing else counts. The caller frees it */
	struct exact_difference exact; /* on an exact device */
	struct comparison random; /* on the others */
};
/*
 * Row `index` of `report` against the row of `earlier` that has its name, device and cores. An exact metric needs equal toolchain,
 * .config, device version, profile, command line and workload settings. A random one goes through an anchor, a row measured in both runs:
 * (row / anchor) now over (row / anchor) then. `anchor` NULL is the baseline.
 */
void earlier_compare(const struct report *report, size_t index, const char *metric, const struct report *earlier,
		     const char *anchor, struct earlier_difference *out);

#endif
