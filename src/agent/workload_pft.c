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
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/marker.h"
#include "agent/sysfile.h"
#include "agent/workload_run.h"

#define MAX_WORKERS 128
#define HUGE_SIZE ((size_t)2 << 20) /* of one entry of a page middle directory with 4 KiB pages */
#define DEFAULT_LINE 128 /* bytes of a cache line, where the C library does not know */
#define FAULT_SLACK 4
#define MODEL_SIZE_MAX ((uint64_t)4 << 20)
#define NS_PER_S 1000000000ULL
#define NS_PER_US 1000

enum phase { FAULT, TEARDOWN, N_PHASES };
static const char *const phase_names[N_PHASES] = { "fault", "teardown" };

struct phase_result {
	struct counter_reading count;
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns, wall_ns; /* of its thread; with the clock */
	uint64_t cpu_user_us, cpu_system_us;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
};

/* A worker's share of the region, and what it measured; processes keep it in shared memory. */
struct worker {
	const struct pft *pft;
	char *start, *end; /* touched */
	bool failed;
	struct phase_result results[N_PHASES];
	char reason[WORKLOAD_REASON_MAX];
};

struct pft {
	enum counter_kind counter;
	bool clock;
	unsigned n; /* workers */
	bool processes;
	size_t page_size, line_size, cachelines;
	size_t pages; /* of all workers */
	char *region;
	size_t size;
	struct team *team; /* in memory that processes share */
};

struct team {
	pthread_barrier_t barrier;
	pthread_mutex_t gate; /* held until all threads are there */
	bool given_up; /* they are not: go home */
	struct worker workers[MAX_WORKERS];
};

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
__attribute__((no_sanitize("address"))) static void touch_pages(const struct worker *worker)
{
	const size_t page_size = worker->pft->page_size;
	const char *end = worker->end;
	char *page = worker->start;

	do {
		*(volatile char *)page = 'r';
		page += page_size;
	} while (page != end);
}

__attribute__((no_sanitize("address"))) static void touch_lines(const struct worker *worker)
{
	const size_t page_size = worker->pft->page_size;
	const size_t step = worker->pft->line_size;
	const size_t touched = step * worker->pft->cachelines;

	for (char *page = worker->start; page < worker->end; page += page_size) {
		for (size_t at = 0; at < touched; at += step)
			*(volatile char *)(page + at) = 'r';
	}
}

static void unmap(const struct worker *worker)
{
	munmap(worker->pft->region, worker->pft->size);
}

/* CPU time by its own clock: getrusage is a tick old. Wall time around it, so that the share is at most 1. */
static void start_share(struct phase_result *result)
{
	result->wall_ns = clock_ns(CLOCK_MONOTONIC);
	result->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void stop_share(struct phase_result *result)
{
	result->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - result->cpu_ns;
	result->wall_ns = clock_ns(CLOCK_MONOTONIC) - result->wall_ns;
}

/* Runs and measures one phase in the calling thread. */
static void measure(struct worker *worker, enum phase phase, const struct counter *counter, void (*work)(const struct worker *))
{
	const bool clock = worker->pft->clock;
	struct phase_result result = { 0 };
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

	if (!counter_read(counter, &result.count, worker->reason, sizeof(worker->reason)))
		worker->failed = true;
	result.cpu_user_us = timeval_us(after.ru_utime) - timeval_us(before.ru_utime);
	result.cpu_system_us = timeval_us(after.ru_stime) - timeval_us(before.ru_stime);
	result.minor_faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
	result.major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
	result.voluntary_switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
	result.involuntary_switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	worker->results[phase] = result;
}

static void wait_for_all(const struct pft *pft)
{
	if (pft->n > 1)
		pthread_barrier_wait(&pft->team->barrier);
}

/* A failed worker still comes to the barrier, so that nobody waits for it. */
static void run_fault(struct worker *worker, struct counter *counter)
{
	const struct pft *pft = worker->pft;

	worker->failed = !counter_open(counter, pft->counter, worker->reason, sizeof(worker->reason));
	wait_for_all(pft);
	if (!worker->failed)
		measure(worker, FAULT, counter, pft->cachelines > 1 ? touch_lines : touch_pages);
}

static void run_teardown(struct worker *worker, const struct counter *counter)
{
	if (!worker->failed)
		measure(worker, TEARDOWN, counter, unmap);
}

static void *thread_main(void *arg)
{
	struct worker *worker = arg;
	struct team *team = worker->pft->team;
	struct counter counter;

	pthread_mutex_lock(&team->gate);
	bool given_up = team->given_up;
	pthread_mutex_unlock(&team->gate);
	if (given_up)
		return NULL;
	run_fault(worker, &counter);
	counter_close(&counter);
	return NULL;
}

/* The first worker is the calling thread itself. */
static int run_threads(struct workload_run *run, struct pft *pft)
{
	struct team *team = pft->team;
	pthread_t threads[MAX_WORKERS];
	struct counter counter;
	unsigned n = 1;
	int error = 0;

	pthread_mutex_lock(&team->gate);
	while (n < pft->n && !error) {
		error = pthread_create(&threads[n], NULL, thread_main, &team->workers[n]);
		if (!error)
			n++;
	}
	team->given_up = error != 0;
	pthread_mutex_unlock(&team->gate);
	if (!error)
		run_fault(&team->workers[0], &counter);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	if (error)
		return workload_fail(run, "starting thread %u of %u: %s", n + 1, pft->n, strerror(error));
	run_teardown(&team->workers[0], &counter);
	counter_close(&counter);
	return 0;
}

static void process_main(struct worker *worker)
{
	struct counter counter;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_fault(worker, &counter);
	wait_for_all(worker->pft);
	run_teardown(worker, &counter);
	_exit(0);
}

static void kill_processes(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	}
}

