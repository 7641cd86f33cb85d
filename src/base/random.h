/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded random numbers (GSL, mt19937): the same seed gives the same numbers everywhere. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/mem.h"

struct random;
struct random *random_new(uint64_t seed); /* the seed is folded to GSL's 32 bits by XOR of its halves */
void random_free(struct random *random);
/* 0 .. n-1, without modulo bias. */
uint64_t random_below(struct random *random, uint64_t n);
double random_uniform(struct random *random); /* [0, 1) */
double random_gaussian(struct random *random, double sigma);
void random_shuffle(struct random *random, size_t *items, size_t n);

#endif
