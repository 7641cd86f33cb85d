/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of any kind are taken or refused with a reason; what was taken can be asked for and checked. */
#include <stdlib.h>
#include <string.h>

#include "agent/conf.h"
#include "agent/workload_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct conf *conf)
{
	char reason[WORKLOAD_REASON_MAX] = "";

	for (size_t i = 0; i < conf->n_pairs; i++) {
		if (conf_get(conf, conf->pairs[i].key, NULL) != conf->pairs[i].value)
			abort();
		conf_get_count(conf, conf->pairs[i].key, 0);
	}
	for (size_t i = 0; i < conf->n_workloads; i++) {
		if (!workload_check(&conf->workloads[i], reason, sizeof(reason)) && !*reason)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	char reason[80] = "";
	struct conf conf;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (conf_parse(text, &conf, reason, sizeof(reason))) {
		ask(&conf);
		conf_deinit(&conf);
	} else if (!*reason) {
		abort();
	}
	free(text);
	return 0;
}
