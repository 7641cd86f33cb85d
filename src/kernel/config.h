/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel configs: resolved by the kernel's own scripts/kconfig and read back in both directions. */
#ifndef KERNEL_CONFIG_H
#define KERNEL_CONFIG_H

#include "base/proc.h"
#include "kernel/source.h"
#include "kernel/toolchain.h"
#include "plan/matrix.h"

struct config_input {
	const char *tree; /* oid */
	const char *objects; /* source_tree.objects */
	const struct kernel *kernel; /* base_config, arch */
	const struct toolchain_info *toolchain; /* the one that builds */
	const struct fragment *device_fragment; /* or NULL; goes first */
	const struct fragment *fragment; /* the matrix' */
};

struct resolved_config {
	char *text; /* the .config */
	char sha256[65];
	char *dir; /* its folder in the cache, holds .config */
	/* Optional requests that did not hold, one line each, for reports; may be empty. */
	struct strlist dropped;
};

/*
 * Resolves; from the cache when the same inputs were resolved before. Every request that does not hold in the result is an error at
 * the line that asked for it, with the reason (no such symbol; dependencies unmet, with the expression and values; forced by select,
 * by whom; no prompt, what it follows from; lost in a choice; out of range). Configures with the very toolchain that builds.
 */
struct error *config_resolve(const struct cache *cache, const struct config_input *input, struct guard guard,
			     struct resolved_config **config_out) MUST_CHECK;
void resolved_config_free(struct resolved_config *config);
/* Value of an option in a .config text: y, m, "text", 12; "n" when not set or absent. The caller frees. */
char *config_value(const char *config_text, const char *name);
/* The lines in which two .config texts differ, as "NAME: old -> new" for reports. */
void config_difference(const char *old_text, const char *new_text, struct strlist *out);
/*
 * Checks a .config that we did not resolve (command and prebuilt kernels) against requests; either may be NULL. Every one that does not
 * hold and is not optional is an error at its line.
 */
struct error *config_check(const char *config_text, const struct fragment *first, const struct fragment *second) MUST_CHECK;
/* Reads the config out of an Image's or vmlinux' IKCONFIG (IKCFG_ST ... IKCFG_ED, gzip); NULL text when it has none. */
struct error *config_from_ikconfig(const void *data, size_t len, char **text_out) MUST_CHECK;

#endif
