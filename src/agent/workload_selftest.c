/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * selftest: a test program of the kernel's own (tools/testing/selftests/cgroup/test_NAME.c of the tree that is measured, built by the
 * host and brought with the boot) runs once, and what it says of each test is told: records "selftest.LABEL.TEST" with pass, fail or
 * skip, and "selftest.LABEL" for the program as a whole. A test that fails voids nothing: it is what was asked for.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/loopback.h"
#include "agent/program.h"
#include "agent/records.h"
#include "agent/scratch.h"
#include "agent/swaparea.h"
#include "agent/tap.h"
#include "agent/workload_run.h"

#define FOLDER "/memcg-ab/selftests"
#define MAX_TESTS 256
#define SCRATCH_BYTES ((uint64_t)1 << 20) /* of a file that nobody reads */
#define EXIT_SKIP 4 /* kselftest.h */
#define EXIT_NOT_STARTED 127

enum option_place { TEST, DEADLINE, ON, SWAP, SWAP_SIZE, N_OPTIONS };

struct selftest {
	struct scratch scratch; /* a file system to be in; not mounted: the root */
	struct swaparea area;
	struct tap_line tests[MAX_TESTS];
	unsigned n;
	char verdict[160]; /* what the program said of itself as a whole: "skip: ..." */
};

static int prepare(struct workload_run *run)
{
	struct selftest *selftest = calloc(1, sizeof(*selftest));

	if (!selftest)
		return workload_fail(run, "out of memory");
	run->state = selftest;
	selftest->scratch.fd = -1;
	loopback_up();
	if (strcmp(workload_value(run, "on"), "none") != 0 &&
	    scratch_open(&selftest->scratch, run, workload_value(run, "on"), SCRATCH_BYTES, SCRATCH_BUFFER))
		return -1;
	if (!strcmp(workload_value(run, "swap"), "none"))
		return 0;
	return swaparea_open(&selftest->area, run, workload_value(run, "swap"), workload_count(run, "swap_size"));
}

static void finish(struct workload_run *run)
{
	struct selftest *selftest = run->state;

	if (selftest) {
		swaparea_close(&selftest->area, run);
		scratch_close(&selftest->scratch, run);
	}
	free(selftest);
	run->state = NULL;
}

static void take_line(void *arg, const char *text)
{
	struct workload_run *run = arg;
	struct selftest *selftest = run->state;
	struct tap_line line;

	tap_parse(text, &line);
	if (line.kind == TAP_OTHER)
		return;
	if (line.kind == TAP_SKIP_ALL || line.kind == TAP_BAIL)
		snprintf(selftest->verdict, sizeof(selftest->verdict), "%s: %s", tap_outcome(line.kind), line.why);
	else if (selftest->n < MAX_TESTS)
		selftest->tests[selftest->n++] = line;
}

static void still_alive(void *arg)
{
	const struct workload_run *run = arg;

	if (run->alive)
		run->alive(run->alive_arg);
}

/* A program that skips all says so by a result of its own, whose name is the reason. */
static void drop_reason(struct selftest *selftest)
{
	if (selftest->n != 1 || selftest->tests[0].kind != TAP_SKIP)
		return;
	snprintf(selftest->verdict, sizeof(selftest->verdict), "skip: %s", selftest->tests[0].name);
	selftest->n = 0;
}

static unsigned count(const struct selftest *selftest, enum tap_kind kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < selftest->n; i++)
		n += selftest->tests[i].kind == kind;
	return n;
}

/* Exit status 1 says that a test failed, which is known then. */
static void judge(struct selftest *selftest, const struct program *program, const struct program_end *end)
{
	const int status = WIFEXITED(end->status) && !end->timed_out ? WEXITSTATUS(end->status) : -1;
	char what[96];

	program_tell(program, end, what, sizeof(what));
	if (status == EXIT_SKIP)
		drop_reason(selftest);
	if (!status || status == EXIT_SKIP || (status == 1 && count(selftest, TAP_FAIL))) {
		if (!*selftest->verdict)
			snprintf(selftest->verdict, sizeof(selftest->verdict), "%s", status == EXIT_SKIP ? "skip" : "pass");
		return;
	}
	snprintf(selftest->verdict, sizeof(selftest->verdict), "fail: %s%s%s", what, selftest->n ? ", after " : "",
		 selftest->n ? selftest->tests[selftest->n - 1].name : "");
}

static void tell_test(struct workload_run *run, const struct tap_line *test)
{
	char key[160], value[96];

	snprintf(key, sizeof(key), "selftest.%s.%s", run->settings->label, test->name);
	snprintf(value, sizeof(value), "%s%s%s", tap_outcome(test->kind), *test->why ? ": " : "", test->why);
	records_identity(run->records, key, value);
}

