/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/environment.h"

#include <stdio.h>
#include <string.h>

#include "agent/affinity.h"
#include "agent/cores.h"
#include "agent/cpufreq.h"
#include "agent/hotplug.h"
#include "agent/reclaim.h"
#include "agent/services.h"
#include "agent/thermal.h"

#define PREFIX "env."
#define THERMAL_WAIT_MS 600000

bool environment_is_asked(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_pairs; i++) {
		if (!strncmp(conf->pairs[i].key, PREFIX, strlen(PREFIX)))
			return true;
	}
	return false;
}

static bool read_service(const char *root, const char *name, char *now, size_t size)
{
	return services_state(services_manager(root), name, now, size);
}

/* What was never there is as good as stopped. */
static bool is_stopped(const char *want, const char *now)
{
	return !strcmp(now, want) || !strcmp(now, "not there");
}

static void stop_service(struct holds *holds, const char *name)
{
	const enum service_manager manager = services_manager(holds->root);
	char key[HOLD_KEY_MAX], state[HOLD_VALUE_MAX], reason[HOLD_VALUE_MAX];

	snprintf(key, sizeof(key), "stop.%.80s", name);
	if (!services_state(manager, name, state, sizeof(state))) {
		hold_fail(holds, key, "%s", state);
		return;
	}
	if (!strcmp(state, "not there") && manager != SERVICES_NONE) {
		hold_fail(holds, key, "there is no such service");
		return;
	}
	if (strcmp(state, "stopped") != 0 && strcmp(state, "not there") != 0) {
		if (!undo_note(holds->undo, UNDO_SERVICE, name, "")) {
			hold_fail(holds, key, "no room to remember it");
			return;
		}
		if (!services_stop(manager, name, reason, sizeof(reason))) {
			hold_fail(holds, key, "%s", reason);
			return;
		}
	}
	hold_add(holds, key, name, "stopped", read_service, is_stopped);
}

static void stop_services(struct holds *holds, const char *names)
{
	char list[4096];
	char *rest = list, *name;

	snprintf(list, sizeof(list), "%s", names);
	while ((name = strsep(&rest, ",")))
		stop_service(holds, name);
}

static bool read_property(const char *root, const char *name, char *now, size_t size)
{
	(void)root;
	return property_get(name, now, size);
}

static void set_property(struct holds *holds, const char *key, const char *name, const char *value)
{
	char before[HOLD_VALUE_MAX], reason[HOLD_VALUE_MAX];

	if (services_manager(holds->root) != SERVICES_ANDROID) {
		hold_fail(holds, key, "%.100s: no Android runs here", name);
		return;
	}
	if (!property_get(name, before, sizeof(before))) {
		hold_fail(holds, key, "%.100s: %.100s", name, before);
		return;
	}
	if (strcmp(before, value) != 0) {
		if (!undo_note(holds->undo, UNDO_PROPERTY, name, before)) {
			hold_fail(holds, key, "%.100s: no room to remember what it was", name);
			return;
		}
		if (!property_set(name, value, reason, sizeof(reason))) {
			hold_fail(holds, key, "%.100s: %.100s", name, reason);
			if (property_get(name, reason, sizeof(reason)) && !strcmp(reason, before))
				undo_forget(holds->undo);
			return;
		}
	}
	hold_add(holds, key, name, value, read_property, NULL);
}

/* Settings PREFIX.N=NAME=VALUE, told under KEY-N. */
static void set_pairs(struct environment *environment, const char *prefix, const char *key,
		      void (*set)(struct holds *holds, const char *key, const char *name, const char *value))
{
	const struct conf *conf = environment->conf;

	for (size_t i = 0; i < conf->n_pairs; i++) {
		const char *number = conf->pairs[i].key + strlen(prefix), *pair = conf->pairs[i].value;
		const char *equals = strchr(pair, '=');
		char own_key[HOLD_KEY_MAX], name[HOLD_VALUE_MAX];

		if (strncmp(conf->pairs[i].key, prefix, strlen(prefix)) != 0 || !equals)
			continue;
		snprintf(own_key, sizeof(own_key), "%s-%.32s", key, number);
		if (snprintf(name, sizeof(name), "%.*s", (int)(equals - pair), pair) < (int)sizeof(name))
			set(&environment->holds, own_key, name, equals + 1);
		else
			hold_fail(&environment->holds, own_key, "the name is too long");
	}
}

