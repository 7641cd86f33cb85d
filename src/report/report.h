/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's writers. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/model.h"

struct report_writer {
	const char *name; /* --format */
	const char *description;
	void (*write)(const struct report *report, struct strbuf *out);
};

extern const struct report_writer report_writer_text;
extern const struct report_writer report_writer_json;
extern const struct report_writer report_writer_lkml;
extern const struct report_writer report_writer_markdown;
extern const struct report_writer report_writer_csv;
extern const struct report_writer report_writer_junit;
extern const struct report_writer report_writer_mmtests;

/* A run's exit status as `git bisect run` wants it: 0 good, 1 bad, 125 (cannot be told) for 3, 4 and 5, 128 (stop) for 2. */
int report_bisect_status(int exit_status);

/* All writers, NULL-terminated. */
const struct report_writer *const *report_writers(void);
const struct report_writer *report_writer_find(const char *name); /* NULL when there is none */

#endif
