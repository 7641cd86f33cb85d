/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What config.c shares with config_*.c alone. */
#ifndef KERNEL_CONFIG_PARTS_H
#define KERNEL_CONFIG_PARTS_H

#include "kernel/config.h"
#include "kernel/toolchain.h"

/* A tree of the files that kbuild needs to configure, and the folder it configures in; locked by the caller. */
struct config_tree {
	char *src, *obj; /* absolute */
	const char *arch;
	const struct toolchain_info *toolchain;
	struct guard guard;
};

/* The files of a kernel tree that `make ...config` reads: a few per cent of it. */
bool config_tree_wants(const char *path);
/* Configures in tree->obj from the kernel's base and the requests (as .config lines); the result is obj/.config. */
struct error *config_make(const struct config_tree *tree, const struct kernel *kernel, const char *requests) MUST_CHECK;
/* Runs `make TARGET` with extra NAME=VALUE environment entries (NULL-terminated, may be NULL). Errors are at `pos`. */
struct error *config_run_make(const struct config_tree *tree, const char *target, const char *const *env,
			      struct pos pos) MUST_CHECK;

/* What the kconfig helper says of some options (share/kconfig-helper/memcg-ab-kconfig.c describes the facts). */
struct config_fact {
	char *name, *fact, *text;
};
struct config_facts {
	struct config_fact *items;
	size_t n;
};
/* Parses the helper's output; lines of another form are skipped. */
void config_facts_parse(const char *text, struct config_facts *facts_out);
void config_facts_deinit(struct config_facts *facts);
/*
 * Builds the helper (or takes it from the cache) and asks it about `names` in a tree that was just configured. An error when
 * the tree's scripts/kconfig is one that the helper does not fit.
 */
struct error *config_ask(const struct cache *cache, const struct config_tree *tree, const struct strlist *names,
			 struct config_facts *facts_out) MUST_CHECK;

/*
 * Why `name`, asked to be `wanted`, is `actual` instead ("n" = not set): one phrase, which the caller frees. `modules`: MODULES=y. NULL
 * facts or none of this name: NULL.
 */
char *config_reason(const struct config_facts *facts, const char *name, const char *wanted, const char *actual, bool modules);

/* True when .config's `actual` is what was asked for: equal text, or equal numbers. */
bool config_value_is(const char *wanted, const char *actual);
/* The requests that count: of each name the last one, in order of first mention. The caller frees the vector. */
const struct config_request **config_final_requests(const struct fragment *first, const struct fragment *second, size_t *n_out);

#endif
