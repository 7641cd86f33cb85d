/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/wire.h"

uint64_t model_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* In (0, 1]. */
static double uniform(uint64_t *state)
{
	return (double)((model_random(state) >> 11) + 1) / 9007199254740992.0;
}

static double gaussian(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

void model_readings(const struct conf *conf, struct workload_run *run)
{
	const char *label = run->settings->label;
	uint64_t state = conf_get_count(conf, "model.seed", 0) + (uint64_t)(int64_t)run->iteration +
			 ((uint64_t)wire_crc32(label, strlen(label)) << 32);
	double spread = 0;

	conf_real(conf_get(conf, "model.sd", "0"), &spread);
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		const struct workload_metric *metric = &run->kind->metrics[i];
		char key[160];
		double value;

		if (metric->derived)
			continue;

		double factor = 1 + spread * gaussian(&state);

		snprintf(key, sizeof(key), "model.%s.%s.%s", label, metric->phase, metric->unit);
		run->readings[i] = conf_real(conf_get(conf, key, ""), &value) ? value * factor : NAN;
	}
}
