/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kconfig helper: built against a tree's own scripts/kconfig, run as a program of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "kernel/config_parts.h"
#include "kernel/entry.h"

#define HELPER "memcg-ab-kconfig"
#define HELPER_SOURCE "kconfig-helper/memcg-ab-kconfig.c"
#define HELPER_TIMEOUT_MS (5 * 60 * 1000)
/* Files in the folder that was configured in. */
#define PROBE_FILE "memcg-ab.probe"
#define PROBE_ENVIRONMENT "memcg-ab.environment"

/*
 * kconfig's files read CC, LD, srctree, CLANG_FLAGS and more from the environment that kbuild makes. It is had by having kbuild run its
 * own conf on a file of ours, whose only option is computed by a command: the one that writes the environment down.
 */
static struct error *kbuild_environment(const struct config_tree *tree, struct strlist *env_out)
{
	static const char probe[] = "mainmenu \"memcg-ab\"\n\n"
				    "config MEMCG_AB_PROBE\n\tstring\n\tdefault \"$(shell,env -0 >" PROBE_ENVIRONMENT ")\"\n";
	AUTO_FREE char *probe_path = path_join(tree->obj, PROBE_FILE);
	AUTO_FREE char *env_path = path_join(tree->obj, PROBE_ENVIRONMENT);
	AUTO_FREE char *kconfig_setting = xasprintf("KBUILD_KCONFIG=%s", probe_path);
	const char *const settings[] = { kconfig_setting, "KCONFIG_CONFIG=memcg-ab.none", NULL };
	AUTO_STRBUF dump = STRBUF_INIT;

	struct error *err = file_remove_tree(env_path);
	if (!err)
		err = file_write_atomic(probe_path, probe, strlen(probe), 0644);
	if (!err)
		err = config_run_make(tree, "listnewconfig", settings, NO_POS);
	if (!err)
		err = file_read(env_path, &dump);
	if (err)
		return err;
	for (const char *at = dump.data, *end = dump.data + dump.len; at < end; at += strlen(at) + 1)
		if (!str_starts(at, "KCONFIG_CONFIG=") && !str_starts(at, "KBUILD_KCONFIG="))
			strlist_add(env_out, at);
	strlist_add(env_out, "KCONFIG_CONFIG=.config");
	return NULL;
}

static const char *environment_value(const struct strlist *env, const char *name, const char *fallback)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (!strncmp(env->items[i], name, len) && env->items[i][len] == '=')
			return env->items[i] + len + 1;
	return fallback;
}

/* All of the tree's kconfig but the front end. */
static struct error *kconfig_objects(const struct config_tree *tree, struct strlist *paths_out)
{
	AUTO_FREE char *dir = path_join(tree->obj, "scripts/kconfig");
	AUTO_STRLIST names = { NULL, 0 };
	struct error *err = file_list(dir, &names);
	if (err)
		return err;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.items[i], ".o") && strcmp(names.items[i], "conf.o"))
			strlist_addf(paths_out, "%s/%s", dir, names.items[i]);
	return NULL;
}

/* The helper is a function of its source, the objects and the headers that it is compiled with. */
static struct error *helper_key(const struct config_tree *tree, const char *source, const struct strlist *objects,
				char key_out[HASH_HEX_SIZE])
{
	static const char *const headers[] = { "lkc.h", "lkc_proto.h", "expr.h" };
	AUTO_STRLIST files = { NULL, 0 };
	char digest[HASH_HEX_SIZE];

	strlist_add(&files, source);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		strlist_addf(&files, "%s/scripts/kconfig/%s", tree->src, headers[i]);
	for (size_t i = 0; i < objects->n; i++)
		strlist_add(&files, objects->items[i]);

	AUTO_STRBUF digests = STRBUF_INIT;
	for (size_t i = 0; i < files.n; i++) {
		struct error *err = hash_file(files.items[i], digest);
		if (err)
			return err;
		strbuf_addf(&digests, "%s %s\n", path_basename(files.items[i]), digest);
	}
	hash_bytes(digests.data, digests.len, key_out);
	return NULL;
}

static struct error *has_choice_menus(const struct config_tree *tree, bool *has_out)
{
	AUTO_FREE char *path = path_join(tree->src, "scripts/kconfig/lkc_proto.h");
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *err = file_read(path, &text);

