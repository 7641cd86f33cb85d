/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gate at "worse by at most 2%": how often it passes, fails and stays open, by the true effect. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define LIMIT 0.02
#define GATE_CAMPAIGNS 500
#define VERDICTS 4

/*
 * T of `df` degrees of freedom around `delta` standard errors: P(T <= t) is the mean of a normal's over the spread's chi
 * distribution.
 */
struct noncentral {
	double t, delta, df;
};

static double at_spread(double spread, void *parameters)
{
	const struct noncentral *noncentral = parameters;
	double density = 2 * spread * noncentral->df * gsl_ran_chisq_pdf(noncentral->df * spread * spread, noncentral->df);

	return gsl_cdf_ugaussian_P(noncentral->t * spread - noncentral->delta) * density;
}

static double noncentral_p(double t, double delta, double df)
{
	struct noncentral parameters = { t, delta, df };
	gsl_function function = { at_spread, &parameters };
	gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(1000);
	double p, error;

	gsl_integration_qag(&function, 0, 6, 1e-9, 1e-7, 1000, GSL_INTEG_GAUSS31, workspace, &p, &error);
	gsl_integration_workspace_free(workspace);
	return p;
}

/* What the paired comparison's verdicts should come to. */
static void expected(double effect, size_t blocks, double sd_boot, double share[VERDICTS])
{
	double sd = sqrt(2 * (sd_boot * sd_boot + SD_ITERATION * SD_ITERATION / ITERATIONS)), df = (double)blocks - 1;
	double delta = (log1p(effect) - log1p(LIMIT)) / (sd / sqrt((double)blocks)), t = gsl_cdf_tdist_Qinv(ALPHA, df);

	share[VERDICT_PASS] = noncentral_p(-t, delta, df);
	share[VERDICT_FAIL] = 1 - noncentral_p(t, delta, df);
	share[VERDICT_NOT_RESOLVED] = 1 - share[VERDICT_PASS] - share[VERDICT_FAIL];
	share[VERDICT_INVALID] = 0;
}

struct cell {
	size_t blocks;
	double sd_boot, effect;
	double welch[VERDICTS], paired[VERDICTS], inverse[VERDICTS], expected[VERDICTS]; /* shares */
};

static void run(uint64_t seed, struct cell *cell)
{
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	struct design design = design_make(seed, 2, cell->blocks, cell->sd_boot);
	struct comparison comparison;

	design.levels[1] = 1 + cell->effect;
	for (size_t i = 0; i < GATE_CAMPAIGNS; i++) {
		campaign_draw(&design, i, campaign);
		compare_paired(campaign->y[0], campaign->y[1], cell->blocks, &comparison);
		cell->paired[verdict_limit(&comparison, 1, LIMIT, ALPHA, ALPHA)] += 1.0 / GATE_CAMPAIGNS;
		compare_welch(campaign->y[0], cell->blocks, campaign->y[1], cell->blocks, &comparison);
		cell->welch[verdict_limit(&comparison, 1, LIMIT, ALPHA, ALPHA)] += 1.0 / GATE_CAMPAIGNS;
		/* The same boots as rates. */
		for (size_t b = 0; b < cell->blocks; b++) {
			campaign->y[0][b] = 1 / campaign->y[0][b];
			campaign->y[1][b] = 1 / campaign->y[1][b];
		}
		compare_welch(campaign->y[0], cell->blocks, campaign->y[1], cell->blocks, &comparison);
		cell->inverse[verdict_limit(&comparison, -1, LIMIT, ALPHA, ALPHA)] += 1.0 / GATE_CAMPAIGNS;
	}
	expected(cell->effect, cell->blocks, cell->sd_boot, cell->expected);
}

static void check_errors(struct suite *suite, const struct cell *cell, const char *name)
{
	AUTO_FREE char *fail = xasprintf("gate-never-fails-for-noise-%s", name),
		       *pass = xasprintf("gate-never-passes-for-lack-%s", name);
	AUTO_FREE char *power = xasprintf("gate-power-%s", name);

	if (cell->effect <= LIMIT)
		suite_at_most(suite, fail, fmax(cell->welch[VERDICT_FAIL], cell->paired[VERDICT_FAIL]), ALPHA, GATE_CAMPAIGNS);
	else
		suite_at_most(suite, pass, fmax(cell->welch[VERDICT_PASS], cell->paired[VERDICT_PASS]), ALPHA, GATE_CAMPAIGNS);
	if (cell->effect == 0 && cell->blocks == 30)
		suite_at_least(suite, power, fmin(cell->welch[VERDICT_PASS], cell->paired[VERDICT_PASS]), 0.9, GATE_CAMPAIGNS);
}

static void check_cell(struct suite *suite, const struct cell *cell)
{
	static const enum verdict shown[] = { VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_RESOLVED };
	AUTO_FREE char *name = xasprintf("effect-%g-boots-%zu-spread-%g", 100 * cell->effect, cell->blocks, 100 * cell->sd_boot);
	AUTO_FREE char *theory = xasprintf("gate-frequencies-%s", name), *rates = xasprintf("gate-rates-as-times-%s", name);
	bool as_expected = true, same = true;

	printf("%5zu %5.1f%% %5.1f%%", cell->blocks, 100 * cell->sd_boot, 100 * cell->effect);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		enum verdict verdict = shown[i];
		printf(" %7.1f%% %5.1f%% (%5.1f%%)", 100 * cell->welch[verdict], 100 * cell->paired[verdict],
		       100 * cell->expected[verdict]);
		/* One campaign more or less where next to none is expected. */
		double tolerance = suite_tolerance(cell->expected[verdict], GATE_CAMPAIGNS) + 1.0 / GATE_CAMPAIGNS;
		as_expected &= fabs(cell->paired[verdict] - cell->expected[verdict]) <= tolerance;
		same &= fabs(cell->inverse[verdict] - cell->welch[verdict]) < 0.5 / GATE_CAMPAIGNS;
	}
	printf("\n");
	suite_check(suite, as_expected, theory, "not what a noncentral t gives: see the table");
	suite_check(suite, same, rates, "the same boots as rates get other verdicts");
	check_errors(suite, cell, name);
}

void check_gates(struct suite *suite)
{
	static const double effects[] = { 0, 0.01, 0.019, 0.021, 0.03 };
	static const struct {
		size_t blocks;
		double sd_boot;
	} cells[] = { { 3, 0.005 }, { 10, 0.005 }, { 30, 0.005 }, { 30, 0.01 } };
	uint64_t seed = 500;

	printf("\nA gate at +%.0f%%, %d campaigns each: Welch, paired, and in brackets what theory gives for paired\n",
	       100 * LIMIT, GATE_CAMPAIGNS);
	printf("boots spread effect          PASS                     FAIL                 NOT RESOLVED\n");
	for (size_t c = 0; c < ARRAY_SIZE(cells); c++) {
		for (size_t e = 0; e < ARRAY_SIZE(effects); e++) {
			struct cell cell = { .blocks = cells[c].blocks, .sd_boot = cells[c].sd_boot, .effect = effects[e] };
			run(seed++, &cell);
			check_cell(suite, &cell);
		}
	}
}
