/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/compare.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"

/* The logarithms of a sample: how many, their mean and their variance. */
struct log_moments {
	size_t n;
	double mean, variance;
};

static const struct comparison no_comparison = {
	.method = COMPARE_NONE,
	.log_ratio = NAN,
	.se = NAN,
	.df = NAN,
	.p = NAN,
};

const char *compare_method_name(enum compare_method method)
{
	static const char *const names[] = { "none", "welch", "paired", "stein" };
	return names[method];
}

/* Of no difference; the standard error may be 0 (a noise-free source), then any difference is certain. */
static double two_sided_p(const struct comparison *comparison)
{
	if (comparison->se > 0)
		return 2 * gsl_cdf_tdist_Q(fabs(comparison->log_ratio) / comparison->se, comparison->df);
	return comparison->log_ratio == 0 ? 1 : 0;
}

static void finish(struct comparison *comparison)
{
	comparison->p = two_sided_p(comparison);
}

/* Degrees of freedom of v1 + v2 (Satterthwaite): one that is 0 counts for nothing, and two pool theirs. */
static double joint_df(double v1, double df1, double v2, double df2)
{
	double sum = v1 + v2;

	if (sum == 0)
		return df1 + df2;
	/* Shares instead of squares: the squares of small variances underflow. */
	double share1 = v1 / sum, share2 = v2 / sum;
	return 1 / (share1 * share1 / df1 + share2 * share2 / df2);
}

/* False when there are fewer than two numbers, or one of them has no finite logarithm. */
static bool moments_of_logs(const double *y, size_t n, struct log_moments *out)
{
	AUTO_FREE double *logs = xcalloc(n + 1, sizeof(*logs));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(y[i]))
			continue;
		if (y[i] <= 0 || isinf(y[i]))
			return false;
		logs[kept++] = log(y[i]);
	}
	if (kept < 2)
		return false;
	out->n = kept;
	out->mean = gsl_stats_mean(logs, 1, kept);
	out->variance = gsl_stats_variance_m(logs, 1, kept, out->mean);
	return true;
}

static void welch_of(const struct log_moments *reference, const struct log_moments *variant, struct comparison *out)
{
	double v_reference = reference->variance / (double)reference->n, v = variant->variance / (double)variant->n;

	*out = (struct comparison){
		.method = COMPARE_WELCH,
		.n = variant->n,
		.n_reference = reference->n,
		.log_ratio = variant->mean - reference->mean,
		.se = sqrt(v_reference + v),
		.df = joint_df(v_reference, (double)reference->n - 1, v, (double)variant->n - 1),
	};
	finish(out);
}

void compare_welch(const double *reference, size_t n_reference, const double *variant, size_t n, struct comparison *out)
{
	struct log_moments a, b;

	*out = no_comparison;
	if (moments_of_logs(reference, n_reference, &a) && moments_of_logs(variant, n, &b))
		welch_of(&a, &b, out);
}

/* Log differences of complete pairs, which the caller frees; NULL when a number has no finite logarithm. */
static double *log_differences(const double *reference, const double *variant, size_t n, size_t *pairs_out)
{
	AUTO_FREE double *differences = xcalloc(n + 1, sizeof(*differences));
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(reference[i]) || isnan(variant[i]))
			continue;
		if (reference[i] <= 0 || variant[i] <= 0 || isinf(reference[i]) || isinf(variant[i]))
			return NULL;
		differences[pairs++] = log(variant[i]) - log(reference[i]);
	}
	*pairs_out = pairs;
	return take_ptr(differences);
}

/* The mean of all pairs, with the spread of the first `spread_pairs` of them. */
static void pairs_of(enum compare_method method, const double *reference, const double *variant, size_t n, size_t spread_pairs,
		     struct comparison *out)
{
	size_t pairs = 0;
	AUTO_FREE double *differences = log_differences(reference, variant, n, &pairs);

	*out = no_comparison;
	if (spread_pairs > pairs)
		spread_pairs = pairs;
	if (!differences || spread_pairs < 2)
		return;
	*out = (struct comparison){
		.method = method,
		.n = pairs,
		.n_reference = pairs,
		.log_ratio = gsl_stats_mean(differences, 1, pairs),
		.se = gsl_stats_sd(differences, 1, spread_pairs) / sqrt((double)pairs),
		.df = (double)spread_pairs - 1,
	};
	finish(out);
}

