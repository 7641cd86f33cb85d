/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/data/minikernel in a cache of its own: imported, configured and built like a kernel. Include after unit.h. */
#ifndef UNIT_MINIKERNEL_H
#define UNIT_MINIKERNEL_H

#include "kernel/image.h"
#include "workdir.h"

struct mini {
	struct workdir dir; /* holds src/ (a copy of the tree) and cache/ */
	struct cache *cache;
	struct toolchain toolchain;
	struct toolchain_info *info;
	struct kernel kernel;
	struct source_tree *source; /* of the last mini_import */
	struct fragment *fragment;
	struct resolved_config *config;
	struct image_input input;
	unsigned objects; /* announced by the last build */
	bool built; /* make was run by the last build */
};

static inline int mini_setup(void **state)
{
	struct mini *mini = xcalloc(1, sizeof(*mini));
	const char *root = getenv("MEMCG_AB_ROOT");

	*state = mini;
	strcpy(mini->dir.path, "/tmp/memcg-ab-mini-XXXXXX");
	if (!root || !mkdtemp(mini->dir.path))
		return -1;
	AUTO_FREE char *copy = xasprintf("cp -r '%s/tests/data/minikernel' src", root);
	AUTO_FREE char *cache_dir = workdir_path(&mini->dir, "cache");
	AUTO_FREE char *share_dir = path_join(root, "share");
	workdir_do(&mini->dir, copy);
	assert_ok(cache_open(cache_dir, UINT64_MAX, share_dir, &mini->cache));
	mini->toolchain =
		(struct toolchain){ .name = (char *)"gcc", .cross = (char *)"aarch64-linux-gnu-", .pos = { "lab.yaml", 2, 1 } };
	mini->kernel = (struct kernel){ .name = (char *)"",
					.kind = KERNEL_KBUILD,
					.toolchain = &mini->toolchain,
					.arch = (char *)"arm64",
					.base_config = (char *)"allnoconfig",
					.base_is_target = true,
					.pos = { "matrix.yaml", 2, 9 } };
	assert_ok(toolchain_probe(&mini->toolchain, "arm64", NO_GUARD, &mini->info));
	return 0;
}

static inline int mini_teardown(void **state)
{
	struct mini *mini = *state;

	resolved_config_free(mini->config);
	fragment_free(mini->fragment);
	source_tree_free(mini->source);
	toolchain_info_free(mini->info);
	cache_close(mini->cache);
	error_free(file_remove_tree(mini->dir.path));
	free(mini);
	return 0;
}

/* Imports src/ as it is now. */
static inline void mini_import(struct mini *mini)
{
	AUTO_FREE char *path = workdir_path(&mini->dir, "src");
	struct source_alternative alternative = { .kind = SOURCE_FOLDER, .path = path };
	const struct source source = { .name = (char *)"mini", .alternatives = &alternative, .n = 1 };
	const struct source *const sources[] = { &source };

	source_tree_free(mini->source);
	mini->source = NULL;
	assert_ok(source_import(mini->cache, sources, 1, NO_GUARD, NULL, NULL, &mini->source));
}

static inline struct config_input mini_config_input(struct mini *mini, const char *options)
{
	fragment_free(mini->fragment);
	mini->fragment = NULL;
	assert_ok(fragment_parse(options, strlen(options), "m.config", &mini->fragment));
	return (struct config_input){
		.tree = mini->source->tree, .kernel = &mini->kernel, .toolchain = mini->info, .fragment = mini->fragment
	};
}

/* Makes mini->input from what src/ is now and these options. */
static inline void mini_step(struct mini *mini, const char *options, const char *subject)
{
	mini_import(mini);
	const struct config_input config = mini_config_input(mini, options);
	resolved_config_free(mini->config);
	mini->config = NULL;
	if (mini->kernel.kind == KERNEL_KBUILD)
		assert_ok(config_resolve(mini->cache, &config, NO_GUARD, &mini->config));
	mini->input = (struct image_input){ .kernel = &mini->kernel,
					    .source = mini->source,
					    .tree = mini->source->tree,
					    .config = mini->config,
					    .fragment = mini->fragment,
					    .toolchain = mini->kernel.kind == KERNEL_KBUILD ? mini->info : NULL,
					    .subject = subject,
					    .build_folder = "mini" };
}

static inline void mini_progress(void *arg, const struct build_progress *progress)
{
	struct mini *mini = arg;

	mini->built |= !strcmp(progress->what, "building");
	mini->objects = progress->objects;
}

static inline struct error *mini_build(struct mini *mini, bool clean, struct image **image_out)
{
	const struct image_build build = { .cache = mini->cache,
					   .input = &mini->input,
					   .jobs = 2,
					   .deadline_ms = clock_deadline(60000),
					   .clean = clean,
					   .guard = NO_GUARD,
					   .progress = mini_progress,
					   .arg = mini };
	mini->built = false;
	mini->objects = 0;
	return image_build(&build, image_out);
}

#endif
