/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel's own tests said: a test a line, a row of the report a column. */
#include <string.h>

#include "report/plain.h"
#include "report/selftests.h"
#include "report/writer_text.h"

#define NAME_WIDTH 44
#define CELL_WIDTH 6
#define PER_TABLE ((TEXT_COLUMNS - NAME_WIDTH) / CELL_WIDTH)

/* Rows of a target that are in the report, by number from 1. */
struct shown {
	size_t *rows;
	size_t n;
};

static struct shown shown_rows(const struct report *report, size_t target)
{
	struct shown shown = { xcalloc(report->n_rows + 1, sizeof(size_t)), 0 };

	for (size_t i = 0; i < report->n_rows; i++)
		if (report_row_target(&report->rows[i]) == target && words_row_shown(&report->rows[i]) &&
		    report->rows[i].status == ROW_OK)
			shown.rows[shown.n++] = i;
	return shown;
}

static void write_legend(const struct report *report, const struct shown *shown, size_t first, size_t end, struct strbuf *out)
{
	for (size_t i = first; i < end; i++) {
		const struct report_row *row = &report->rows[shown->rows[i]];
		const char *patch = jnode_string(row->description, "patch", NULL);
		AUTO_FREE char *lead = xasprintf("  (%zu) ", i + 1);
		AUTO_FREE char *text = xasprintf("%s%s%s", row->variant, patch ? ": " : "", patch ? patch : "");
		plain_fill(out, TEXT_COLUMNS, lead, 6, text);
	}
}

static void write_test(const struct report *report, const struct report_selftest *selftest, const struct shown *shown,
		       size_t first, size_t end, struct strbuf *out)
{
	size_t start = out->len;
	const char *name = *selftest->test ? selftest->test : "(the program)";

	strbuf_addf(out, "%.*s", text_fitting(name, NAME_WIDTH - 1), name);
	text_pad(out, start, NAME_WIDTH);
	for (size_t i = first; i < end; i++) {
		bool regressed = selftest_regressed(report, selftest, shown->rows[i]);
		strbuf_addf(out, "%*s", CELL_WIDTH, regressed ? "FAIL" : selftest_outcome(selftest, shown->rows[i]));
	}
	text_end_line(out);
}

static void write_reasons(const struct report_selftest *selftest, const struct shown *shown, struct strbuf *out)
{
	const char *last = NULL;

	for (size_t i = 0; i < shown->n; i++) {
		const char *reason = selftest_reason(selftest, shown->rows[i]);
		if (!reason || (last && !strcmp(last, reason)))
			continue;
		AUTO_FREE char *text = xasprintf("%s: %s: %s", *selftest->test ? selftest->test : "the program",
						 selftest_outcome(selftest, shown->rows[i]), reason);
		AUTO_FREE char *lead = xasprintf("  (%zu) ", i + 1);
		plain_fill(out, TEXT_COLUMNS, lead, 6, text);
		last = reason;
	}
}

void text_selftests(const struct report *report, size_t target, const char *label, struct strbuf *out)
{
	struct shown shown = shown_rows(report, target);
	AUTO_FREE size_t *owned = shown.rows;
	bool any = false;

	for (size_t i = 0; i < report->n_selftests; i++)
		any = any || !strcmp(report->selftests[i].label, label);
	if (!any)
		return;
	for (size_t first = 0; first < shown.n; first += PER_TABLE) {
		size_t end = first + PER_TABLE < shown.n ? first + PER_TABLE : shown.n, start = out->len;
		strbuf_addf(out, "selftest %s", label);
		text_pad(out, start, NAME_WIDTH);
		for (size_t i = first; i < end; i++)
			strbuf_addf(out, "%*s(%zu)", i + 1 < 10 ? CELL_WIDTH - 3 : CELL_WIDTH - 4, "", i + 1);
		text_end_line(out);
		for (size_t i = 0; i < report->n_selftests; i++)
			if (!strcmp(report->selftests[i].label, label))
				write_test(report, &report->selftests[i], &shown, first, end, out);
		write_legend(report, &shown, first, end, out);
	}
	for (size_t i = 0; i < report->n_selftests; i++)
		if (!strcmp(report->selftests[i].label, label))
			write_reasons(&report->selftests[i], &shown, out);
	strbuf_addch(out, '\n');
}
