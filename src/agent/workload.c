/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/workload.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/workload_run.h"

#define MAX_OPTIONS 32
#define BLOCK "block:"

static const char *const cgroup_words[] = { "auto", "child", "root", NULL };
static const char *const hierarchy_words[] = { "auto", "v1", "v2", NULL };
static const char *const kmem_words[] = { "auto", "on", "off", NULL };

const struct workload_option workload_common_options[N_WORKLOAD_COMMON] = {
	[COMMON_ITERATIONS] = { "iterations", OPTION_COUNT, 1, 10000, "5", NULL, "measured iterations a boot" },
	[COMMON_WARMUP] = { "warmup", OPTION_COUNT, 0, 1000, "2", NULL, "iterations before them that are stored and left out" },
	[COMMON_CGROUP] = { "cgroup", OPTION_WORD, 0, 0, "auto", cgroup_words,
			    "where it runs when memcg is on: auto and child: a child group, root: the root group" },
	[COMMON_HIERARCHY] = { "hierarchy", OPTION_WORD, 0, 0, "auto", hierarchy_words,
			       "the hierarchy that must have the memory controller when memcg is on; one for a boot" },
	[COMMON_KMEM] = { "kmem", OPTION_WORD, 0, 0, "auto", kmem_words,
			  "kernel memory of a group must be accounted (on) or not (off: cgroup.memory=nokmem on the command "
			  "line)" },
};
const size_t workload_n_common_options = N_WORKLOAD_COMMON;

const struct workload_kind *const workload_kinds[] = {
	&workload_pft,	       &workload_memory,     &workload_sparse_read, &workload_file_read_cached,
	&workload_tmpfs_write, &workload_swapout,    &workload_swapin,	    &workload_swapstorm,
	&workload_fork_exit,   &workload_mmap_churn, &workload_selftest,    &workload_exec,
};
const size_t workload_n_kinds = sizeof(workload_kinds) / sizeof(workload_kinds[0]);

const struct workload_kind *workload_find(const char *name)
{
	for (size_t i = 0; i < workload_n_kinds; i++) {
		if (!strcmp(workload_kinds[i]->name, name))
			return workload_kinds[i];
	}
	return NULL;
}

bool workload_is_block(const char *value)
{
	return !strncmp(value, BLOCK, strlen(BLOCK));
}

static bool is_word(const struct workload_option *option, const char *value)
{
	for (const char *const *word = option->words; *word; word++) {
		if (!strcmp(*word, value))
			return true;
	}
	return false;
}

/* A node's path, or a GPT name, which has no '/'. */
static bool is_block_name(const char *value)
{
	const char *name = value + strlen(BLOCK);

	return workload_is_block(value) && *name && !name[strcspn(name, " \t\n")] && (*name == '/' || !strchr(name, '/'));
}

static const struct workload_option *find_in(const struct workload_option *options, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(options[i].name, name))
			return &options[i];
	}
	return NULL;
}

const struct workload_option *workload_find_option(const struct workload_kind *kind, const char *name)
{
	const struct workload_option *option = find_in(kind->options, kind->n_options, name);

	return option ? option : find_in(workload_common_options, workload_n_common_options, name);
}

const char *workload_fallback(const struct workload_kind *kind, const struct workload_option *option)
{
	for (size_t i = 0; kind->common && i < N_WORKLOAD_COMMON; i++) {
		if (option == &workload_common_options[i] && kind->common[i])
			return kind->common[i];
	}
	return option->fallback;
}

static bool is_text(const struct workload_option *option, const char *value)
{
	for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
		if (*c < ' ' || *c == 0x7f)
			return false;
	}
	return strlen(value) >= option->min && strlen(value) <= option->max;
}

bool workload_value_ok(const struct workload_option *option, const char *value)
{
	uint64_t count;

	switch (option->type) {
	case OPTION_SIZE:
	case OPTION_COUNT:
		return conf_count(value, &count) && count >= option->min && count <= option->max;
	case OPTION_WORD:
		return is_word(option, value);
	case OPTION_DISK:
		return is_word(option, value) || is_block_name(value);
	case OPTION_TEXT:
		return is_text(option, value);
	case OPTION_BOOL:
		return !strcmp(value, "0") || !strcmp(value, "1");
	}
	return false;
}

uint64_t workload_samples(const struct conf_workload *settings)
{
	static const char *const names[] = { "iterations", "warmup" };
	const struct workload_kind *kind = workload_find(settings->kind);
	uint64_t sum = 0;

	for (size_t i = 0; i < 2; i++) {
		const struct workload_option *option = kind ? workload_find_option(kind, names[i]) : NULL;
		const char *value = option ? conf_option(settings, option->name, workload_fallback(kind, option)) : NULL;
		uint64_t count;

		if (!value || !workload_value_ok(option, value) || !conf_count(value, &count))
			return 0;
		sum += count;
	}
	return sum;
}

