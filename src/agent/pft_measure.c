/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/marker.h"
#include "agent/pft.h"

#define NS_PER_S 1000000000ULL

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t timeval_us(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* Four instructions a page on arm64. A share is never empty. A sanitizer's shadow memory would add page faults of its own. */
__attribute__((no_sanitize("address"))) static void touch_pages(const struct pft_worker *worker)
{
	const size_t page_size = worker->pft->page_size;
	const char *end = worker->end;
	char *page = worker->start;

	do {
		*(volatile char *)page = 'r';
		page += page_size;
	} while (page != end);
}

__attribute__((no_sanitize("address"))) static void touch_lines(const struct pft_worker *worker)
{
	const size_t page_size = worker->pft->page_size;
	const size_t step = worker->pft->line_size;
	const size_t touched = step * worker->pft->cachelines;

	for (char *page = worker->start; page < worker->end; page += page_size) {
		for (size_t at = 0; at < touched; at += step)
			*(volatile char *)(page + at) = 'r';
	}
}

static void unmap(const struct pft_worker *worker)
{
	munmap(worker->pft->region, worker->pft->size);
}

/* CPU time by its own clock: getrusage is a tick old. Wall time around it, so that the share is at most 1. */
static void start_share(struct pft_result *result)
{
	result->wall_ns = clock_ns(CLOCK_MONOTONIC);
	result->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void stop_share(struct pft_result *result)
{
	result->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - result->cpu_ns;
	result->wall_ns = clock_ns(CLOCK_MONOTONIC) - result->wall_ns;
}

/* Runs and measures one phase in the calling thread. */
static void measure(struct pft_worker *worker, enum pft_phase phase, const struct counter *counter,
		    void (*work)(const struct pft_worker *))
{
	const bool clock = worker->pft->clock;
	struct pft_result result = { 0 };
	struct counter_reading count = { 0 };
	struct rusage before, after;

	/* A process that was just forked has yet to fault these pages in. */
	counter_start(counter);
	clock_ns(CLOCK_MONOTONIC);
	counter_stop(counter);
	getrusage(RUSAGE_THREAD, &after);
	getrusage(RUSAGE_THREAD, &before);
	if (clock)
		start_share(&result);
	counter_start(counter);
	marker_start(phase);
	if (clock)
		result.start_ns = clock_ns(CLOCK_MONOTONIC);
	work(worker);
	if (clock)
		result.end_ns = clock_ns(CLOCK_MONOTONIC);
	marker_stop(phase);
	counter_stop(counter);
	if (clock)
		stop_share(&result);
	getrusage(RUSAGE_THREAD, &after);

	if (!counter_read(counter, &count, worker->reason, sizeof(worker->reason)))
		worker->failed = true;
	result.kernel = count.kernel;
	result.user = count.user;
	if (worker->events)
		memcpy(worker->events[phase], count.events, sizeof(count.events));
	result.cpu_user_us = timeval_us(after.ru_utime) - timeval_us(before.ru_utime);
	result.cpu_system_us = timeval_us(after.ru_stime) - timeval_us(before.ru_stime);
	result.minor_faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
	result.major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
	result.voluntary_switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
	result.involuntary_switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	worker->results[phase] = result;
}

struct counter_reading pft_counted(const struct pft_worker *worker, enum pft_phase phase)
{
	struct counter_reading count = { .kernel = worker->results[phase].kernel, .user = worker->results[phase].user };

	if (worker->events)
		memcpy(count.events, worker->events[phase], sizeof(count.events));
	return count;
}

void pft_measure_fault(struct pft_worker *worker, const struct counter *counter)
{
	measure(worker, PFT_FAULT, counter, worker->pft->cachelines > 1 ? touch_lines : touch_pages);
}

void pft_measure_teardown(struct pft_worker *worker, const struct counter *counter)
{
	measure(worker, PFT_TEARDOWN, counter, unmap);
}
