/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/counting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/environment.h"

enum counter_kind counting_kind(const struct conf *conf)
{
	const char *name = conf_get(conf, "counter", "pmu");

	for (enum counter_kind kind = COUNTER_PMU; kind < COUNTER_MODEL; kind++) {
		if (!strcmp(name, counter_name(kind)))
			return kind;
	}
	return COUNTER_MODEL;
}

bool counting_find_type(const char *root, const cpu_set_t *cpus, struct counter_plan *plan, char name_out[PMU_NAME_MAX],
			char *reason, size_t reason_size)
{
	struct pmu pmu;

	plan->type = 0;
	*name_out = '\0';
	if (!pmu_find(root, cpus, &pmu, reason, reason_size))
		return !plan->events;
	if (!pmu_has_events(root, &pmu, plan->events, reason, reason_size))
		return false;
	plan->type = pmu.type;
	strcpy(name_out, pmu.name);
	return true;
}

static bool find_own_type(const char *root, struct counter_plan *plan, char name_out[PMU_NAME_MAX], char *reason,
			  size_t reason_size)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus)) {
		snprintf(reason, reason_size, "which CPUs are measured: %s", strerror(errno));
		return false;
	}
	return counting_find_type(root, &cpus, plan, name_out, reason, reason_size);
}

static void tell(const struct counter_plan *plan, const char *pmu, struct records *records)
{
	char names[128], text[200];

	events_format(plan->events, names, sizeof(names));
	snprintf(text, sizeof(text), "%s%s%s", names, *pmu ? " on " : "", pmu);
	records_identity(records, "events", text);
}

bool counting_plan(const struct conf *conf, const char *root, struct counter_plan *plan_out, struct records *records,
		   char *reason, size_t reason_size)
{
	const char *events = conf_get(conf, "events", NULL);
	struct counter_plan plan = { .kind = counting_kind(conf), .events = events ? events_parse(events) : 0 };
	char pmu[PMU_NAME_MAX] = "";

	if (COUNTER_RAW && plan.kind == COUNTER_PMU && (plan.events || environment_is_asked(conf)) &&
	    !find_own_type(root, &plan, pmu, reason, reason_size))
		return false;
	if (plan.events)
		tell(&plan, pmu, records);
	*plan_out = plan;
	return true;
}