static void tell(struct workload_run *run, const struct program_end *end)
{
	const struct selftest *selftest = run->state;
	char key[96];

	for (unsigned i = 0; i < selftest->n; i++)
		tell_test(run, &selftest->tests[i]);
	snprintf(key, sizeof(key), "selftest.%s", run->settings->label);
	records_identity(run->records, key, selftest->verdict);
	snprintf(key, sizeof(key), "output.%s", run->settings->label);
	if (count(selftest, TAP_FAIL) || !strncmp(selftest->verdict, "fail", 4))
		records_identity(run->records, key, end->tail);
	workload_set(run, "all", "passed_tests", count(selftest, TAP_PASS));
	workload_set(run, "all", "failed_tests", count(selftest, TAP_FAIL) + !strncmp(selftest->verdict, "fail", 4));
	workload_set(run, "all", "skipped_tests", count(selftest, TAP_SKIP));
}

static int iterate(struct workload_run *run)
{
	struct selftest *selftest = run->state;
	const char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/", NULL };
	char path[96];
	const char *const argv[] = { path, NULL };
	const struct program program = {
		.argv = argv,
		.env = env,
		.dir = selftest->scratch.mounted ? selftest->scratch.dir : "/",
		.deadline_ms = (unsigned)workload_count(run, "deadline") * 1000,
		.line = take_line,
		.alive = still_alive,
		.arg = run,
	};
	struct program_end end;

	snprintf(path, sizeof(path), FOLDER "/test_%s", workload_value(run, "test"));
	if (access(path, X_OK)) {
		snprintf(selftest->verdict, sizeof(selftest->verdict), "skip: there is no test_%.40s.c in this kernel's tree",
			 workload_value(run, "test"));
		end = (struct program_end){ .started = true };
	} else {
		program_run(&program, &end);
		if (!end.started || (WIFEXITED(end.status) && WEXITSTATUS(end.status) == EXIT_NOT_STARTED))
			return workload_fail(run, "%s: %.80s", path, end.started ? end.tail : end.reason);
		judge(selftest, &program, &end);
	}
	tell(run, &end);
	return 0;
}

static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
			return false;
	}
	return *text && strlen(text) <= 40;
}

static const char *conflict(const char *const *values)
{
	if (!is_name(values[TEST]))
		return "'test' is what stands behind test_ in a program's name: memcontrol, kmem, ...";
	if (strcmp(values[N_OPTIONS + COMMON_ITERATIONS], "1") != 0 || strcmp(values[N_OPTIONS + COMMON_WARMUP], "0") != 0)
		return "a selftest runs once a boot: leave iterations and warmup out";
	if (!strcmp(values[N_OPTIONS + COMMON_CGROUP], "child"))
		return "selftests make their groups below the root, and run there";
	if (!strcmp(values[N_OPTIONS + COMMON_HIERARCHY], "v1"))
		return "the kernel's selftests know hierarchy v2 alone";
	return NULL;
}

static const char *const on_words[] = { "brd", "none", NULL };
static const char *const swap_words[] = { "none", "zram", "brd", NULL };

static const struct workload_option options[N_OPTIONS] = {
	[TEST] = { "test", OPTION_TEXT, 1, 40, "memcontrol", NULL, "which program: test_NAME of tools/testing/selftests/cgroup" },
	[DEADLINE] = { "deadline", OPTION_COUNT, 1, 86400, "3600", NULL, "seconds that it may take" },
	[ON] = { "on", OPTION_DISK, 0, 0, "brd", on_words, "the disk whose file system it runs in; none: the root's" },
	[SWAP] = { "swap", OPTION_DISK, 0, 0, "none", swap_words, "swap while it runs" },
	[SWAP_SIZE] = { "swap_size", OPTION_SIZE, (uint64_t)1 << 20, (uint64_t)1 << 40, "134217728", NULL, "bytes of it" },
};

static const struct workload_metric metrics[] = {
	{ "all", "failed_tests", NULL, false, NULL },
	{ "all", "passed_tests", NULL, true, NULL },
	{ "all", "skipped_tests", NULL, false, NULL },
};

static const char *const voids[] = { NULL };

static const char *const common[N_WORKLOAD_COMMON] = {
	[COMMON_ITERATIONS] = "1",
	[COMMON_WARMUP] = "0",
	[COMMON_CGROUP] = "root",
};

const struct workload_kind workload_selftest = {
	.name = "selftest",
	.summary = "a test program of the kernel's own",
	.options = options,
	.n_options = N_OPTIONS,
	.metrics = metrics,
	.n_metrics = sizeof(metrics) / sizeof(metrics[0]),
	.voids = voids,
	.common = common,
	.conflict = conflict,
	.needs_machine = true,
	.needs_tree = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate,
};