void compare_paired(const double *reference, const double *variant, size_t n, struct comparison *out)
{
	pairs_of(COMPARE_PAIRED, reference, variant, n, n, out);
}

void compare_stein(const double *reference, const double *variant, size_t n, size_t pilot, struct comparison *out)
{
	pairs_of(COMPARE_STEIN, reference, variant, n, pilot, out);
}

/* A lognormal with this mean and coefficient of variation has these moments of its logarithm. */
static bool moments_of_summary(double mean, double sd, size_t n, struct log_moments *out)
{
	if (n < 2 || !(mean > 0) || isinf(mean) || !(sd >= 0) || isinf(sd))
		return false;
	double cv = sd / mean;
	out->n = n;
	out->variance = log1p(cv * cv);
	out->mean = log(mean) - out->variance / 2;
	return true;
}

void compare_summary(double mean_reference, double sd_reference, size_t n_reference, double mean, double sd, size_t n,
		     struct comparison *out)
{
	struct log_moments a, b;

	*out = no_comparison;
	if (moments_of_summary(mean_reference, sd_reference, n_reference, &a) && moments_of_summary(mean, sd, n, &b))
		welch_of(&a, &b, out);
}

void compare_quotient(const struct comparison *a, const struct comparison *b, struct comparison *out)
{
	if (a->method == COMPARE_NONE || b->method == COMPARE_NONE) {
		*out = no_comparison;
		return;
	}
	struct comparison quotient = {
		.method = COMPARE_WELCH,
		.n = a->n,
		.n_reference = b->n,
		.log_ratio = a->log_ratio - b->log_ratio,
		.se = hypot(a->se, b->se),
		.df = joint_df(a->se * a->se, a->df, b->se * b->se, b->df),
	};
	finish(&quotient);
	*out = quotient;
}

void compare_widen(const struct comparison *comparison, double variance, struct comparison *out)
{
	*out = *comparison;
	if (comparison->method == COMPARE_NONE)
		return;
	out->se = sqrt(comparison->se * comparison->se + variance);
	finish(out);
}

double compare_ratio(const struct comparison *comparison)
{
	return expm1(comparison->log_ratio);
}

/* Half of a two-sided interval at 1 - alpha, or the width of a one-sided bound at 1 - alpha / 2. */
static double half_width(const struct comparison *comparison, double alpha)
{
	return gsl_cdf_tdist_Qinv(alpha / 2, comparison->df) * comparison->se;
}

struct interval compare_interval(const struct comparison *comparison, double alpha, size_t family)
{
	if (comparison->method == COMPARE_NONE)
		return (struct interval){ NAN, NAN };
	double half = half_width(comparison, alpha / (double)(family ? family : 1));
	return (struct interval){ expm1(comparison->log_ratio - half), expm1(comparison->log_ratio + half) };
}

double compare_upper(const struct comparison *comparison, double alpha)
{
	return compare_interval(comparison, 2 * alpha, 1).hi;
}

double compare_lower(const struct comparison *comparison, double alpha)
{
	return compare_interval(comparison, 2 * alpha, 1).lo;
}

/* In log units. */
static double detectable_log(const struct comparison *comparison, double alpha, double power)
{
	return half_width(comparison, alpha) + gsl_cdf_tdist_Pinv(power, comparison->df) * comparison->se;
}

double compare_detectable(const struct comparison *comparison, double alpha, double power)
{
	return comparison->method == COMPARE_NONE ? NAN : expm1(detectable_log(comparison, alpha, power));
}

size_t compare_boots_needed(const struct comparison *comparison, double target, double alpha, double power)
{
	double wanted = fabs(log1p(target));

	if (comparison->method == COMPARE_NONE || !(wanted > 0) || isinf(wanted))
		return 0;
	double factor = detectable_log(comparison, alpha, power) / wanted;
	double boots = ceil((double)comparison->n * factor * factor);
	if (boots > COMPARE_BOOTS_MAX)
		return 0;
	return boots < 2 ? 2 : (size_t)boots;
}
