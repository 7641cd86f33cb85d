/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far boots may differ before a difference is no longer resolved. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "base/mem.h"
#include "stats/compare.h"

#define SD_MAX 100.0
#define ROUNDS_MAX 200
#define PRECISION 1e-9 /* of the sd */

struct problem {
	const struct comparison *family;
	const double *weights;
	size_t n, member;
	double alpha;
};

/* By how much Holm's p is above alpha when boots differ by `sd`. All p values rise with it, and Holm's with them. */
static double excess(double sd, void *parameters)
{
	const struct problem *problem = parameters;
	AUTO_FREE double *p = xcalloc(problem->n, sizeof(*p));
	AUTO_FREE double *adjusted = xcalloc(problem->n, sizeof(*adjusted));

	for (size_t i = 0; i < problem->n; i++) {
		struct comparison wider;
		compare_widen(&problem->family[i], problem->weights[i] * sd * sd, &wider);
		p[i] = wider.p;
	}
	holm_adjust(p, problem->n, adjusted);
	return adjusted[problem->member] - problem->alpha;
}

double holm_largest_sd(const struct comparison *family, const double *weights, size_t n, size_t member, double alpha)
{
	struct problem problem = { family, weights, n, member, alpha };
	gsl_function function = { excess, &problem };

	if (family[member].method == COMPARE_NONE || excess(0, &problem) > 0)
		return 0;
	if (excess(SD_MAX, &problem) <= 0)
		return INFINITY;
	gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
	gsl_root_fsolver_set(solver, &function, 0, SD_MAX);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		double low = gsl_root_fsolver_x_lower(solver), high = gsl_root_fsolver_x_upper(solver);
		if (high - low <= PRECISION * high || gsl_root_fsolver_iterate(solver) != GSL_SUCCESS)
			break;
	}
	double sd = gsl_root_fsolver_root(solver);
	gsl_root_fsolver_free(solver);
	return sd;
}
