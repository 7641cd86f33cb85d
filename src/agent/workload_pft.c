/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pft, the page fault test, after the two programs of that name (Lameter's of 2006; 0.12x, Schermerhorn's and
 * Gorman's): an anonymous region is mapped, each worker touches every page of its share (phase fault), and the region
 * is unmapped (phase teardown). Neither mmap nor the start of threads or processes is measured. Threads share the
 * region, and the first thread unmaps it when the others have gone; processes each have an address space of their
 * own, with their share touched, and each unmaps it. ns is the wall time from the first worker's start to the last
 * one's end; instructions are summed over the workers; both are divided by all pages.
 *
 * compat prints one line an iteration in a historic form (IDENTITY compat.LABEL). 0.12x: CPU and wall time of the
 * touch loop alone, as that program had it. 2006: fault and teardown together, since that program timed until its
 * child was reaped; every page is touched, so on 4 KiB pages its rates, which counted four pages a fault, were four
 * times as high.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/marker.h"
#include "agent/pft.h"
#include "agent/sysfile.h"

#define HUGE_SIZE ((size_t)2 << 20) /* of one entry of a page middle directory with 4 KiB pages */
#define DEFAULT_LINE 128 /* bytes of a cache line, where the C library does not know */
#define FAULT_SLACK 4
#define MODEL_SIZE_MAX ((uint64_t)4 << 20)
#define NS_PER_US 1000

static const char *const phase_names[PFT_N_PHASES] = { "fault", "teardown" };

/*
 * Maps the region: its start at a multiple of 2 MiB, so that it always has its page tables for itself and never one
 * more, moved up by run->region_offset. What was mapped to find that place is unmapped again.
 */
static int map_region(struct workload_run *run, struct pft *pft)
{
	size_t room = pft->size + (size_t)run->region_offset + HUGE_SIZE;
	char *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return workload_fail(run, "mmap of %zu bytes: %s", room, strerror(errno));

	size_t head = (HUGE_SIZE - (uintptr_t)base % HUGE_SIZE) % HUGE_SIZE + (size_t)run->region_offset;

	pft->region = base + head;
	if (head)
		munmap(base, head);
	munmap(pft->region + pft->size, room - head - pft->size);
	/* EINVAL: a kernel without huge pages */
	if (madvise(pft->region, pft->size, MADV_NOHUGEPAGE) && errno != EINVAL)
		return workload_fail(run, "madvise: %s", strerror(errno));
	return 0;
}

/* Says why the region does not fit into the free memory, rather than being killed for it; 0 also when that cannot be known. */
static int check_memory(struct workload_run *run, const struct pft *pft)
{
	char *meminfo = sysfile_read("", "/proc/meminfo", NULL);
	const char *line = meminfo ? strstr(meminfo, "MemAvailable:") : NULL;
	unsigned long long available_kib = line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) : 0;

	free(meminfo);
	if (line && pft->size / 1024 > available_kib / 10 * 9)
		return workload_fail(run, "size %zu does not fit into %llu KiB of available memory", pft->size, available_kib);
	return 0;
}

static int read_options(struct workload_run *run, struct pft *pft)
{
	uint64_t size = workload_count(run, "size");
	uint64_t processes = workload_count(run, "processes");
	long line_size = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

	pft->counter = &run->counter;
	pft->clock = run->clock || strcmp(workload_value(run, "compat"), "none");
	pft->processes = processes > 0;
	pft->n = (unsigned)(processes ? processes : workload_count(run, "threads"));
	pft->page_size = (size_t)sysconf(_SC_PAGESIZE);
	pft->line_size = line_size > 0 ? (size_t)line_size : DEFAULT_LINE;
	pft->cachelines = (size_t)workload_count(run, "cachelines");
	if (pft->cachelines * pft->line_size > pft->page_size)
		return workload_fail(run, "%zu cache lines of %zu bytes are more than a page", pft->cachelines, pft->line_size);

	/* What is not measured need not be large. */
	if (run->counter.kind == COUNTER_MODEL && size > MODEL_SIZE_MAX)
		size = MODEL_SIZE_MAX;

	uint64_t unit = (uint64_t)pft->page_size * pft->n;

	size = (size + unit - 1) / unit * unit;
	if (size > SIZE_MAX / 4)
		return workload_fail(run, "size %llu is more than an address space holds", (unsigned long long)size);
	pft->size = (size_t)size;
	pft->pages = pft->size / pft->page_size;
	return check_memory(run, pft);
}

