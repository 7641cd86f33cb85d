/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check-stats [short|full] */
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHORT_BOOTS 24000

size_t suite_campaigns(const struct suite *suite, size_t boots_a_campaign)
{
	size_t campaigns = SHORT_BOOTS / boots_a_campaign;

	if (suite->full || campaigns > CAMPAIGNS)
		return CAMPAIGNS;
	return campaigns < CAMPAIGNS / 10 ? CAMPAIGNS / 10 : campaigns;
}

double suite_tolerance(double p, size_t n)
{
	return 4 * sqrt(p * (1 - p) / (double)n);
}

double suite_slack(double p, size_t n)
{
	return fmax(0, suite_tolerance(p, n) - suite_tolerance(p, CAMPAIGNS));
}

void suite_check(struct suite *suite, bool ok, const char *name, const char *format, ...)
{
	va_list args;

	if (ok) {
		suite->passed++;
		printf("ok %s\n", name);
		return;
	}
	suite->failed++;
	printf("not ok %s: ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void suite_between(struct suite *suite, const char *name, double frequency, double lo, double hi, size_t n)
{
	double low = lo - suite_slack(lo, n), high = hi + suite_slack(hi, n);

	suite_check(suite, frequency >= low && frequency <= high, name, "%.2f%% of %zu campaigns, not %.2f to %.2f%%",
		    100 * frequency, n, 100 * low, 100 * high);
}

void suite_at_most(struct suite *suite, const char *name, double frequency, double limit, size_t n)
{
	double most = limit + suite_tolerance(limit, n);

	suite_check(suite, frequency <= most, name, "%.2f%% of %zu campaigns, above %.2f%%", 100 * frequency, n, 100 * most);
}

void suite_at_least(struct suite *suite, const char *name, double frequency, double limit, size_t n)
{
	double least = limit - suite_tolerance(limit, n);

	suite_check(suite, frequency >= least, name, "%.2f%% of %zu campaigns, below %.2f%%", 100 * frequency, n, 100 * least);
}

int main(int argc, char **argv)
{
	struct suite suite = { .full = argc == 2 && !strcmp(argv[1], "full") };

	if (argc > 2 || (argc == 2 && !suite.full && strcmp(argv[1], "short") != 0)) {
		fprintf(stderr, "usage: check-stats [short|full]\n");
		return 2;
	}
	/* Who looks on sees each table when it is there. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_coverage(&suite);
	check_families(&suite);
	check_drift(&suite);
	check_stein(&suite);
	check_looks(&suite);
	check_gates(&suite);
	check_detectable(&suite);
	check_health(&suite);
	printf("%u passed, %u failed\n", suite.passed, suite.failed);
	return suite.failed ? 1 : 0;
}
