/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swapout and swapin: a region of anonymous memory goes to a swap area of the workload's own and comes back, page after page.
 * swapout measures the way out (phase out): one madvise(MADV_PAGEOUT), or the write of a limit a quarter as large as the region,
 * both of which reclaim in the calling thread. swapin measures the way back (phase in): one word of every page is read. Neither
 * filling the region nor making the area is measured. Both are divided by the pages that the kernel says were swapped, which must
 * be those that mincore() says are gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/checks.h"
#include "agent/folio.h"
#include "agent/group.h"
#include "agent/meter.h"
#include "agent/region.h"
#include "agent/swaparea.h"
#include "agent/swapcache.h"
#include "agent/vmstat.h"
#include "agent/workload_run.h"

#define PASSES 3 /* pages that wait in another CPU's queue for the LRU are skipped by the first */
#define OTHERS_PAGES 128 /* of the agent's own that may go too when it is not the region alone that is reclaimed */

enum option_place { SIZE, FOLIO, FILL, SWAP, BY, N_OPTIONS };

struct swapping {
	struct swaparea area;
	size_t size;
	enum region_fill fill;
	bool large, allowed, limit;
};

static int prepare(struct workload_run *run)
{
	struct swapping *swapping = calloc(1, sizeof(*swapping));

	if (!swapping)
		return workload_fail(run, "out of memory");
	run->state = swapping;
	swapping->fill = strcmp(workload_value(run, "fill"), "zero") ? REGION_RANDOM : REGION_ZERO;
	swapping->large = !strcmp(workload_value(run, "folio"), "64K");
	swapping->limit = !strcmp(workload_value(run, "by"), "limit");
	uint64_t bytes = workload_count(run, "size");

	if (swapping->large)
		bytes = (bytes + FOLIO_LARGE_BYTES - 1) / FOLIO_LARGE_BYTES * FOLIO_LARGE_BYTES;
	if (region_size(run, bytes, &swapping->size) ||
	    swaparea_open(&swapping->area, run, workload_value(run, "swap"), swapping->size))
		return -1;
	if (swapping->large && folio_allow(run))
		return -1;
	swapping->allowed = swapping->large;
	return 0;
}

static void finish(struct workload_run *run)
{
	struct swapping *swapping = run->state;

	if (!swapping)
		return;
	if (swapping->allowed)
		folio_forbid(run);
	swaparea_close(&swapping->area, run);
	free(swapping);
	run->state = NULL;
}

static uint64_t minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt;
}

/* Every page was faulted in by itself, or every folio. */
static int check_faults(struct workload_run *run, const struct swapping *swapping, uint64_t faults, uint64_t folios)
{
	const uint64_t bytes = swapping->large ? FOLIO_LARGE_BYTES : 4096, wanted = swapping->size / bytes;

	if (swapping->large && folios != wanted)
		return workload_fail(run, "%llu folios of 64 KiB for %llu", (unsigned long long)folios,
				     (unsigned long long)wanted);
	return checks_faults(run, faults, wanted, bytes);
}

static int populate(struct workload_run *run, const struct swapping *swapping, struct region *region)
{
	const uint64_t faults = minor_faults(), folios = folio_count(run, "anon_fault_alloc");

	if (region_map(run, swapping->size, swapping->large, region))
		return -1;
	region_fill(region, swapping->fill);
	run->checks.pages += region->pages;
	return check_faults(run, swapping, minor_faults() - faults, folio_count(run, "anon_fault_alloc") - folios);
}

/* Until nothing of it is left, since what is under way somewhere is passed over. */
static int page_out(struct workload_run *run, const struct region *region, struct meter *meter)
{
	for (unsigned i = 0; i < PASSES; i++) {
		meter_start(meter);
		int failed = madvise(region->start, region->size, MADV_PAGEOUT);
		meter_stop(meter);
		if (failed)
			return workload_fail(run, "madvise(MADV_PAGEOUT): %s", strerror(errno));
		if (region_swapped(region) == (long)region->pages)
			break;
	}
	return 0;
}

