/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is changed is put back, by a guardian too, and what commands do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/command.h"
#include "agent/node.h"
#include "agent/services.h"
#include "agent/sysfile.h"
#include "agent/undo.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void check_file(const char *root, const char *path, const char *want)
{
	char *text = sysfile_line(root, path);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void change(struct undo *undo, const char *root, const char *path, const char *before, const char *value)
{
	char full[200];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_true(undo_note(undo, UNDO_FILE, full, before));
	assert_true(sysfile_write(full, value));
}

static void puts_back(void **state)
{
	char *root = root_new(), reason[200] = "untouched", failures[UNDO_TEXT_MAX], gone[200], want[300];

	(void)state;
	for (int guarded = 0; guarded < 2; guarded++) {
		struct undo undo;

		root_add(root, "a", "1");
		root_add(root, "b", "x");
		root_add(root, "gone", "1");
		assert_true(undo_open(&undo, SERVICES_NONE, guarded, reason, sizeof(reason)));
		change(&undo, root, "/a", "1", "22");
		change(&undo, root, "/a", "22", "333");
		change(&undo, root, "/b", "x", "y");
		change(&undo, root, "/gone", "1", "2");
		snprintf(gone, sizeof(gone), "%s/gone", root);
		snprintf(want, sizeof(want), "%s: No such file or directory", gone);
		assert_int_equal(unlink(gone), 0);
		undo_close(&undo, failures, sizeof(failures));
		assert_string_equal(failures, want);
		check_file(root, "/a", "1");
		check_file(root, "/b", "x");
		undo_close(&undo, failures, sizeof(failures));
		assert_string_equal(failures, "");
	}
	assert_string_equal(reason, "untouched");
	root_free(root);
}

static void forgets_and_fills_up(void **state)
{
	char *root = root_new(), reason[200], failures[UNDO_TEXT_MAX], path[200], value[UNDO_VALUE_MAX + 1];
	struct undo undo;

	(void)state;
	root_add(root, "a", "now");
	snprintf(path, sizeof(path), "%s/a", root);
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_true(undo_open(&undo, SERVICES_NONE, false, reason, sizeof(reason)));
	assert_false(undo_note(&undo, UNDO_FILE, path, value));
	assert_true(undo_note(&undo, UNDO_FILE, path, "before"));
	undo_forget(&undo);
	undo_close(&undo, failures, sizeof(failures));
	check_file(root, "/a", "now");
	assert_true(undo_open(&undo, SERVICES_NONE, false, reason, sizeof(reason)));
	for (int i = 0; i < UNDO_MAX; i++)
		assert_true(undo_note(&undo, UNDO_FILE, path, "before"));
	assert_false(undo_note(&undo, UNDO_FILE, path, "before"));
	undo_close(&undo, failures, sizeof(failures));
	check_file(root, "/a", "before");
	root_free(root);
}

static void make_program(const char *dir, const char *name, const char *script)
{
	char path[200];

	root_add(dir, name, script);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(chmod(path, 0755), 0);
}

static void runs_commands(void **state)
{
	char *root = root_new(), said[64];
	char program[128];
	const char *argv[] = { program, "two words", NULL };
	long long before;

	(void)state;
	make_program(root, "say", "#!/bin/sh\ncat\necho \"[$1]\"\necho two >&2\necho\n");
	make_program(root, "fail", "#!/bin/sh\nexit 3\n");
	make_program(root, "loud", "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n");
	make_program(root, "slow", "#!/bin/sh\nsleep 100 &\nwait\n");
	snprintf(program, sizeof(program), "%s/say", root);
	assert_true(command_run(argv, 20000, said, sizeof(said)));
	assert_string_equal(said, "[two words]\ntwo");
	snprintf(program, sizeof(program), "%s/fail", root);
	assert_false(command_run(argv, 20000, said, sizeof(said)));
	assert_non_null(strstr(said, "/fail failed, wait st"));
	snprintf(program, sizeof(program), "%s/loud", root);
	assert_true(command_run(argv, 20000, said, sizeof(said)));
	assert_int_equal(strlen(said), sizeof(said) - 1);
	snprintf(program, sizeof(program), "%s/slow", root);
	before = node_clock_ms();
	assert_false(command_run(argv, 300, said, sizeof(said)));
	assert_in_range(node_clock_ms() - before, 300, 20000);
	snprintf(program, sizeof(program), "/nowhere/x");
	assert_false(command_run(argv, 20000, said, sizeof(said)));
	assert_string_equal(said, "cannot run /nowhere/x: No such file or directory");
	root_free(root);
}

/* Android's init as far as we talk to it: each property a file in props/. */
static void add_android(const char *root)
{
	char script[600];

	root_add(root, "dev/socket/property_service", "");
	snprintf(script, sizeof(script), "#!/bin/sh\ncat %s/props/$1 2>/dev/null\nexit 0\n", root);
	make_program(root, "bin/getprop", script);
	snprintf(script, sizeof(script),
		 "#!/bin/sh\necho \"$1=$2\" >>%s/calls\ncase $1 in\nro.*) echo \"Failed to set property '$1' to '$2'.\"; exit "
		 "1;;\n"
		 "ctl.stop) [ $2 = stubborn ] || echo stopped >%s/props/init.svc.$2;;\nctl.start) echo running "
		 ">%s/props/init.svc.$2;;\n*) echo $2 >%s/props/$1;;\nesac\n",
		 root, root, root, root);
	make_program(root, "bin/setprop", script);
	root_add(root, "props/init.svc.perfd", "running\n");
	root_add(root, "props/init.svc.thermal", "stopped\n");
	root_add(root, "props/vendor.x", "1\n");
}

static void add_systemd(const char *root)
{
	char script[600];

	root_add(root, "run/systemd/system/x", "");
	snprintf(script, sizeof(script),
		 "#!/bin/sh\necho \"$*\" >>%s/calls\ncase $1 in\nshow) [ -e %s/units/$3 ] || { echo LoadState=not-found; echo "
		 "ActiveState=inactive; exit 0; }\n echo LoadState=loaded; cat %s/units/$3;;\n"
		 "start) echo ActiveState=active >%s/units/$2;;\nstop) [ $2 = bad ] && { echo 'Job failed.'; exit 1; }; echo "
		 "ActiveState=inactive >%s/units/$2;;\nesac\n",
		 root, root, root, root, root);
	make_program(root, "bin/systemctl", script);
	root_add(root, "units/irqbalance", "ActiveState=active\n");
	root_add(root, "units/bad", "ActiveState=active\n");
}

static void use_programs_of(const char *root)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", root);
	setenv("PATH", path, 1);
}

