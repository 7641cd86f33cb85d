/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/counter.h"
#include "agent/health_probe.h"
#include "agent/identity.h"
#include "agent/memcg.h"
#include "agent/misbehave.h"
#include "agent/model.h"
#include "agent/quiet.h"
#include "agent/records.h"
#include "agent/workload_run.h"

#define NAME_MAX_LEN 128

struct agent {
	const struct conf *conf;
	int fd;
	const char *root;
	enum counter_kind counter;
	bool clock;
	struct misbehave misbehave;
	struct quiet quiet;
	struct memcg memcg;
	struct records records;
};

static enum counter_kind counter_setting(const struct conf *conf)
{
	const char *name = conf_get(conf, "counter", "pmu");

	for (enum counter_kind kind = COUNTER_PMU; kind < COUNTER_MODEL; kind++) {
		if (!strcmp(name, counter_name(kind)))
			return kind;
	}
	return COUNTER_MODEL;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void add_settings(struct agent *agent)
{
	records_identity(&agent->records, "counter", counter_name(agent->counter));
	records_identity(&agent->records, "expect_memcg", conf_get(agent->conf, "expect_memcg", NULL));
	records_identity(&agent->records, "region_offset", conf_get(agent->conf, "region_offset", NULL));
}

/* Is this one of the readings that the agent reports? */
static bool is_wanted(const struct agent *agent, const struct workload_run *run, size_t metric_index)
{
	const struct workload_metric *metric = &run->kind->metrics[metric_index];
	bool insn = !strncmp(metric->unit, "insn", 4);
	char key[NAME_MAX_LEN];

	if (metric->derived)
		return false;
	if (agent->counter == COUNTER_MODEL) {
		snprintf(key, sizeof(key), "model.%s.%s.%s", run->settings->label, metric->phase, metric->unit);
		return conf_get(agent->conf, key, NULL) != NULL;
	}
	return insn ? agent->counter == COUNTER_PMU : run->clock;
}

static bool wants_anything(const struct agent *agent, const struct workload_run *run)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		if (is_wanted(agent, run, i))
			return true;
	}
	return false;
}

static void name_record(const struct workload_run *run, int warmups, const char *phase, const char *unit,
			char name_out[NAME_MAX_LEN])
{
	const bool warmup = run->iteration < 0;

	snprintf(name_out, NAME_MAX_LEN, "%s.%s.%s.%s%d", run->settings->label, phase, unit, warmup ? "w" : "",
		 warmup ? run->iteration + warmups : run->iteration);
}

static void report_health(struct agent *agent, const struct workload_run *run, int warmups)
{
	for (size_t i = 0; i < N_HEALTH; i++) {
		char name[NAME_MAX_LEN];

		if (isnan(run->health[i]))
			continue;
		name_record(run, warmups, "health", health_readings[i].name, name);
		records_pass(&agent->records, name, run->health[i], health_readings[i].unit);
	}
}

/* The records of one iteration; `failure` is NULL when it went well. */
static void report_iteration(struct agent *agent, const struct workload_run *run, int warmups, const char *failure)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		const struct workload_metric *metric = &run->kind->metrics[i];
		char name[NAME_MAX_LEN], unit[32];

		if (!is_wanted(agent, run, i))
			continue;
		name_record(run, warmups, metric->phase, metric->unit, name);
		workload_unit_text(metric, unit, sizeof(unit));
		if (failure)
			records_fail(&agent->records, name, failure, unit);
		else
			records_pass(&agent->records, name, run->readings[i], unit);
	}
	if (!failure)
		report_health(agent, run, warmups);
}

static void report_environment(struct agent *agent, const struct workload_run *run, const char *place)
{
	const struct workload_checks *checks = &run->checks;
	char key[NAME_MAX_LEN], text[160];

	snprintf(key, sizeof(key), "cgroup.%s", run->settings->label);
	records_identity(&agent->records, key, place);
	snprintf(key, sizeof(key), "checks.%s", run->settings->label);
	snprintf(text, sizeof(text), "pages=%llu minflt=%llu majflt=%llu nvcsw=%llu nivcsw=%llu",
		 (unsigned long long)checks->pages, (unsigned long long)checks->minor_faults,
		 (unsigned long long)checks->major_faults, (unsigned long long)checks->voluntary_switches,
		 (unsigned long long)checks->involuntary_switches);
	records_identity(&agent->records, key, text);
	snprintf(key, sizeof(key), "compat.%s", run->settings->label);
	records_identity(&agent->records, key, run->compat);
}

