/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/validity.h"
#include "unit.h"

#include <string.h>

#include "base/file.h"
#include "run/folder.h"

static void the_memcg_state_follows_config_and_command_line(void **state)
{
	static const struct {
		const char *config, *cmdline;
		enum memcg_state want;
	} cases[] = {
		{ "CONFIG_MEMCG=y\n", "", MEMCG_ON },
		{ "# CONFIG_MEMCG is not set\n", "cgroup_disable=memory", MEMCG_NONE },
		{ "CONFIG_MEMCG_SWAP=y\n", "", MEMCG_NONE },
		{ "CONFIG_MEMCG=y\n", "a cgroup_disable=memory b", MEMCG_DISABLED },
		{ "CONFIG_MEMCG=y\n", "cgroup_disable=pressure,memory", MEMCG_DISABLED },
		{ "CONFIG_MEMCG=y\n", "cgroup_disable=memory cgroup_disable=pressure", MEMCG_DISABLED },
		{ "CONFIG_MEMCG=y\n", "cgroup_disable=pressure", MEMCG_ON },
		{ "CONFIG_MEMCG=y\n", "xcgroup_disable=memory cgroup_disable=memory2", MEMCG_ON },
		{ "CONFIG_MEMCG=y\n", "quiet -- cgroup_disable=memory", MEMCG_ON },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(expected_memcg(cases[i].config, NULL, cases[i].cmdline), cases[i].want);
}

static void without_a_config_the_last_request_counts(void **state)
{
	(void)state;
	struct config_request requests[] = { { "MEMCG", "n", false, NO_POS },
					     { "OTHER", "n", false, NO_POS },
					     { "MEMCG", "y", false, NO_POS } };
	const struct fragment fragment = { requests, 3, NULL };

	assert_int_equal(expected_memcg(NULL, &fragment, ""), MEMCG_ON);
	assert_int_equal(expected_memcg(NULL, NULL, ""), MEMCG_NONE);
}

static void everything_that_a_number_depends_on_counts(void **state)
{
	static const struct nuisance padded = { 39, 0, 0 };
	const struct validity_input base = { .image_key = "key",
					     .variant = "v",
					     .cmdline = "cmdline",
					     .profile_digest = "profile",
					     .device_version = "device",
					     .agent_sha256 = "agent",
					     .workloads = "workloads",
					     .memcg = MEMCG_ON };
	struct validity_input changed[10];
	char first[HASH_HEX_SIZE], hex[HASH_HEX_SIZE];
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
		changed[i] = base;
	changed[0].image_key = "key2";
	changed[1].cmdline = "cmdline ";
	changed[2].profile_digest = "profile2";
	changed[3].device_version = "device2";
	changed[4].agent_sha256 = "agent2";
	changed[5].workloads = "workloads2";
	changed[6].nuisance = &padded;
	changed[7].counted_by = "plugin";
	changed[8].selftests = "their key";
	changed[9].payload = "its digest";
	validity_digest(&base, first);
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		validity_digest(&changed[i], hex);
		assert_string_not_equal(hex, first);
	}
	/* The same kernel and command line under another name is the same boot. */
	struct validity_input renamed = base;
	renamed.variant = "w";
	validity_digest(&renamed, hex);
	assert_string_equal(hex, first);
}

static void run_folders_are_found_newest_first(void **state)
{
	(void)state;
	char top[] = "/tmp/memcg-ab-test-folder-XXXXXX";
	assert_non_null(mkdtemp(top));
	AUTO_FREE char *old = NULL;
	AUTO_FREE char *new = NULL;
	AUTO_STRLIST all = { NULL, 0 };

	assert_ok(run_folder_create(top, "m", "aaaa", &old));
	assert_ok(run_folder_create(top, "m", "0000", &new));
	assert_true(strcmp(old, new) < 0);
	assert_null(run_folder_find(top, "m", "aaaa"));
	AUTO_FREE char *old_db = path_join(old, "run.db");
	AUTO_FREE char *new_db = path_join(new, "run.db");
	assert_ok(file_write_atomic(old_db, "", 0, 0600));
	assert_ok(file_write_atomic(new_db, "", 0, 0600));
	AUTO_FREE char *found = run_folder_find(top, "m", "aaaa");
	assert_string_equal(found, old);
	assert_null(run_folder_find(top, "m", "bbbb"));
	run_folders(top, "m", &all);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.items[0], new);
	assert_ok(run_folder_set_latest(old));
	AUTO_FREE char *latest = NULL;
	assert_ok(run_folder_resolve(top, "m", &latest));
	AUTO_FREE char *want =
		xasprintf("memcg-ab: error: 'x' is neither a run folder nor the name of a matrix with runs in %s\n", top);
	AUTO_FREE char *untouched = NULL;
	assert_error(run_folder_resolve(top, "x", &untouched), want);
	assert_null(untouched);
	assert_ok(file_remove_tree(top));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_memcg_state_follows_config_and_command_line),
		cmocka_unit_test(without_a_config_the_last_request_counts),
		cmocka_unit_test(everything_that_a_number_depends_on_counts),
		cmocka_unit_test(run_folders_are_found_newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