static const char *amount_unit(const char *name)
{
	const char *end = strrchr(name, '_');

	return !end || !strcmp(end, "_kib") ? "KiB" : end + 1;
}

bool workload_is_amount(const struct workload_metric *metric)
{
	const char *end = strrchr(metric->unit, '_');

	return !metric->derived && !metric->per && (!end || strcmp(end, "_ns") != 0);
}

void workload_unit_text(const struct workload_metric *metric, char *text, size_t size)
{
	const enum event event = event_of_unit(metric->unit);
	bool insn = !strncmp(metric->unit, "insn", 4);

	if (!metric->per)
		snprintf(text, size, "%s", amount_unit(metric->unit));
	else if (!strcmp(metric->unit, "rate"))
		snprintf(text, size, "%s/s", metric->per);
	else
		snprintf(text, size, "%s/%s",
			 insn		    ? "insn"
			 : event < N_EVENTS ? event_infos[event].name
					    : metric->unit,
			 metric->per);
}

bool workload_check(const struct conf_workload *settings, char *reason, size_t reason_size)
{
	const struct workload_kind *kind = workload_find(settings->kind);
	const char *values[MAX_OPTIONS];

	if (!kind) {
		snprintf(reason, reason_size, "there is no workload '%s'", settings->kind);
		return false;
	}
	for (size_t i = 0; i < settings->n_options; i++) {
		const struct conf_pair *pair = &settings->options[i];
		const struct workload_option *option = workload_find_option(kind, pair->key);

		if (!option) {
			snprintf(reason, reason_size, "%s has no option '%s'", kind->name, pair->key);
			return false;
		}
		if (!workload_value_ok(option, pair->value)) {
			snprintf(reason, reason_size, "%s=%s is out of range", pair->key, pair->value);
			return false;
		}
	}
	for (size_t i = 0; i < kind->n_options; i++)
		values[i] = conf_option(settings, kind->options[i].name, kind->options[i].fallback);
	for (size_t i = 0; i < N_WORKLOAD_COMMON; i++)
		values[kind->n_options + i] = conf_option(settings, workload_common_options[i].name,
							  workload_fallback(kind, &workload_common_options[i]));

	const char *conflict = kind->conflict ? kind->conflict(values) : NULL;

	if (conflict)
		snprintf(reason, reason_size, "%s", conflict);
	return !conflict;
}

const char *workload_value(const struct workload_run *run, const char *option)
{
	return conf_option(run->settings, option, workload_fallback(run->kind, workload_find_option(run->kind, option)));
}

uint64_t workload_count(const struct workload_run *run, const char *option)
{
	uint64_t count = 0;

	conf_count(workload_value(run, option), &count);
	return count;
}

void workload_set(struct workload_run *run, const char *phase, const char *unit, double value)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		const struct workload_metric *metric = &run->kind->metrics[i];

		if (!strcmp(metric->phase, phase) && !strcmp(metric->unit, unit))
			run->readings[i] = value;
	}
}

void workload_add(struct workload_run *run, const char *phase, const char *unit, double value)
{
	for (size_t i = 0; i < run->kind->n_metrics; i++) {
		const struct workload_metric *metric = &run->kind->metrics[i];

		if (!strcmp(metric->phase, phase) && !strcmp(metric->unit, unit))
			run->readings[i] = isnan(run->readings[i]) ? value : run->readings[i] + value;
	}
}

void workload_set_counts(struct workload_run *run, const char *phase, const struct counter_reading *reading, double n)
{
	if (run->counter.kind != COUNTER_PMU)
		return;
	workload_set(run, phase, "insn_k", (double)reading->kernel / n);
	workload_set(run, phase, "insn_u", (double)reading->user / n);
	for (enum event event = 0; event < N_EVENTS; event++) {
		if (run->counter.events & 1u << event)
			workload_set(run, phase, event_infos[event].unit, (double)reading->events[event] / n);
	}
}

void workload_add_compat(struct workload_run *run, const char *line)
{
	size_t len = run->compat ? strlen(run->compat) : 0;
	size_t line_len = strlen(line);
	char *grown = realloc(run->compat, len + line_len + 2);

	if (!grown)
		return;
	memcpy(grown + len, line, line_len);
	memcpy(grown + len + line_len, "\n", 2);
	run->compat = grown;
}

int workload_fail(struct workload_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->reason, sizeof(run->reason), format, args);
	va_end(args);
	return -1;
}

void workload_run_deinit(struct workload_run *run)
{
	free(run->compat);
	run->compat = NULL;
}