static void run_iterations(struct agent *agent, struct workload_run *run, const struct model *model)
{
	const int warmups = (int)workload_count(run, "warmup");
	const int iterations = (int)workload_count(run, "iterations");
	struct health_probe probe;

	health_probe_open(&probe, agent->root, NULL);
	for (run->iteration = -warmups; run->iteration < iterations; run->iteration++) {
		for (size_t i = 0; i < run->kind->n_metrics; i++)
			run->readings[i] = NAN;
		for (size_t i = 0; i < N_HEALTH; i++)
			run->health[i] = NAN;
		health_probe_before(&probe);

		bool failed = run->kind->iterate(run) != 0;

		health_probe_after(&probe, run->health);
		if (!failed && agent->counter == COUNTER_MODEL)
			model_readings(model, run, (size_t)(run->iteration + warmups));
		report_iteration(agent, run, warmups, failed ? run->reason : NULL);
	}
	health_probe_close(&probe);
}

static void fail_workload(struct agent *agent, const char *label, const char *reason)
{
	char name[NAME_MAX_LEN];

	snprintf(name, sizeof(name), "%s.agent.error.0", label);
	records_fail(&agent->records, name, reason, "-");
}

static void run_workload(struct agent *agent, const struct conf_workload *settings)
{
	char reason[WORKLOAD_REASON_MAX];
	struct model model = { 0 };
	const char *place;

	if (!workload_check(settings, reason, sizeof(reason))) {
		fail_workload(agent, settings->label, reason);
		return;
	}

	struct workload_run run = {
		.kind = workload_find(settings->kind),
		.settings = settings,
		.counter = agent->counter,
		.clock = agent->clock,
		.region_offset = conf_get_count(agent->conf, "region_offset", 0),
	};

	if (!wants_anything(agent, &run)) {
		fail_workload(agent, settings->label, "no model.LABEL.PHASE.UNIT setting is for this workload");
		return;
	}
	if (agent->counter == COUNTER_MODEL && !model_open(&model, agent->conf, settings, reason, sizeof(reason))) {
		fail_workload(agent, settings->label, reason);
		return;
	}
	if (memcg_enter(&agent->memcg, workload_value(&run, "cgroup"), &place, reason, sizeof(reason))) {
		run_iterations(agent, &run, &model);
		report_environment(agent, &run, place);
	} else {
		fail_workload(agent, settings->label, reason);
	}
	memcg_leave(&agent->memcg);
	model_close(&model);
	workload_run_deinit(&run);
}

static void run_workloads(struct agent *agent)
{
	char reason[WORKLOAD_REASON_MAX];
	struct counter counter;

	if (!counter_open(&counter, agent->counter, reason, sizeof(reason))) {
		records_fail(&agent->records, "agent.counter.error.0", reason, "-");
		return;
	}
	counter_close(&counter);
	for (size_t i = 0; i < agent->conf->n_workloads; i++) {
		run_workload(agent, &agent->conf->workloads[i]);
		records_send_hello(&agent->records, agent->fd);
	}
}

bool agent_run(const struct conf *conf, int fd, bool init)
{
	struct agent agent = {
		.conf = conf,
		.fd = fd,
		.root = conf_get(conf, "root", ""),
		.counter = counter_setting(conf),
	};
	const bool told = *agent.root != '\0';

	agent.clock = agent.counter == COUNTER_CLOCK || conf_get_count(conf, "clock", 0) == 1;
	misbehave_init(&agent.misbehave, conf);
	if (misbehave_before_hello(&agent.misbehave, fd))
		return true;
	if (!told)
		quiet_console(&agent.quiet);
	records_hello(&agent.records, AGENT_VERSION);
	records_send_hello(&agent.records, fd);
	misbehave_after_hello(&agent.misbehave, fd);
	if (!told)
		quiet_huge_pages(&agent.quiet);
	memcg_examine(agent.root, init, conf_get(conf, "memcg_version", "v2"), &agent.memcg);
	identity_add(&agent.records, agent.root, &agent.memcg);
	add_settings(&agent);
	sleep_ms(conf_get_count(conf, "settle_ms", 0));
	run_workloads(&agent);
	memcg_restore(&agent.memcg);
	quiet_restore(&agent.quiet);

	bool sent = records_send(&agent.records, fd, &agent.misbehave);

	records_deinit(&agent.records);
	return sent;
}

bool agent_refuse(const char *reason, int fd)
{
	const struct misbehave none = { 0 };
	struct records records = { 0 };

	records_hello(&records, AGENT_VERSION);
	records_fail(&records, "agent.conf.error.0", reason, "-");

	bool sent = records_send(&records, fd, &none);

	records_deinit(&records);
	return sent;
}
