/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One normal against a mixture of two with a common variance (expectation-maximisation; Dempster, Laird and Rubin 1977). */
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"
#include "stats/health.h"

#define MODES_MIN 10
#define ROUNDS_MAX 200
#define CONVERGED 1e-6 /* of the log likelihood a round */
#define BIC_BETTER 10 /* "very strong" in Kass and Raftery's words (1995) */
#define SDS_APART 3
/* Two heaps of equal numbers have no variance, and any likelihood: no mode is narrower than this part of the whole spread. */
#define NARROWEST 1e-3

struct mixture {
	double low, high; /* means */
	double share_high;
	double variance;
	double log_likelihood;
};

/* Where the sorted numbers fall best into two heaps (least squares). */
static struct mixture best_cut(const double *sorted, size_t n, double squares)
{
	double total = gsl_stats_mean(sorted, 1, n) * (double)n, below = 0, best = -1;
	struct mixture mixture = { 0 };

	for (size_t cut = 1; cut < n; cut++) {
		below += sorted[cut - 1];
		double n_low = (double)cut, n_high = (double)(n - cut);
		double apart = (total - below) / n_high - below / n_low;
		double between = apart * apart * n_low * n_high / (double)n;
		if (between <= best)
			continue;
		best = between;
		mixture = (struct mixture){
			.low = below / n_low,
			.high = (total - below) / n_high,
			.share_high = n_high / (double)n,
			.variance = (squares - between) / (double)n,
		};
	}
	return mixture;
}

/* Of ln(share * density) without the constant. */
static double log_weight(double y, double share, double mean, double variance)
{
	return log(share) - (y - mean) * (y - mean) / (2 * variance) - log(variance) / 2;
}

/* One round: who belongs to which mode, then the modes from those who belong to them. False when one mode is empty. */
static bool improve(const double *y, size_t n, double narrowest, struct mixture *mixture)
{
	double weight_high = 0, sum_low = 0, sum_high = 0, squares = 0, log_likelihood = 0;
	AUTO_FREE double *belongs = xcalloc(n, sizeof(*belongs));

	for (size_t i = 0; i < n; i++) {
		double low = log_weight(y[i], 1 - mixture->share_high, mixture->low, mixture->variance);
		double high = log_weight(y[i], mixture->share_high, mixture->high, mixture->variance);
		double larger = fmax(low, high);
		double both = larger + log(exp(low - larger) + exp(high - larger));
		belongs[i] = exp(high - both);
		log_likelihood += both;
		weight_high += belongs[i];
		sum_high += belongs[i] * y[i];
		sum_low += (1 - belongs[i]) * y[i];
	}
	mixture->log_likelihood = log_likelihood - (double)n * log(2 * M_PI) / 2;
	double weight_low = (double)n - weight_high;
	if (weight_high < 1e-6 || weight_low < 1e-6)
		return false;
	mixture->low = sum_low / weight_low;
	mixture->high = sum_high / weight_high;
	mixture->share_high = weight_high / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += belongs[i] * pow(y[i] - mixture->high, 2) + (1 - belongs[i]) * pow(y[i] - mixture->low, 2);
	mixture->variance = fmax(squares / (double)n, narrowest);
	return true;
}

/* Four parameters against two. One far number is an outlier and no mode: each needs two. */
static bool is_better(const struct mixture *mixture, size_t n, double log_likelihood_one)
{
	double gain = 2 * (mixture->log_likelihood - log_likelihood_one) - 2 * log((double)n);
	double smaller = fmin(mixture->share_high, 1 - mixture->share_high) * (double)n;

	return gain >= BIC_BETTER && mixture->high - mixture->low > SDS_APART * sqrt(mixture->variance) && smaller >= 1.5;
}

void modes_of(const double *y, size_t n, struct modes *out)
{
	AUTO_FREE double *sorted = xcalloc(n + 1, sizeof(*sorted));
	size_t kept = 0;

	*out = (struct modes){ .two = false, .low = NAN, .high = NAN, .share_high = NAN };
	for (size_t i = 0; i < n; i++)
		if (!isnan(y[i]))
			sorted[kept++] = y[i];
	if (kept < MODES_MIN)
		return;
	gsl_sort(sorted, 1, kept);
	double squares = gsl_stats_tss(sorted, 1, kept), variance = squares / (double)kept;
	double scale = fabs(gsl_stats_mean(sorted, 1, kept));
	if (variance <= pow(scale * 1e-12, 2))
		return;
	double narrowest = variance * NARROWEST * NARROWEST, before = -INFINITY;
	struct mixture mixture = best_cut(sorted, kept, squares);
	mixture.variance = fmax(mixture.variance, narrowest);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (!improve(sorted, kept, narrowest, &mixture) || mixture.log_likelihood - before < CONVERGED)
			break;
		before = mixture.log_likelihood;
	}
	double one = -(double)kept / 2 * (log(2 * M_PI * variance) + 1);
	*out = (struct modes){
		.two = is_better(&mixture, kept, one),
		.low = mixture.low,
		.high = mixture.high,
		.share_high = mixture.share_high,
	};
}
