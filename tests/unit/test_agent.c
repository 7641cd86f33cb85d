/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/records.h"
#include "agent_root.h"

#define MAX_RECORDS 600

static const char build_id[] = "000102030405060708090a0b0c0d0e0f10111213";

/* What came out of an agent: every line that is a whole record, in order, and how it ended. */
struct output {
	struct wire_record records[MAX_RECORDS];
	size_t n;
	char *text;
	size_t len;
	int status;
};

static char *machine(void)
{
	unsigned char note[16 + 20] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	char *root = root_new();

	for (unsigned char i = 0; i < 20; i++)
		note[16 + i] = i;
	root_add_bytes(root, "sys/kernel/notes", note, sizeof(note));
	root_add(root, "proc/cmdline", "quiet cgroup_disable=memory\n");
	root_add(root, "proc/sys/kernel/random/boot_id", "6b6e1a4b-0a3c-4d55-9f3d-1d7c6d0f9f6e\n");
	root_add(root, "proc/sys/kernel/osrelease", "5.10.262\n");
	root_add(root, "proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t1\t0\n");
	root_add(root, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	return root;
}

static void read_all(int fd, struct output *output)
{
	size_t cap = 1 << 20;
	ssize_t n;

	output->text = malloc(cap);
	while ((n = read(fd, output->text + output->len, cap - output->len - 1)) > 0)
		output->len += (size_t)n;
	output->text[output->len] = '\0';
}

static void split_lines(struct output *output)
{
	for (const char *line = output->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		assert_in_range(output->n, 0, MAX_RECORDS - 1);
		if (wire_parse(line, (size_t)(end + 1 - line), &output->records[output->n]))
			output->n++;
	}
}

static void start(const char *text, int *fd, pid_t *pid)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fflush(NULL);
	*pid = fork();
	if (!*pid) {
		char *own = strdup(text), reason[200];
		struct conf conf;

		close(ends[0]);
		bool sent = conf_parse(own, &conf, reason, sizeof(reason)) ? agent_run(&conf, ends[1], false)
									   : agent_refuse(reason, ends[1]);

		_exit(sent ? 0 : 1);
	}
	close(ends[1]);
	*fd = ends[0];
}

static struct output *run(const char *text)
{
	struct output *output = calloc(1, sizeof(*output));
	pid_t pid;
	int fd;

	start(text, &fd, &pid);
	read_all(fd, output);
	close(fd);
	assert_int_equal(waitpid(pid, &output->status, 0), pid);
	split_lines(output);
	return output;
}

/* Settings of a run below `root`; the caller frees them. */
static char *settings(const char *root, const char *more)
{
	char *text = malloc(4096);

	snprintf(text, 4096,
		 "version=1\ncounter=model\nroot=%s\nfinish=exit\nfault.seed=7\nmodel.pft.fault.insn_k=1707\n"
		 "model.pft.fault.insn_u=4\nmodel.pft.teardown.insn_k=1001.5\n%sworkload=pft\nrun=pft\nsize=262144\niterations="
		 "2\nwarmup=1\n",
		 root, more);
	return text;
}

static struct output *run_with(const char *root, const char *more)
{
	char *text = settings(root, more);
	struct output *output = run(text);

	free(text);
	return output;
}

static void output_free(struct output *output)
{
	free(output->text);
	free(output);
}

/* The value of the first record of that name; NULL when there is none. */
static const char *value_of(const struct output *output, const char *name)
{
	for (size_t i = 0; i < output->n; i++) {
		if (!strcmp(output->records[i].name, name))
			return output->records[i].value;
	}
	return NULL;
}

static void assert_value(const struct output *output, const char *name, const char *want)
{
	const char *value = value_of(output, name);

	if (!value)
		fail_msg("no record '%s' in:\n%s", name, output->text);
	assert_string_equal(value, want);
}

/* Every number from 0 to END's count has an intact copy. */
static void assert_complete(const struct output *output)
{
	bool seen[MAX_RECORDS] = { false };
	uint32_t count = 0;

	for (size_t i = 0; i < output->n; i++) {
		if (output->records[i].type == WIRE_END)
			count = output->records[i].seq;
		else
			seen[output->records[i].seq] = true;
	}
	assert_in_range(count, 1, MAX_RECORDS);
	for (uint32_t i = 0; i < count; i++)
		assert_true(seen[i]);
}

