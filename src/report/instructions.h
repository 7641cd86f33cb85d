/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the instructions of a variant, or of the difference of two, went: by function, from the boots whose blocks were counted. */
#ifndef REPORT_INSTRUCTIONS_H
#define REPORT_INSTRUCTIONS_H

#include "report/model.h"

struct insn_request {
	const char *a,
		*b; /* names of rows, or as much of them from the front as tells; b NULL: a's own instructions, else b minus a */
	const char *device; /* NULL: the only one */
	const char *workload; /* label; NULL: the first that was counted */
	const char *phase; /* NULL: all that were counted */
	const char *images; /* the cache's folder of kernels: inlined functions are told apart; NULL: they are not */
	size_t top; /* lines to print; 0 = all */
};

/* Instructions an operation in a function. */
struct insn_line {
	char *name; /* "(processes)" and "(no function)" too */
	double *values; /* by phase */
	double sum;
};

struct insn_table {
	const struct report *report;
	const struct report_row *a, *b; /* b may be NULL */
	const struct jnode *workload;
	const char *per; /* "page": the operation */
	struct strlist phases;
	struct insn_line *lines; /* the largest first, whichever its sign; each has something */
	size_t n;
	uint64_t iterations; /* that were counted, in each boot */
	size_t top;
	/* By phase, and over all at the end: the sum of all lines, and what the guest's own counter says of the same boots. */
	double *counted, *measured;
	bool good; /* these agree: within half a per cent of `measured`, or within 0.05 instructions an operation */
};

/*
 * The row of `report` that `name` means. ERROR_INPUT when there is none, or more than one: with what there is. Controls are not meant.
 */
struct error *insn_find_row(const struct report *report, const char *name, const char *device,
			    const struct report_row **row_out) MUST_CHECK;
/* `store` is the run's. The report must outlive the table. ERROR_INPUT when a request cannot be met. */
struct error *insn_load(const struct report *report, struct store *store, const struct insn_request *request,
			struct insn_table *table_out) MUST_CHECK;
void insn_table_deinit(struct insn_table *table);

/* `format`: text or json; an error for others. */
struct error *insn_write(const struct insn_table *table, const char *format, struct strbuf *out) MUST_CHECK;

#endif
