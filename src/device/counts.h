/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What our QEMU plugin leaves behind (cmd/tcg-plugin/README.md): instructions executed by block, in each phase of a workload. */
#ifndef DEVICE_COUNTS_H
#define DEVICE_COUNTS_H

#include "base/error.h"

struct counted_block {
	uint64_t address; /* of its first instruction */
	uint64_t n; /* how many instructions it has */
	uint64_t insns; /* how many of them were executed in all */
};

struct counted_phase {
	char *workload, *phase; /* "pft", "fault" */
	uint64_t iterations, operations; /* that are in the counts: "pages" of pft, over all iterations */
	struct counted_block *blocks; /* in no order */
	size_t n;
};

struct device_counts {
	struct counted_phase *phases;
	size_t n;
};

/* ERROR_LAB when the file is not there, is not one of these or not whole, or says what was wrong. */
struct error *device_counts_read(const char *path, struct device_counts *counts_out) MUST_CHECK;
/* The same of `text`; `name` is for messages. */
struct error *device_counts_parse(const char *text, const char *name, struct device_counts *counts_out) MUST_CHECK;
void device_counts_deinit(struct device_counts *counts);

#endif
