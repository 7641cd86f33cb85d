/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report without its gates: what one run says by itself. */
#ifndef REPORT_MEASURE_H
#define REPORT_MEASURE_H

#include "report/model.h"

/* As report_load, but for gates and exit status. */
struct error *report_measure(const char *dir, const struct report_options *options, struct report **report_out) MUST_CHECK;

#endif
