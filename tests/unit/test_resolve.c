/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configs resolved in a real cache by a miniature kernel tree, which has no scripts/kconfig: so the reasons are not known here. */
#include "unit.h"

#include "minikernel.h"

static struct error *resolve(struct mini *mini, const char *options, struct resolved_config **config_out)
{
	const struct config_input input = mini_config_input(mini, options);

	return config_resolve(mini->cache, &input, NO_GUARD, config_out);
}

static void test_resolves_once(void **state)
{
	struct mini *mini = *state;
	struct resolved_config *first = NULL, *again = NULL, *other = NULL;

	mini_import(mini);
	assert_ok(resolve(mini, "CONFIG_MEMCG=n\nCONFIG_CGROUPS=y\nCONFIG_MEMCG=y\n", &first));
	assert_string_equal(first->text,
			    "# miniature kernel configuration\nCONFIG_ALWAYS=y\nCONFIG_CGROUPS=y\n# CONFIG_EXTRA is not set\n"
			    "CONFIG_MEMCG=y\n# CONFIG_MOVES is not set\n");
	assert_int_equal(first->dropped.n, 0);

	/* The second time nothing is run: a config tree that could not configure any more is not noticed. */
	workdir_do(&mini->dir, "rm -r cache/config-trees/*/src");
	assert_ok(resolve(mini, "CONFIG_MEMCG=n\nCONFIG_CGROUPS=y\nCONFIG_MEMCG=y\n", &again));
	assert_string_equal(again->text, first->text);
	assert_string_equal(again->dir, first->dir);
	assert_string_equal(again->sha256, first->sha256);

	assert_ok(resolve(mini, "CONFIG_CGROUPS=y\n", &other));
	assert_string_not_equal(other->dir, first->dir);
	resolved_config_free(first);
	resolved_config_free(again);
	resolved_config_free(other);
}

/* Files that say nothing about configs do not make it resolve again. */
static void test_tree_of_config_files_alone(void **state)
{
	struct mini *mini = *state;
	struct resolved_config *first = NULL, *second = NULL;

	mini_import(mini);
	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n", &first));
	AUTO_FREE char *files = workdir_run(&mini->dir, "cd cache/config-trees/*/src; find . -type f | sort | tr '\\n' ' '");
	assert_string_equal(files, "./Kconfig ./Makefile ./arch/arm64/configs/mini_defconfig ./scripts/config.sh ");
	workdir_do(&mini->dir, "echo 'int third;' >>src/mm/first.c");
	mini_import(mini);
	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n", &second));
	assert_string_equal(first->dir, second->dir);
	resolved_config_free(first);
	resolved_config_free(second);
}

static void test_bases(void **state)
{
	struct mini *mini = *state;
	struct resolved_config *config = NULL;

	mini_import(mini);
	mini->kernel.base_config = (char *)"mini_defconfig";
	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n", &config));
	AUTO_FREE char *cgroups = config_value(config->text, "CGROUPS");
	AUTO_FREE char *memcg = config_value(config->text, "MEMCG");
	assert_string_equal(cgroups, "y");
	assert_string_equal(memcg, "y");
	resolved_config_free(config);
	config = NULL;

	workdir_write(&mini->dir, "base.config", "CONFIG_EXTRA=y\n# CONFIG_MEMCG is not set");
	AUTO_FREE char *base = workdir_path(&mini->dir, "base.config");
	mini->kernel.base_config = base;
	mini->kernel.base_is_target = false;
	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n", &config));
	AUTO_FREE char *extra = config_value(config->text, "EXTRA");
	assert_string_equal(extra, "y");
	resolved_config_free(config);
	config = NULL;

	mini->kernel.base_config = (char *)"/nowhere/base.config";
	assert_error(resolve(mini, "CONFIG_MEMCG=y\n", &config),
		     "matrix.yaml:2:9: error: base_config: cannot open /nowhere/base.config: No such file or directory\n");
	mini->kernel.base_config = (char *)"min_defconfig";
	mini->kernel.base_is_target = true;
	assert_error(resolve(mini, "CONFIG_MEMCG=y\n", &config), "matrix.yaml:2:9: error: base_config: this kernel has no "
								 "'min_defconfig' for arm64 (did you mean 'mini_defconfig'?); "
								 "it has allnoconfig, tinyconfig, defconfig, mini_defconfig\n");
	mini->kernel.arch = (char *)"sparc";
	assert_error(resolve(mini, "CONFIG_MEMCG=y\n", &config),
		     "matrix.yaml:2:9: error: arch: kernels are built for arm64 alone, not for 'sparc'\n");
	assert_null(config);
}

static void test_all_that_does_not_hold_is_said(void **state)
{
	struct mini *mini = *state;
	struct resolved_config *config = NULL;

	mini_import(mini);
	struct error *err =
		resolve(mini, "CONFIG_ALWAYS=n\nCONFIG_MEMCG=y\nCONFIG_NOWHERE=y\n# memcg-ab: optional\nCONFIG_GONE=y\n",
			&config);
	assert_null(config);
	assert_int_equal(error_count(err), 2);
	assert_int_equal(error_exit_status(err), 2);
	assert_string_equal(error_message(err), "ALWAYS=n does not hold, .config has ALWAYS=y: kconfig gives no reason");
	assert_int_equal(error_pos(err).line, 1);
	assert_string_equal(error_message(error_next(err)),
			    "NOWHERE=y does not hold, .config has NOWHERE=n: kconfig gives no reason");
	assert_int_equal(error_pos(error_next(err)).line, 3);
	AUTO_FREE char *text = error_text(err);
	assert_non_null(strstr(text, "note: the reason is not known: make listnewconfig failed: "));
	error_free(err);

	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n# memcg-ab: optional\nCONFIG_GONE=y\n", &config));
	assert_int_equal(config->dropped.n, 1);
	assert_string_equal(config->dropped.items[0], "GONE=y: it is set otherwise");
	resolved_config_free(config);
	/* Also out of the cache. */
	assert_ok(resolve(mini, "CONFIG_MEMCG=y\n# memcg-ab: optional\nCONFIG_GONE=y\n", &config));
	assert_int_equal(config->dropped.n, 1);
	resolved_config_free(config);
}

static void test_make_that_fails(void **state)
{
	struct mini *mini = *state;
	struct resolved_config *config = NULL;

	workdir_do(&mini->dir, "echo 'echo \"Kconfig:3: syntax error\" >&2; exit 1' >src/scripts/config.sh");
	mini_import(mini);
	struct error *err = resolve(mini, "CONFIG_MEMCG=y\n", &config);
	assert_int_equal(error_exit_status(err), 2);
	assert_error(err, "matrix.yaml:2:9: error: make allnoconfig failed: Kconfig:3: syntax error\n");
	workdir_do(&mini->dir, "echo 'echo \"/bin/sh: 1: flex: not found\" >&2; exit 1' >src/scripts/config.sh");
	mini_import(mini);
	err = resolve(mini, "CONFIG_MEMCG=y\n", &config);
	assert_int_equal(error_exit_status(err), 3);
	assert_error(
		err,
		"matrix.yaml:2:9: error: make allnoconfig failed: 'flex' is missing; install it (Debian: apt install flex)\n");
	assert_null(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resolves_once, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_tree_of_config_files_alone, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_bases, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_all_that_does_not_hold_is_said, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_make_that_fails, mini_setup, mini_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
