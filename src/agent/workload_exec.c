/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec: any command on the device, in its group, under a limit where one is asked for; counted and timed from its exec to its end with all
 * processes that it starts. It may get a fresh copy of a folder on a tmpfs for each run, so that every run finds the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/argwords.h"
#include "agent/checks.h"
#include "agent/group.h"
#include "agent/group_events.h"
#include "agent/meter.h"
#include "agent/program.h"
#include "agent/records.h"
#include "agent/swaparea.h"
#include "agent/treecopy.h"
#include "agent/workload_run.h"

#define NO_LIMIT_TEXT "1099511627776"
#define NO_LIMIT ((uint64_t)1 << 40)
#define COMMAND_MAX 900

enum option_place { COMMAND, TREE, SIZE, MEMORY, SWAP_MAX, SWAP, SWAP_SIZE, DEADLINE, N_OPTIONS };

struct exec {
	struct swaparea area;
	struct treecopy copy;
	char **argv;
	struct counter counter;
	struct rusage children; /* of those before it */
	uint64_t start_ns;
	char reason[WORKLOAD_REASON_MAX];
};

static int prepare(struct workload_run *run)
{
	struct exec *exec = calloc(1, sizeof(*exec));

	if (!exec)
		return workload_fail(run, "out of memory");
	run->state = exec;
	exec->argv = argwords_split(workload_value(run, "command"));
	if (!exec->argv)
		return workload_fail(run, "the command is none");
	if (!strcmp(workload_value(run, "swap"), "none"))
		return 0;
	return swaparea_open(&exec->area, run, workload_value(run, "swap"), workload_count(run, "swap_size"));
}

static void finish(struct workload_run *run)
{
	struct exec *exec = run->state;

	if (exec) {
		swaparea_close(&exec->area, run);
		free(exec->argv);
	}
	free(exec);
	run->state = NULL;
}

static int set_limits(struct workload_run *run)
{
	const uint64_t memory = workload_count(run, "memory"), swap = workload_count(run, "swap_max");

	if (memory == NO_LIMIT)
		return 0;
	if (group_can_limit(run) || group_set_limit(run, GROUP_HARD, memory))
		return -1;
	return swap == NO_LIMIT ? 0 : group_set_swap_limit(run, memory, swap);
}

/* What is left of the one before would be in the way of v1's order of the two limits. */
static int lift_limits(struct workload_run *run)
{
	return workload_count(run, "memory") == NO_LIMIT ? 0 : group_set_limit(run, GROUP_HARD, GROUP_NO_LIMIT);
}

static bool started(void *arg, pid_t pid)
{
	struct workload_run *run = arg;
	struct exec *exec = run->state;

	if (!counter_open_command(&exec->counter, &run->counter, pid, exec->reason, sizeof(exec->reason)))
		return false;
	getrusage(RUSAGE_CHILDREN, &exec->children);
	exec->start_ns = meter_clock_ns();
	return true;
}

static void still_alive(void *arg)
{
	const struct workload_run *run = arg;

	if (run->alive)
		run->alive(run->alive_arg);
}

static double between_ns(const struct timeval *before, const struct timeval *after)
{
	return (double)(after->tv_sec - before->tv_sec) * 1e9 + (double)(after->tv_usec - before->tv_usec) * 1e3;
}

static int report_counts(struct workload_run *run)
{
	const struct exec *exec = run->state;
	struct counter_reading count;
	struct rusage children;
	char reason[WORKLOAD_REASON_MAX];
	const double elapsed_ns = (double)(meter_clock_ns() - exec->start_ns);

	getrusage(RUSAGE_CHILDREN, &children);
	if (!counter_read(&exec->counter, &count, reason, sizeof(reason)))
		return workload_fail(run, "%s", reason);
	workload_set_counts(run, "all", &count, 1);
	workload_set(run, "all", "user_ns", between_ns(&exec->children.ru_utime, &children.ru_utime));
	workload_set(run, "all", "system_ns", between_ns(&exec->children.ru_stime, &children.ru_stime));
	workload_set(run, "all", "elapsed_ns", elapsed_ns);
	run->health[HEALTH_MAJOR_FAULTS] = (double)(children.ru_majflt - exec->children.ru_majflt);
	run->checks.minor_faults += (uint64_t)(children.ru_minflt - exec->children.ru_minflt);
	run->checks.major_faults += (uint64_t)(children.ru_majflt - exec->children.ru_majflt);
	return 0;
}

/* The command's own words on why: the last line. */
static const char *last_line(char *tail)
{
	size_t len = strlen(tail);

	while (len && tail[len - 1] == '\n')
		tail[--len] = '\0';

	const char *newline = strrchr(tail, '\n');

	return newline ? newline + 1 : tail;
}

static int fail_command(struct workload_run *run, const struct program *program, struct program_end *end)
{
	const struct exec *exec = run->state;
	char key[96], what[96];

	if (!end->started)
		return workload_fail(run, "%s", *exec->reason ? exec->reason : end->reason);
	snprintf(key, sizeof(key), "output.%s", run->settings->label);
	records_identity(run->records, key, end->tail);
	program_tell(program, end, what, sizeof(what));
	return workload_fail(run, "the command ended with %s: %.90s", what, last_line(end->tail));
}

