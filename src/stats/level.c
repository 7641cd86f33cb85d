/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/level.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"

#define BEST_ITERATIONS_MAX 1000000.0

void level_of(const double *y, size_t n, struct level *out)
{
	AUTO_FREE double *kept = xcalloc(n + 1, sizeof(*kept));
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(y[i]))
			kept[count++] = y[i];
	*out = (struct level){ .n = count, .mean = NAN, .sd = NAN, .median = NAN, .min = NAN, .max = NAN };
	if (!count)
		return;
	out->mean = gsl_stats_mean(kept, 1, count);
	if (count > 1)
		out->sd = gsl_stats_sd_m(kept, 1, count, out->mean);
	gsl_stats_minmax(&out->min, &out->max, kept, 1, count);
	out->median = gsl_stats_median(kept, 1, count);
}

double harmonic_mean(const double *y, size_t n)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(y[i]))
			continue;
		sum += 1 / y[i];
		count++;
	}
	return count ? (double)count / sum : NAN;
}

/* Sums over boots, each relative to its row's mean. */
struct pool {
	double within, within_df; /* sum of squares inside boots, and its degrees of freedom */
	double between, between_df; /* of boot means inside rows */
	double inverse_iterations; /* sum of 1 / iterations */
	double boots;
};

static void pool_row(const struct boot_moments *boots, size_t n, struct pool *pool)
{
	AUTO_FREE double *means = xcalloc(n + 1, sizeof(*means));
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (boots[i].n && !isnan(boots[i].mean))
			means[count++] = boots[i].mean;
	double mean = count ? gsl_stats_mean(means, 1, count) : 0;
	if (mean == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!boots[i].n || isnan(boots[i].mean))
			continue;
		pool->inverse_iterations += 1 / (double)boots[i].n;
		pool->boots++;
		if (boots[i].n < 2 || isnan(boots[i].variance))
			continue;
		pool->within += (double)(boots[i].n - 1) * boots[i].variance / (mean * mean);
		pool->within_df += (double)(boots[i].n - 1);
	}
	if (count < 2)
		return;
	pool->between += (double)(count - 1) * gsl_stats_variance_m(means, 1, count, mean) / (mean * mean);
	pool->between_df += (double)(count - 1);
}

void components_of(const struct boot_moments *moments, const size_t *first, size_t n_rows, double cost, struct components *out)
{
	struct pool pool = { 0 };

	for (size_t r = 0; r < n_rows; r++)
		pool_row(moments + first[r], first[r + 1] - first[r], &pool);
	*out = (struct components){ .sd_within = NAN, .sd_between = NAN, .icc = NAN, .iterations = NAN };
	if (!pool.boots)
		return;
	out->iterations = pool.boots / pool.inverse_iterations;
	double within = pool.within_df ? pool.within / pool.within_df : NAN;
	out->sd_within = sqrt(within);
	if (!pool.between_df)
		return;
	double between = pool.between / pool.between_df - (isnan(within) ? 0 : within / out->iterations);
	between = fmax(0, between);
	out->sd_between = sqrt(between);
	if (isnan(within) || within + between == 0)
		return;
	out->icc = between / (within + between);
	if (between > 0)
		out->best_iterations = (size_t)fmin(BEST_ITERATIONS_MAX, fmax(1, ceil(sqrt(cost * within / between))));
}
