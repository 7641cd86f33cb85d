/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels and variance components of random metrics: boots of a row, iterations of a boot. Knows nothing of kernels. */
#ifndef STATS_LEVEL_H
#define STATS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/* Of a set of numbers; NAN entries do not count. sd is NAN below two. */
struct level {
	size_t n;
	double mean; /* arithmetic */
	double sd; /* sample */
	double median;
	double min, max;
};
void level_of(const double *y, size_t n, struct level *out);
/*
 * n / sum(1 / y): the physical mean of rates over equal work, all above 0. NAN entries do not count; NAN when there are no
 * others.
 */
double harmonic_mean(const double *y, size_t n);

/* One boot's iterations. */
struct boot_moments {
	double mean, variance; /* variance: sample; NAN with one iteration */
	size_t n; /* iterations */
};

/*
 * Within and between boots, as fractions of the mean (sd 0.02 = 2%), pooled over rows: S1^2 = pooled within-boot variance,
 * S2^2 = pooled variance of boot means, T1^2 = S1^2, T2^2 = S2^2 - S1^2 / I (negative: 0), I = harmonic mean of iterations
 * (Kalibera and Jones 2013). Boots without iterations or with a NAN mean do not count.
 */
struct components {
	double sd_within; /* T1; NAN when no boot has two iterations */
	double sd_between; /* T2; NAN when no row has two boots; S2 when no boot has two iterations */
	double icc; /* T2^2 / (T1^2 + T2^2); NAN when one is, or both are 0 */
	double iterations; /* I */
	size_t best_iterations; /* ceil(sqrt(cost T1^2 / T2^2)); 0 = T2 is 0: no number is too large, or not known */
};
/*
 * boots of row r: moments[first[r]] .. moments[first[r + 1] - 1]. `cost`: time of a boot without its iterations / time of an
 * iteration.
 */
void components_of(const struct boot_moments *moments, const size_t *first, size_t n_rows, double cost, struct components *out);

#endif