/* No numbers of cores that are not there; the rest of what it says stays. */
static void refuses_cores(void **state)
{
	char *root = machine();

	(void)state;
	root_add(root, "sys/devices/system/cpu/online", "0-1\n");
	root_add(root, "sys/devices/system/cpu/present", "0-1\n");

	struct output *output = run_with(root, "env.cores=big\n");

	assert_int_equal(output->status, 0);
	assert_complete(output);
	assert_value(output, "agent.environment.error.0", "there are no 'big' cores here: all 0-1");
	assert_value(output, "env.classes", "all 0-1");
	assert_null(value_of(output, "pft.fault.insn_k.0"));
	output_free(output);
	root_free(root);
}

/* Read back after the last workload, and restored before the agent ends. */
static void tells_its_environment(void **state)
{
	char *root = machine(), path[200], text[8] = "";

	(void)state;
	root_add(root, "sys/devices/system/cpu/online", "0-1\n");
	root_add(root, "proc/sys/vm/drop_caches", "0\n");
	root_add(root, "proc/sys/vm/swappiness", "60\n");

	struct output *output = run_with(root, "env.set.0=/proc/sys/vm/swappiness=1\nenv.set.1=/proc/sys/vm/gone=1\n");

	assert_int_equal(output->status, 0);
	assert_value(output, "env.set-0", "1");
	assert_value(output, "env.failed.set-1", "/proc/sys/vm/gone: No such file or directory");
	assert_value(output, "pft.fault.insn_k.0", "1707.000000");
	assert_null(value_of(output, "env.failed.restore"));
	snprintf(path, sizeof(path), "%s/proc/sys/vm/swappiness", root);

	FILE *file = fopen(path, "r");

	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "60");
	output_free(output);
	root_free(root);
}

static void says_who_it_is_and_what_it_measured(void **state)
{
	char *root = machine();
	struct output *output = run_with(root, "expect_memcg=disabled\nregion_offset=2097152\n");

	(void)state;
	assert_int_equal(output->status, 0);
	assert_complete(output);
	assert_value(output, "build_id", build_id);
	assert_value(output, "cmdline", "quiet cgroup_disable=memory");
	assert_value(output, "boot_id", "6b6e1a4b-0a3c-4d55-9f3d-1d7c6d0f9f6e");
	assert_value(output, "release", "5.10.262");
	assert_value(output, "memcg", "disabled");
	assert_value(output, "cgroup.pft", "none");
	assert_value(output, "counter", "model");
	assert_value(output, "expect_memcg", "disabled");
	assert_value(output, "region_offset", "2097152");
	assert_null(value_of(output, "memcg_version"));
	assert_null(value_of(output, "thp"));
	assert_value(output, "pft.fault.insn_k.w0", "1707.000000");
	assert_value(output, "pft.fault.insn_k.1", "1707.000000");
	assert_value(output, "pft.teardown.insn_k.0", "1001.500000");
	assert_null(value_of(output, "pft.fault.insn_k.2"));
	assert_null(value_of(output, "pft.teardown.insn_u.0")); /* no model for it */
	assert_null(value_of(output, "pft.fault.insn.0")); /* derived by the host */
	assert_null(strstr(output->text, ".health.")); /* nothing is known of this machine */
	assert_memory_equal(value_of(output, "checks.pft"), "pages=192 minflt=1", 18);
	/* all of it twice, HELLO also at the start and after the workload */
	assert_int_equal(output->records[0].type, WIRE_HELLO);
	assert_int_equal(output->records[1].type, WIRE_HELLO);
	assert_int_equal(output->n, 2 + 2 * (output->records[output->n - 1].seq + 1));
	output_free(output);
	root_free(root);
}

