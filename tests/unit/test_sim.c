/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lane and the sim device with the real host agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "device/device.h"

#define BUILD_ID "00112233445566778899aabbccddeeff00112233"
#define WORKLOADS "workload=pft\nrun=pft\nsize=1048576\niterations=2\n"
#define MAX_RECORDS 8

static struct sim_model models[] = {
	{ "*", "pft.fault.insn_k", 1583.9 },
	{ "*", "pft.teardown.insn_k", 903.3 },
	{ "memcg/disabled/*", "pft.fault.insn_k", 1707 },
	{ "memcg/disabled/2", "pft.fault.insn_k", 1649.9 },
};

struct bench {
	char dir[64];
	char *agent, *lock_path, *console_path;
	struct profile profile;
	struct device_context context;
	struct sim_fault fault;
	struct boot_request request;
	struct boot_record *records[MAX_RECORDS];
	size_t n_records;
};

static int setup(void **state)
{
	struct bench *bench = xcalloc(1, sizeof(*bench));
	const char *build = getenv("MEMCG_AB_BUILD");

	log_set_level(LOG_ERROR);
	strcpy(bench->dir, "/tmp/memcg-ab-sim-XXXXXX");
	assert_non_null(mkdtemp(bench->dir));
	bench->agent = path_join(build ? build : "build/release", "memcg-ab-agent-host");
	bench->lock_path = path_join(bench->dir, "locks/device-sim");
	bench->console_path = path_join(bench->dir, "console/boot");
	bench->profile = (struct profile){
		.name = (char *)"sim",
		.kind = DEVICE_SIM,
		.cmdline = (char *)"",
		.exact = true,
		.boot_timeout_ms = 3000,
		.silence_timeout_ms = 3000,
		.run_timeout_ms = 5000,
		.retries = 2,
		.sim = { .models = models, .n_models = ARRAY_SIZE(models), .exact = true },
	};
	bench->context = (struct device_context){
		.name = "sim",
		.profile = &bench->profile,
		.agent_host = bench->agent,
		.scratch_dir = bench->dir,
		.lock_path = bench->lock_path,
		.guard = NO_GUARD,
	};
	bench->request = (struct boot_request){
		.id = 7,
		.variant = "memcg/disabled/2",
		.block = 1,
		.cmdline = "console=sim cgroup_disable=memory",
		.build_id = BUILD_ID,
		.memcg = MEMCG_DISABLED,
		.workloads = WORKLOADS,
		.console_path = bench->console_path,
	};
	*state = bench;
	return 0;
}

static void forget_records(struct bench *bench)
{
	for (size_t i = 0; i < bench->n_records; i++)
		boot_record_free(bench->records[i]);
	bench->n_records = 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	forget_records(bench);
	error_free(file_remove_tree(bench->dir));
	free(bench->agent);
	free(bench->lock_path);
	free(bench->console_path);
	free(bench);
	return 0;
}

/* Records are kept as the run gets them: through JSON. */
static struct error *keep_record(void *arg, const struct boot_record *record)
{
	struct bench *bench = arg;
	AUTO_JNODE json = boot_record_to_json(record);

	assert_true(bench->n_records < MAX_RECORDS);
	return boot_record_from_json(json, &bench->records[bench->n_records++]);
}

static const struct boot_record *boot_once(struct bench *bench)
{
	forget_records(bench);
	assert_null(device_run_block(&bench->context, &bench->request, 1, keep_record, bench));
	assert_int_equal(bench->n_records, 1);
	assert_int_equal(bench->records[0]->id, 7);
	return bench->records[0];
}

static const struct boot_record *boot_with_fault(struct bench *bench, const char *what, int attempt)
{
	bench->fault = (struct sim_fault){ .variant = (char *)"memcg/*", .block = 1, .attempt = attempt, .what = (char *)what };
	bench->profile.sim.faults = &bench->fault;
	bench->profile.sim.n_faults = 1;
	return boot_once(bench);
}

static double reading(const struct boot_record *record, const char *name, int iteration)
{
	for (size_t i = 0; i < record->n_readings; i++) {
		if (!strcmp(record->readings[i].name, name) && record->readings[i].iteration == iteration)
			return record->readings[i].value;
	}
	fail_msg("no reading %s of iteration %d", name, iteration);
	return 0;
}

