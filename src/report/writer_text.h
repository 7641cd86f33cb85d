/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Within the text writer: its tables. */
#ifndef REPORT_WRITER_TEXT_H
#define REPORT_WRITER_TEXT_H

#include "report/words.h"

#define TEXT_COLUMNS 100

/* Bytes of `text` that fit `max`, cut between characters: compilers quote in UTF-8. */
int text_fitting(const char *text, size_t max);
/* Blanks up to `column` of the line that starts at `line_start`. */
void text_pad(struct strbuf *out, size_t line_start, size_t column);
/* Ends the line, without blanks before its end. */
void text_end_line(struct strbuf *out);
/* The row's name in `width` columns, and why it has no numbers when it has none; then the line is done: true. */
bool text_row_start(const struct report *report, const struct report_row *row, size_t width, struct strbuf *out);
/* "pft 64M x1 | linux 5.10.1 arm64 gcc 12.2.0 allnoconfig | qemu-virt cortex-a57 icount" */
void text_title(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out);

/* Exact targets: instructions, all phases side by side. */
void text_exact_table(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out);
/* Random ones: a table a metric, with intervals; rates; and what stands behind them. */
void text_random_tables(const struct report *report, size_t target, const struct jnode *workload, struct strbuf *out);
/* What the kernel's own tests of the workload `label` said; nothing when it ran none. */
void text_selftests(const struct report *report, size_t target, const char *label, struct strbuf *out);

#endif
