/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/model.h"

#include <string.h>

const char *row_status_name(enum row_status status)
{
	static const char *const names[] = {
		[ROW_OK] = "ok",   [ROW_BUILD_FAILED] = "build-failed", [ROW_BOOT_FAILED] = "boot-failed", [ROW_VOID] = "void",
		[ROW_LAB] = "lab",
	};

	return names[status];
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "fail",
		[VERDICT_NOT_RESOLVED] = "not-resolved",
		[VERDICT_INVALID] = "invalid",
	};

	return names[verdict];
}

bool report_row_exact(const struct report_row *row)
{
	return jnode_bool(row->target, "exact", false);
}

size_t report_row_target(const struct report_row *row)
{
	return (size_t)jnode_int(row->description, "target", 0);
}

size_t report_target_blocks(const struct report *report, size_t target)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);
	int64_t all = jnode_int(report->run, "blocks", 0), own = jnode_int(description, "blocks", all);

	return own > 0 ? (size_t)own : 0;
}

const struct report_metric *report_find_metric(const struct report_row *row, const char *name)
{
	for (size_t i = 0; i < row->n_metrics; i++)
		if (!strcmp(row->metrics[i].name, name))
			return &row->metrics[i];
	return NULL;
}

const struct report_floor *report_find_floor(const struct report *report, size_t target, const char *metric)
{
	for (size_t i = 0; i < report->n_floors; i++)
		if (report->floors[i].target == target && !strcmp(report->floors[i].metric, metric))
			return &report->floors[i];
	return NULL;
}
