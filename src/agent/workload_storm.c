/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swapstorm: processes that together need more memory than their group may have write to all of it, page after page, several
 * times over (phase storm, from their start to the end of the last one, divided by the pages they wrote to). Each page carries who
 * wrote it and when, so that one that comes back wrong is seen.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checks.h"
#include "agent/group.h"
#include "agent/meter.h"
#include "agent/region.h"
#include "agent/swaparea.h"
#include "agent/vmstat.h"
#include "agent/workload_run.h"

#define MAX_PROCESSES 128
#define DEADLINE_S 600 /* of a process, which its alarm ends */

enum option_place { SIZE, PROCESSES, LIMIT, PASSES, SWAP, N_OPTIONS };
enum child_status { CHILD_GOOD, CHILD_NO_MEMORY, CHILD_WRONG_PAGE };

struct storm {
	struct swaparea area;
	size_t size; /* of each process */
	unsigned processes;
	uint64_t passes, limit;
};

static int prepare(struct workload_run *run)
{
	struct storm *storm = calloc(1, sizeof(*storm));
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!storm)
		return workload_fail(run, "out of memory");
	run->state = storm;
	storm->size = (size_t)((workload_count(run, "size") + page_size - 1) / page_size * page_size);
	storm->processes = (unsigned)workload_count(run, "processes");
	storm->passes = workload_count(run, "passes");
	storm->limit = workload_count(run, "limit");
	return swaparea_open(&storm->area, run, workload_value(run, "swap"), (uint64_t)storm->size * storm->processes);
}

static void finish(struct workload_run *run)
{
	struct storm *storm = run->state;

	if (storm)
		swaparea_close(&storm->area, run);
	free(storm);
	run->state = NULL;
}

static uint64_t mark(unsigned process, uint64_t pass, size_t page)
{
	return ((uint64_t)process + 1) << 48 | pass << 32 | page;
}

/* False when a page holds something else than the pass before wrote. */
static bool write_pass(const struct region *region, unsigned process, uint64_t pass)
{
	for (size_t page = 0; page < region->pages; page++) {
		volatile uint64_t *word = (volatile uint64_t *)(region->start + page * region->page_size);

		if (*word != (pass ? mark(process, pass - 1, page) : 0))
			return false;
		*word = mark(process, pass, page);
	}
	return true;
}

static void child_main(struct workload_run *run, const struct storm *storm, unsigned process)
{
	struct region region;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(DEADLINE_S);
	if (region_map(run, storm->size, false, &region))
		_exit(CHILD_NO_MEMORY);
	for (uint64_t pass = 0; pass < storm->passes; pass++) {
		if (!write_pass(&region, process, pass))
			_exit(CHILD_WRONG_PAGE);
	}
	_exit(CHILD_GOOD);
}

static int tell_status(struct workload_run *run, int status)
{
	if (WIFSIGNALED(status))
		return workload_fail(run, "a process was killed by signal %d (out of memory within the limit?)",
				     WTERMSIG(status));
	if (WEXITSTATUS(status) == CHILD_WRONG_PAGE)
		return workload_fail(run, "a page came back from swap with another's content");
	return workload_fail(run, "a process could not map its memory");
}

/* One that did not end well ends the others. */
static int wait_for_children(struct workload_run *run, const pid_t *pids, unsigned n, int result)
{
	for (unsigned i = 0; i < n; i++) {
		int status = 0;

		if (result)
			kill(pids[i], SIGKILL);
		while (waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
			;
		if (status && !result)
			result = tell_status(run, status);
	}
	return result;
}

static int start_and_wait(struct workload_run *run, const struct storm *storm)
{
	pid_t pids[MAX_PROCESSES];
	unsigned n = 0;
	int result = 0;

	for (; n < storm->processes && !result; n++) {
		pids[n] = fork();
		if (!pids[n])
			child_main(run, storm, n);
		if (pids[n] < 0) {
			result = workload_fail(run, "starting process %u of %u: %s", n + 1, storm->processes, strerror(errno));
			break;
		}
	}
	return wait_for_children(run, pids, n, result);
}

/* What does not fit at once was out at least once, and of all but the last pass came back. */
static int check_swapped(struct workload_run *run, const struct storm *storm, const struct swap_counts *before,
			 const struct swap_counts *after)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t all = (uint64_t)storm->size * storm->processes, out = after->out - before->out;
	const uint64_t least = (all - storm->limit) / page_size;

	if (out < least)
		return workload_fail(run, "%llu pages were swapped out, fewer than the %llu that exceed the limit",
				     (unsigned long long)out, (unsigned long long)least);
	workload_set(run, "storm", "out_pages", (double)out);
	workload_set(run, "storm", "in_pages", (double)(after->in - before->in));
	return 0;
}