/* A model may tell of events too; a PMU counts those that are asked for, or says which it has not, and nothing is measured. */
static void tells_of_events_that_are_asked_for(void **state)
{
	char *root = machine(), text[400];
	struct output *told = run_with(root, "model.pft.fault.cycles_k=4000.5\n");

	(void)state;
	assert_complete(told);
	assert_value(told, "pft.fault.cycles_k.w0", "4000.500000");
	assert_null(value_of(told, "pft.teardown.cycles_k.0"));
	assert_null(value_of(told, "events"));
	output_free(told);
	snprintf(text, sizeof(text),
		 "version=1\ncounter=pmu\nevents=dtlb_walks,itlb_walks\nroot=%s\nworkload=pft\nrun=pft\nsize=262144\n", root);

	struct output *refused = run(text);
	const char *reason = value_of(refused, "agent.counter.error.0");

	assert_complete(refused);
	assert_non_null(reason);
	assert_true(strstr(reason, "dtlb_walks: ") || strstr(reason, "perf_event_open of instructions:") ||
		    strstr(reason, "have no PMU in "));
	assert_null(value_of(refused, "pft.fault.insn_k.0"));
	output_free(refused);
	root_free(root);
}

static void reports_what_the_noise_makes_of_it(void **state)
{
	char *root = machine();
	struct output *output = run_with(root, "noise.factor.pft=1.5,0.5,2\nnoise.throttled.pft=0,1,0\n");

	(void)state;
	assert_complete(output);
	assert_value(output, "pft.fault.insn_k.w0", "2560.500000");
	assert_value(output, "pft.fault.insn_u.0", "2.000000");
	assert_value(output, "pft.teardown.insn_k.1", "2003.000000");
	assert_value(output, "pft.health.throttled.w0", "0.000000");
	assert_value(output, "pft.health.throttled.0", "1.000000");
	assert_value(output, "pft.health.throttled.1", "0.000000");
	output_free(output);
	root_free(root);
}

static void reports_health_that_the_machine_offers(void **state)
{
	char *root = machine();
	char text[400];

	(void)state;
	root_add(root, "proc/vmstat", "pswpin 5\npswpout 6\n");
	root_add(root, "sys/class/thermal/thermal_zone3/temp", "36500\n");
	snprintf(text, sizeof(text),
		 "version=1\ncounter=clock\nroot=%s\nworkload=pft\nrun=pft\nsize=262144\niterations=1\nwarmup=1\n", root);

	struct output *output = run(text);
	static const char *const absent[] = { "throttled", "freq_changes", "thp", "frequency", "migrations" };

	assert_complete(output);
	assert_value(output, "pft.health.swapped.w0", "0.000000");
	assert_value(output, "pft.health.swapped.0", "0.000000");
	assert_value(output, "pft.health.temperature.0", "36500.000000");
	assert_value(output, "pft.health.major_faults.0", "0.000000");
	assert_non_null(value_of(output, "pft.health.involuntary_switches.w0"));
	assert_non_null(value_of(output, "pft.health.cpu_share.0"));
	assert_true(strtod(value_of(output, "pft.health.cpu_share.0"), NULL) <= 1);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		char name[80];

		snprintf(name, sizeof(name), "pft.health.%s.0", absent[i]);
		assert_null(value_of(output, name));
	}
	output_free(output);
	root_free(root);
}

static void bad_consoles_lose_nothing(void **state)
{
	static const char *const faults[] = { "fault.drop-bytes=1\n", "fault.split-lines=1\n",
					      "fault.drop-bytes=1\nfault.split-lines=1\n" };
	char *root = machine();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct output *output = run_with(root, faults[i]);

		assert_int_equal(output->status, 0);
		assert_complete(output);
		assert_in_range(output->n, 20, 2 * output->records[output->n - 1].seq); /* some were lost */
		output_free(output);
	}
	root_free(root);
}

static void bad_kernels(void **state)
{
	char *root = machine();
	struct output *output = run_with(root, "fault.power-off=1\n");

	(void)state;
	assert_int_equal(output->len, 0);
	output_free(output);
	output = run_with(root, "fault.panic=1\n");
	assert_non_null(strstr(output->text, "Kernel panic - not syncing: "));
	assert_int_equal(output->n, 0);
	output_free(output);
	output = run_with(root, "fault.die=1\n");
	assert_int_equal(output->n, 5); /* HELLO twice as a sign of life, then three of the first copy */
	assert_int_not_equal(output->text[output->len - 1], '\n');
	assert_true(WIFEXITED(output->status) && WEXITSTATUS(output->status) == 1);
	output_free(output);
	root_free(root);
}

