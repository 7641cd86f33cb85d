/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report on a million samples. `report-scale TOOL [VARIANTS BLOCKS ITERATIONS]` makes a run of so many (100 each) through the store, has TOOL report on it, and
 * prints how long that took and how much memory; fails when it takes 200 MB or more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "store/store.h"

#define LIMIT_KB (200 * 1024)
#define ROUNDS 3

/* What pft reads on a device with counters, and the health readings. */
static const char *const names[] = { "fault.insn_k",	    "fault.insn_u",	  "fault.ns",	       "teardown.insn_k",
				     "teardown.insn_u",	    "teardown.ns",	  "health.throttled",  "health.freq_changes",
				     "health.major_faults", "health.swapped",	  "health.thp",	       "health.cpu_share",
				     "health.frequency",    "health.temperature", "health.migrations", "health.voluntary" };
static const double levels[ARRAY_SIZE(names)] = { 1700, 4, 2000, 1000, 1, 1100, 0, 0, 0, 0, 0, 0.999, 2250000, 41, 0, 2 };
#define NOISY 6 /* the first ones scatter */

struct size {
	size_t variants, blocks, iterations;
};

static void stop(struct error *error)
{
	if (!error)
		return;
	error_print(error, stderr);
	exit(3);
}

static struct jnode *describe(const struct size *size)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct jnode *description = NULL;

	strbuf_addf(
		&text,
		"{\"schema\":1,\"tool\":\"0.1.0\",\"name\":\"scale\",\"seed\":1,\"blocks\":%zu,\"baseline\":\"v0/plain/0\","
		"\"measure\":{\"order\":\"random\",\"seed\":1},\"kernels\":[{\"name\":\"\",\"kind\":\"kbuild\",\"version\":\"6."
		"12\"}],"
		"\"targets\":[{\"device\":\"phone\",\"cores\":\"big\",\"exact\":false,\"summary\":\"simulated\"}],"
		"\"workloads\":[{\"label\":\"pft\",\"kind\":\"pft\",\"options\":{\"size\":\"67108864\",\"iterations\":\"%zu\"}}],"
		"\"gates\":[{\"metric\":\"pft.both.ns\",\"against\":\"baseline\",\"limit\":0.05}],\"rows\":[",
		size->blocks, size->iterations);
	for (size_t i = 0; i < size->variants; i++)
		strbuf_addf(&text,
			    "%s{\"variant\":\"v%zu/plain/0\",\"target\":0,\"kernel\":0,\"config\":\"v%zu\",\"cmdline\":\"plain\","
			    "\"previous\":-1,\"baseline\":0}",
			    i ? "," : "", i, i);
	strbuf_adds(&text, "]}");
	stop(jnode_parse(strbuf_str(&text), text.len, "description", &description));
	return description;
}

static void put_boot(struct store *store, const struct size *size, size_t row, size_t block, struct random *random)
{
	AUTO_FREE double *values = xcalloc(size->iterations * ARRAY_SIZE(names), sizeof(*values));
	AUTO_FREE struct stored_sample *samples = xcalloc(size->iterations, sizeof(*samples));
	double boot = 1 + random_gaussian(random, 0.005) + 0.0002 * (double)row;

	for (size_t i = 0; i < size->iterations; i++) {
		double *own = values + i * ARRAY_SIZE(names);
		double factor = boot * (1 + random_gaussian(random, 0.02));
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			own[k] = levels[k] * (k < NOISY ? factor : 1);
		samples[i] = (struct stored_sample){ "pft", (int)i, names, own, ARRAY_SIZE(names) };
	}
	struct stored_boot stored = {
		.row = (int64_t)row,
		.block = (int64_t)block,
		.validity = "v",
		.status = "ok",
		.wall_ms = 60000,
		.utc_s = 1796000000 + (int64_t)(block * size->variants + row) * 60,
		.samples = samples,
		.n_samples = size->iterations,
	};
	stop(store_put_boot(store, &stored));
}

static void make_run(const char *dir, const struct size *size)
{
	AUTO_STORE store = NULL;
	AUTO_JNODE description = describe(size);
	AUTO_FREE char *path = path_join(dir, "run.db");
	struct random *random = random_new(1);

	stop(file_mkdirs(dir));
	stop(store_open(path, &store));
	stop(store_set_run(store, description));
	for (size_t row = 0; row < size->variants; row++)
		for (size_t block = 0; block < size->blocks; block++)
			put_boot(store, size, row, block, random);
	random_free(random);
	stop(store_set_finished(store, 0));
}

struct cost {
	int64_t wall_ms, cpu_ms;
	long kb; /* largest resident memory */
	int status;
};

static int64_t ms_of(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}

static struct cost run_report(const char *tool, const char *dir)
{
	int64_t start = clock_ms();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execl(tool, tool, "report", dir, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		exit(3);
	return (struct cost){
		.wall_ms = clock_ms() - start,
		.cpu_ms = ms_of(usage.ru_utime) + ms_of(usage.ru_stime),
		.kb = usage.ru_maxrss,
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128,
	};
}

int main(int argc, char **argv)
{
	struct size size = { 100, 100, 100 };
	char top[] = "/tmp/memcg-ab-scale-XXXXXX";
	struct cost best = { .wall_ms = INT64_MAX, .cpu_ms = INT64_MAX };

	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: %s TOOL [VARIANTS BLOCKS ITERATIONS]\n", argv[0]);
		return 2;
	}
	if (argc == 5)
		size = (struct size){ strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10) };
	if (!mkdtemp(top))
		return 3;
	AUTO_FREE char *dir = xasprintf("%s/scale/20261201T100000Z-a", top);
	make_run(dir, &size);
	for (int i = 0; i < ROUNDS; i++) {
		struct cost cost = run_report(argv[1], dir);
		best.wall_ms = cost.wall_ms < best.wall_ms ? cost.wall_ms : best.wall_ms;
		best.cpu_ms = cost.cpu_ms < best.cpu_ms ? cost.cpu_ms : best.cpu_ms;
		best.kb = cost.kb > best.kb ? cost.kb : best.kb;
		if (cost.status > 5 || cost.status == 2) {
			fprintf(stderr, "%s report ended with status %d\n", argv[1], cost.status);
			return 3;
		}
	}
	stop(file_remove_tree(top));
	printf("report on %zu variants x %zu boots x %zu iterations: %.2f s, %.2f s of CPU (best of %d), %.0f MB (limit 200)\n",
	       size.variants, size.blocks, size.iterations, (double)best.wall_ms / 1000, (double)best.cpu_ms / 1000, ROUNDS,
	       (double)best.kb / 1024);
	return best.kb < LIMIT_KB ? 0 : 1;
}