static void set_file(struct holds *holds, const char *key, const char *path, const char *value)
{
	hold_file(holds, key, path, value);
}

/* False with a reason: the class is not there. `cpus_out`: those that may be used. */
static bool choose_cores(struct environment *environment, cpu_set_t *cpus_out, char *reason, size_t reason_size)
{
	struct holds *holds = &environment->holds;
	const char *wanted = conf_get(environment->conf, "env.cores", NULL);
	char text[CORES_TEXT_MAX];
	struct cores cores;

	if (wanted)
		hotplug_wake_all(holds);
	if (!cores_read(holds->root, &cores)) {
		CPU_ZERO(cpus_out);
		snprintf(reason, reason_size, "/sys/devices/system/cpu/online does not tell the cores");
		return !wanted;
	}
	cores_describe(&cores, text, sizeof(text));
	hold_tell(holds, "classes", "%s", text);
	return cores_choose(&cores, wanted ? wanted : "all", cpus_out, reason, reason_size);
}

static void tie_to_cores(struct environment *environment, const cpu_set_t *cpus)
{
	struct holds *holds = &environment->holds;
	const char *wanted = conf_get(environment->conf, "env.cores", NULL);
	char list[CORES_TEXT_MAX];

	if (!wanted)
		return;
	cores_format(cpus, list, sizeof(list));
	hold_tell(holds, "cores", "%s%s%s", wanted, strcmp(wanted, list) ? " " : "", strcmp(wanted, list) ? list : "");
	affinity_hold(holds, cpus);
	hotplug_leave(holds, cpus, conf_get_count(environment->conf, "env.offline", 1) == 1);
}

bool environment_set(struct environment *environment, const struct conf *conf, struct undo *undo, char *reason,
		     size_t reason_size)
{
	struct holds *holds = &environment->holds;
	const char *services = conf_get(conf, "env.stop", NULL);
	cpu_set_t cpus;

	*environment = (struct environment){
		.conf = conf,
		.asked = environment_is_asked(conf),
		.holds = { .root = conf_get(conf, "root", ""), .undo = undo },
	};
	if (!environment->asked)
		return true;
	if (services)
		stop_services(holds, services);
	set_pairs(environment, "env.setprop.", "setprop", set_property);
	hotplug_stop_core_ctl(holds);
	if (!choose_cores(environment, &cpus, reason, reason_size))
		return false;
	tie_to_cores(environment, &cpus);
	cpufreq_hold(holds, &cpus, conf_get(conf, "env.governor", NULL), conf_get(conf, "env.frequency", NULL));
	reclaim_hold(holds, conf_get_count(conf, "env.swap", 1) == 1);
	set_pairs(environment, "env.set.", "set", set_file);
	return true;
}

void environment_cool(struct environment *environment, const char *label, void (*alive)(void *arg), void *arg)
{
	struct holds *holds = &environment->holds;
	char key[HOLD_KEY_MAX], text[HOLD_VALUE_MAX];
	double limit = 0;

	if (!environment->asked || !conf_real(conf_get(environment->conf, "env.thermal_below", ""), &limit) || limit <= 0)
		return;
	snprintf(key, sizeof(key), "thermal-%.64s", label);

	long long wait_ms = (long long)conf_get_count(environment->conf, "env.thermal_wait_ms", THERMAL_WAIT_MS);

	if (thermal_wait(holds->root, limit, wait_ms, alive, arg, text, sizeof(text)))
		hold_tell(holds, key, "%s", text);
	else
		hold_fail(holds, key, "%s", text);
}

void environment_check(struct environment *environment, const char *label)
{
	char when[HOLD_KEY_MAX];

	snprintf(when, sizeof(when), "%s%.64s", label ? "after " : "before the first sample", label ? label : "");
	holds_check(&environment->holds, when);
}

void environment_report(const struct environment *environment, struct records *records)
{
	holds_report(&environment->holds, records);
}

void environment_deinit(struct environment *environment)
{
	holds_deinit(&environment->holds);
}