static void hangs_until_the_other_side_goes(void **state)
{
	char *root = machine();
	char *text = settings(root, "fault.hang=1\n");
	char hello[200];
	pid_t pid;
	int fd, status;

	(void)state;
	start(text, &fd, &pid);
	assert_true(read(fd, hello, sizeof(hello)) > 0);
	assert_int_equal(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 200), 0);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(text);
	root_free(root);
}

static void reports_what_failed(void **state)
{
	static const struct {
		const char *text, *name, *reason;
	} cases[] = {
		{ "version=2\n", "agent.conf.error.0", "line 1: 'version' is '2', not 1" },
		{ "version=1\ncounter=clock\nroot=/nowhere\nworkload=w\nrun=pft\n", "w.agent.error.0",
		  "whether memcg is on is unknown: row=unreadable " },
		{ "version=1\ncounter=clock\nroot=/nowhere\nworkload=w\nrun=pft\nsize=1\n", "w.agent.error.0",
		  "size=1 is out of range" },
		{ "version=1\ncounter=model\nroot=/nowhere\nmodel.w.fault.ns=1\nnoise.factor.w=1,1,1\nworkload=w\nrun=pft\n",
		  "w.agent.error.0", "noise.factor.w has 3 numbers for 7 iterations" },
		{ "version=1\ncounter=model\nroot=/nowhere\nmodel.v.fault.ns=1\nworkload=w\nrun=pft\n", "w.agent.error.0",
		  "no model.LABEL.PHASE.UNIT setting is for this workload" },
		{ "version=1\ncounter=none\nroot=/nowhere\nworkload=w\nrun=pft\n", "w.agent.error.0",
		  "it reports nothing but instructions and times, which are not read here" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct output *output = run(cases[i].text);

		assert_complete(output);
		assert_non_null(value_of(output, cases[i].name));
		assert_memory_equal(value_of(output, cases[i].name), cases[i].reason, strlen(cases[i].reason));
		output_free(output);
	}
}

static void a_failed_iteration_fails_all_its_readings(void **state)
{
	char *root = machine();
	char text[400];

	(void)state;
	snprintf(text, sizeof(text),
		 "version=1\ncounter=clock\nroot=%s\nworkload=pft\nrun=pft\nsize=1099511627776\niterations=1\nwarmup=0\n", root);

	struct output *output = run(text);
	unsigned failed = 0;

	assert_complete(output);
	for (size_t i = 0; i < output->n; i++) {
		const struct wire_record *record = &output->records[i];

		if (record->type != WIRE_RESULT)
			continue;
		assert_false(record->pass);
		assert_memory_equal(record->unit, "ns", 2);
		assert_non_null(strstr(record->value, "does not fit into"));
		failed++;
	}
	assert_int_equal(failed, 10); /* fault, teardown, user, system and elapsed, each in two copies */
	output_free(output);
	root_free(root);
}

static void clock_reports_times_alone(void **state)
{
	char *root = machine();
	char text[400];

	(void)state;
	snprintf(text, sizeof(text),
		 "version=1\ncounter=clock\nroot=%s\nworkload=pft\nrun=pft\nsize=262144\niterations=1\nwarmup=0\ncompat=0.12x\n",
		 root);

	struct output *output = run(text);

	assert_complete(output);
	assert_true(strtod(value_of(output, "pft.fault.ns.0"), NULL) > 1);
	assert_true(strtod(value_of(output, "pft.teardown.ns.0"), NULL) > 1);
	assert_null(value_of(output, "pft.fault.insn_k.0"));
	assert_memory_equal(value_of(output, "compat.pft.0"), " Gb Thr CLine", 13);
	output_free(output);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who_it_is_and_what_it_measured),
		cmocka_unit_test(refuses_cores),
		cmocka_unit_test(tells_its_environment),
		cmocka_unit_test(tells_of_events_that_are_asked_for),
		cmocka_unit_test(reports_what_the_noise_makes_of_it),
		cmocka_unit_test(reports_health_that_the_machine_offers),
		cmocka_unit_test(bad_consoles_lose_nothing),
		cmocka_unit_test(bad_kernels),
		cmocka_unit_test(hangs_until_the_other_side_goes),
		cmocka_unit_test(reports_what_failed),
		cmocka_unit_test(a_failed_iteration_fails_all_its_readings),
		cmocka_unit_test(clock_reports_times_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