/* A worker's minor faults are its pages, within a thousandth and what its own stack, code and data may add. */
static int check_worker(struct workload_run *run, const struct pft *pft, const struct pft_worker *worker)
{
	const struct pft_result *fault = &worker->results[PFT_FAULT];
	const struct pft_result *teardown = &worker->results[PFT_TEARDOWN];
	uint64_t pages = pft->pages / pft->n;
	uint64_t off = fault->minor_faults > pages ? fault->minor_faults - pages : pages - fault->minor_faults;

	if (worker->failed)
		return workload_fail(run, "%s", worker->reason);
	run->checks.pages += pages;
	run->checks.minor_faults += fault->minor_faults;
	run->checks.major_faults += fault->major_faults + teardown->major_faults;
	run->checks.voluntary_switches += fault->voluntary_switches + teardown->voluntary_switches;
	run->checks.involuntary_switches += fault->involuntary_switches + teardown->involuntary_switches;
	if (off > pages / 1000 + FAULT_SLACK)
		return workload_fail(run, "%llu minor faults for %llu pages", (unsigned long long)fault->minor_faults,
				     (unsigned long long)pages);
	return 0;
}

/* How many workers measure a phase: threads have one region to unmap. */
static unsigned measuring(const struct pft *pft, enum pft_phase phase)
{
	return phase == PFT_TEARDOWN && !pft->processes ? 1 : pft->n;
}

static struct counter_reading sum_counts(const struct pft *pft, enum pft_phase phase)
{
	struct counter_reading sum = { 0 };

	for (unsigned i = 0; i < measuring(pft, phase); i++) {
		const struct counter_reading count = pft_counted(&pft->team->workers[i], phase);

		counter_add(&sum, &count);
	}
	return sum;
}

/* A phase of all workers together: CPU times added, from the first start to the last end. */
static struct pft_result sum_phase(const struct pft *pft, enum pft_phase phase)
{
	const unsigned n = measuring(pft, phase);
	struct pft_result sum = pft->team->workers[0].results[phase];

	for (unsigned i = 1; i < n; i++) {
		const struct pft_result *result = &pft->team->workers[i].results[phase];

		sum.cpu_user_us += result->cpu_user_us;
		sum.cpu_system_us += result->cpu_system_us;
		sum.cpu_ns += result->cpu_ns;
		sum.wall_ns += result->wall_ns;
		sum.major_faults += result->major_faults;
		sum.voluntary_switches += result->voluntary_switches;
		sum.involuntary_switches += result->involuntary_switches;
		if (result->start_ns < sum.start_ns)
			sum.start_ns = result->start_ns;
		if (result->end_ns > sum.end_ns)
			sum.end_ns = result->end_ns;
	}
	return sum;
}

static double per_second(double pages, double seconds)
{
	return seconds > 0 ? pages / seconds : 0;
}

static void print_compat(struct workload_run *run, const struct pft *pft, const struct pft_result *fault,
			 const struct pft_result *teardown)
{
	const bool old = !strcmp(workload_value(run, "compat"), "2006");
	double user = (double)(fault->cpu_user_us + (old ? teardown->cpu_user_us : 0)) / 1e6;
	double system = (double)(fault->cpu_system_us + (old ? teardown->cpu_system_us : 0)) / 1e6;
	double wall = (double)(fault->end_ns - fault->start_ns + (old ? teardown->end_ns - teardown->start_ns : 0)) / 1e9;
	double pages = (double)pft->pages;
	char repeat[8] = "", line[160];

	if (old)
		snprintf(repeat, sizeof(repeat), " %3d", 1);
	if (!run->compat)
		workload_add_compat(run, old ? " Gb Rep Thr CLine   User   System     Wall flt/cpu/s fault/wsec"
					     : " Gb Thr CLine   User   System     Wall flt/cpu/s fault/wsec");
	snprintf(line, sizeof(line), "%3llu%s %3u %5zu %5.2fs %7.2fs %7.2fs %.3f %.3f", (unsigned long long)pft->size >> 30,
		 repeat, pft->n, pft->cachelines, user, system, wall, per_second(pages, user + system), per_second(pages, wall));
	workload_add_compat(run, line);
}

static void report_health(struct workload_run *run, const struct pft_result *fault, const struct pft_result *teardown)
{
	uint64_t wall_ns = fault->wall_ns + teardown->wall_ns;

	run->health[HEALTH_MAJOR_FAULTS] = (double)(fault->major_faults + teardown->major_faults);
	run->health[HEALTH_VOLUNTARY_SWITCHES] = (double)(fault->voluntary_switches + teardown->voluntary_switches);
	run->health[HEALTH_INVOLUNTARY_SWITCHES] = (double)(fault->involuntary_switches + teardown->involuntary_switches);
	if (run->clock && wall_ns)
		run->health[HEALTH_CPU_SHARE] = (double)(fault->cpu_ns + teardown->cpu_ns) / (double)wall_ns;
}

/* User / System / Elapsed of both phases, over all workers. */
static void report_times(struct workload_run *run, const struct pft_result *fault, const struct pft_result *teardown)
{
	workload_set(run, "all", "user_ns", (double)(fault->cpu_user_us + teardown->cpu_user_us) * NS_PER_US);
	workload_set(run, "all", "system_ns", (double)(fault->cpu_system_us + teardown->cpu_system_us) * NS_PER_US);
	workload_set(run, "all", "elapsed_ns", (double)(fault->end_ns - fault->start_ns + teardown->end_ns - teardown->start_ns));
}