	if (!err)
		*has_out = strstr(strbuf_str(&text), "sym_get_choice_menu") != NULL;
	return err;
}

static struct error *compile_helper(const struct config_tree *tree, const char *host_cc, const char *source,
				    const struct strlist *objects, const char *program)
{
	AUTO_STRLIST argv = { NULL, 0 };
	bool choice_menus;
	struct error *err = has_choice_menus(tree, &choice_menus);
	if (err)
		return err;

	strlist_add(&argv, host_cc);
	strlist_add(&argv, "-O1");
	strlist_add(&argv, "-std=gnu11");
	strlist_addf(&argv, "-I%s/scripts/kconfig", tree->src);
	strlist_addf(&argv, "-I%s/scripts/include", tree->src);
	strlist_addf(&argv, "-I%s/scripts/kconfig", tree->obj);
	if (choice_menus)
		strlist_add(&argv, "-DKCONFIG_CHOICE_MENU");
	strlist_add(&argv, "-o");
	strlist_add(&argv, program);
	strlist_add(&argv, source);
	for (size_t i = 0; i < objects->n; i++)
		strlist_add(&argv, objects->items[i]);
	AUTO_FREE const char **vector = strlist_vector(&argv);
	const struct proc_spec spec = { .argv = vector, .deadline_ms = clock_deadline(HELPER_TIMEOUT_MS), .guard = tree->guard };
	return error_wrap(proc_run_ok(&spec, ERROR_LAB, NULL), "the kconfig helper does not fit this tree's scripts/kconfig");
}

/* Path of the helper's folder in the cache, built if need be. */
static struct error *get_helper(const struct cache *cache, const struct config_tree *tree, const char *host_cc,
				char **program_out)
{
	AUTO_FREE char *source = path_join(cache->share_dir ? cache->share_dir : ".", HELPER_SOURCE);
	AUTO_STRLIST objects = { NULL, 0 };
	char key[HASH_HEX_SIZE];

	struct error *err = kconfig_objects(tree, &objects);
	if (!err)
		err = helper_key(tree, source, &objects, key);
	if (err)
		return err;
	AUTO_FREE char *relative = xasprintf("helpers/%s/" HELPER, key);
	AUTO_FREE char *program = cache_path(cache, relative);
	AUTO_FREE char *dir = path_dirname(program);
	if (!file_is_regular(program)) {
		AUTO_FREE char *stage = NULL;
		err = entry_stage(cache, "helpers", key, &stage);
		if (err)
			return err;
		AUTO_FREE char *staged = path_join(stage, HELPER);
		err = compile_helper(tree, host_cc, source, &objects, staged);
		if (!err)
			err = entry_publish(cache, "helpers", key, stage);
		if (err) {
			error_free(file_remove_tree(stage));
			return err;
		}
	}
	entry_touch(dir);
	*program_out = take_ptr(program);
	return NULL;
}

struct error *config_ask(const struct cache *cache, const struct config_tree *tree, const struct strlist *names,
			 struct config_facts *facts_out)
{
	AUTO_STRLIST env = { NULL, 0 };
	AUTO_FREE char *program = NULL;
	struct error *err = kbuild_environment(tree, &env);
	if (!err)
		err = get_helper(cache, tree, environment_value(&env, "HOSTCC", "gcc"), &program);
	if (err)
		return err;

	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRBUF out = STRBUF_INIT;
	strlist_add(&argv, program);
	strlist_add(&argv, "Kconfig");
	for (size_t i = 0; i < names->n; i++)
		strlist_add(&argv, names->items[i]);
	AUTO_FREE const char **argv_vector = strlist_vector(&argv);
	AUTO_FREE const char **env_vector = strlist_vector(&env);
	const struct proc_spec spec = { .argv = argv_vector,
					.env = env_vector,
					.cwd = tree->obj,
					.deadline_ms = clock_deadline(HELPER_TIMEOUT_MS),
					.guard = tree->guard };
	err = proc_run_ok(&spec, ERROR_LAB, &out);
	if (!err)
		config_facts_parse(strbuf_str(&out), facts_out);
	return err;
}
