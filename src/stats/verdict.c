/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comparisons allow to be said: several at once, how many are wanted, and against limits. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/mem.h"
#include "stats/compare.h"

void holm_adjust(const double *p, size_t n, double *adjusted_out)
{
	AUTO_FREE size_t *members = xcalloc(n + 1, sizeof(*members));
	AUTO_FREE double *values = xcalloc(n + 1, sizeof(*values));
	AUTO_FREE size_t *order = xcalloc(n + 1, sizeof(*order));
	size_t size = 0;
	double least = 0;

	for (size_t i = 0; i < n; i++) {
		adjusted_out[i] = NAN;
		if (isnan(p[i]))
			continue;
		members[size] = i;
		values[size++] = p[i];
	}
	if (!size)
		return;
	gsl_sort_index(order, values, 1, size);
	for (size_t rank = 0; rank < size; rank++) {
		double adjusted = fmin(1, (double)(size - rank) * values[order[rank]]);
		least = fmax(least, adjusted);
		adjusted_out[members[order[rank]]] = least;
	}
}

size_t stein_size(double sd, size_t pilot, double half_width, double alpha)
{
	if (pilot < 2 || !(sd >= 0) || !(half_width > 0))
		return COMPARE_BOOTS_MAX;
	double root = sd * gsl_cdf_tdist_Qinv(alpha / 2, (double)pilot - 1) / half_width;
	double pairs = ceil(root * root);
	if (pairs > COMPARE_BOOTS_MAX)
		return COMPARE_BOOTS_MAX;
	return pairs < (double)pilot ? pilot : (size_t)pairs;
}

enum verdict verdict_limit(const struct comparison *comparison, int worse, double limit, double alpha_pass, double alpha_fail)
{
	struct comparison judged = *comparison;

	if (judged.method == COMPARE_NONE)
		return VERDICT_NOT_RESOLVED;
	judged.log_ratio *= worse;
	if (compare_upper(&judged, alpha_pass) <= limit)
		return VERDICT_PASS;
	return compare_lower(&judged, alpha_fail) > limit ? VERDICT_FAIL : VERDICT_NOT_RESOLVED;
}

enum verdict verdict_equivalent(const struct comparison *comparison, double margin, double alpha)
{
	if (comparison->method == COMPARE_NONE)
		return VERDICT_NOT_RESOLVED;
	double upper = compare_upper(comparison, alpha), lower = compare_lower(comparison, alpha);

	if (lower >= -margin && upper <= margin)
		return VERDICT_PASS;
	return lower > margin || upper < -margin ? VERDICT_FAIL : VERDICT_NOT_RESOLVED;
}