/* A limit that leaves room for a quarter of the region, taken away again afterwards. */
static int squeeze(struct workload_run *run, const struct region *region, struct meter *meter)
{
	uint64_t usage = 0, left = 0;

	if (group_can_limit(run) || group_usage(run, &usage))
		return -1;

	const uint64_t others = usage > region->size ? usage - region->size : 0, limit = others + region->size / 4;

	meter_start(meter);
	int result = group_set_limit(run, GROUP_SOFT, limit);
	meter_stop(meter);
	if (!result && group_usage(run, &left))
		result = -1;
	/* What is reclaimed last is charged in advance again. */
	if (!result)
		result = checks_limit(run, left, limit + region->size / 8);
	if (group_set_limit(run, GROUP_SOFT, GROUP_NO_LIMIT))
		result = -1;
	return result;
}

/* Split or written piece by piece, a folio is no longer what was asked for. */
static uint64_t broken_folios(const struct workload_run *run)
{
	static const char *const names[] = { "split", "swpout_fallback", "anon_swpout_fallback" };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		sum += folio_count(run, names[i]);
	return sum;
}

/* Of pages that are none of the region's so many may be swapped with it. */
static uint64_t others(const struct swapping *swapping)
{
	return swapping->limit || swapping->area.disk.kind == DISK_BLOCK ? OTHERS_PAGES : 0;
}

/*
 * How many of the region's pages are on the disk and nowhere else: all that the page tables say were swapped, as many as the kernel
 * says it wrote.
 */
static int count_gone(struct workload_run *run, const struct swapping *swapping, const struct region *region, uint64_t written,
		      uint64_t *gone_out)
{
	const long swapped = region_swapped(region);

	if (swapped < 0)
		return workload_fail(run, "/proc/self/pagemap: %s", strerror(errno));
	if (!swapped || (!swapping->limit && (size_t)swapped != region->pages))
		return workload_fail(run, "%ld of %zu pages went to swap", swapped, region->pages);
	if (checks_swapped(run, "out", written, (uint64_t)swapped, swapping->limit ? OTHERS_PAGES : 0))
		return -1;

	const bool block = swapping->area.disk.kind == DISK_BLOCK;

	if (block && swapcache_drop(run, region, OTHERS_PAGES))
		return -1;

	const long resident = region_resident(region);

	if (resident < 0)
		return workload_fail(run, "mincore: %s", strerror(errno));
	*gone_out = region->pages - (uint64_t)resident;
	if (block)
		return 0;
	return *gone_out == (uint64_t)swapped ? 0
					      : workload_fail(run, "%llu of %ld swapped pages are gone from memory",
							      (unsigned long long)*gone_out, swapped);
}

/* Out with the region, counted by the meter; `swapped_out` pages meanwhile, `gone_out` of which are the region's. */
static int push_out(struct workload_run *run, const struct swapping *swapping, const struct region *region, struct meter *meter,
		    uint64_t *swapped_out, uint64_t *gone_out)
{
	const uint64_t broken = broken_folios(run);
	struct swap_counts before, after;

	vmstat_swap(run->root, &before);
	if (swapping->limit ? squeeze(run, region, meter) : page_out(run, region, meter))
		return -1;
	vmstat_swap(run->root, &after);
	*swapped_out = after.out - before.out;
	if (count_gone(run, swapping, region, *swapped_out, gone_out))
		return -1;
	if (swapping->large && broken_folios(run) != broken)
		return workload_fail(run, "%llu folios of 64 KiB were split", (unsigned long long)(broken_folios(run) - broken));
	return 0;
}

static int out(struct workload_run *run, const struct region *region, struct meter *meter)
{
	uint64_t swapped = 0, gone;

	if (push_out(run, run->state, region, meter, &swapped, &gone))
		return -1;
	workload_set(run, "out", "swapped_pages", (double)swapped);
	return meter_report(meter, run, "out", (double)swapped);
}