static int check_events(struct workload_run *run, const struct group_events *before, const struct group_events *after)
{
	uint64_t usage;

	workload_set(run, "all", "limit_hits", after->hits - before->hits);
	workload_set(run, "all", "peak_kib", after->peak_kib);
	if (workload_count(run, "memory") == NO_LIMIT)
		return 0;
	return group_usage(run, &usage) ? -1 : checks_limit(run, usage, workload_count(run, "memory"));
}

static int run_command(struct workload_run *run, const char *dir)
{
	struct exec *exec = run->state;
	char tmp[96];
	const char *const env[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/",
				    tmp, NULL };
	const struct program program = {
		.argv = (const char *const *)exec->argv,
		.env = env,
		.dir = dir,
		.deadline_ms = (unsigned)workload_count(run, "deadline") * 1000,
		.started = started,
		.alive = still_alive,
		.arg = run,
	};
	struct group_events before, after;
	struct program_end end;

	snprintf(tmp, sizeof(tmp), "TMPDIR=%s", *workload_value(run, "tree") ? dir : "/tmp");
	exec->counter = (struct counter){ .n = 0 };
	*exec->reason = '\0';
	group_events_read(run, &before);
	program_run(&program, &end);
	group_events_read(run, &after);
	if (end.started && after.oom_kills > before.oom_kills)
		return workload_fail(run, "%.0f of its processes were killed: the group was out of memory",
				     after.oom_kills - before.oom_kills);
	if (!end.started || end.timed_out || end.status)
		return fail_command(run, &program, &end);
	return report_counts(run) ? -1 : check_events(run, &before, &after);
}

static int iterate(struct workload_run *run)
{
	struct exec *exec = run->state;
	const char *tree = workload_value(run, "tree");

	if (lift_limits(run) || (*tree && treecopy_open(&exec->copy, run, tree, workload_count(run, "size"))) ||
	    set_limits(run)) {
		treecopy_close(&exec->copy, run);
		return -1;
	}

	int result = run_command(run, *tree ? exec->copy.dir : "/");

	counter_close(&exec->counter);
	treecopy_close(&exec->copy, run);
	return result;
}

/* The values are good numbers: the table says so. */
static const char *conflict(const char *const *values)
{
	char **words = argwords_split(values[COMMAND]);
	const bool limited = strcmp(values[MEMORY], NO_LIMIT_TEXT) != 0;

	if (!words)
		return "'command' must be a program and its arguments, with quotes closed";
	free(words);
	if (*values[TREE] && *values[TREE] != '/')
		return "'tree' is a folder on the device, and begins with '/'";
	if (limited && !strcmp(values[N_OPTIONS + COMMON_CGROUP], "root"))
		return "a memory limit needs a child group, not cgroup: root";
	if (!limited && strcmp(values[SWAP_MAX], NO_LIMIT_TEXT) != 0)
		return "'swap_max' goes with a limit of 'memory'";
	return NULL;
}

static const char *const swap_words[] = { "none", "zram", "brd", NULL };

static const struct workload_option options[N_OPTIONS] = {
	[COMMAND] = { "command", OPTION_TEXT, 0, COMMAND_MAX, "", NULL, "program and arguments; no shell unless it names one" },
	[TREE] = { "tree", OPTION_TEXT, 0, 200, "", NULL,
		   "folder on the device of which each run gets a fresh copy on tmpfs, to be in" },
	[SIZE] = { "size", OPTION_SIZE, (uint64_t)1 << 16, NO_LIMIT, "268435456", NULL, "bytes of that tmpfs" },
	[MEMORY] = { "memory", OPTION_SIZE, (uint64_t)1 << 20, NO_LIMIT, NO_LIMIT_TEXT, NULL, "limit of its group; 1T: none" },
	[SWAP_MAX] = { "swap_max", OPTION_SIZE, 0, NO_LIMIT, NO_LIMIT_TEXT, NULL, "limit of its group's swap; 1T: none" },
	[SWAP] = { "swap", OPTION_DISK, 0, 0, "none", swap_words, "swap while it runs" },
	[SWAP_SIZE] = { "swap_size", OPTION_SIZE, (uint64_t)1 << 20, NO_LIMIT, "134217728", NULL, "bytes of it" },
	[DEADLINE] = { "deadline", OPTION_COUNT, 1, 86400, "600", NULL, "seconds that a run may take" },
};

static const struct workload_metric metrics[] = {
	{ "all", "insn_k", "run", false, NULL },
	{ "all", "insn_u", "run", false, NULL },
	{ "all", "insn", "run", false, "sum:all.insn_k,all.insn_u" },
	WORKLOAD_EVENTS("all", "run"),
	WORKLOAD_TIMES,
	{ "all", "peak_kib", NULL, false, NULL },
	{ "all", "limit_hits", NULL, false, NULL },
};

static const char *const voids[] = { "throttled", "freq_changes", NULL };

const struct workload_kind workload_exec = {
	.name = "exec",
	.summary = "a command, counted and timed with all that it starts",
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