static void test_ok(void **state)
{
	struct bench *bench = *state;
	const struct nuisance nuisance = { .pad = 39, .region_offset = 2 << 20 };

	bench->request.nuisance = &nuisance;
	const struct boot_record *record = boot_once(bench);
	assert_null(record->reason);
	assert_int_equal(record->status, BOOT_OK);
	assert_string_equal(record->build_id, BUILD_ID);
	assert_string_equal(record->booted_cmdline, "console=sim cgroup_disable=memory memcg_ab.pad=xxxxxxxxxxxxxxxxxxxxxxxxx");
	assert_string_equal(record->memcg, "disabled");
	assert_string_equal(record->cgroup, "none");
	assert_int_equal(strlen(record->boot_id), 36);
	assert_string_equal(jnode_string(record->identity, "counter", ""), "model");
	for (int iteration = -2; iteration < 2; iteration++) {
		assert_true(reading(record, "pft.fault.insn_k", iteration) == 1649.9);
		assert_true(reading(record, "pft.teardown.insn_k", iteration) == 903.3);
	}
	assert_int_equal(record->n_readings, 8);
	assert_true(file_exists(bench->console_path));
	AUTO_STRLIST left = { NULL, 0 };
	assert_null(file_list(bench->dir, &left));
	assert_int_equal(left.n, 2); /* console and locks: nothing of the boot's own */
}

static void test_memcg_states(void **state)
{
	struct bench *bench = *state;

	for (int memcg = MEMCG_NONE; memcg <= MEMCG_ON; memcg++) {
		bench->request.memcg = (enum memcg_state)memcg;
		const struct boot_record *record = boot_once(bench);
		assert_int_equal(record->status, BOOT_OK);
		assert_string_equal(record->memcg, memcg_state_name((enum memcg_state)memcg));
		assert_string_equal(record->cgroup, memcg == MEMCG_ON ? "child-v2" : "none");
	}
	bench->request.memcg = MEMCG_UNKNOWN;
	bench->request.build_id = NULL;
	const struct boot_record *anything = boot_once(bench);
	assert_int_equal(anything->status, BOOT_OK);
	assert_int_equal(strlen(anything->build_id), 40);
}

/* The factor by which an iteration is off its model's number; the same for all of its readings. */
static double factor_of(const struct boot_record *record, const char *label, int iteration)
{
	AUTO_FREE char *fault = xasprintf("%s.fault.insn_k", label);
	AUTO_FREE char *teardown = xasprintf("%s.teardown.insn_k", label);
	double factor = reading(record, fault, iteration) / 1649.9;

	assert_true(fabs(reading(record, teardown, iteration) / 903.3 - factor) < 1e-8);
	return factor;
}

static void test_noise_repeats(void **state)
{
	struct bench *bench = *state;

	bench->profile.exact = false;
	bench->profile.sim.noise = (struct sim_noise){ .seed = 1, .sd_iteration = 0.01 };
	double first = factor_of(boot_once(bench), "pft", 0);
	assert_true(first != 1 && first > 0.9 && first < 1.1);
	assert_true(factor_of(boot_once(bench), "pft", 0) == first);
	assert_true(factor_of(boot_once(bench), "pft", 1) != first);
	assert_true(factor_of(boot_once(bench), "pft", -2) != first);
	bench->request.block = 2;
	assert_true(factor_of(boot_once(bench), "pft", 0) != first);
	bench->request.block = 1;
	bench->request.variant = "memcg/disabled/2#aa";
	assert_true(reading(boot_once(bench), "pft.fault.insn_k", 0) / 1707 != first);
	bench->request.variant = "memcg/disabled/2";
	bench->profile.sim.noise.seed = 2;
	assert_true(factor_of(boot_once(bench), "pft", 0) != first);
	bench->profile.exact = true;
	assert_true(factor_of(boot_once(bench), "pft", 0) == 1);
}

