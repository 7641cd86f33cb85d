/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/health.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"
#include "base/random.h"

#define TREND_MIN 8
#define TREND_MAX 3000 /* Theil-Sen keeps the slopes of all pairs */
#define STEP_MIN 8
#define PERMUTATIONS 999
#define DEPENDENCE_MIN 10
#define LAGS_MAX 10

/* The numbers that are there, with their places. */
struct series {
	double *y;
	size_t *at;
	size_t n;
};

static void cleanup_series(struct series *series)
{
	cleanup_free(&series->y);
	cleanup_free(&series->at);
}
#define AUTO_SERIES CLEANUP(cleanup_series) struct series

/* Every `stride`th of those that are there. */
static struct series gather(const double *y, size_t n, size_t stride)
{
	struct series series = { xcalloc(n + 1, sizeof(*series.y)), xcalloc(n + 1, sizeof(*series.at)), 0 };
	size_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(y[i]) || seen++ % stride)
			continue;
		series.y[series.n] = y[i];
		series.at[series.n++] = i;
	}
	return series;
}

static int sign(double x)
{
	return (x > 0) - (x < 0);
}

/* What ties take from the variance of Mann-Kendall's sum, times 18. */
static double ties_of(const double *sorted, size_t n)
{
	double ties = 0;

	for (size_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && sorted[i + same] == sorted[i]; same++)
			;
		double t = (double)same;
		ties += t * (t - 1) * (2 * t + 5);
	}
	return ties;
}

/* With the continuity correction: the sum moves in twos. */
static double mann_kendall_p(const struct series *series, long sum)
{
	AUTO_FREE double *sorted = xmemdup(series->y, series->n * sizeof(*sorted));
	double n = (double)series->n;

	gsl_sort(sorted, 1, series->n);
	double variance = (n * (n - 1) * (2 * n + 5) - ties_of(sorted, series->n)) / 18;
	if (variance <= 0 || !sum)
		return 1;
	return fmin(1, 2 * gsl_cdf_ugaussian_Q(((double)labs(sum) - 1) / sqrt(variance)));
}

void trend_of(const double *y, size_t n, struct trend *out)
{
	AUTO_SERIES series = gather(y, n, (n ? n - 1 : 0) / TREND_MAX + 1);

	*out = (struct trend){ NAN, NAN };
	if (series.n < 2)
		return;
	AUTO_FREE double *slopes = xcalloc(series.n * (series.n - 1) / 2, sizeof(*slopes));
	size_t pairs = 0;
	long sum = 0;
	for (size_t i = 0; i < series.n; i++) {
		for (size_t k = i + 1; k < series.n; k++) {
			double rise = series.y[k] - series.y[i];
			sum += sign(rise);
			slopes[pairs++] = rise / (double)(series.at[k] - series.at[i]);
		}
	}
	if (series.n >= TREND_MIN)
		out->p = mann_kendall_p(&series, sum);
	out->slope = gsl_stats_median(slopes, 1, pairs) / gsl_stats_median(series.y, 1, series.n);
}

/* The range of the cumulated deviations from the mean, and where they are farthest from 0. */
static double cusum_range(const double *y, const size_t *order, size_t n, double mean, size_t *farthest_out)
{
	double sum = 0, low = 0, high = 0, far = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		sum += y[order[i]] - mean;
		low = fmin(low, sum);
		high = fmax(high, sum);
		if (fabs(sum) <= far)
			continue;
		far = fabs(sum);
		*farthest_out = i;
	}
	return high - low;
}

/* The share of orders, the seen one among them, whose range is at least the seen one. */
static double permutation_p(const double *y, size_t *order, size_t n, double mean, double range, unsigned long seed)
{
	struct random *random = random_new(seed);
	size_t as_far = 1, place;

	/* Orders of equal numbers differ by rounding alone. */
	range *= 1 - 1e-9;
	for (int i = 0; i < PERMUTATIONS; i++) {
		random_shuffle(random, order, n);
		as_far += cusum_range(y, order, n, mean, &place) >= range;
	}
	random_free(random);
	return (double)as_far / (PERMUTATIONS + 1);
}

void step_of(const double *y, size_t n, unsigned long seed, struct step_change *out)
{
	AUTO_SERIES series = gather(y, n, 1);

	*out = (struct step_change){ .at = 0, .shift = NAN, .p = NAN };
	if (series.n < STEP_MIN)
		return;
	AUTO_FREE size_t *order = xcalloc(series.n, sizeof(*order));
	for (size_t i = 0; i < series.n; i++)
		order[i] = i;
	double mean = gsl_stats_mean(series.y, 1, series.n);
	size_t last_before = 0;
	double range = cusum_range(series.y, order, series.n, mean, &last_before);
	size_t before = last_before + 1;
	out->at = series.at[before];
	out->shift = gsl_stats_mean(series.y + before, 1, series.n - before) / gsl_stats_mean(series.y, 1, before) - 1;
	out->p = permutation_p(series.y, order, series.n, mean, range, seed);
}

static double autocorrelation(const double *y, size_t n, double mean, double squares, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += (y[i] - mean) * (y[i - lag] - mean);
	return sum / squares;
}

void dependence_of(const double *y, size_t n, struct dependence *out)
{
	AUTO_SERIES series = gather(y, n, 1);
	double count = (double)series.n;

	*out = (struct dependence){ NAN, NAN, NAN };
	if (series.n < DEPENDENCE_MIN)
		return;
	double mean = gsl_stats_mean(series.y, 1, series.n);
	double squares = gsl_stats_tss_m(series.y, 1, series.n, mean), q = 0;
	*out = (struct dependence){ .r1 = 0, .p = 1, .n_effective = count };
	if (squares == 0)
		return;
	size_t lags = series.n / 5 < LAGS_MAX ? series.n / 5 : LAGS_MAX;
	for (size_t lag = 1; lag <= lags; lag++) {
		double r = autocorrelation(series.y, series.n, mean, squares, lag);
		if (lag == 1)
			out->r1 = r;
		q += r * r / (count - (double)lag);
	}
	out->p = gsl_cdf_chisq_Q(count * (count + 2) * q, (double)lags);
	out->n_effective = fmin(count, count * (1 - out->r1) / (1 + out->r1));
}

size_t outliers_of(const double *y, size_t n, double threshold, size_t *indices_out, size_t max)
{
	AUTO_SERIES series = gather(y, n, 1);
	AUTO_FREE double *work = xmemdup(series.y, (series.n + 1) * sizeof(*work));
	size_t found = 0;

	if (!series.n)
		return 0;
	double median = gsl_stats_median(work, 1, series.n); /* orders its argument */
	double mad = gsl_stats_mad(series.y, 1, series.n, work); /* times 1.4826 */
	for (size_t i = 0; i < series.n; i++) {
		if (fabs(series.y[i] - median) <= threshold * mad)
			continue;
		if (found < max)
			indices_out[found] = series.at[i];
		found++;
	}
	return found;
}
