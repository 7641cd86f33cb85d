/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment takes its time: a phone that has to cool, and an agent that dies in the middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/conf.h"
#include "agent/node.h"
#include "agent/thermal.h"
#include "agent_phone.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void count_call(void *arg)
{
	++*(int *)arg;
}

static void waits_until_it_is_cool(void **state)
{
	char *root = root_new(), text[200] = "";
	struct thermal hottest;
	int calls = 0, status;

	(void)state;
	root_add(root, "sys/class/thermal/thermal_zone0/temp", "31000\n");
	root_add(root, "sys/class/thermal/thermal_zone0/type", "battery\n");
	root_add(root, "sys/class/thermal/thermal_zone1/temp", "47500\n");
	root_add(root, "sys/class/thermal/thermal_zone1/type", "cpu-big\n");
	root_add(root, "sys/class/thermal/thermal_zone2/temp", "\n");
	assert_true(thermal_read(root, &hottest));
	assert_true(hottest.celsius == 47.5);
	assert_string_equal(hottest.zone, "cpu-big");
	assert_false(thermal_wait(root, 45, 0, count_call, &calls, text, sizeof(text)));
	assert_string_equal(text, "cpu-big is at 47.5 C after 0 s, not below 45 C");
	assert_true(thermal_wait(root, 50, 0, count_call, &calls, text, sizeof(text)));
	assert_string_equal(text, "47.5 C (cpu-big) after 0 s");

	pid_t child = fork();

	if (!child) {
		const struct timespec pause = { .tv_sec = 6 };

		nanosleep(&pause, NULL);
		root_add(root, "sys/class/thermal/thermal_zone1/temp", "44000\n");
		_exit(0);
	}
	assert_true(thermal_wait(root, 45, 60000, count_call, &calls, text, sizeof(text)));
	assert_memory_equal(text, "44.0 C (cpu-big) after ", 23);
	assert_true(calls > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	root_free(root);
}

static void wait_for_file(const char *root, const char *path, const char *want)
{
	const long long deadline = node_clock_ms() + 20000;

	for (bool there = false; !there;) {
		char *text = sysfile_line(root, path);

		there = text && !strcmp(text, want);
		free(text);
		assert_true(node_clock_ms() < deadline);
		node_pause();
	}
}

/* Killed in the middle, in any way: the guardian puts all back. */
static void survives_the_agent(void **state)
{
	static const int signals[] = { SIGTERM, SIGKILL, SIGSEGV, SIGHUP };

	(void)state;
	for (size_t i = 0; i < N(signals); i++) {
		char *root = phone(), text[500];
		int nothing = open("/dev/null", O_WRONLY), status;

		snprintf(text, sizeof(text),
			 "version=1\ncounter=model\nroot=%s\nfinish=exit\nsettle_ms=100000\nenv.governor=performance\n"
			 "env.cores=big\n",
			 root);
		fflush(NULL);

		pid_t agent = fork();

		if (!agent) {
			char reason[100];
			struct conf conf;

			setpgid(0, 0);
			signal(SIGSEGV, SIG_DFL);
			_exit(conf_parse(text, &conf, reason, sizeof(reason)) && agent_run(&conf, nothing, false));
		}
		wait_for_file(root, "/proc/sys/vm/drop_caches", "3");
		check_file(root, "/" CPU "cpu1/online", "0");
		check_file(root, "/" POLICY "4/scaling_governor", "performance");
		/* the whole group, as a shell does that goes away */
		assert_int_equal(kill(-agent, signals[i]), 0);
		assert_int_equal(waitpid(agent, &status, 0), agent);
		assert_true(WIFSIGNALED(status));
		wait_for_file(root, "/" CPU "cpu4/core_ctl/enable", "1");
		check_file(root, "/" CPU "cpu1/online", "1");
		check_file(root, "/" POLICY "4/scaling_governor", "schedutil");
		close(nothing);
		root_free(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_until_it_is_cool),
		cmocka_unit_test(survives_the_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
