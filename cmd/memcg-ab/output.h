/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing that several commands share. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "report/report.h"
#include "run/session.h"

/* Loads the run in `dir`, prints it to stdout; *status_out is the run's exit status. */
struct error *print_report(const char *dir, const struct report_writer *writer, int *status_out) MUST_CHECK;
/* What a run would do: images, variants, boots, what is cached and why something is not, disk and time. To stdout. */
struct error *print_plan(const struct session *session) MUST_CHECK;

#endif
