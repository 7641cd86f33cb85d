/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of whether data are what the estimates take them to be: drift, steps, dependence, outliers, modes. Knows nothing of
 * kernels.
 */
#ifndef STATS_HEALTH_H
#define STATS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

/* In all of these NAN entries are left out, and p is NAN when there are too few numbers for the test to mean anything. */

/*
 * Theil-Sen slope with the Mann-Kendall test (Mann 1945, Kendall 1955, Sen 1968; normal approximation with ties and
 * continuity correction; needs 8). A straight slope over time, of whatever distribution. Looks at all pairs: of more than
 * 3000 entries every second, third, ... is taken.
 */
struct trend {
	double slope; /* per entry of y (a NAN takes its place), as a fraction of the median; NAN below two */
	double p; /* two-sided */
};
void trend_of(const double *y, size_t n, struct trend *out);

/*
 * One step in the mean: the range of the cumulated deviations from the mean, with a permutation test (999 permutations of a
 * generator seeded with `seed`; needs 8). A slope is found too: its step is in the middle. 1000 n steps of work: for means,
 * not for each boot of a large run.
 */
struct step_change {
	size_t at; /* index of the first entry after the step, where the cumulated deviation is largest */
	double shift; /* mean after / mean before - 1; NAN when there is no p */
	double p;
};
void step_of(const double *y, size_t n, unsigned long seed, struct step_change *out);

/*
 * Lag-1 autocorrelation and Ljung-Box (1978) over min(10, n / 5) lags (needs 10). Where entries are NAN their neighbours count as
 * neighbours. Equal numbers: r1 0 and p 1.
 */
struct dependence {
	double r1;
	double p;
	double n_effective; /* n (1 - r1) / (1 + r1); at most n */
};
void dependence_of(const double *y, size_t n, struct dependence *out);

/*
 * |y - median| > threshold * 1.4826 MAD. Writes at most `max` indices, returns how many there are. threshold: 3.5 lists.
 * Where more than half the numbers are equal, MAD is 0 and every other number is listed.
 */
size_t outliers_of(const double *y, size_t n, double threshold, size_t *indices_out, size_t max);

/* One normal against a mixture of two with a common variance, by BIC (needs 10). One number alone is an outlier and no mode. */
struct modes {
	bool two; /* BIC of two lower by 10 and the modes apart by more than 3 of their sds */
	double low, high; /* means of the two, of a meaning only with `two`; NAN below 10 numbers, or when all are equal */
	double share_high;
};
void modes_of(const double *y, size_t n, struct modes *out);

#endif
