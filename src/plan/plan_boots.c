/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots: in what order rows are measured, and what names the whole. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "plan/plan_parts.h"

/* Each block of each target has an order of its own, which other targets and blocks do not change. */
static uint64_t block_seed(const struct measure *measure, const struct target *target, unsigned block)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64 "/%s/%s/%u", measure->seed, target->device->name, target->cores, block);
	char hex[HASH_HEX_SIZE];
	hash_bytes(text, strlen(text), hex);
	hex[16] = '\0';
	return strtoull(hex, NULL, 16);
}

static void add_block(struct plan *plan, size_t target_index, unsigned block)
{
	const struct target *target = &plan->matrix->targets[target_index];
	const struct profile *profile = target->device->profile;
	size_t n = plan->n_variants;
	AUTO_FREE size_t *order = xcalloc(n, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = target_index * n + i;
	struct random *random = random_new(block_seed(&plan->matrix->measure, target, block));
	random_shuffle(random, order, n);
	random_free(random);
	for (size_t i = 0; i < n; i++) {
		plan->boots[plan->n_boots++] = (struct plan_boot){
			.row = order[i],
			.block = block,
			.position = (unsigned)i,
			.nuisance = profile->exact ? &profile->nuisances[block % profile->n_nuisances] : NULL,
		};
	}
}

void plan_add_boots(struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	plan->boots = xcalloc(plan->n_rows * matrix->measure.blocks + 1, sizeof(*plan->boots));
	for (size_t t = 0; t < matrix->n_targets; t++) {
		for (unsigned block = 0; block < matrix->measure.blocks; block++)
			add_block(plan, t, block);
	}
}

static void hash_number(struct hash *hash, const char *label, uint64_t value)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64, value);
	hash_field(hash, label, text);
}

/* Where files stand does not matter, and what is in them is in the images' keys: their last names will do. */
static void hash_path(struct hash *hash, const char *label, const char *path)
{
	hash_field(hash, label, path ? path_basename(path) : NULL);
}

static void hash_kernel(struct hash *hash, const struct kernel *kernel)
{
	hash_number(hash, "kernel", kernel->kind);
	for (size_t i = 0; i < kernel->n_sources; i++) {
		for (size_t k = 0; k < kernel->sources[i]->n; k++) {
			const struct source_alternative *alternative = &kernel->sources[i]->alternatives[k];
			hash_number(hash, "alternative", alternative->kind);
			hash_path(hash, "path", alternative->path);
			hash_field(hash, "rev", alternative->rev);
			hash_field(hash, "package", alternative->package);
			hash_field(hash, "suite", alternative->suite);
			hash_field(hash, "version", alternative->version);
			hash_field(hash, "sha256", alternative->sha256);
		}
	}
	if (kernel->toolchain) {
		hash_field(hash, "cross", kernel->toolchain->cross);
		hash_field(hash, "llvm", kernel->toolchain->llvm);
	}
	hash_field(hash, "arch", kernel->arch);
	hash_path(hash, "base", kernel->base_config);
	hash_field(hash, "command", kernel->command);
	for (size_t i = 0; i < kernel->outputs.n; i++)
		hash_field(hash, "output", kernel->outputs.items[i]);
	hash_path(hash, "image", kernel->prebuilt_image);
	hash_path(hash, "vmlinux", kernel->prebuilt_vmlinux);
	hash_path(hash, "config", kernel->prebuilt_config);
}

static void hash_variant(struct hash *hash, const struct plan_variant *variant)
{
	hash_field(hash, "variant", variant->name);
	hash_kernel(hash, variant->kernel);
	fragment_hash(variant->config->fragment, hash);
	hash_field(hash, "cmdline", variant->cmdline->text);
	hash_field(hash, "subject", variant->subject);
	for (size_t i = 0; variant->patches && i < variant->patches->n_stack; i++) {
		hash_path(hash, "patches", variant->patches->stack[i].path);
		hash_field(hash, "range", variant->patches->stack[i].range);
	}
}

static void hash_workload(struct hash *hash, const struct workload *workload)
{
	hash_field(hash, "workload", workload->label);
	hash_field(hash, "run", workload->kind->name);
	for (size_t i = 0; workload->values[i]; i++)
		hash_field(hash, "value", workload->values[i]);
}

char *plan_digest(const struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	struct hash *hash = hash_new();
	for (size_t i = 0; i < plan->n_variants; i++)
		hash_variant(hash, &plan->variants[i]);
	for (size_t i = 0; i < matrix->n_targets; i++) {
		const struct target *target = &matrix->targets[i];
		hash_field(hash, "device", target->device->name);
		hash_field(hash, "cores", target->cores);
		hash_field(hash, "profile", target->device->profile->digest);
		hash_number(hash, "fragment", target->device->profile->needs_image);
		if (target->device->profile->needs_image)
			fragment_hash(target->device->profile->fragment, hash);
	}
	for (size_t i = 0; i < matrix->n_workloads; i++)
		hash_workload(hash, &matrix->workloads[i]);
	hash_field(hash, "baseline", plan->variants[plan->baseline].name);
	hash_number(hash, "blocks", matrix->measure.blocks);
	hash_number(hash, "seed", matrix->measure.seed);
	char hex[HASH_HEX_SIZE];
	hash_finish(hash, hex);
	return xstrdup(hex);
}
