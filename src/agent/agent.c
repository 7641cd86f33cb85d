/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/chain.h"
#include "agent/counter.h"
#include "agent/counting.h"
#include "agent/environment.h"
#include "agent/health_probe.h"
#include "agent/identity.h"
#include "agent/marker.h"
#include "agent/memcg.h"
#include "agent/memory.h"
#include "agent/misbehave.h"
#include "agent/model.h"
#include "agent/placement.h"
#include "agent/quiet.h"
#include "agent/records.h"
#include "agent/relay.h"
#include "agent/results.h"
#include "agent/services.h"
#include "agent/undo.h"
#include "agent/workload_run.h"

#define NAME_MAX_LEN 128

struct agent {
	const struct conf *conf;
	struct results results;
	const char *root;
	struct counter_plan counter;
	bool clock;
	struct chain chain;
	struct misbehave misbehave;
	struct undo undo;
	struct environment environment;
	struct memory memory; /* as it was when the agent started */
	struct memcg memcg;
	struct records records;
};

static void sleep_ms(uint64_t ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void add_settings(struct agent *agent)
{
	records_identity(&agent->records, "counter", counter_name(agent->counter.kind));
	records_identity(&agent->records, "expect_memcg", conf_get(agent->conf, "expect_memcg", NULL));
	records_identity(&agent->records, "region_offset", conf_get(agent->conf, "region_offset", NULL));
}

/* Is this one of the readings that the agent reports? */
static bool is_wanted(const struct agent *agent, const struct workload_run *run, size_t metric_index)
{
	const struct workload_metric *metric = &run->kind->metrics[metric_index];
	const enum event event = event_of_unit(metric->unit);
	bool insn = !strncmp(metric->unit, "insn", 4);
	char key[NAME_MAX_LEN];

	if (metric->derived)
		return false;
	if (agent->counter.kind == COUNTER_MODEL) {
		snprintf(key, sizeof(key), "model.%s.%s.%s", run->settings->label, metric->phase, metric->unit);
		return conf_get(agent->conf, key, NULL) != NULL;
	}
	if (workload_is_amount(metric))
		return true;
	if (event < N_EVENTS)
		return agent->counter.events & 1u << event;
	return insn ? agent->counter.kind == COUNTER_PMU : run->clock;
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
		/* An amount that this kernel does not tell. */
		if (!failure && !metric->per && isnan(run->readings[i]))
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

static void report_checks(struct agent *agent, const struct workload_run *run, const char *place)
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

/* With a model the numbers are told: what would change the machine is left out. */
static bool is_run(const struct agent *agent, const struct workload_run *run)
{
	return agent->counter.kind != COUNTER_MODEL || !run->kind->needs_machine;
}

static void run_iterations(struct agent *agent, struct workload_run *run, const struct model *model)
{
	const int warmups = (int)workload_count(run, "warmup");
	const int iterations = (int)workload_count(run, "iterations");
	struct health_probe probe;
	bool failed = false;

	health_probe_open(&probe, agent->root, NULL);
	for (run->iteration = -warmups; run->iteration < iterations && !failed; run->iteration++) {
		for (size_t i = 0; i < run->kind->n_metrics; i++)
			run->readings[i] = NAN;
		for (size_t i = 0; i < N_HEALTH; i++)
			run->health[i] = NAN;
		health_probe_before(&probe);
		marker_iteration(run->settings->label, run->iteration);

		failed = is_run(agent, run) && run->kind->iterate(run) != 0;
		health_probe_after(&probe, run->health);
		if (!failed && agent->counter.kind == COUNTER_MODEL)
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

/* In its group, with all that it needs made. */
static void run_inside(struct agent *agent, struct workload_run *run, const struct model *model)
{
	char reason[WORKLOAD_REASON_MAX];

	if (memcg_enter(&agent->memcg, workload_value(run, "cgroup"), &run->place, reason, sizeof(reason))) {
		run_iterations(agent, run, model);
		report_checks(agent, run, run->place);
	} else {
		fail_workload(agent, run->settings->label, reason);
	}
	memcg_leave(&agent->memcg);
}

static void run_prepared(struct agent *agent, struct workload_run *run, const struct model *model)
{
	char reason[WORKLOAD_REASON_MAX];

	if (!placement_check(&agent->memcg, run, &agent->records, reason, sizeof(reason))) {
		fail_workload(agent, run->settings->label, reason);
		return;
	}
	if (is_run(agent, run) && run->kind->prepare && run->kind->prepare(run))
		fail_workload(agent, run->settings->label, run->reason);
	else
		run_inside(agent, run, model);
	if (is_run(agent, run) && run->kind->finish)
		run->kind->finish(run);
}

/* A sign of life, out at once. */
static void say_hello(const struct agent *agent)
{
	records_send_hello(&agent->records, agent->results.fd);
	results_flush(&agent->results);
}

static void still_alive(void *arg)
{
	say_hello(arg);
}

static void run_workload(struct agent *agent, const struct conf_workload *settings)
{
	char reason[WORKLOAD_REASON_MAX];
	struct model model = { 0 };

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
		.memory = &agent->memory,
		.root = agent->root,
		.memcg = &agent->memcg,
		.undo = &agent->undo,
		.records = &agent->records,
		.alive = still_alive,
		.alive_arg = agent,
	};

	if (!wants_anything(agent, &run)) {
		fail_workload(agent, settings->label,
			      agent->counter.kind == COUNTER_MODEL
				      ? "no model.LABEL.PHASE.UNIT setting is for this workload"
				      : "it reports nothing but instructions and times, which are not read here");
		return;
	}
	if (agent->counter.kind == COUNTER_MODEL && !model_open(&model, agent->conf, settings, reason, sizeof(reason))) {
		fail_workload(agent, settings->label, reason);
		return;
	}
	run_prepared(agent, &run, &model);
	model_close(&model);
	workload_run_deinit(&run);
}

static void run_workloads(struct agent *agent)
{
	char reason[WORKLOAD_REASON_MAX];
	struct counter counter;

	if (!counting_plan(agent->conf, agent->root, &agent->counter, &agent->records, reason, sizeof(reason)) ||
	    !counter_open(&counter, &agent->counter, reason, sizeof(reason))) {
		records_fail(&agent->records, "agent.counter.error.0", reason, "-");
		return;
	}
	counter_close(&counter);
	environment_check(&agent->environment, NULL);
	for (size_t i = 0; i < agent->conf->n_workloads; i++) {
		const struct conf_workload *workload = &agent->conf->workloads[i];

		environment_cool(&agent->environment, workload->label, still_alive, agent);
		run_workload(agent, workload);
		environment_check(&agent->environment, workload->label);
		say_hello(agent);
	}
}

/* A report of nothing but a failure. */
static bool refuse(const struct conf *conf, const char *name, const char *reason, int fd)
{
	const struct misbehave none = { 0 };
	struct records records = { 0 };

	records_hello(&records, AGENT_VERSION, conf_get(conf, "nonce", NULL));
	records_fail(&records, name, reason, "-");

	bool sent = records_send(&records, fd, &none);

	records_deinit(&records);
	return sent;
}

/*
 * A guardian restores what an agent changed that died, where that matters to others: pid 1 takes the machine with it, and below a
 * root only env.* changes anything.
 */
static bool open_undo(struct agent *agent, bool init, char *reason, size_t reason_size)
{
	const bool alone = init || *agent->root;

	return undo_open(&agent->undo, services_manager(agent->root), !alone || environment_is_asked(agent->conf), reason,
			 reason_size);
}

static void measure_quietly(struct agent *agent)
{
	char reason[256];
	bool good = environment_set(&agent->environment, agent->conf, &agent->undo, reason, sizeof(reason));

	identity_add(&agent->records, agent->root, &agent->memcg);
	add_settings(agent);
	chain_report(&agent->chain, &agent->records);
	sleep_ms(conf_get_count(agent->conf, "settle_ms", 0));
	if (good)
		run_workloads(agent);
	else
		records_fail(&agent->records, "agent.environment.error.0", reason, "-");
	environment_report(&agent->environment, &agent->records);
	environment_deinit(&agent->environment);
}

static void restore(struct agent *agent)
{
	char failures[UNDO_TEXT_MAX];

	memcg_restore(&agent->memcg);
	undo_close(&agent->undo, failures, sizeof(failures));
	if (*failures)
		records_identity(&agent->records, "env.failed.restore", failures);
}

/* Everything between the first word and the last. */
static bool measure(struct agent *agent, bool init)
{
	const struct conf *conf = agent->conf;
	const bool told = *agent->root != '\0';
	char reason[256];

	if (!open_undo(agent, init, reason, sizeof(reason)))
		return refuse(conf, "agent.environment.error.0", reason, agent->results.fd);
	if (!told)
		quiet_console(&agent->undo);
	records_hello(&agent->records, AGENT_VERSION, conf_get(conf, "nonce", NULL));
	say_hello(agent);
	misbehave_after_hello(&agent->misbehave, agent->results.fd);
	if (!told)
		quiet_huge_pages(&agent->undo);
	memcg_examine(agent->root, init, placement_hierarchy(conf), &agent->memcg);
	measure_quietly(agent);
	restore(agent);
	return records_send(&agent->records, agent->results.fd, &agent->misbehave);
}

/* With the results open. */
static bool do_work(struct agent *agent, bool init)
{
	const char *relay = conf_get(agent->conf, "relay", NULL);

	if (relay)
		return relay_print(relay, agent->root, conf_get(agent->conf, "nonce", NULL), RESULTS_WAIT_MS, agent->results.fd);
	misbehave_init(&agent->misbehave, agent->conf);
	return misbehave_before_hello(&agent->misbehave, agent->results.fd) || measure(agent, init);
}

bool agent_run(const struct conf *conf, int console_fd, bool init)
{
	const char *where = conf_get(conf, "results", "console");
	struct agent agent = {
		.conf = conf,
		.root = conf_get(conf, "root", ""),
		.counter = { .kind = counting_kind(conf) },
	};
	char reason[256];
	bool sent;

	if (memory_is_wanted(conf))
		memory_read(&agent.memory, agent.root);
	agent.clock = agent.counter.kind == COUNTER_CLOCK || conf_get_count(conf, "clock", 0) == 1;
	chain_start(&agent.chain, conf, init);
	if (results_open(&agent.results, where, console_fd, agent.root, RESULTS_WAIT_MS, reason, sizeof(reason)))
		sent = do_work(&agent, init);
	else
		sent = refuse(conf, "agent.results.error.0", reason, console_fd);
	sent &= results_flush(&agent.results);
	results_close(&agent.results);
	chain_stop(&agent.chain);
	records_deinit(&agent.records);
	return sent;
}

bool agent_refuse(const char *reason, int console_fd)
{
	const struct conf none = { 0 };

	return refuse(&none, "agent.conf.error.0", reason, console_fd);
}
