/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork-exit: processes are started that end at once, one after the other (phase fork: from fork to the end of wait). Of what the
 * child does the counter sees all until the middle of its exit, and to follow it costs instructions in fork and exit: counts
 * compare only between equal settings. mmap-churn: a piece of memory is mapped, touched and unmapped again and again (phase churn).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checks.h"
#include "agent/meter.h"
#include "agent/region.h"
#include "agent/workload_run.h"

static int fork_once(struct workload_run *run, const struct region *region, size_t touched)
{
	int status;
	pid_t child = fork();

	if (!child) {
		for (size_t page = 0; page < touched; page++)
			*(volatile char *)(region->start + page * region->page_size) = 'c';
		_exit(0);
	}
	if (child < 0)
		return workload_fail(run, "fork: %s", strerror(errno));
	if (waitpid(child, &status, 0) != child || status)
		return workload_fail(run, "a child did not end well");
	return 0;
}

/* What a child writes to is copied for it. */
static int check_copies(struct workload_run *run, const struct meter *meter, uint64_t copies)
{
	if (meter->minor_faults >= copies)
		return 0;
	return workload_fail(run, "%llu faults for %llu pages that children wrote to", (unsigned long long)meter->minor_faults,
			     (unsigned long long)copies);
}

static int fork_all(struct workload_run *run, const struct region *region, struct meter *meter)
{
	const uint64_t count = workload_count(run, "count"), touched = workload_count(run, "touch") / region->page_size;
	int result = 0;

	if (touched > region->pages)
		return workload_fail(run, "touch is more than size");
	region_fill(region, REGION_ZERO);
	meter_start(meter);
	for (uint64_t i = 0; i < count && !result; i++)
		result = fork_once(run, region, (size_t)touched);
	meter_stop(meter);
	if (result || check_copies(run, meter, count * touched))
		return -1;
	run->checks.pages += count * touched;
	return meter_report(meter, run, "fork", (double)count);
}

static int iterate_fork(struct workload_run *run)
{
	struct region region = { 0 };
	struct meter meter;
	size_t size;

	if (region_size(run, workload_count(run, "size"), &size) || meter_open(&meter, run, true))
		return -1;

	int result = region_map(run, size, false, &region);

	if (!result)
		result = fork_all(run, &region, &meter);
	region_unmap(&region);
	meter_close(&meter);
	return result;
}

/* A sanitizer's shadow memory would add page faults of its own. */
__attribute__((no_sanitize("address"))) static int churn_once(struct workload_run *run, size_t size, size_t touched,
							      size_t page_size)
{
	char *piece = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (piece == MAP_FAILED)
		return workload_fail(run, "mmap: %s", strerror(errno));
	for (size_t at = 0; at < touched; at += page_size)
		*(volatile char *)(piece + at) = 'm';
	if (munmap(piece, size))
		return workload_fail(run, "munmap: %s", strerror(errno));
	return 0;
}

static int churn_all(struct workload_run *run, struct meter *meter, size_t size, size_t touched)
{
	const uint64_t count = workload_count(run, "count"), page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t wanted = count * (touched / page_size);
	int result = 0;

	meter_start(meter);
	for (uint64_t i = 0; i < count && !result; i++)
		result = churn_once(run, size, touched, (size_t)page_size);
	meter_stop(meter);
	if (result || checks_faults(run, meter->minor_faults, wanted, page_size))
		return -1;
	run->checks.pages += wanted;
	return meter_report(meter, run, "churn", (double)count);
}

static int iterate_churn(struct workload_run *run)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct meter meter;
	size_t size;

	if (region_size(run, workload_count(run, "size"), &size) || meter_open(&meter, run, false))
		return -1;

	const size_t touched = (size_t)workload_count(run, "touch") / page_size * page_size;
	int result = touched > size ? workload_fail(run, "touch is more than size") : churn_all(run, &meter, size, touched);

	meter_close(&meter);
	return result;
}

enum option_place { COUNT, SIZE, TOUCH, N_OPTIONS };

static const struct workload_option fork_options[N_OPTIONS] = {
	[COUNT] = { "count", OPTION_COUNT, 1, 1000000, "200", NULL, "processes an iteration" },
	[SIZE] = { "size", OPTION_SIZE, 4096, (uint64_t)1 << 40, "1048576", NULL,
		   "bytes of memory whose page tables are copied" },
	[TOUCH] = { "touch", OPTION_SIZE, 0, (uint64_t)1 << 40, "0", NULL, "bytes of them that each child writes to" },
};

static const struct workload_option churn_options[N_OPTIONS] = {
	[COUNT] = { "count", OPTION_COUNT, 1, 10000000, "2000", NULL, "mappings an iteration" },
	[SIZE] = { "size", OPTION_SIZE, 4096, (uint64_t)1 << 20, "65536", NULL, "bytes of a mapping, less than a huge page" },
	[TOUCH] = { "touch", OPTION_SIZE, 0, (uint64_t)1 << 20, "4096", NULL, "bytes of it that are written to" },
};

static const struct workload_metric fork_metrics[] = { WORKLOAD_PHASE("fork", "process"), WORKLOAD_TIMES };
static const struct workload_metric churn_metrics[] = { WORKLOAD_PHASE("churn", "mapping"), WORKLOAD_TIMES };
static const char *const voids[] = { "throttled", "freq_changes", "major_faults", "swapped", "thp", NULL };

const struct workload_kind workload_fork_exit = {
	.name = "fork-exit",
	.summary = "processes that are started and end",
	.options = fork_options,
	.n_options = N_OPTIONS,
	.metrics = fork_metrics,
	.n_metrics = sizeof(fork_metrics) / sizeof(fork_metrics[0]),
	.voids = voids,
	.needs_machine = true,
	.iterate = iterate_fork,
};

const struct workload_kind workload_mmap_churn = {
	.name = "mmap-churn",
	.summary = "memory mapped, touched and unmapped",
	.options = churn_options,
	.n_options = N_OPTIONS,
	.metrics = churn_metrics,
	.n_metrics = sizeof(churn_metrics) / sizeof(churn_metrics[0]),
	.voids = voids,
	.needs_machine = true,
	.iterate = iterate_churn,
};
