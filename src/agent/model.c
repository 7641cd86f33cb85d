/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_MAX_LEN 160

/* NULL in `list_out` when there is no such setting. */
static bool read_list(const struct conf *conf, const char *key, size_t wanted, double **list_out, char *reason,
		      size_t reason_size)
{
	const char *text = conf_get(conf, key, NULL);

	*list_out = NULL;
	if (!text)
		return true;

	double *list = malloc(wanted * sizeof(*list));
	size_t n = list ? conf_reals(text, list, wanted) : 0;

	if (n < wanted) {
		snprintf(reason, reason_size, "%s has %zu numbers for %zu iterations", key, n, wanted);
		free(list);
		return false;
	}
	*list_out = list;
	return true;
}

bool model_open(struct model *model, const struct conf *conf, const struct conf_workload *settings, char *reason,
		size_t reason_size)
{
	const size_t wanted = (size_t)workload_samples(settings);
	char key[KEY_MAX_LEN];

	*model = (struct model){ .conf = conf };
	snprintf(key, sizeof(key), "noise.factor.%s", settings->label);
	if (!read_list(conf, key, wanted, &model->factors, reason, reason_size))
		return false;
	snprintf(key, sizeof(key), "noise.throttled.%s", settings->label);
	if (read_list(conf, key, wanted, &model->throttled, reason, reason_size))
		return true;
	model_close(model);
	return false;
}

void model_close(struct model *model)
{
	free(model->factors);
	free(model->throttled);
	*model = (struct model){ 0 };
}

void model_readings(const struct model *model, struct workload_run *run, size_t nth)
{
	const double factor = model->factors ? model->factors[nth] : 1;

	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		const struct workload_metric *metric = &run->kind->metrics[i];
		char key[KEY_MAX_LEN];
		double value;

		if (metric->derived)
			continue;
		snprintf(key, sizeof(key), "model.%s.%s.%s", run->settings->label, metric->phase, metric->unit);
		run->readings[i] = conf_real(conf_get(model->conf, key, ""), &value) ? value * factor : NAN;
	}
	for (size_t i = 0; i < N_HEALTH; i++)
		run->health[i] = NAN;
	if (model->throttled)
		run->health[HEALTH_THROTTLED] = model->throttled[nth];
}
