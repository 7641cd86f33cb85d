/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/exact.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/* Keeps the numbers of `y` that are there; returns how many. */
static size_t gather(const double *y, size_t n, double *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(y[i]))
			out[kept++] = y[i];
	return kept;
}

static double half_range(const double *y, size_t n)
{
	double low, high;

	gsl_stats_minmax(&low, &high, y, 1, n);
	return (high - low) / 2;
}

void exact_level(const double *y, size_t n, struct exact_level *level_out)
{
	AUTO_FREE double *kept = xcalloc(n, sizeof(*kept));
	size_t boots = gather(y, n, kept);

	*level_out = (struct exact_level){ .boots = boots, .mean = NAN, .spread = NAN };
	if (!boots)
		return;
	level_out->mean = gsl_stats_mean(kept, 1, boots);
	level_out->spread = half_range(kept, boots);
}

void exact_difference(const double *x, const double *y, size_t n, struct exact_difference *difference_out)
{
	AUTO_FREE double *deltas = xcalloc(n, sizeof(*deltas));
	double sum_x = 0, sum_y = 0;
	size_t boots = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]) || isnan(y[i]))
			continue;
		deltas[boots++] = y[i] - x[i];
		sum_x += x[i];
		sum_y += y[i];
	}
	*difference_out = (struct exact_difference){ .boots = boots, .delta = NAN, .spread = NAN, .ratio = NAN };
	if (!boots)
		return;
	difference_out->delta = gsl_stats_mean(deltas, 1, boots);
	difference_out->spread = half_range(deltas, boots);
	difference_out->ratio = sum_x ? sum_y / sum_x - 1 : NAN;
	difference_out->resolved = boots >= 2 && fabs(difference_out->delta) > difference_out->spread;
}
