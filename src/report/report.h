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

/* All writers, NULL-terminated. */
const struct report_writer *const *report_writers(void);
const struct report_writer *report_writer_find(const char *name); /* NULL when there is none */

#endif