static int in(struct workload_run *run, const struct region *region, struct meter *meter)
{
	const struct swapping *swapping = run->state;
	struct swap_counts before, after;
	uint64_t swapped, gone;

	if (push_out(run, swapping, region, meter, &swapped, &gone))
		return -1;
	meter_forget(meter);
	vmstat_swap(run->root, &before);
	meter_start(meter);
	bool same = region_read(region, swapping->fill);
	meter_stop(meter);
	vmstat_swap(run->root, &after);
	swapped = after.in - before.in;
	if (!same)
		return workload_fail(run, "what came back from swap is not what was written");
	if (checks_swapped(run, "in", swapped, gone, others(swapping)))
		return -1;
	workload_set(run, "in", "swapped_pages", (double)swapped);
	return meter_report(meter, run, "in", (double)swapped);
}

static int iterate_with(struct workload_run *run,
			int (*measure)(struct workload_run *run, const struct region *region, struct meter *meter))
{
	struct region region = { 0 };
	struct meter meter;

	if (meter_open(&meter, run, false))
		return -1;

	int result = populate(run, run->state, &region);

	if (!result)
		result = measure(run, &region, &meter);
	region_unmap(&region);
	meter_close(&meter);
	return result;
}

static int iterate_out(struct workload_run *run)
{
	return iterate_with(run, out);
}

static int iterate_in(struct workload_run *run)
{
	return iterate_with(run, in);
}

static const char *conflict(const char *const *values)
{
	const bool root = !strcmp(values[N_OPTIONS + COMMON_CGROUP], "root");

	if (!strcmp(values[BY], "limit") && root)
		return "a memory limit needs a child group, not cgroup: root";
	return NULL;
}

static const char *const folio_words[] = { "4K", "64K", NULL };
static const char *const fill_words[] = { "zero", "random", NULL };
static const char *const swap_words[] = { "zram", "brd", NULL };
static const char *const by_words[] = { "pageout", "limit", NULL };

static const struct workload_option options[N_OPTIONS] = {
	[SIZE] = { "size", OPTION_SIZE, (uint64_t)1 << 20, (uint64_t)1 << 40, "33554432", NULL, "bytes that are swapped" },
	[FOLIO] = { "folio", OPTION_WORD, 0, 0, "4K", folio_words, "what the memory consists of" },
	[FILL] = { "fill", OPTION_WORD, 0, 0, "random", fill_words, "what is in it: zeroes, or bytes that do not compress" },
	[SWAP] = { "swap", OPTION_DISK, 0, 0, "zram", swap_words, "where it goes" },
	[BY] = { "by", OPTION_WORD, 0, 0, "pageout", by_words, "what pushes it out: madvise(MADV_PAGEOUT), or a memory limit" },
};

static const struct workload_metric out_metrics[] = {
	WORKLOAD_PHASE("out", "page"),
	WORKLOAD_TIMES,
	{ "out", "swapped_pages", NULL, false, NULL },
};

static const struct workload_metric in_metrics[] = {
	WORKLOAD_PHASE("in", "page"),
	WORKLOAD_TIMES,
	{ "in", "swapped_pages", NULL, false, NULL },
};

static const char *const voids[] = { "throttled", "freq_changes", "thp", NULL };

const struct workload_kind workload_swapout = {
	.name = "swapout",
	.summary = "anonymous memory on its way to swap",
	.options = options,
	.n_options = N_OPTIONS,
	.metrics = out_metrics,
	.n_metrics = sizeof(out_metrics) / sizeof(out_metrics[0]),
	.voids = voids,
	.conflict = conflict,
	.needs_machine = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate_out,
};

const struct workload_kind workload_swapin = {
	.name = "swapin",
	.summary = "anonymous memory on its way back from swap",
	.options = options,
	.n_options = N_OPTIONS,
	.metrics = in_metrics,
	.n_metrics = sizeof(in_metrics) / sizeof(in_metrics[0]),
	.voids = voids,
	.conflict = conflict,
	.needs_machine = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate_in,
};