static int check_usage(struct workload_run *run, const struct storm *storm)
{
	uint64_t usage;

	return group_usage(run, &usage) ? -1 : checks_limit(run, usage, storm->limit);
}

static int storm_once(struct workload_run *run, const struct storm *storm, struct meter *meter)
{
	const double pages = (double)(storm->size / (size_t)sysconf(_SC_PAGESIZE)) * storm->processes * (double)storm->passes;
	struct swap_counts before, after;

	vmstat_swap(run->root, &before);
	meter_start(meter);
	int result = start_and_wait(run, storm);
	meter_stop(meter);
	vmstat_swap(run->root, &after);
	if (result || check_usage(run, storm) || check_swapped(run, storm, &before, &after))
		return -1;
	run->checks.pages += (uint64_t)pages;
	return meter_report(meter, run, "storm", pages);
}

static int iterate(struct workload_run *run)
{
	const struct storm *storm = run->state;
	struct meter meter;

	if (group_can_limit(run) || group_set_limit(run, GROUP_HARD, storm->limit) || meter_open(&meter, run, true))
		return -1;

	int result = storm_once(run, storm, &meter);

	meter_close(&meter);
	return result;
}

/* The values are good numbers: the table says so. */
static const char *conflict(const char *const *values)
{
	const uint64_t size = strtoull(values[SIZE], NULL, 10), processes = strtoull(values[PROCESSES], NULL, 10);

	if (!strcmp(values[N_OPTIONS + COMMON_CGROUP], "root"))
		return "a memory limit needs a child group, not cgroup: root";
	if (size * processes <= strtoull(values[LIMIT], NULL, 10))
		return "all processes together fit into the limit: nothing would be swapped";
	return NULL;
}

static const char *const swap_words[] = { "zram", "brd", NULL };

static const struct workload_option options[N_OPTIONS] = {
	[SIZE] = { "size", OPTION_SIZE, (uint64_t)1 << 20, (uint64_t)1 << 40, "16777216", NULL, "bytes of each process" },
	[PROCESSES] = { "processes", OPTION_COUNT, 1, MAX_PROCESSES, "4", NULL, "how many" },
	[LIMIT] = { "limit", OPTION_SIZE, (uint64_t)4 << 20, (uint64_t)1 << 40, "33554432", NULL, "bytes of the group" },
	[PASSES] = { "passes", OPTION_COUNT, 1, 65535, "2", NULL, "how often each process writes to all its pages" },
	[SWAP] = { "swap", OPTION_DISK, 0, 0, "zram", swap_words, "where it goes" },
};

static const struct workload_metric metrics[] = {
	WORKLOAD_PHASE("storm", "page"),
	WORKLOAD_TIMES,
	{ "storm", "out_pages", NULL, false, NULL },
	{ "storm", "in_pages", NULL, false, NULL },
};

static const char *const voids[] = { "throttled", "freq_changes", "thp", NULL };

const struct workload_kind workload_swapstorm = {
	.name = "swapstorm",
	.summary = "processes that swap because their group is short of memory",
	.options = options,
	.n_options = N_OPTIONS,
	.metrics = metrics,
	.n_metrics = sizeof(metrics) / sizeof(metrics[0]),
	.voids = voids,
	.conflict = conflict,
	.needs_machine = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate,
};
