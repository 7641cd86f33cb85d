/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/placement.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/group.h"

#define PIPES 256
#define BATCH_BYTES ((uint64_t)32 * 4096)

const char *placement_hierarchy(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_workloads; i++) {
		const char *asked = conf_option(&conf->workloads[i], "hierarchy", "auto");

		if (strcmp(asked, "auto") != 0)
			return asked;
	}
	return conf_get(conf, "memcg_version", "v2");
}

enum fact placement_kmem_of(uint64_t before, uint64_t after)
{
	if (after >= before + 2 * BATCH_BYTES)
		return FACT_YES;
	return after <= before + BATCH_BYTES ? FACT_NO : FACT_UNKNOWN;
}

static unsigned open_pipes(int pipes[PIPES][2])
{
	unsigned n = 0;

	while (n < PIPES && !pipe2(pipes[n], O_CLOEXEC))
		n++;
	return n;
}

/* With this process in a group. */
static enum fact try_pipes(struct workload_run *run)
{
	int pipes[PIPES][2];
	uint64_t before, after = 0;

	if (group_usage(run, &before))
		return FACT_UNKNOWN;

	unsigned n = open_pipes(pipes);
	enum fact found = n == PIPES && !group_usage(run, &after) ? placement_kmem_of(before, after) : FACT_UNKNOWN;

	while (n-- > 0) {
		close(pipes[n][0]);
		close(pipes[n][1]);
	}
	return found;
}

static enum fact try_kmem(const struct memcg *memcg, char *reason, size_t reason_size)
{
	struct workload_run run = { .memcg = memcg };
	enum fact found = FACT_UNKNOWN;

	if (memcg_enter(memcg, "child", &run.place, reason, reason_size))
		found = try_pipes(&run);
	memcg_leave(memcg);
	return found;
}

static bool check_kmem(const struct memcg *memcg, const struct workload_run *run, struct records *records, char *reason,
		       size_t reason_size)
{
	static const char *const words[] = { [FACT_UNKNOWN] = "unknown", [FACT_NO] = "off", [FACT_YES] = "on" };
	const char *asked = workload_value(run, "kmem");
	char key[64];

	if (!strcmp(asked, "auto") || memcg->told)
		return true;

	const enum fact found = try_kmem(memcg, reason, reason_size);

	snprintf(key, sizeof(key), "kmem.%.48s", run->settings->label);
	records_identity(records, key, words[found]);
	if (!strcmp(words[found], asked))
		return true;
	snprintf(reason, reason_size,
		 "kmem=%s, but accounting of kernel memory is %s here (cgroup.memory=nokmem switches it off)", asked,
		 words[found]);
	return false;
}

bool placement_check(const struct memcg *memcg, const struct workload_run *run, struct records *records, char *reason,
		     size_t reason_size)
{
	const char *asked = workload_value(run, "hierarchy");

	if (strcmp(memcg->state, "on") != 0)
		return true;
	if (strcmp(asked, "auto") != 0 && strcmp(asked, memcg->version) != 0) {
		snprintf(reason, reason_size, "hierarchy=%s, but the memory controller is on %s", asked, memcg->version);
		return false;
	}
	return check_kmem(memcg, run, records, reason, reason_size);
}
