/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of a report that are asked for by name: tables of one shape, so that one module writes them all. */
#ifndef REPORT_SECTION_H
#define REPORT_SECTION_H

#include "report/model.h"

struct section_table {
	char *title;
	struct strlist columns; /* the first is the rows' name */
	struct strlist cells; /* row by row, a text a column; "" = nothing */
	struct strlist notes;
};

struct section {
	struct section_table *tables;
	size_t n;
};

struct report_section {
	const char *name; /* --section */
	const char *description;
	/* Adds its tables; one without rows and with a note says why there is nothing. */
	void (*fill)(const struct report *report, struct section *out);
};

extern const struct report_section report_section_sizes, report_section_profile, report_section_times;

/* All sections, NULL-terminated. */
const struct report_section *const *report_sections(void);
const struct report_section *report_section_find(const char *name); /* NULL when there is none */

/* A new table at the end of the section, to be filled; `title` is taken over. */
struct section_table *section_add(struct section *section, char *title);
void section_deinit(struct section *section);
/* Appends it in a format: text, markdown, csv or json; false for another. */
bool section_write(const struct report *report, const struct report_section *kind, const char *format, struct strbuf *out);

#endif
