/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What writers say in common. Every char * that is returned is the caller's to free. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include "report/model.h"

/* "instructions" for insn, "nanoseconds" for ns, else the unit itself. */
const char *words_unit(const char *unit);
/* "insn/page", "page/s" */
char *words_metric_unit(const struct workload_metric *metric);
/* "lower is better" */
const char *words_better(const struct workload_metric *metric);
/* Bytes as the matrix has them: "64M". */
char *words_size(const char *bytes);
/* "pft 64M x1" */
char *words_workload(const struct jnode *workload);
/* All options and their values, as the matrix has them: "size=64M threads=1 ..." */
char *words_options(const struct jnode *workload);

/* "mm: memcg: add early checks" without its "subsystem: " words, which all steps of a series share. Points into `subject`. */
const char *words_subject(const char *subject);
/*
 * "off/plain (baseline)", "on/dis vanilla", "  + 1 early checks" (two blanks for a step of a ladder), "baseline again (A/A)";
 * narrow: "base: off/plain", "base again (A/A)".
 */
char *words_row(const struct report *report, const struct report_row *row, bool narrow);
/*
 * The row's full name and what makes it differ from the others: "on/dis/1: + mm: early checks", where only a patch tells it
 * from the row before; else "off/plain/0 (base): CONFIG_MEMCG=n; nothing on the command line". With its note, lost boots, and
 * why it is not ok.
 */
char *words_row_facts(const struct report *report, const struct report_row *row);
/* Replicates count as the baseline's boots, and have no line of their own while nothing is wrong with them. */
bool words_row_shown(const struct report_row *row);

/* Is row `i` the first one of its target and kernel? */
bool words_first_of_kernel(const struct report *report, size_t i);
/*
 * "linux 5.10.262 arm64, gcc 12.2.0, allnoconfig", "prebuilt arm64", "no kernel of ours"; with the kernel's name and commit
 * where it has them; where it came from is not in it.
 */
char *words_kernel(const struct report_row *row);
/* "qemu-virt", "phone big" */
char *words_target(const struct jnode *target);
/* What the device is and its version: "cortex-a57 icount, QEMU 7.2.22"; "" when nothing is known. */
char *words_device(const struct jnode *target);
/* At what frequency the cores ran, or why that is not said. */
char *words_frequency(const struct jnode *target);
/*
 * What the run's config `name` asks for and not all others do too: "CONFIG_MEMCG=n"; "" when there is nothing, or the run did
 * not store it.
 */
char *words_config(const struct report *report, const char *name);
/* The row's own part of the command line; "" when there is none. */
const char *words_cmdline(const struct report_row *row);
/* The kernel's name in the matrix, else that of its source; "prebuilt"; "none" where no kernel of ours runs. */
const char *words_kernel_name(const struct report_row *row);
/*
 * Which boots and iterations, in which order: "12 boots each (24 of the baseline) x 31 iterations (2 warm-ups left out), random
 * blocks, seed 7"
 */
char *words_measure(const struct report *report, size_t target, const struct jnode *workload);

/* What a target's tables show of a workload's metrics: */
enum words_detail {
	WORDS_SHORT, /* exact: insn; others: insn, rate, and ns where there is no rate */
	WORDS_LONG, /* ns beside its rate; events that were counted */
};
/* In the workload's order, those that a row has, and in any case the gates'; NULL-terminated. The caller frees the vector. */
const struct workload_metric **words_metrics(const struct report *report, size_t target, const struct jnode *workload,
					     enum words_detail detail);
/* The row's metric LABEL.PHASE.UNIT of a workload; NULL when it has none. */
const struct report_metric *words_find(const struct report_row *row, const struct jnode *workload,
				       const struct workload_metric *metric);
/* Boots behind the metric's mean. */
size_t words_boots(const struct report_row *row, const struct report_metric *metric);

/* A level in its unit with the digits that say something: "1587.9", "512340", "3.142". */
char *words_level(double value);
/* "" resolved, "^" below the floor of the controls, "?" resolved alone, "~" not resolved. */
const char *words_mark(const struct report_difference *difference);
/* All of them, for loops over words_mark_line. */
#define WORDS_MARKS "~?^"
/* What `mark` says in the table of a target and metric, "not resolved (detects 0.49% at 80%)"; NULL where no row has it. */
char *words_mark_line(const struct report *report, size_t target, const char *metric, char mark);
/* "resolved", "below-floor", "resolved-alone", "not-resolved", for machines. */
const char *words_difference_verdict(const struct report_difference *difference);
/* The scatter of a random metric's boots over their mean, "2.10%"; "" with one boot alone, which tells nothing of it. */
char *words_cv(const struct report_metric *metric);
/* "+6.01%", in five characters before the sign of per cent as long as it is below 10000%. */
char *words_percent(double ratio);

/* What a control's difference to the baseline is in a metric: "-0.05% [-0.28%, +0.37%] ~"; NULL when it was not measured. */
char *words_control(const struct report *report, size_t target, enum row_control control, const char *metric);
/* Why there is no A/A result at all, or NULL. */
const char *words_no_aa(const struct report *report, size_t target);
/*
 * What scatters in a metric and what the controls moved: "sd between boots 0.41%, iterations within a boot 2.0%, ..."; NULL
 * when nothing is known.
 */
char *words_scatter(const struct report *report, size_t target, const char *metric);

/* "PASS", "FAIL", "NOT RESOLVED", "INVALID" */
const char *words_verdict(enum verdict verdict);
/*
 * "pft.both.insn of on/dis/1 worse than baseline by at most 8%", "... within +-2% of baseline"; with the device where there are
 * several.
 */
char *words_gate(const struct report *report, const struct report_gate *gate);
/* "+6.43% +-0.01%", "+1.20% [+0.80%, +1.60% one-sided]", where each bound by itself holds at 95%; "" when there is no value. */
char *words_gate_value(const struct report_gate *gate);
/* Why there is no verdict and what it would take; NULL when nothing is to be said. */
char *words_gate_reason(const struct report_gate *gate);
/*
 * "INVALID: phone big: pft.fault.ns: the A/A pair differs ..."; the device where there are several, the metric where the text
 * does not name it.
 */
char *words_finding(const struct report *report, const struct report_finding *finding);
/* Does a finding say that no verdict of the target counts? */
bool words_invalid(const struct report *report, size_t target);

#endif
