/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/proc.h"
#include "base/worker.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

static struct proc_spec shell(const char *const argv[4])
{
	return (struct proc_spec){ .argv = argv, .deadline_ms = clock_deadline(10000), .guard = NO_GUARD };
}

#define SHELL(text) ((const char *const[]){ "sh", "-c", text, NULL })

static void outputs_and_status_come_back(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;
	AUTO_STRBUF err = STRBUF_INIT;
	struct proc_spec spec = shell(SHELL("echo out $X; echo err >&2; pwd; exit 3"));
	struct proc_result result;

	spec.out = &out;
	spec.err = &err;
	spec.cwd = "/";
	spec.env = (const char *const[]){ "X=1", NULL };
	assert_ok(proc_run(&spec, &result));
	assert_string_equal(strbuf_str(&out), "out 1\n/\n");
	assert_string_equal(strbuf_str(&err), "err\n");
	assert_int_equal(result.exit_status, 3);
	assert_false(result.timed_out);
}

static void both_outputs_in_order(void **state)
{
	(void)state;
	AUTO_STRBUF both = STRBUF_INIT;
	struct proc_spec spec = shell(SHELL("echo 1; echo 2 >&2; echo 3"));
	struct proc_result result;

	spec.out = spec.err = &both;
	assert_ok(proc_run(&spec, &result));
	assert_string_equal(strbuf_str(&both), "1\n2\n3\n");
}

static void large_output_is_not_cut(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;
	struct proc_spec spec = shell(SHELL("head -c 3000000 /dev/zero"));
	struct proc_result result;

	spec.out = &out;
	assert_ok(proc_run(&spec, &result));
	assert_int_equal(out.len, 3000000);
}

static bool group_is_gone(pid_t pid)
{
	for (int i = 0; i < 100; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		poll(NULL, 0, 20);
	}
	return false;
}

static void a_deadline_kills_the_whole_group(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;
	struct proc_spec spec = shell(SHELL("sleep 100 & echo $!; wait"));
	struct proc_result result;

	spec.out = &out;
	spec.deadline_ms = clock_deadline(300);
	assert_ok(proc_run(&spec, &result));
	assert_true(result.timed_out);
	assert_true(group_is_gone((pid_t)atoi(strbuf_str(&out))));
}

static void a_process_left_behind_does_not_hold_us(void **state)
{
	(void)state;
	AUTO_STRBUF out = STRBUF_INIT;
	struct proc_spec spec = shell(SHELL("sleep 100 & echo $!"));
	struct proc_result result;
	int64_t start = clock_ms();

	spec.out = &out;
	assert_ok(proc_run(&spec, &result));
	assert_int_equal(result.exit_status, 0);
	assert_true(clock_ms() - start < 5000);
	assert_true(group_is_gone((pid_t)atoi(strbuf_str(&out))));
}

static void failures_are_told_in_words(void **state)
{
	(void)state;
	struct proc_spec missing = shell((const char *const[]){ "no-such-program-of-ours", NULL, NULL, NULL });
	struct proc_spec failing = shell(SHELL("echo first >&2; echo last >&2; exit 2"));
	struct proc_spec killed = shell(SHELL("kill -9 $$"));
	struct proc_result result = { .exit_status = 77 };

	assert_error(proc_run(&missing, &result), "memcg-ab: error: cannot run no-such-program-of-ours: no such program\n");
	assert_int_equal(result.exit_status, 77);
	assert_error(proc_run_ok(&failing, ERROR_KERNEL, NULL), "memcg-ab: error: sh failed with exit status 2: last\n");
	assert_error(proc_run_ok(&killed, ERROR_LAB, NULL), "memcg-ab: error: sh was killed by signal 9 (Killed)\n");
}

static void a_guard_interrupts(void **state)
{
	(void)state;
	int ends[2];
	struct proc_spec spec = shell(SHELL("sleep 100"));
	struct proc_result result;

	assert_int_equal(pipe(ends), 0);
	spec.guard.fd = ends[0];
	close(ends[1]);
	struct error *error = proc_run(&spec, &result);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_INTERRUPTED);
	error_free(error);
	close(ends[0]);
}

static struct error *count_to(struct worker_self *self, void *arg)
{
	for (int i = 0; i < *(int *)arg; i++) {
		AUTO_JNODE record = jnode_object();
		jnode_set_int(record, "i", i);
		struct error *error = worker_send(self, record);
		if (error)
			return error;
	}
	return error_new(ERROR_KERNEL, "counted to %d", *(int *)arg);
}