static void test_noise_by_workload(void **state)
{
	struct bench *bench = *state;
	static struct sim_model both[] = {
		{ "*", "pft.fault.insn_k", 1649.9 },
		{ "*", "pft.teardown.insn_k", 903.3 },
		{ "*", "big.fault.insn_k", 1649.9 },
		{ "*", "big.teardown.insn_k", 903.3 },
	};

	bench->profile.exact = false;
	bench->profile.sim = (struct sim_settings){ .models = both,
						    .n_models = ARRAY_SIZE(both),
						    .noise = { .seed = 1, .sd_iteration = 0.01 } };
	bench->request.workloads = WORKLOADS "workload=big\nrun=pft\nsize=1048576\niterations=30\nwarmup=1\n";
	const struct boot_record *record = boot_once(bench);
	assert_null(record->reason);
	assert_int_equal(record->status, BOOT_OK);
	assert_int_equal(record->n_readings, 3 * 4 + 3 * 31);
	assert_true(factor_of(record, "pft", 0) != factor_of(record, "big", 0));
	assert_true(factor_of(record, "big", 29) != factor_of(record, "big", 28));
}

static void test_noise_in_time(void **state)
{
	struct bench *bench = *state;

	bench->profile.exact = false;
	bench->profile.sim.noise = (struct sim_noise){ .seed = 1, .drift = 0.02 };
	bench->request.total = 5;
	assert_true(factor_of(boot_once(bench), "pft", 1) == 1);
	bench->request.ordinal = 4;
	assert_true(fabs(factor_of(boot_once(bench), "pft", 1) - 1.02) < 1e-8);
}

static void test_throttled_boots_say_so(void **state)
{
	struct bench *bench = *state;
	bool throttled = false;

	bench->profile.exact = false;
	bench->profile.sim.noise = (struct sim_noise){ .seed = 1, .throttle_share = 1, .throttle_size = 0.25 };
	const struct boot_record *record = boot_once(bench);
	for (int iteration = -2; iteration < 2; iteration++) {
		bool now = reading(record, "pft.health.throttled", iteration) > 0;
		assert_true(fabs(factor_of(record, "pft", iteration) - (now ? 1.25 : 1)) < 1e-8);
		assert_true(now || !throttled); /* to the end */
		throttled = now;
	}
	assert_true(throttled);
}

/* Times are modelled like any other reading, and the agent reports them. */
static void test_times(void **state)
{
	struct bench *bench = *state;
	static struct sim_model times[] = { { "*", "pft.fault.ns", 500 }, { "*", "pft.teardown.ns", 200 } };

	bench->profile.exact = false;
	bench->profile.sim = (struct sim_settings){ .models = times,
						    .n_models = ARRAY_SIZE(times),
						    .noise = { .seed = 1, .sd_boot = 0.01, .sd_iteration = 0.02 } };
	const struct boot_record *record = boot_once(bench);
	assert_int_equal(record->status, BOOT_OK);
	assert_int_equal(record->n_readings, 3 * 4);
	for (int iteration = -2; iteration < 2; iteration++) {
		double factor = reading(record, "pft.fault.ns", iteration) / 500;
		assert_true(factor > 0.8 && factor < 1.2 && factor != 1);
		assert_true(fabs(reading(record, "pft.teardown.ns", iteration) / 200 - factor) < 1e-7);
	}
	assert_string_equal(record->readings[0].unit, "ns/page");
}

/* A control is its variant once more: with the same true numbers and mishaps, and noise of its own. */
static void test_controls(void **state)
{
	struct bench *bench = *state;

	bench->request.variant = "memcg/disabled/2#aa";
	assert_true(reading(boot_once(bench), "pft.fault.insn_k", 0) == 1649.9);
	models[3].variant = (char *)"memcg/disabled/2#aa";
	assert_true(reading(boot_once(bench), "pft.fault.insn_k", 0) == 1649.9);
	bench->request.variant = "memcg/disabled/2";
	assert_true(reading(boot_once(bench), "pft.fault.insn_k", 0) == 1707);
	models[3].variant = (char *)"memcg/disabled/2";

	bench->profile.exact = false;
	bench->profile.sim.noise.sd_iteration = 0.01;
	double plain = reading(boot_once(bench), "pft.fault.insn_k", 0);
	bench->request.variant = "memcg/disabled/2#aa";
	assert_true(reading(boot_once(bench), "pft.fault.insn_k", 0) != plain);

	bench->profile.retries = 0;
	bench->profile.sim.faults = &bench->fault;
	bench->profile.sim.n_faults = 1;
	bench->fault =
		(struct sim_fault){ .variant = (char *)"memcg/disabled/2", .block = -1, .attempt = -1, .what = (char *)"panic" };
	assert_int_equal(boot_once(bench)->status, BOOT_FAILED);
	bench->fault.variant = (char *)"memcg/disabled/2#layout";
	assert_int_equal(boot_once(bench)->status, BOOT_OK);
}

