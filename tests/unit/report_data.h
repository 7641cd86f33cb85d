/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of reports: runs made through the store, of rows with known numbers. Include after unit.h. */
#ifndef UNIT_REPORT_DATA_H
#define UNIT_REPORT_DATA_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/random.h"
#include "report/report.h"

/* Folders RUNS/m/<stamp>. */
struct runs {
	char *top;
};

static inline int runs_setup(void **state)
{
	struct runs *runs = xcalloc(1, sizeof(*runs));
	char dir[] = "/tmp/memcg-ab-test-report-XXXXXX";

	runs->top = xstrdup(mkdtemp(dir));
	*state = runs;
	return 0;
}

static inline int runs_teardown(void **state)
{
	struct runs *runs = *state;

	assert_ok(file_remove_tree(runs->top));
	free(runs->top);
	free(runs);
	return 0;
}

/* What a run is described by. Rows: 0 is the baseline; NULL names are left out. */
struct run_data {
	const char *stamp; /* folder; default 20261201T100000Z-aaaa */
	size_t blocks; /* default 12 */
	bool exact;
	const char *measure; /* JSON, or NULL */
	const char *gates; /* JSON array without brackets, or NULL */
	const char *target; /* what tells the target from another time's, in JSON; NULL: version 1, profile_digest p */
	const char *row; /* likewise of each row; NULL: booted_cmdline console=x, toolchain gcc 12, config_sha256 c */
	const char *const *names; /* rows, NULL-terminated; of controls with their suffix; default: off/plain/0, on/plain/0 */
};

/* One open run. */
struct run_fixture {
	char *dir;
	struct store *store;
	size_t blocks, n_rows;
	const char *unit; /* of the boots put from now on; NULL = none */
};

static const char *const default_rows[] = { "off/plain/0", "on/plain/0", NULL };

static inline const char *control_in(const char *name)
{
	const char *hash = strchr(name, '#');

	return hash ? hash + 1 : "none";
}

static inline void describe_row(const struct run_data *data, const char *const *names, size_t i, struct strbuf *out)
{
	int step = names[i][strlen(names[i]) - 1] - '0';
	bool ladder = i > 1 && step > 0 && step < 10;

	strbuf_addf(
		out,
		"%s{\"variant\":\"%s\",\"control\":\"%s\",\"target\":0,\"kernel\":0,\"config\":\"%.*s\",\"cmdline\":\"plain\","
		"\"step\":%d,\"steps\":%d,\"previous\":%d,\"baseline\":0,\"image\":\"k%zu\",\"patch\":%s,%s}",
		i ? "," : "", names[i], control_in(names[i]), (int)strcspn(names[i], "/"), names[i], ladder ? step : 0,
		ladder ? step : 0, ladder ? (int)i - 1 : -1, i, ladder ? "\"mm: a patch\"" : "null",
		data->row ? data->row : "\"booted_cmdline\":\"console=x\",\"toolchain\":\"gcc 12\",\"config_sha256\":\"c\"");
}

static inline void run_open(const struct runs *runs, const struct run_data *data, struct run_fixture *out)
{
	const char *const *names = data->names ? data->names : default_rows;
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_JNODE description = NULL;

	*out = (struct run_fixture){ .blocks = data->blocks ? data->blocks : 12 };
	out->dir = xasprintf("%s/m/%s", runs->top, data->stamp ? data->stamp : "20261201T100000Z-aaaa");
	strbuf_addf(
		&text,
		"{\"schema\":1,\"tool\":\"0.1.0\",\"name\":\"m\",\"started\":\"%.16s\",\"command\":\"memcg-ab run "
		"m.yaml\",\"seed\":7,"
		"\"blocks\":%zu,\"baseline\":\"%s\",\"measure\":%s,\"kernels\":[{\"name\":\"\",\"kind\":\"kbuild\",\"source\":"
		"\"linux-x\","
		"\"wanted\":\"linux-x\",\"version\":\"6.12.1\",\"arch\":\"arm64\",\"toolchain\":\"gcc 12.2.0\",\"base_config\":"
		"\"defconfig\"}],\"targets\":[{\"device\":\"phone\",\"cores\":\"big\",\"kind\":\"sim\",\"exact\":%s,\"summary\":"
		"\"a78\","
		"\"blocks\":%zu,%s}],\"workloads\":[{\"label\":\"pft\",\"kind\":\"pft\","
		"\"options\":{\"size\":\"67108864\",\"threads\":\"1\",\"iterations\":\"20\",\"warmup\":\"2\"}}],\"gates\":[%s],"
		"\"rows\":[",
		data->stamp ? data->stamp : "20261201T100000Z-aaaa", out->blocks, names[0],
		data->measure ? data->measure : "{\"order\":\"random\",\"seed\":7}", data->exact ? "true" : "false", out->blocks,
		data->target ? data->target : "\"version\":\"1\",\"profile_digest\":\"p\"", data->gates ? data->gates : "");
	for (; names[out->n_rows]; out->n_rows++)
		describe_row(data, names, out->n_rows, &text);
	strbuf_adds(&text, "]}");
	AUTO_FREE char *db = path_join(out->dir, "run.db");
	assert_ok(file_mkdirs(out->dir));
	assert_ok(store_open(db, &out->store));
	assert_ok(jnode_parse(strbuf_str(&text), text.len, "description", &description));
	assert_ok(store_set_run(out->store, description));
}

