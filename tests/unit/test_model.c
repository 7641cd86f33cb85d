/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "agent/model.h"

#define SETTINGS "version=1\ncounter=model\nmodel.l.fault.insn_k=1000\nmodel.l.teardown.ns=200\n"
#define WORKLOAD "workload=l\nrun=pft\niterations=2\nwarmup=1\n"

/* The settings of `text`, which must be good and is kept in `room`. */
static void parse(const char *text, char room[400], struct conf *conf)
{
	char reason[160] = "";

	strcpy(room, text);
	if (!conf_parse(room, conf, reason, sizeof(reason)))
		fail_msg("%s", reason);
}

static double reading(const struct workload_run *run, const char *phase, const char *unit)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		if (!strcmp(run->kind->metrics[i].phase, phase) && !strcmp(run->kind->metrics[i].unit, unit))
			return run->readings[i];
	}
	fail();
	return 0;
}

static void readings_are_scaled(void **state)
{
	static const double factors[] = { 1.25, 0.5, 1 };
	char text[400], reason[WORKLOAD_REASON_MAX];
	struct conf conf;
	struct model model;

	(void)state;
	/* A number too many does no harm. */
	parse(SETTINGS "noise.factor.l=1.25,0.5,1e0,7\nnoise.throttled.l=0,1,0\n" WORKLOAD, text, &conf);
	assert_true(model_open(&model, &conf, &conf.workloads[0], reason, sizeof(reason)));
	for (size_t nth = 0; nth < 3; nth++) {
		struct workload_run run = { .kind = workload_find("pft"), .settings = &conf.workloads[0] };

		model_readings(&model, &run, nth);
		assert_true(reading(&run, "fault", "insn_k") == 1000 * factors[nth]);
		assert_true(reading(&run, "teardown", "ns") == 200 * factors[nth]);
		assert_true(isnan(reading(&run, "fault", "insn_u"))); /* no setting */
		assert_true(run.health[HEALTH_THROTTLED] == (nth == 1));
		assert_true(isnan(run.health[HEALTH_CPU_SHARE]));
	}
	model_close(&model);
	conf_deinit(&conf);
}

static void without_noise_it_is_exact(void **state)
{
	char text[400], reason[WORKLOAD_REASON_MAX];
	struct conf conf;
	struct model model;

	(void)state;
	/* Another workload's noise is none of this one's. */
	parse(SETTINGS "noise.factor.other=2,2,2\nnoise.throttled.other=1,1,1\n" WORKLOAD, text, &conf);
	assert_true(model_open(&model, &conf, &conf.workloads[0], reason, sizeof(reason)));

	struct workload_run run = { .kind = workload_find("pft"), .settings = &conf.workloads[0] };

	run.health[HEALTH_THROTTLED] = NAN;
	model_readings(&model, &run, 2);
	assert_true(reading(&run, "fault", "insn_k") == 1000);
	assert_true(isnan(run.health[HEALTH_THROTTLED]));
	model_close(&model);
	conf_deinit(&conf);
}

static void short_lists_are_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ SETTINGS "noise.factor.l=1,1\n" WORKLOAD, "noise.factor.l has 2 numbers for 3 iterations" },
		{ SETTINGS "noise.factor.l=1,1,1\nnoise.throttled.l=0\n" WORKLOAD,
		  "noise.throttled.l has 1 numbers for 3 iterations" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[400], reason[WORKLOAD_REASON_MAX] = "";
		struct conf conf;
		struct model model;

		parse(cases[i].text, text, &conf);
		assert_false(model_open(&model, &conf, &conf.workloads[0], reason, sizeof(reason)));
		assert_string_equal(reason, cases[i].reason);
		conf_deinit(&conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_are_scaled),
		cmocka_unit_test(without_noise_it_is_exact),
		cmocka_unit_test(short_lists_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
