/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/random.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

struct random {
	gsl_rng *rng;
};

struct random *random_new(uint64_t seed)
{
	struct random *random = xmalloc(sizeof(*random));

	random->rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(random->rng, (unsigned long)((seed ^ (seed >> 32)) & 0xffffffff));
	return random;
}

void random_free(struct random *random)
{
	if (!random)
		return;
	gsl_rng_free(random->rng);
	free(random);
}

uint64_t random_below(struct random *random, uint64_t n)
{
	return gsl_rng_uniform_int(random->rng, n);
}

double random_uniform(struct random *random)
{
	return gsl_rng_uniform(random->rng);
}

double random_gaussian(struct random *random, double sigma)
{
	return gsl_ran_gaussian(random->rng, sigma);
}

void random_shuffle(struct random *random, size_t *items, size_t n)
{
	gsl_ran_shuffle(random->rng, items, n, sizeof(*items));
}