static void forget_process(pid_t *pids, unsigned n, pid_t gone)
{
	for (unsigned i = 0; i < n; i++) {
		if (pids[i] == gone)
			pids[i] = 0;
	}
}

/* The others of a worker that died would wait for it at the barrier: they are killed. */
static int run_processes(struct workload_run *run, struct pft *pft)
{
	pid_t pids[MAX_WORKERS];
	unsigned n = 0;
	int result = 0;

	for (; n < pft->n && !result; n++) {
		pids[n] = fork();
		if (!pids[n])
			process_main(&pft->team->workers[n]);
		if (pids[n] < 0)
			result = workload_fail(run, "starting process %u of %u: %s", n + 1, pft->n, strerror(errno));
	}
	if (result)
		kill_processes(pids, n);
	for (unsigned left = n - (result ? 1 : 0); left;) {
		int status;
		pid_t gone = waitpid(-1, &status, 0);

		if (gone < 0 && errno != EINTR)
			return workload_fail(run, "waiting for processes: %s", strerror(errno));
		if (gone <= 0)
			continue;
		left--;
		forget_process(pids, n, gone);
		if (status && !result) {
			result = workload_fail(run, "a process died, wait status %d", status);
			kill_processes(pids, n);
		}
	}
	return result;
}

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

	pft->counter = run->counter;
	pft->clock = run->clock || strcmp(workload_value(run, "compat"), "none");
	pft->processes = processes > 0;
	pft->n = (unsigned)(processes ? processes : workload_count(run, "threads"));
	pft->page_size = (size_t)sysconf(_SC_PAGESIZE);
	pft->line_size = line_size > 0 ? (size_t)line_size : DEFAULT_LINE;
	pft->cachelines = (size_t)workload_count(run, "cachelines");
	if (pft->cachelines * pft->line_size > pft->page_size)
		return workload_fail(run, "%zu cache lines of %zu bytes are more than a page", pft->cachelines, pft->line_size);

	/* What is not measured need not be large. */
	if (run->counter == COUNTER_MODEL && size > MODEL_SIZE_MAX)
		size = MODEL_SIZE_MAX;

	uint64_t unit = (uint64_t)pft->page_size * pft->n;

	size = (size + unit - 1) / unit * unit;
	if (size > SIZE_MAX / 4)
		return workload_fail(run, "size %llu is more than an address space holds", (unsigned long long)size);
	pft->size = (size_t)size;
	pft->pages = pft->size / pft->page_size;
	return check_memory(run, pft);
}

static int make_team(struct workload_run *run, struct pft *pft)
{
	pthread_barrierattr_t shared;
	struct team *team = mmap(NULL, sizeof(*team), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (team == MAP_FAILED) {
		workload_fail(run, "mmap: %s", strerror(errno));
		return -1;
	}
	memset(team, 0, sizeof(*team));
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&team->barrier, &shared, pft->n);
	pthread_mutex_init(&team->gate, NULL);
	pft->team = team;
	for (unsigned i = 0; i < pft->n; i++) {
		struct worker *worker = &team->workers[i];

		worker->pft = pft;
		worker->start = pft->region + pft->size / pft->n * i;
		worker->end = worker->start + pft->size / pft->n;
	}
	return 0;
}