static void check_state(enum service_manager manager, const char *name, const char *want)
{
	char said[100];

	assert_true(services_state(manager, name, said, sizeof(said)));
	assert_string_equal(said, want);
}

static void android(void **state)
{
	char *root = root_new(), said[100] = "", reason[100] = "", failures[UNDO_TEXT_MAX];
	struct undo undo;

	(void)state;
	assert_int_equal(services_manager(root), SERVICES_NONE);
	add_android(root);
	use_programs_of(root);
	assert_int_equal(services_manager(root), SERVICES_ANDROID);
	check_state(SERVICES_ANDROID, "perfd", "running");
	check_state(SERVICES_ANDROID, "thermal", "stopped");
	check_state(SERVICES_ANDROID, "nobody", "not there");
	assert_true(undo_open(&undo, SERVICES_ANDROID, true, reason, sizeof(reason)));
	assert_true(undo_note(&undo, UNDO_SERVICE, "perfd", ""));
	assert_true(services_stop(SERVICES_ANDROID, "perfd", reason, sizeof(reason)));
	check_state(SERVICES_ANDROID, "perfd", "stopped");
	assert_true(undo_note(&undo, UNDO_PROPERTY, "vendor.x", "1"));
	assert_true(property_set("vendor.x", "0", reason, sizeof(reason)));
	assert_true(property_get("vendor.x", said, sizeof(said)));
	assert_string_equal(said, "0");
	assert_false(property_set("ro.x", "0", reason, sizeof(reason)));
	assert_string_equal(reason, "Failed to set property 'ro.x' to '0'.");
	undo_close(&undo, failures, sizeof(failures));
	assert_string_equal(failures, "");
	check_file(root, "/calls", "ctl.stop=perfd\nvendor.x=0\nro.x=0\nvendor.x=1\nctl.start=perfd");
	check_state(SERVICES_ANDROID, "perfd", "running");
	root_free(root);
}

static void systemd(void **state)
{
	char *root = root_new(), reason[100] = "";

	(void)state;
	add_systemd(root);
	use_programs_of(root);
	assert_int_equal(services_manager(root), SERVICES_SYSTEMD);
	check_state(SERVICES_SYSTEMD, "irqbalance", "running");
	check_state(SERVICES_SYSTEMD, "nobody", "not there");
	assert_true(services_stop(SERVICES_SYSTEMD, "irqbalance", reason, sizeof(reason)));
	check_state(SERVICES_SYSTEMD, "irqbalance", "stopped");
	assert_false(services_stop(SERVICES_SYSTEMD, "bad", reason, sizeof(reason)));
	assert_string_equal(reason, "Job failed.");
	assert_true(services_start(SERVICES_SYSTEMD, "irqbalance", reason, sizeof(reason)));
	check_state(SERVICES_SYSTEMD, "irqbalance", "running");
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_back),	 cmocka_unit_test(forgets_and_fills_up),
		cmocka_unit_test(runs_commands), cmocka_unit_test(android),
		cmocka_unit_test(systemd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