static void test_bad_consoles(void **state)
{
	struct bench *bench = *state;
	static const char *const faults[] = { "drop-bytes", "split-lines" };

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct boot_record *record = boot_with_fault(bench, faults[i], -1);
		assert_null(record->reason);
		assert_int_equal(record->status, BOOT_OK);
		assert_int_equal(record->n_readings, 8);
		assert_null(jnode_get(record->identity, "attempt.0"));
	}
}

static void check_verdict(struct bench *bench, const char *what, enum boot_status status, const char *reason, size_t n_attempts)
{
	AUTO_FREE char *consoles = path_dirname(bench->console_path);

	assert_null(file_remove_tree(consoles));
	const struct boot_record *record = boot_with_fault(bench, what, -1);
	assert_int_equal(record->status, status);
	assert_string_equal(record->reason, reason);
	assert_int_equal(record->n_readings, 0);
	for (size_t i = 0; i < n_attempts; i++) {
		AUTO_FREE char *key = xasprintf("attempt.%zu", i);
		AUTO_FREE char *aside = xasprintf("%s.attempt%zu", bench->console_path, i);
		bool last = i + 1 == n_attempts;
		assert_int_equal(jnode_get(record->identity, key) != NULL, !last);
		assert_int_equal(file_exists(aside), !last);
	}
}

static void test_bad_kernels(void **state)
{
	struct bench *bench = *state;

	bench->profile.silence_timeout_ms = 1500;
	check_verdict(bench, "panic", BOOT_FAILED, "twice: kernel panic: Attempted to kill init! exitcode=0x0000000b", 2);
	check_verdict(bench, "power-off", BOOT_FAILED,
		      "twice: the kernel powered off before the agent had started, nothing on the console", 2);
	check_verdict(bench, "hang", BOOT_FAILED, "twice: hang: nothing more on the console for 1.5 s", 2);
}

static void test_bad_lab(void **state)
{
	struct bench *bench = *state;

	check_verdict(bench, "die", BOOT_LAB, "3 times: the host agent ended with status 1 and said nothing", 3);
	check_verdict(bench, "no-device", BOOT_LAB, "3 times: no such device (a fault that the profile asks for)", 3);
	bench->profile.retries = 0;
	check_verdict(bench, "die", BOOT_LAB, "the host agent ended with status 1 and said nothing", 1);
}

static void test_replaced_agent(void **state)
{
	struct bench *bench = *state;

	bench->context.agent_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	const struct boot_record *record = boot_once(bench);
	assert_int_equal(record->status, BOOT_LAB);
	assert_non_null(strstr(record->reason, "was replaced while the run went on"));
	assert_non_null(strstr(record->reason, "at the start it was 0123456789abcdef)"));
	assert_int_equal(record->n_readings, 0);
}

static void test_lies(void **state)
{
	struct bench *bench = *state;

	check_verdict(bench, "lie-build-id", BOOT_VOID,
		      "twice: build id is \"ff112233445566778899aabbccddeeff00112233\", expected \"" BUILD_ID "\"", 2);
	check_verdict(bench, "lie-cmdline", BOOT_VOID,
		      "twice: command line is \"console=sim cgroup_disable=memory memcg_ab.lie\", expected \"console=sim "
		      "cgroup_disable=memory\"",
		      2);
	check_verdict(bench, "lie-memcg", BOOT_VOID, "twice: memcg state is \"on\", expected \"disabled\"", 2);
	check_verdict(bench, "lie-boot-id", BOOT_VOID,
		      "twice: boot id is \"00000000-0000-4000-8000-000000000000\", which an earlier boot had, expected a new one",
		      2);
}

