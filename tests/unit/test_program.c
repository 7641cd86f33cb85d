/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of workloads: their lines, how they end, the deadline, and that nothing of them is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/program.h"

struct seen {
	char lines[512];
	pid_t pid;
	bool refuse;
};

static void take_line(void *arg, const char *line)
{
	struct seen *seen = arg;
	size_t len = strlen(seen->lines);

	snprintf(seen->lines + len, sizeof(seen->lines) - len, "[%s]", line);
}

static bool started(void *arg, pid_t pid)
{
	struct seen *seen = arg;

	seen->pid = pid;
	return !seen->refuse;
}

static const char *const env[] = { "PATH=/usr/bin:/bin", "WORD=fish", NULL };

static void run(const char *script, unsigned deadline_ms, struct seen *seen, struct program_end *end)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct program program = { .argv = argv,
					 .env = env,
					 .dir = "/tmp",
					 .deadline_ms = deadline_ms,
					 .line = take_line,
					 .started = started,
					 .arg = seen };

	program_run(&program, end);
}

static void lines_come_in_order(void **state)
{
	struct seen seen = { .lines = "" };
	struct program_end end;

	(void)state;
	run("pwd; echo $WORD >&2; printf 'no newline'; exit 3", 10000, &seen, &end);
	assert_true(end.started);
	assert_false(end.timed_out);
	assert_int_equal(WEXITSTATUS(end.status), 3);
	assert_string_equal(seen.lines, "[/tmp][fish][no newline]");
	assert_string_equal(end.tail, "/tmp\nfish\nno newline\n");
}

static void the_end_is_kept_of_much(void **state)
{
	struct seen seen = { .lines = "" };
	struct program_end end;

	(void)state;
	run("i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done", 20000, &seen, &end);
	assert_int_equal(end.status, 0);
	assert_true(strlen(end.tail) <= PROGRAM_TAIL);
	assert_true(strlen(end.tail) > PROGRAM_TAIL - 20);
	assert_int_equal(strncmp(end.tail, "line ", 5), 0);
	assert_non_null(strstr(end.tail, "\nline 499\n"));
}

static void one_that_hangs_is_ended_with_its_children(void **state)
{
	struct seen seen = { .lines = "" };
	struct program_end end;
	const struct program program = { .deadline_ms = 300 };
	char text[64];

	(void)state;
	run("sleep 1000 & echo here; sleep 1000", 300, &seen, &end);
	assert_true(end.timed_out);
	assert_string_equal(seen.lines, "[here]");
	program_tell(&program, &end, text, sizeof(text));
	assert_string_equal(text, "no end within 0.3 s");
	/* Nobody is left in its process group, once init has taken what is dead. */
	for (int i = 0; i < 100 && !kill(-seen.pid, 0); i++)
		usleep(20000);
	assert_int_equal(kill(-seen.pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void what_is_left_behind_does_not_hold_it_up(void **state)
{
	struct seen seen = { .lines = "" };
	struct program_end end;

	(void)state;
	run("sleep 1000 & echo done", 60000, &seen, &end);
	assert_false(end.timed_out);
	assert_int_equal(end.status, 0);
	assert_string_equal(seen.lines, "[done]");
}

static void signals_are_told(void **state)
{
	const struct program program = { .deadline_ms = 1 };
	struct seen seen = { .lines = "" };
	struct program_end end;
	char text[64];

	(void)state;
	run("kill -9 $$", 10000, &seen, &end);
	program_tell(&program, &end, text, sizeof(text));
	assert_string_equal(text, "signal 9");
}

static void what_is_not_there_says_so(void **state)
{
	static const char *const argv[] = { "/nonexistent/program", NULL };
	struct program program = { .argv = argv, .env = env, .dir = "/", .deadline_ms = 5000 };
	struct program_end end;

	(void)state;
	program_run(&program, &end);
	assert_int_equal(WEXITSTATUS(end.status), 127);
	assert_string_equal(end.tail, "cannot run /nonexistent/program: No such file or directory\n");
	program.dir = "/nonexistent";
	program_run(&program, &end);
	assert_string_equal(end.tail, "cannot be in folder /nonexistent: No such file or directory\n");
}

static void one_that_is_refused_does_nothing(void **state)
{
	struct seen seen = { .lines = "", .refuse = true };
	struct program_end end;

	(void)state;
	run("echo never", 10000, &seen, &end);
	assert_false(end.started);
	assert_string_equal(seen.lines, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_order),
		cmocka_unit_test(the_end_is_kept_of_much),
		cmocka_unit_test(one_that_hangs_is_ended_with_its_children),
		cmocka_unit_test(what_is_left_behind_does_not_hold_it_up),
		cmocka_unit_test(signals_are_told),
		cmocka_unit_test(what_is_not_there_says_so),
		cmocka_unit_test(one_that_is_refused_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
