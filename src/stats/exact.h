/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact metrics: levels and differences with their spread over recorded nuisances. Knows nothing of kernels. */
#ifndef STATS_EXACT_H
#define STATS_EXACT_H

#include "base/mem.h"

/* A row's boots: y[b] is block b's boot mean, NAN where there is none. */
struct exact_level {
	size_t boots;
	double mean;
	double spread; /* half the range over the boots; 0 with one */
};

struct exact_difference {
	size_t boots; /* blocks that both rows have */
	double delta; /* mean over blocks of y[b] - x[b]: the nuisance of a block is the same for both */
	double spread; /* half the range of those differences */
	double ratio; /* mean(y) / mean(x) - 1 over the same blocks */
	bool resolved; /* at least two blocks and |delta| > spread */
};

void exact_level(const double *y, size_t n, struct exact_level *level_out);
void exact_difference(const double *x, const double *y, size_t n, struct exact_difference *difference_out);

#endif
