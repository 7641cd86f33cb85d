/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the data's health: how often they alarm about data without fault, and how often they see one. */
#include "stats/health.h"

#include <math.h>
#include <stdio.h>

#include "campaign.h"
#include "suite.h"

#define BOOTS 30
#define SD_BOOT 0.005

enum test { TREND, STEP, DEPENDENCE, MODES, OUTLIERS, N_TESTS };

struct scenario {
	const char *name;
	struct sim_noise noise;
	double correlation; /* of each number with the one before */
	double step; /* from the middle on */
	double lo[N_TESTS], hi[N_TESTS]; /* alarms; hi 0 = not looked at */
};

/* Boot means of one row; faults that the device's noise does not have come on top. */
static void draw(const struct scenario *scenario, uint64_t number, struct campaign *campaign, double y[BOOTS])
{
	struct design design = { .noise = scenario->noise, .rows = 1, .blocks = BOOTS };
	double before = 0;

	campaign_draw(&design, number, campaign);
	for (size_t i = 0; i < BOOTS; i++) {
		double own = log(campaign->y[0][i]), c = scenario->correlation;
		before = i ? c * before + sqrt(1 - c * c) * own : own;
		y[i] = exp(before) * (i >= BOOTS / 2 ? 1 + scenario->step : 1);
	}
}

static void count(const double y[BOOTS], uint64_t number, size_t alarms[N_TESTS])
{
	struct trend trend;
	struct step_change step;
	struct dependence dependence;
	struct modes modes;

	trend_of(y, BOOTS, &trend);
	step_of(y, BOOTS, number, &step);
	dependence_of(y, BOOTS, &dependence);
	modes_of(y, BOOTS, &modes);
	alarms[TREND] += trend.p <= ALPHA;
	alarms[STEP] += step.p <= ALPHA;
	alarms[DEPENDENCE] += dependence.p <= ALPHA;
	alarms[MODES] += modes.two;
	alarms[OUTLIERS] += outliers_of(y, BOOTS, 3.5, NULL, 0) > 0;
}

static void check_scenario(struct suite *suite, const struct scenario *scenario)
{
	static const char *const names[N_TESTS] = { "trend", "step", "dependence", "modes", "outliers" };
	AUTO_FREE struct campaign *campaign = xcalloc(1, sizeof(*campaign));
	size_t n = suite->full ? CAMPAIGNS : CAMPAIGNS / 10, alarms[N_TESTS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double y[BOOTS];
		draw(scenario, i, campaign, y);
		count(y, i, alarms);
	}
	printf("%-22s %9zu", scenario->name, n);
	for (int test = 0; test < N_TESTS; test++)
		printf(" %9.2f%%", 100 * (double)alarms[test] / (double)n);
	printf("\n");
	for (int test = 0; test < N_TESTS; test++) {
		AUTO_FREE char *name = xasprintf("health-%s-%s", names[test], scenario->name);
		if (scenario->hi[test] > 0)
			suite_between(suite, name, (double)alarms[test] / (double)n, scenario->lo[test], scenario->hi[test], n);
	}
}

#define NOISE(number, ...)                                                                                                       \
	{                                                                                                                        \
		.seed = 700 + (number), .sd_boot = SD_BOOT, .sd_iteration = SD_ITERATION, __VA_ARGS__                            \
	}

void check_health(struct suite *suite)
{
	/* A boot mean's whole sd is 0.62%. */
	static const struct scenario scenarios[] = {
		{ .name = "clean",
		  .noise = NOISE(0),
		  .lo = { 0.035, 0.035, 0.035, 0, 0 },
		  .hi = { 0.06, 0.06, 0.075, 0.01, 0.2 } },
		{ .name = "drift-2%", .noise = NOISE(1, .drift = 0.02), .lo = { 0.9, 0.9 }, .hi = { 1, 1 } },
		{ .name = "step-1%", .noise = NOISE(2), .step = 0.01, .lo = { 0.8, 0.9 }, .hi = { 1, 1 } },
		{ .name = "correlation-0.6",
		  .noise = NOISE(3),
		  .correlation = 0.6,
		  .lo = { [DEPENDENCE] = 0.55 },
		  .hi = { [DEPENDENCE] = 1 } },
		{ .name = "two-modes-4%",
		  .noise = NOISE(4, .mode_share = 0.4, .mode_shift = 0.04),
		  .lo = { 0, 0, 0, 0.9 },
		  .hi = { 0, 0, 0, 1 } },
	};

	printf("\nAlarms at 5%% (trend, step, dependence), of two modes, of any outlier, in %d boot means of sd 0.62%%\n", BOOTS);
	printf("scenario               campaigns      trend       step dependence      modes   outliers\n");
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		check_scenario(suite, &scenarios[i]);
}