static void test_second_try(void **state)
{
	struct bench *bench = *state;
	static const struct {
		const char *what, *outcome;
	} faults[] = {
		{ "panic", "boot-failed: kernel panic: Attempted to kill init! exitcode=0x0000000b" },
		{ "lie-memcg", "void: memcg state is \"on\", expected \"disabled\"" },
		{ "die", "lab: the host agent ended with status 1 and said nothing" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct boot_record *record = boot_with_fault(bench, faults[i].what, 0);
		assert_int_equal(record->status, BOOT_OK);
		assert_null(record->reason);
		assert_int_equal(record->n_readings, 8);
		assert_string_equal(jnode_string(record->identity, "attempt.0", ""), faults[i].outcome);
	}
	AUTO_FREE char *aside = xasprintf("%s.attempt0", bench->console_path);
	assert_true(file_exists(aside));
	assert_true(file_exists(bench->console_path));
}

static void test_block_in_order(void **state)
{
	struct bench *bench = *state;
	struct boot_request requests[3];

	for (unsigned i = 0; i < 3; i++) {
		requests[i] = bench->request;
		requests[i].id = i;
	}
	requests[1].variant = "nomemcg/plain/0";
	requests[1].memcg = MEMCG_NONE;
	assert_null(device_run_block(&bench->context, requests, 3, keep_record, bench));
	assert_int_equal(bench->n_records, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(bench->records[i]->id, i);
		assert_int_equal(bench->records[i]->status, BOOT_OK);
	}
	assert_true(reading(bench->records[1], "pft.fault.insn_k", 0) == 1583.9);
	assert_string_not_equal(bench->records[0]->boot_id, bench->records[2]->boot_id);
}

static void test_interruption(void **state)
{
	struct bench *bench = *state;
	int guard[2];

	assert_int_equal(pipe(guard), 0);
	bench->context.guard = (struct guard){ guard[0] };
	bench->profile.sim.boot_ms = 60000;
	pid_t pid = fork();
	if (pid == 0) {
		close(guard[0]);
		usleep(200000);
		_exit(0);
	}
	close(guard[1]);
	int64_t start = clock_ms();
	AUTO_ERROR error = device_run_block(&bench->context, &bench->request, 1, keep_record, bench);
	assert_int_equal(error_kind(error), ERROR_INTERRUPTED);
	assert_true(clock_ms() - start < 5000);
	assert_int_equal(bench->n_records, 0);
	waitpid(pid, NULL, 0);
	close(guard[0]);
}

static void test_unusable_device(void **state)
{
	struct bench *bench = *state;
	AUTO_FREE char *fine = device_check(&bench->context);
	AUTO_FREE char *version = NULL;

	assert_string_equal(fine, "");
	assert_null(device_version(&bench->context, &version));
	assert_string_equal(version, "sim 1");
	bench->context.agent_host = "/nonexistent/agent";
	AUTO_ERROR error = device_run_block(&bench->context, &bench->request, 1, keep_record, bench);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_string_equal(error_message(error), "device sim cannot be used: there is no host agent at /nonexistent/agent");
}

static void test_waits_for_the_device(void **state)
{
	struct bench *bench = *state;
	int64_t start = clock_ms();
	struct lock *lock = NULL;

	assert_null(file_mkdirs(bench->dir));
	pid_t pid = fork();
	if (pid == 0) {
		if (lock_take(bench->lock_path, "another run", clock_deadline(1000), &lock))
			_exit(1);
		usleep(500000);
		_exit(0);
	}
	while (!file_exists(bench->lock_path))
		usleep(1000);
	usleep(50000);
	assert_int_equal(boot_once(bench)->status, BOOT_OK);
	assert_true(clock_ms() - start >= 400);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ok, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memcg_states, setup, teardown),
		cmocka_unit_test_setup_teardown(test_controls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise_repeats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise_by_workload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_throttled_boots_say_so, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_consoles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_kernels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_lab, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced_agent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_try, setup, teardown),
		cmocka_unit_test_setup_teardown(test_block_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interruption, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unusable_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits_for_the_device, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
