/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the kernel's own configuration targets in a config tree. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kernel/build_log.h"
#include "kernel/config_parts.h"
#include "kernel/kmake.h"

#define CONFIG_TIMEOUT_MS (20 * 60 * 1000)
#define CONFIG_JOBS 2

bool config_tree_wants(const char *path)
{
	const char *name = path_basename(path);

	if (strstr(name, "Kconfig") || str_starts(path, "scripts/") || str_starts(path, "kernel/configs/"))
		return true;
	if (!strchr(path, '/'))
		return str_starts(name, "Makefile") || !strcmp(name, "Kbuild") || str_starts(name, "localversion");
	if (!str_starts(path, "arch/"))
		return false;
	/* arch/X/Makefile*; and the defconfigs and the scripts that an architecture's Kconfig runs. */
	const char *below = strchr(path + strlen("arch/"), '/');
	return below && (str_starts(below, "/Makefile") || str_starts(below, "/configs/") || str_starts(below, "/tools/") ||
			 str_starts(below, "/scripts/"));
}

struct error *config_run_make(const struct config_tree *tree, const char *target, const char *const *env, struct pos pos)
{
	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRLIST settings = { NULL, 0 };
	AUTO_STRBUF log = STRBUF_INIT;

	kmake_command(tree->src, tree->obj, tree->arch, tree->toolchain, CONFIG_JOBS, &argv);
	strlist_add(&argv, "-s");
	strlist_add(&argv, target);
	kmake_isolate(&settings);
	kmake_settings(tree->src, tree->obj, &settings);
	for (; env && *env; env++)
		strlist_add(&settings, *env);

	AUTO_FREE const char **argv_vector = strlist_vector(&argv);
	AUTO_FREE const char **env_vector = strlist_vector(&settings);
	const struct proc_spec spec = { .argv = argv_vector,
					.env = env_vector,
					.out = &log,
					.err = &log,
					.deadline_ms = clock_deadline(CONFIG_TIMEOUT_MS),
					.guard = tree->guard };
	struct proc_result result;
	struct error *err = proc_run(&spec, &result);
	if (err)
		return err;
	if (result.timed_out)
		return error_place(error_new(ERROR_LAB, "make %s did not end within %d minutes", target,
					     CONFIG_TIMEOUT_MS / 60000),
				   pos);
	if (!result.exit_status)
		return NULL;
	AUTO_FREE char *lab_fault = build_log_lab_fault(strbuf_str(&log));
	if (lab_fault)
		return error_place(error_new(ERROR_LAB, "make %s failed: %s", target, lab_fault), pos);
	AUTO_FREE char *line = build_log_first_error(strbuf_str(&log), tree->src);
	return error_at(pos, "make %s failed: %s", target, line);
}

static struct error *unknown_target(const struct config_tree *tree, const struct kernel *kernel)
{
	AUTO_FREE char *relative = xasprintf("arch/%s/configs", tree->arch);
	AUTO_FREE char *dir = path_join(tree->src, relative);
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_STRBUF shown = STRBUF_INIT;
	size_t n = 0;

	if (file_is_dir(dir)) {
		struct error *err = file_list(dir, &names);
		if (err)
			return err;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(names.items[i], "_defconfig"))
			continue;
		if (n++ < 8)
			strbuf_addf(&shown, ", %s", names.items[i]);
	}
	static const char *const always[] = { "defconfig", "allnoconfig", "tinyconfig" };
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		strlist_add(&names, always[i]);
	const char *suggestion = str_suggest(kernel->base_config, (const char *const *)names.items, names.n);
	AUTO_FREE char *hint = suggestion ? xasprintf(" (did you mean '%s'?)", suggestion) : xstrdup("");
	return error_at(kernel->pos,
			"base_config: this kernel has no '%s' for %s%s; it has allnoconfig, tinyconfig, defconfig%s%s",
			kernel->base_config, tree->arch, hint, strbuf_str(&shown), n > 8 ? ", ..." : "");
}

static bool has_target(const struct config_tree *tree, const char *target)
{
	if (!strcmp(target, "defconfig") || !strcmp(target, "alldefconfig"))
		return true;
	AUTO_FREE char *relative = xasprintf("arch/%s/configs/%s", tree->arch, target);
	AUTO_FREE char *path = path_join(tree->src, relative);
	return file_is_regular(path);
}

static struct error *append_file(const char *dir, const char *relative, bool required, struct strbuf *out)
{
	AUTO_FREE char *path = path_join(dir, relative);
	if (!required && !file_exists(path))
		return NULL;
	struct error *err = file_read(path, out);
	if (!err)
		strbuf_addch(out, '\n');
	return err;
}

/*
 * What tinyconfig adds to allnoconfig. `make tinyconfig` itself gives these files the last word (and since 6.x takes KCONFIG_ALLCONFIG
 * for itself), so they are laid below the requests and given to allnoconfig instead.
 */
static struct error *append_tiny_options(const struct config_tree *tree, struct strbuf *out)
{
	AUTO_FREE char *arch_file = xasprintf("arch/%s/configs/tiny.config", tree->arch);
	struct error *err = append_file(tree->src, "kernel/configs/tiny-base.config", false, out);

	if (!err)
		err = append_file(tree->src, "kernel/configs/tiny.config", true, out);
	if (!err)
		err = append_file(tree->src, arch_file, false, out);
	return err;
}

static struct error *make_from_nothing(const struct config_tree *tree, const struct kernel *kernel, const char *requests)
{
	AUTO_STRBUF options = STRBUF_INIT;
	struct error *err = strcmp(kernel->base_config, "tinyconfig") ? NULL : append_tiny_options(tree, &options);
	if (err)
		return err;
	strbuf_adds(&options, requests);

	AUTO_FREE char *path = path_join(tree->obj, "memcg-ab.config");
	err = file_write_atomic(path, strbuf_str(&options), options.len, 0644);
	if (err)
		return err;
	AUTO_FREE char *setting = xasprintf("KCONFIG_ALLCONFIG=%s", path);
	const char *const env[] = { setting, NULL };
	return config_run_make(tree, "allnoconfig", env, kernel->pos);
}

static struct error *make_on_base(const struct config_tree *tree, const struct kernel *kernel, const char *requests)
{
	AUTO_FREE char *path = path_join(tree->obj, ".config");
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *err;

	if (kernel->base_is_target) {
		if (!has_target(tree, kernel->base_config))
			return unknown_target(tree, kernel);
		err = config_run_make(tree, kernel->base_config, NULL, kernel->pos);
		if (!err)
			err = file_read(path, &text);
	} else {
		err = error_place(file_read(kernel->base_config, &text), kernel->pos);
	}
	if (err)
		return err;
	strbuf_addch(&text, '\n');
	strbuf_adds(&text, requests);
	err = file_write_atomic(path, text.data, text.len, 0644);
	return err ? err : config_run_make(tree, "olddefconfig", NULL, kernel->pos);
}

struct error *config_make(const struct config_tree *tree, const struct kernel *kernel, const char *requests)
{
	/* Nothing of an earlier configuration may show through. */
	static const char *const leftovers[] = { ".config", ".config.old", "include" };

	for (size_t i = 0; i < ARRAY_SIZE(leftovers); i++) {
		AUTO_FREE char *path = path_join(tree->obj, leftovers[i]);
		struct error *err = file_remove_tree(path);
		if (err)
			return err;
	}
	if (kernel->base_is_target && (!strcmp(kernel->base_config, "allnoconfig") || !strcmp(kernel->base_config, "tinyconfig")))
		return make_from_nothing(tree, kernel, requests);
	return make_on_base(tree, kernel, requests);
}
