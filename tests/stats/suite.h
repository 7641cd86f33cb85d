/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulation suite: campaigns with a known truth are drawn from the sim device's noise (device/noise.h) in memory and go
 * through the functions of src/stats that reports use. Prints tables, and a line "ok NAME" or "not ok NAME: ..." a check.
 */
#ifndef SUITE_H
#define SUITE_H

#include "base/mem.h"

#define ALPHA 0.05
/* Campaigns of a cell in the full form. */
#define CAMPAIGNS 10000

struct suite {
	bool full;
	unsigned passed, failed;
};

/* The short form draws at most this many boots a cell, and a tenth of the campaigns at least. */
size_t suite_campaigns(const struct suite *suite, size_t boots_a_campaign);

/* Four standard errors of a frequency `p` seen in `n` campaigns. */
double suite_tolerance(double p, size_t n);
/*
 * Where the frequency of a property may lie whose probability is from lo to hi: the full form takes bounds as they stand, which
 * leave room for chance in 10,000 campaigns; fewer scatter more.
 */
double suite_slack(double p, size_t n);

/* Counts and prints one check; the text after it only when it failed. */
void suite_check(struct suite *suite, bool ok, const char *name, const char *format, ...) PRINTF_FORMAT(4, 5);
/* `frequency` of n campaigns: between lo and hi; at most `limit`, four standard errors more; at least `limit`, four less. */
void suite_between(struct suite *suite, const char *name, double frequency, double lo, double hi, size_t n);
void suite_at_most(struct suite *suite, const char *name, double frequency, double limit, size_t n);
void suite_at_least(struct suite *suite, const char *name, double frequency, double limit, size_t n);

void check_coverage(struct suite *suite); /* coverage.c */
void check_families(struct suite *suite); /* families.c */
void check_drift(struct suite *suite); /* drift.c */
void check_stein(struct suite *suite); /* stopping.c */
void check_looks(struct suite *suite);
void check_gates(struct suite *suite); /* gates.c */
void check_detectable(struct suite *suite); /* detectable.c */
void check_health(struct suite *suite); /* health.c */

#endif
