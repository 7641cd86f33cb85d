/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/cpufreq.h"

#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sysfile.h"

#define POLICIES "/sys/devices/system/cpu/cpufreq/policy"
#define MAX_FREQUENCIES 256
#define TOLERANCE 0.02

struct policy {
	int number;
	bool wanted; /* one of the cores that are measured is in it */
};

static void policy_path(const struct policy *policy, const char *name, char path_out[128])
{
	snprintf(path_out, 128, POLICIES "%d/%s", policy->number, name);
}

static bool policy_read(const struct holds *holds, const struct policy *policy, const char *name, long *number_out)
{
	char path[128];

	policy_path(policy, name, path);

	char *text = sysfile_line(holds->root, path);
	char *end = NULL;

	*number_out = text ? strtol(text, &end, 10) : 0;

	bool good = text && end != text && !*end;

	free(text);
	return good;
}

/* affected_cpus: "0 1 2 3", those online. False when there are none. */
static bool look_at_cores(const struct holds *holds, struct policy *policy, const cpu_set_t *cpus)
{
	char path[128];
	bool any = false;

	policy_path(policy, "affected_cpus", path);

	char *text = sysfile_line(holds->root, path);
	char *rest = text, *word;

	policy->wanted = false;
	while (rest && (word = strsep(&rest, " "))) {
		char *end;
		unsigned long cpu = strtoul(word, &end, 10);

		if (end == word || *end || cpu >= CPU_SETSIZE)
			continue;
		any = true;
		policy->wanted |= CPU_ISSET(cpu, cpus) != 0;
	}
	free(text);
	return any;
}

static int compare_numbers(const void *a, const void *b)
{
	const long left = *(const long *)a, right = *(const long *)b;

	return left < right ? -1 : left > right;
}

static long middle(const struct holds *holds, const struct policy *policy, long lowest, long highest)
{
	long offered[MAX_FREQUENCIES] = { 0 };
	char path[128];
	size_t n = 0;

	policy_path(policy, "scaling_available_frequencies", path);

	char *text = sysfile_line(holds->root, path);
	char *rest = text, *word;

	while (rest && (word = strsep(&rest, " ")) && n < MAX_FREQUENCIES) {
		if (*word)
			offered[n++] = strtol(word, NULL, 10);
	}
	free(text);
	qsort(offered, n, sizeof(offered[0]), compare_numbers);
	return n ? offered[n / 2] : lowest + (highest - lowest) / 2;
}

/* In kHz; 0 with a hold that failed, or none where it does not matter. */
static long choose(struct holds *holds, const struct policy *policy, const char *key, const char *frequency)
{
	long lowest, highest;

	if (!policy_read(holds, policy, "cpuinfo_min_freq", &lowest) ||
	    !policy_read(holds, policy, "cpuinfo_max_freq", &highest)) {
		hold_fail(holds, key, "its range of frequencies cannot be read");
		return 0;
	}
	if (!strcmp(frequency, "max"))
		return highest;
	if (!strcmp(frequency, "min"))
		return lowest;
	if (!strcmp(frequency, "mid"))
		return middle(holds, policy, lowest, highest);

	long number = strtol(frequency, NULL, 10);

	if (number >= lowest && number <= highest)
		return number;
	if (policy->wanted)
		hold_fail(holds, key, "%s kHz is not within %ld to %ld", frequency, lowest, highest);
	return 0;
}

static bool is_near(const char *want, const char *now)
{
	const double wanted = strtod(want, NULL), found = strtod(now, NULL);

	return fabs(found - wanted) <= TOLERANCE * wanted;
}

static void hold_limit(struct holds *holds, const struct policy *policy, const char *which, const char *value)
{
	char key[HOLD_KEY_MAX], name[32], path[128];

	snprintf(key, sizeof(key), "frequency.policy%d.%s", policy->number, which);
	snprintf(name, sizeof(name), "scaling_%s_freq", which);
	policy_path(policy, name, path);
	hold_file(holds, key, path, value);
}

/* A minimum above the maximum, or the reverse, is refused by kernels before 5.3. */
static void hold_frequency(struct holds *holds, const struct policy *policy, const char *frequency)
{
	char key[HOLD_KEY_MAX], value[24], path[128];
	long most = 0;

	snprintf(key, sizeof(key), "frequency.policy%d", policy->number);

	long wanted = choose(holds, policy, key, frequency);

	if (!wanted)
		return;
	policy_read(holds, policy, "scaling_max_freq", &most);
	snprintf(value, sizeof(value), "%ld", wanted);
	hold_limit(holds, policy, wanted > most ? "max" : "min", value);
	hold_limit(holds, policy, wanted > most ? "min" : "max", value);
	policy_path(policy, "scaling_cur_freq", path);
	hold_add(holds, key, path, value, hold_read_file, is_near);
}

static void hold_governor(struct holds *holds, const struct policy *policy, const char *governor)
{
	char key[HOLD_KEY_MAX], path[128];

	snprintf(key, sizeof(key), "governor.policy%d", policy->number);
	policy_path(policy, "scaling_governor", path);
	hold_file(holds, key, path, governor);
}

static void hold_policy(struct holds *holds, const char *path, const cpu_set_t *cpus, const char *governor, const char *frequency)
{
	struct policy policy = { .number = atoi(path + strlen(holds->root) + strlen(POLICIES)) };

	if (!look_at_cores(holds, &policy, cpus))
		return;
	if (governor)
		hold_governor(holds, &policy, governor);
	if (frequency)
		hold_frequency(holds, &policy, frequency);
}

void cpufreq_hold(struct holds *holds, const cpu_set_t *cpus, const char *governor, const char *frequency)
{
	char pattern[PATH_MAX];
	glob_t found;

	if (!governor && !frequency)
		return;
	snprintf(pattern, sizeof(pattern), "%s" POLICIES "[0-9]*", holds->root);
	if (glob(pattern, 0, NULL, &found)) {
		hold_fail(holds, governor ? "governor" : "frequency", "this kernel has no cpufreq policy");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		hold_policy(holds, found.gl_pathv[i], cpus, governor, frequency);
	globfree(&found);
}