static int collect(struct workload_run *run, const struct pft *pft)
{
	struct pft_result sums[PFT_N_PHASES];

	for (unsigned i = 0; i < pft->n; i++) {
		if (check_worker(run, pft, &pft->team->workers[i]))
			return -1;
	}
	for (enum pft_phase phase = 0; phase < PFT_N_PHASES; phase++) {
		const struct counter_reading count = sum_counts(pft, phase);
		struct pft_result *sum = &sums[phase];

		*sum = sum_phase(pft, phase);
		marker_phase(phase, phase_names[phase], (double)pft->pages);
		workload_set_counts(run, phase_names[phase], &count, (double)pft->pages);
		if (run->clock)
			workload_set(run, phase_names[phase], "ns", (double)(sum->end_ns - sum->start_ns) / (double)pft->pages);
	}
	if (run->clock)
		report_times(run, &sums[PFT_FAULT], &sums[PFT_TEARDOWN]);
	report_health(run, &sums[PFT_FAULT], &sums[PFT_TEARDOWN]);
	if (strcmp(workload_value(run, "compat"), "none") && run->iteration >= 0)
		print_compat(run, pft, &sums[PFT_FAULT], &sums[PFT_TEARDOWN]);
	return 0;
}

static int iterate(struct workload_run *run)
{
	struct pft pft = { 0 };

	if (read_options(run, &pft) || map_region(run, &pft))
		return -1;
	if (pft_team_make(run, &pft)) {
		munmap(pft.region, pft.size);
		return -1;
	}

	int result = pft_team_run(run, &pft);

	if (!result)
		result = collect(run, &pft);
	if (result || pft.processes)
		munmap(pft.region, pft.size);
	pft_team_free(&pft);
	return result;
}

static const char *conflict(const char *const *values)
{
	return strcmp(values[1], "1") && strcmp(values[2], "0") ? "threads and processes exclude each other" : NULL;
}

static const char *const compat_words[] = { "none", "2006", "0.12x", NULL };

/* conflict() knows the places of threads and processes. */
static const struct workload_option options[] = {
	{ "size", OPTION_SIZE, (uint64_t)1 << 16, (uint64_t)1 << 40, "67108864", NULL,
	  "bytes to touch, rounded up to whole pages for each worker" },
	{ "threads", OPTION_COUNT, 1, PFT_MAX_WORKERS, "1", NULL, "threads that share the region" },
	{ "processes", OPTION_COUNT, 0, PFT_MAX_WORKERS, "0", NULL, "processes in place of threads; 0: threads" },
	{ "cachelines", OPTION_COUNT, 1, 512, "1", NULL, "cache lines written in each page" },
	{ "compat", OPTION_WORD, 0, 0, "none", compat_words, "also print the lines of the historic program 2006 or 0.12x" },
};

/* clang-format off */
#define BOTH(unit) { "both", unit, "page", false, "sum:fault." unit ",teardown." unit }
/* clang-format on */

static const struct workload_metric metrics[] = {
	{ "fault", "insn_k", "page", false, NULL },
	{ "fault", "insn_u", "page", false, NULL },
	{ "fault", "ns", "page", false, NULL },
	{ "teardown", "insn_k", "page", false, NULL },
	{ "teardown", "insn_u", "page", false, NULL },
	{ "teardown", "ns", "page", false, NULL },
	{ "fault", "insn", "page", false, "sum:fault.insn_k,fault.insn_u" },
	{ "fault", "rate", "page", true, "rate:fault.ns" },
	{ "teardown", "insn", "page", false, "sum:teardown.insn_k,teardown.insn_u" },
	{ "teardown", "rate", "page", true, "rate:teardown.ns" },
	BOTH("insn_k"),
	BOTH("insn_u"),
	BOTH("insn"),
	BOTH("ns"),
	{ "both", "rate", "page", true, "rate:both.ns" },
	WORKLOAD_TIMES,
	WORKLOAD_EVENTS("fault", "page"),
	WORKLOAD_EVENTS("teardown", "page"),
	BOTH("cycles_k"),
	BOTH("l1d_misses_k"),
	BOTH("l1i_misses_k"),
	BOTH("l2d_misses_k"),
	BOTH("llc_misses_k"),
	BOTH("dtlb_misses_k"),
	BOTH("itlb_misses_k"),
	BOTH("dtlb_walks_k"),
	BOTH("itlb_walks_k"),
	BOTH("branch_misses_k"),
};

static const char *const voids[] = { "throttled", "freq_changes", "major_faults", "swapped", "thp", NULL };

const struct workload_kind workload_pft = {
	.name = "pft",
	.summary = "page faults and unmapping of anonymous memory",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.metrics = metrics,
	.n_metrics = sizeof(metrics) / sizeof(metrics[0]),
	.voids = voids,
	.conflict = conflict,
	.iterate = iterate,
};