/* A worker's minor faults are its pages, within a thousandth and what its own stack, code and data may add. */
static int check_worker(struct workload_run *run, const struct pft *pft, const struct worker *worker)
{
	const struct phase_result *fault = &worker->results[FAULT];
	const struct phase_result *teardown = &worker->results[TEARDOWN];
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

/* A phase of all workers together: counts and CPU times added, from the first start to the last end. */
static struct phase_result sum_phase(const struct pft *pft, enum phase phase)
{
	unsigned n = phase == TEARDOWN && !pft->processes ? 1 : pft->n;
	struct phase_result sum = pft->team->workers[0].results[phase];

	for (unsigned i = 1; i < n; i++) {
		const struct phase_result *result = &pft->team->workers[i].results[phase];

		sum.count.kernel += result->count.kernel;
		sum.count.user += result->count.user;
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

static void print_compat(struct workload_run *run, const struct pft *pft, const struct phase_result *fault,
			 const struct phase_result *teardown)
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

static void report_health(struct workload_run *run, const struct phase_result *fault, const struct phase_result *teardown)
{
	uint64_t wall_ns = fault->wall_ns + teardown->wall_ns;

	run->health[HEALTH_MAJOR_FAULTS] = (double)(fault->major_faults + teardown->major_faults);
	run->health[HEALTH_VOLUNTARY_SWITCHES] = (double)(fault->voluntary_switches + teardown->voluntary_switches);
	run->health[HEALTH_INVOLUNTARY_SWITCHES] = (double)(fault->involuntary_switches + teardown->involuntary_switches);
	if (run->clock && wall_ns)
		run->health[HEALTH_CPU_SHARE] = (double)(fault->cpu_ns + teardown->cpu_ns) / (double)wall_ns;
}

/* User / System / Elapsed of both phases, over all workers. */
static void report_times(struct workload_run *run, const struct phase_result *fault, const struct phase_result *teardown)
{
	workload_set(run, "all", "user_ns", (double)(fault->cpu_user_us + teardown->cpu_user_us) * NS_PER_US);
	workload_set(run, "all", "system_ns", (double)(fault->cpu_system_us + teardown->cpu_system_us) * NS_PER_US);
	workload_set(run, "all", "elapsed_ns", (double)(fault->end_ns - fault->start_ns + teardown->end_ns - teardown->start_ns));
}

static int collect(struct workload_run *run, const struct pft *pft)
{
	struct phase_result sums[N_PHASES];

	for (unsigned i = 0; i < pft->n; i++) {
		if (check_worker(run, pft, &pft->team->workers[i]))
			return -1;
	}
	for (enum phase phase = 0; phase < N_PHASES; phase++) {
		struct phase_result *sum = &sums[phase];

		*sum = sum_phase(pft, phase);
		marker_phase(phase, phase_names[phase], (double)pft->pages);
		if (run->counter == COUNTER_PMU) {
			workload_set(run, phase_names[phase], "insn_k", (double)sum->count.kernel / (double)pft->pages);
			workload_set(run, phase_names[phase], "insn_u", (double)sum->count.user / (double)pft->pages);
		}
		if (run->clock)
			workload_set(run, phase_names[phase], "ns", (double)(sum->end_ns - sum->start_ns) / (double)pft->pages);
	}
	if (run->clock)
		report_times(run, &sums[FAULT], &sums[TEARDOWN]);
	report_health(run, &sums[FAULT], &sums[TEARDOWN]);
	if (strcmp(workload_value(run, "compat"), "none") && run->iteration >= 0)
		print_compat(run, pft, &sums[FAULT], &sums[TEARDOWN]);
	return 0;
}

static int iterate(struct workload_run *run)
{
	struct pft pft = { 0 };

	if (read_options(run, &pft) || map_region(run, &pft))
		return -1;
	if (make_team(run, &pft)) {
		munmap(pft.region, pft.size);
		return -1;
	}

	int result = pft.processes ? run_processes(run, &pft) : run_threads(run, &pft);

	if (!result)
		result = collect(run, &pft);
	if (result || pft.processes)
		munmap(pft.region, pft.size);
	munmap(pft.team, sizeof(*pft.team));
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
	{ "threads", OPTION_COUNT, 1, MAX_WORKERS, "1", NULL, "threads that share the region" },
	{ "processes", OPTION_COUNT, 0, MAX_WORKERS, "0", NULL, "processes in place of threads; 0: threads" },
	{ "cachelines", OPTION_COUNT, 1, 512, "1", NULL, "cache lines written in each page" },
	{ "compat", OPTION_WORD, 0, 0, "none", compat_words, "also print the lines of the historic program 2006 or 0.12x" },
};

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
	{ "both", "insn_k", "page", false, "sum:fault.insn_k,teardown.insn_k" },
	{ "both", "insn_u", "page", false, "sum:fault.insn_u,teardown.insn_u" },
	{ "both", "insn", "page", false, "sum:fault.insn,teardown.insn" },
	{ "both", "ns", "page", false, "sum:fault.ns,teardown.ns" },
	{ "both", "rate", "page", true, "rate:both.ns" },
	WORKLOAD_TIMES,
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