/* Waits for the worker's end; returns the number of records, the last error record in *error_out. */
static int drain(struct worker *worker, struct error **error_out)
{
	int n = 0;

	for (bool ended = false; !ended;) {
		struct pollfd pfd = { .fd = worker_fd(worker), .events = POLLIN };
		assert_true(poll(&pfd, 1, 10000) > 0);
		struct jnode *record = NULL;
		struct error *died = worker_receive(worker, &record, &ended);
		if (died) {
			*error_out = died;
			return n;
		}
		if (record && !strcmp(jnode_string(record, "type", ""), "error"))
			*error_out = worker_record_error(record);
		else if (record && jnode_get(record, "i"))
			assert_int_equal(jnode_int(record, "i", -1), n++);
		jnode_free(record);
	}
	return n;
}

static void records_and_the_final_error_arrive(void **state)
{
	(void)state;
	struct worker *worker = NULL;
	struct error *error = NULL;
	int n = 20000;

	assert_ok(worker_start("counter", count_to, &n, &worker));
	assert_int_equal(drain(worker, &error), n);
	assert_int_equal(error_kind(error), ERROR_KERNEL);
	assert_error(error, "memcg-ab: error: counted to 20000\n");
	worker_stop(worker, 1000);
}

static struct error *kill_yourself(struct worker_self *self, void *arg)
{
	(void)self;
	(void)arg;
	raise(SIGKILL);
	return NULL;
}

static void a_killed_worker_is_an_error(void **state)
{
	(void)state;
	struct worker *worker = NULL;
	struct error *error = NULL;

	assert_ok(worker_start("suicide", kill_yourself, NULL, &worker));
	drain(worker, &error);
	assert_error(error, "memcg-ab: error: worker suicide was killed by signal 9 (Killed)\n");
	worker_stop(worker, 1000);
}

static struct error *run_sleep(struct worker_self *self, void *arg)
{
	(void)arg;
	AUTO_JNODE record = jnode_object();
	struct proc_start start = { .argv = (const char *const[]){ "sleep", "100", NULL } };
	struct proc *proc = NULL;
	struct error *error = proc_start(&start, &proc);
	if (error)
		return error;
	jnode_set_int(record, "pid", proc_pid(proc));
	error = worker_send(self, record);
	bool ended = false;
	struct proc_result result;
	if (!error)
		error = proc_wait(proc, clock_deadline(60000), self->guard, &ended, &result);
	proc_stop(proc, 1000);
	return error;
}

static pid_t child_of(struct worker *worker)
{
	struct pollfd pfd = { .fd = worker_fd(worker), .events = POLLIN };
	struct jnode *record = NULL;
	bool ended = false;

	assert_true(poll(&pfd, 1, 10000) > 0);
	assert_ok(worker_receive(worker, &record, &ended));
	pid_t pid = (pid_t)jnode_int(record, "pid", 0);
	jnode_free(record);
	assert_true(pid > 0);
	return pid;
}

static void stopping_a_worker_stops_its_children(void **state)
{
	(void)state;
	struct worker *worker = NULL;

	assert_ok(worker_start("sleeper", run_sleep, NULL, &worker));
	pid_t child = child_of(worker);
	worker_stop(worker, 5000);
	assert_true(group_is_gone(child));
}

/* kill -9 of the tool alone: its worker sees the pipe close, kills its child and ends. */
static void a_killed_parent_takes_all_with_it(void **state)
{
	(void)state;
	int report[2];

	assert_int_equal(pipe(report), 0);
	pid_t tool = fork();
	if (!tool) {
		struct worker *worker = NULL;
		if (worker_start("sleeper", run_sleep, NULL, &worker))
			_exit(1);
		pid_t child = child_of(worker);
		if (write(report[1], &child, sizeof(child)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	pid_t child = 0;
	assert_int_equal(read(report[0], &child, sizeof(child)), sizeof(child));
	kill(tool, SIGKILL);
	waitpid(tool, NULL, 0);
	assert_true(group_is_gone(child));
	close(report[0]);
	close(report[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_and_status_come_back),
		cmocka_unit_test(both_outputs_in_order),
		cmocka_unit_test(large_output_is_not_cut),
		cmocka_unit_test(a_deadline_kills_the_whole_group),
		cmocka_unit_test(a_process_left_behind_does_not_hold_us),
		cmocka_unit_test(failures_are_told_in_words),
		cmocka_unit_test(a_guard_interrupts),
		cmocka_unit_test(records_and_the_final_error_arrive),
		cmocka_unit_test(a_killed_worker_is_an_error),
		cmocka_unit_test(stopping_a_worker_stops_its_children),
		cmocka_unit_test(a_killed_parent_takes_all_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
