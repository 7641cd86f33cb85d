/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"

#include <string.h>

static const struct report_writer *const writers[] = {
	&report_writer_text, &report_writer_markdown, &report_writer_lkml,  &report_writer_mmtests,
	&report_writer_json, &report_writer_csv,      &report_writer_junit, NULL,
};

const struct report_writer *const *report_writers(void)
{
	return writers;
}

const struct report_writer *report_writer_find(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (!strcmp(writers[i]->name, name))
			return writers[i];
	return NULL;
}
