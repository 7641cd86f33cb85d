/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/findings.h"
#include "report/gate.h"
#include "report/measure.h"
#include "report/report.h"

static bool has_invalid_finding(const struct report *report)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].invalid)
			return true;
	return false;
}

/* design.md, Command line: the first that applies. */
static int exit_status(const struct report *report)
{
	bool kernel = false, lab = has_invalid_finding(report), failed = false, open = false;

	for (size_t i = 0; i < report->n_rows; i++) {
		enum row_status status = report->rows[i].status;
		kernel = kernel || status == ROW_BUILD_FAILED || status == ROW_BOOT_FAILED;
		lab = lab || status == ROW_VOID || status == ROW_LAB || report->rows[i].lost;
	}
	for (size_t i = 0; i < report->n_findings; i++)
		failed = failed || report->findings[i].kind == FINDING_SELFTEST;
	for (size_t i = 0; i < report->n_gates; i++) {
		failed = failed || report->gates[i].verdict == VERDICT_FAIL;
		lab = lab || report->gates[i].verdict == VERDICT_INVALID;
		open = open || report->gates[i].verdict == VERDICT_NOT_RESOLVED;
	}
	return failed ? 1 : kernel ? 5 : lab ? 3 : open ? 4 : 0;
}

int report_bisect_status(int exit_status)
{
	switch (exit_status) {
	case 3:
	case 4:
	case 5:
		return 125;
	case 2:
		return 128;
	default:
		return exit_status;
	}
}

struct error *report_load(const char *dir, const struct report_options *options, struct report **report_out)
{
	struct error *error = report_measure(dir, options, report_out);

	if (error)
		return error;
	gates_judge(*report_out);
	(*report_out)->exit_status = exit_status(*report_out);
	return NULL;
}