static inline void run_close(struct run_fixture *run)
{
	store_close(run->store);
	free(run->dir);
}

static inline void run_finish(struct run_fixture *run)
{
	assert_ok(store_set_finished(run->store, 0));
}

/* A boot of one warm-up, which must not count, and n iterations of fault.ns; teardown.ns is half of it. */
static inline void put_series(struct run_fixture *run, size_t row, size_t block, const double *ns, size_t n)
{
	static const char *const names[] = { "fault.ns", "teardown.ns" };
	AUTO_FREE double *values = xcalloc(2 * (n + 1), sizeof(*values));
	AUTO_FREE struct stored_sample *samples = xcalloc(n + 1, sizeof(*samples));

	for (size_t i = 0; i <= n; i++) {
		values[2 * i] = i ? ns[i - 1] : 9e9;
		values[2 * i + 1] = values[2 * i] / 2;
		samples[i] = (struct stored_sample){ "pft", (int)i - 1, names, values + 2 * i, 2 };
	}
	AUTO_FREE char *identity = run->unit ? xasprintf("{\"unit\":\"%s\"}", run->unit) : NULL;
	struct stored_boot boot = { .row = (int64_t)row,
				    .block = (int64_t)block,
				    .validity = "v",
				    .status = "ok",
				    .identity = identity,
				    .wall_ms = 20000,
				    .utc_s = 1796000000 + (int64_t)(block * run->n_rows + row) * 60,
				    .samples = samples,
				    .n_samples = n + 1 };
	assert_ok(store_put_boot(run->store, &boot));
}

/* A boot of one iteration after a warm-up, of readings that the workload's table may or may not have. */
static inline void put_readings(struct run_fixture *run, size_t row, size_t block, const char *const *names, const double *values,
				size_t n)
{
	const struct stored_sample samples[] = { { "pft", -1, names, values, n }, { "pft", 0, names, values, n } };
	const struct stored_boot boot = { .row = (int64_t)row,
					  .block = (int64_t)block,
					  .validity = "v",
					  .status = "ok",
					  .wall_ms = 20000,
					  .utc_s = 1796000000 + (int64_t)(block * run->n_rows + row) * 60,
					  .samples = samples,
					  .n_samples = ARRAY_SIZE(samples) };

	assert_ok(store_put_boot(run->store, &boot));
}

static inline void put_outcome(struct run_fixture *run, size_t row, size_t block, const char *status, const char *reason)
{
	struct stored_boot boot = {
		.row = (int64_t)row, .block = (int64_t)block, .validity = "v", .status = status, .reason = reason
	};

	assert_ok(store_put_boot(run->store, &boot));
}

/* How numbers are drawn: relative to a row's true mean. */
struct scatter {
	double boots, iterations; /* sds */
	double drift; /* over all blocks */
	unsigned long seed;
};

/* Fills all boots of all rows: means[row] nanoseconds, 20 iterations a boot. */
static inline void put_campaign(struct run_fixture *run, const double *means, const struct scatter *scatter)
{
	struct random *random = random_new(scatter->seed);
	double ns[20];

	for (size_t block = 0; block < run->blocks; block++)
		for (size_t row = 0; row < run->n_rows; row++) {
			double at = run->blocks > 1 ? (double)block / (double)(run->blocks - 1) : 0;
			double boot = means[row] * (1 + scatter->drift * at) * (1 + scatter->boots * random_gaussian(random, 1));
			for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
				ns[i] = boot * (1 + scatter->iterations * random_gaussian(random, 1));
			put_series(run, row, block, ns, ARRAY_SIZE(ns));
		}
	random_free(random);
}

static inline const struct report_finding *find_finding(const struct report *report, enum finding_kind kind)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].kind == kind)
			return &report->findings[i];
	return NULL;
}

/* Every line but the one that is the user's own command. */
static inline void assert_fits_at(const char *text, size_t columns, const char *file, int line)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		if ((size_t)(end - text) <= columns || str_starts(text, "command: "))
			continue;
		print_error("%s:%d: more than %zu columns: %.*s\n", file, line, columns, (int)(end - text), text);
		_fail(file, line);
	}
}
#define assert_fits(text, columns) assert_fits_at((text), (columns), __FILE__, __LINE__)

static inline void assert_near_at(double got, double want, double tolerance, const char *file, int line)
{
	if (fabs(got - want) <= tolerance)
		return;
	print_error("%s:%d: %.10g is not %.10g +- %g\n", file, line, got, want, tolerance);
	_fail(file, line);
}
#define assert_near(got, want, tolerance) assert_near_at((got), (want), (tolerance), __FILE__, __LINE__)

static inline void assert_in_at(const char *text, const char *part, const char *file, int line)
{
	if (strstr(text, part))
		return;
	print_error("%s:%d: no '%s' in:\n%s\n", file, line, part, text);
	_fail(file, line);
}
#define assert_in(text, part) assert_in_at((text), (part), __FILE__, __LINE__)

#endif
