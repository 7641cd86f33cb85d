/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing that several commands share. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "report/report.h"
#include "run/session.h"

/* To stdout. */
struct error *print_text(const char *text, size_t len) MUST_CHECK;
/* Loads the run in `dir` (options as for report_load), prints it to stdout; *status_out is the run's exit status. */
struct error *print_report(const char *dir, const struct report_options *options, const struct report_writer *writer,
			   int *status_out) MUST_CHECK;
/* What a run would do: images, variants, boots, what is cached and why something is not, disk and time. To stdout. */
struct error *print_plan(const struct session *session) MUST_CHECK;
/* A warning on stderr when the matrix asks for an order that drift can fool. */
void warn_of_order(const struct matrix *matrix);

#endif
