/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparisons of random metrics. The datum is the boot mean; everything is computed on its natural logarithm, so that a ratio
 * and its inverse (time and rate) get the same interval. Knows nothing of kernels. Formulas: Welch 1947; Satterthwaite 1946;
 * Stein 1945.
 */
#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum compare_method { COMPARE_NONE, COMPARE_WELCH, COMPARE_PAIRED, COMPARE_STEIN };
const char *compare_method_name(enum compare_method method); /* "none", "welch", "paired", "stein" */

/*
 * ln(variant / reference), its standard error and degrees of freedom. COMPARE_NONE: not enough boots, or a number that is not
 * above 0; then the counts are 0 and the others NAN.
 */
struct comparison {
	enum compare_method method;
	size_t n, n_reference; /* boots; pairs when paired */
	double log_ratio;
	double se;
	double df; /* need not be whole */
	double p; /* two-sided, of no difference; with se 0: 1 when log_ratio is 0, else 0 */
};

/* No campaign has as many boots of a variant: what asks for more has no answer. */
#define COMPARE_BOOTS_MAX 1000000

/* A ratio minus one: 0.02 = 2% more. */
struct interval {
	double lo, hi;
};

/*
 * Boot means; NAN entries are left out. At least two of each, all above 0. Of two spreads of 0 (a source without noise) the
 * df is n + n_reference - 2, of one the other's.
 */
void compare_welch(const double *reference, size_t n_reference, const double *variant, size_t n, struct comparison *out);
/* Block means, by block; pairs with a NAN are left out. At least two pairs. */
void compare_paired(const double *reference, const double *variant, size_t n, struct comparison *out);
/* Stein's second stage: sd and df of the first `pilot` complete pairs (of all when there are fewer), mean of all. */
void compare_stein(const double *reference, const double *variant, size_t n, size_t pilot, struct comparison *out);
/*
 * From published figures: arithmetic means, sample sds (not of the mean) and counts, at least two. The logarithms' moments
 * are those of the lognormal with the same mean and sd: with cv = sd / mean their variance is ln(1 + cv^2) and their mean
 * ln(mean) - variance / 2. At 2% that is 2.000% and -0.02%, which cancels between equal sds.
 */
void compare_summary(double mean_reference, double sd_reference, size_t n_reference, double mean, double sd, size_t n,
		     struct comparison *out);
/*
 * The ratio of two independent ratios: `a` over `b` (anchored release history: variances add, Welch-Satterthwaite df). n and
 * n_reference are a's and b's n; the method is COMPARE_WELCH. `out` may be one of them.
 */
void compare_quotient(const struct comparison *a, const struct comparison *b, struct comparison *out);

/*
 * The same with a variance on top that the data cannot show (se^2 + variance, same df): what boots differ in when each row's
 * numbers come from one boot. `out` may be `comparison`.
 */
void compare_widen(const struct comparison *comparison, double variance, struct comparison *out);

/* exp(log_ratio) - 1; NAN when there is none. */
double compare_ratio(const struct comparison *comparison);
/*
 * Two-sided interval at 1 - alpha, NAN when there is none; `family` comparisons hold together (Bonferroni: alpha / family), 1
 * = by itself.
 */
struct interval compare_interval(const struct comparison *comparison, double alpha, size_t family);
/* One-sided bounds at 1 - alpha, as a ratio minus one; NAN when there are none. */
double compare_upper(const struct comparison *comparison, double alpha);
double compare_lower(const struct comparison *comparison, double alpha);
/*
 * The smallest true ratio minus one that a comparison of this standard error and df resolves at two-sided `alpha` with
 * probability `power`: (t_{1-alpha/2} + t_{power}) se in log units. NAN when there is none.
 */
double compare_detectable(const struct comparison *comparison, double alpha, double power);
/*
 * Boots a variant that would detect a ratio minus one of `target` (either sign) with that power, same spread and same
 * balance: n (detectable / target)^2 in log units, rounded up, at least 2; with so few boots a little too many, as more boots
 * also have more df. 0 = not known: no comparison, a target of 0, or more than COMPARE_BOOTS_MAX.
 */
size_t compare_boots_needed(const struct comparison *comparison, double target, double alpha, double power);

/*
 * Holm's step-down: adjusted p values, in place order; NAN entries are no members of the family. resolved iff adjusted <= alpha.
 */
void holm_adjust(const double *p, size_t n, double *adjusted_out);

/*
 * A family whose members' variances rise by weights[i] * sd^2: the largest sd at which `member` is still resolved after Holm
 * at alpha. 0 when it is not even at 0; INFINITY when no sd takes it away. weights[i] = 1 / boots of one row + 1 / boots of
 * the other, sd = that of boot means.
 */
double holm_largest_sd(const struct comparison *family, const double *weights, size_t n, size_t member, double alpha);

/*
 * Stein's first stage: pairs wanted in all so that the interval's half-width (log units) is at most `half_width`, from the sd
 * of `pilot` paired log differences. At least `pilot`, at most COMPARE_BOOTS_MAX, which is also the answer when sd is NAN.
 */
size_t stein_size(double sd, size_t pilot, double half_width, double alpha);

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_RESOLVED, VERDICT_INVALID };

/*
 * A gate's judgement: `worse` is +1 when a larger value is worse, -1 when a smaller one is (then the inverse ratio is
 * judged). PASS when the one-sided upper bound of "worse by" at 1 - alpha_pass is at most `limit`, FAIL when the lower one at
 * 1 - alpha_fail is above it, else NOT RESOLVED (also of COMPARE_NONE).
 */
enum verdict verdict_limit(const struct comparison *comparison, int worse, double limit, double alpha_pass, double alpha_fail);
/*
 * Equivalence within +-margin (a ratio minus one) by two one-sided tests at alpha; FAIL when the two-sided interval at 1 - 2
 * alpha lies outside; NOT RESOLVED of COMPARE_NONE. The margins are those of the ratio as it stands: within 5% is 0.95 to
 * 1.05.
 */
enum verdict verdict_equivalent(const struct comparison *comparison, double margin, double alpha);

#endif
