/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/hierarchy.h"
#include "agent/memcg.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void decision_table(void **state)
{
	enum fact u = FACT_UNKNOWN, n = FACT_NO, y = FACT_YES;
	const struct {
		struct memcg_facts facts; /* row, v2, probe, v1_optional, built, logged_off */
		const char *want;
	} cases[] = {
		{ { ROW_UNREADABLE, y, y, n, u, u }, "unknown" }, { { ROW_NO_CGROUPS, u, u, n, u, u }, "none" },
		{ { ROW_NO_CGROUPS, y, u, n, u, u }, "unknown" }, { { ROW_DISABLED, n, n, n, u, u }, "disabled" },
		{ { ROW_DISABLED, u, u, n, u, y }, "disabled" },  { { ROW_DISABLED, y, u, n, u, u }, "unknown" },
		{ { ROW_DISABLED, n, y, n, u, u }, "unknown" },	  { { ROW_ENABLED, y, y, n, u, u }, "on" },
		{ { ROW_ENABLED, n, y, n, u, u }, "on" }, /* bound to a v1 hierarchy */
		{ { ROW_ENABLED, u, u, n, u, u }, "on" },	  { { ROW_ENABLED, n, n, n, u, u }, "unknown" },
		{ { ROW_ENABLED, y, y, n, u, y }, "unknown" },	  { { ROW_MISSING, y, y, y, u, u }, "on" }, /* no v1 files */
		{ { ROW_MISSING, y, n, y, u, u }, "unknown" },	  { { ROW_MISSING, n, y, y, u, u }, "unknown" },
		{ { ROW_MISSING, n, n, n, u, u }, "none" },	  { { ROW_MISSING, u, u, n, u, u }, "none" },
		{ { ROW_MISSING, n, n, y, y, u }, "disabled" },	  { { ROW_MISSING, n, n, y, n, u }, "none" },
		{ { ROW_MISSING, n, n, y, u, y }, "disabled" },	  { { ROW_MISSING, n, n, y, u, u }, "unknown" },
		{ { ROW_MISSING, n, n, u, u, u }, "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		if (strcmp(memcg_decide(&cases[i].facts), cases[i].want) != 0)
			fail_msg("case %zu: %s, not %s", i, memcg_decide(&cases[i].facts), cases[i].want);
	}
}

static void releases(void **state)
{
	(void)state;
	assert_int_equal(memcg_v1_is_optional("5.10.262"), FACT_NO);
	assert_int_equal(memcg_v1_is_optional("6.10.0-rc7"), FACT_NO);
	assert_int_equal(memcg_v1_is_optional("6.11.0-rc1-foo"), FACT_YES);
	assert_int_equal(memcg_v1_is_optional("7.0"), FACT_YES);
	assert_int_equal(memcg_v1_is_optional("next"), FACT_UNKNOWN);
}

static void told_by_files(void **state)
{
	static const struct {
		const char *release, *row, *controllers, *symbols, *want, *version;
	} cases[] = {
		{ "5.10.0", "memory\t0\t1\t1\n", "cpu memory\n", NULL, "on", "v2" },
		{ "5.10.0", "memory\t4\t14\t1\n", "cpu\n", NULL, "on", "v1" },
		{ "5.10.0", "memory\t0\t1\t0\n", "cpu\n", NULL, "disabled", "" },
		{ "5.10.0", "", "cpu\n", NULL, "none", "" },
		{ "5.10.0", "memory_not\t0\t1\t1\n", NULL, NULL, "none", "" },
		{ "6.12.1", "", "memory\n", NULL, "on", "v2" },
		{ "6.12.1", "", "cpu\n", NULL, "unknown", "" },
		{ "6.12.1", "", "cpu\n", "0 T handle_mm_fault\n0 T mem_cgroup_from_task\n", "disabled", "" },
		{ "6.12.1", "", "cpu\n", "0 T handle_mm_fault\n", "none", "" },
		{ "6.12.1", "", "cpu\n", "", "unknown", "" },
		{ "5.10.0", NULL, NULL, NULL, "none", "" }, /* no control groups at all */
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		char *root = root_new();
		char cgroups[200];
		struct memcg memcg;

		root_add(root, "proc/cmdline", "quiet\n");
		root_add(root, "proc/sys/kernel/osrelease", cases[i].release);
		snprintf(cgroups, sizeof(cgroups), "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\n%s",
			 cases[i].row ? cases[i].row : "");
		if (cases[i].row)
			root_add(root, "proc/cgroups", cgroups);
		if (cases[i].controllers)
			root_add(root, "sys/fs/cgroup/cgroup.controllers", cases[i].controllers);
		if (cases[i].symbols)
			root_add(root, "proc/kallsyms", cases[i].symbols);
		memcg_examine(root, false, "v2", &memcg);
		if (strcmp(memcg.state, cases[i].want) != 0)
			fail_msg("case %zu: %s, not %s: %s", i, memcg.state, cases[i].want, memcg.raw);
		assert_string_equal(memcg.version, cases[i].version);
		root_free(root);
	}
}

static void without_proc_it_is_unknown(void **state)
{
	char *root = root_new();
	struct memcg memcg;

	(void)state;
	memcg_examine(root, false, "v2", &memcg);
	assert_string_equal(memcg.state, "unknown");
	assert_string_equal(memcg.raw,
			    "row=unreadable v2=unknown probe=unknown v1-optional=unknown built=unknown logged-off=unknown");
	root_free(root);
}

static void tells_the_place(void **state)
{
	static const struct {
		const char *memcg, *version, *where, *place;
	} cases[] = {
		{ "none", "", "auto", "none" },	    { "disabled", "", "child", "none" }, { "disabled", "", "root", "none" },
		{ "on", "v2", "auto", "child-v2" }, { "on", "v1", "child", "child-v1" }, { "on", "v2", "root", "root" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct memcg memcg = { .state = cases[i].memcg, .version = cases[i].version, .told = true };
		const char *place = NULL;
		char reason[100];

		assert_true(memcg_enter(&memcg, cases[i].where, &place, reason, sizeof(reason)));
		assert_string_equal(place, cases[i].place);
		memcg_restore(&memcg);
	}
}

static void does_not_guess_a_place(void **state)
{
	struct memcg unknown = { .state = "unknown", .version = "", .raw = "row=unreadable" };
	struct memcg unmounted = { .state = "on", .version = "v2" };
	const char *place = "untouched";
	char reason[100];

	(void)state;
	assert_false(memcg_enter(&unknown, "auto", &place, reason, sizeof(reason)));
	assert_string_equal(reason, "whether memcg is on is unknown: row=unreadable");
	assert_false(memcg_enter(&unmounted, "auto", &place, reason, sizeof(reason)));
	assert_string_equal(reason, "memcg is on but its hierarchy is not mounted");
	assert_string_equal(place, "untouched");
}

static void words(void **state)
{
	(void)state;
	assert_true(hierarchy_has_word("cpu memory io", "memory"));
	assert_true(hierarchy_has_word("rw,relatime,memory", "memory"));
	assert_true(hierarchy_has_word("memory\n", "memory"));
	assert_false(hierarchy_has_word("rw,nomemory,memory_x", "memory"));
	assert_false(hierarchy_has_word("", "memory"));
}

static void finds_its_own_group(void **state)
{
	char group[PATH_MAX] = "x";

	(void)state;
	if (hierarchy_self("v2", group))
		assert_int_equal(group[0], '/');
	else
		assert_string_equal(group, "");
}

/* A folder in place of a hierarchy: what is made there, and what the messages say. */
static void makes_and_removes_a_group(void **state)
{
	char *root = root_new();
	char path[PATH_MAX], reason[200], bad[PATH_MAX];
	bool gave = false;

	(void)state;
	snprintf(path, sizeof(path), "%s/memcg-ab", root);
	assert_true(hierarchy_make_group(root, reason, sizeof(reason)));
	assert_int_equal(access(path, F_OK), 0);
	assert_false(hierarchy_move_self(root, "/memcg-ab", reason, sizeof(reason)));
	assert_string_equal(reason, "cannot enter group /memcg-ab: No such file or directory");
	hierarchy_remove_group(root);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(hierarchy_probe(root, false, &gave), FACT_NO);
	assert_false(gave);
	assert_int_equal(access(path, F_OK), -1);
	root_add(root, "cgroup.subtree_control", "cpu\n");
	assert_int_equal(hierarchy_probe(root, true, &gave), FACT_NO);
	assert_true(gave);
	snprintf(bad, sizeof(bad), "%s/none", root);
	assert_int_equal(hierarchy_probe(bad, false, &gave), FACT_UNKNOWN);
	assert_false(hierarchy_make_group("/nowhere", reason, sizeof(reason)));
	assert_string_equal(reason, "cannot make group memcg-ab in /nowhere: No such file or directory");
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decision_table),
		cmocka_unit_test(releases),
		cmocka_unit_test(told_by_files),
		cmocka_unit_test(without_proc_it_is_unknown),
		cmocka_unit_test(tells_the_place),
		cmocka_unit_test(does_not_guess_a_place),
		cmocka_unit_test(words),
		cmocka_unit_test(finds_its_own_group),
		cmocka_unit_test(makes_and_removes_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
