/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots: in what order rows are measured, and what names the whole. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "plan/plan_parts.h"

/* Of an exact device, where the matrix does not say how many. */
#define EXACT_BLOCKS_DEFAULT 3

/* Each block of each target has an order of its own, which other targets and blocks do not change. */
static uint64_t block_seed(const struct measure *measure, const struct target *target, unsigned block)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64 "/%s/%s/%u", measure->seed, target->device->name, target->cores, block);
	char hex[HASH_HEX_SIZE];
	hash_bytes(text, strlen(text), hex);
	hex[16] = '\0';
	return strtoull(hex, NULL, 16);
}

unsigned plan_blocks(const struct matrix *matrix, size_t target)
{
	const struct measure *measure = &matrix->measure;
	const struct profile *profile = matrix->targets[target].device->profile;
	if (!profile->exact)
		return measure->blocks;
	size_t blocks = measure->blocks_given ? measure->blocks : EXACT_BLOCKS_DEFAULT;
	return (unsigned)(blocks < profile->n_nuisances ? blocks : profile->n_nuisances);
}

unsigned plan_look(const struct measure *measure, unsigned number)
{
	return (measure->blocks * number + measure->looks - 1) / measure->looks;
}

/* A target's rows stand together: from *first_out on. */
static size_t target_rows(const struct plan *plan, size_t target, size_t *first_out)
{
	size_t n = 0;
	for (size_t i = 0; i < plan->n_rows; i++) {
		if (plan->rows[i].target != target)
			continue;
		if (!n++)
			*first_out = i;
	}
	return n;
}

size_t plan_target_boots(const struct plan *plan, size_t target)
{
	size_t first;
	return target_rows(plan, target, &first) * plan_blocks(plan->matrix, target);
}

/* The rows of a target and the order in which they stand in the present block. */
struct block_order {
	size_t target, first;
	size_t *rows;
	size_t n;
};

static void draw(const struct plan *plan, const struct block_order *order, unsigned block)
{
	const struct matrix *matrix = plan->matrix;
	for (size_t i = 0; i < order->n; i++)
		order->rows[i] = order->first + i;
	struct random *random = random_new(block_seed(&matrix->measure, &matrix->targets[order->target], block));
	random_shuffle(random, order->rows, order->n);
	random_free(random);
}

static void reverse(const struct block_order *order)
{
	for (size_t i = 0; i < order->n / 2; i++) {
		size_t row = order->rows[i];
		order->rows[i] = order->rows[order->n - 1 - i];
		order->rows[order->n - 1 - i] = row;
	}
}

static void add_boot(struct plan *plan, size_t target, size_t row, unsigned block, size_t position, size_t ordinal)
{
	const struct profile *profile = plan->matrix->targets[target].device->profile;
	plan->boots[plan->n_boots++] = (struct plan_boot){
		.row = row,
		.block = block,
		.position = (unsigned)position,
		.ordinal = ordinal,
		.nuisance = profile->exact ? &profile->nuisances[block] : NULL,
	};
}

static void add_blocks(struct plan *plan, const struct block_order *order, unsigned blocks)
{
	bool abba = plan->matrix->measure.order == ORDER_ABBA;
	for (unsigned block = 0; block < blocks; block++) {
		if (abba && block % 2)
			reverse(order);
		else
			draw(plan, order, block);
		for (size_t i = 0; i < order->n; i++)
			add_boot(plan, order->target, order->rows[i], block, i, block * order->n + i);
	}
}

static void add_sequence(struct plan *plan, const struct block_order *order, unsigned blocks)
{
	for (size_t i = 0; i < order->n; i++) {
		for (unsigned block = 0; block < blocks; block++)
			add_boot(plan, order->target, order->first + i, block, i, i * blocks + block);
	}
}

void plan_add_boots(struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	size_t total = 0;
	for (size_t t = 0; t < matrix->n_targets; t++)
		total += plan_target_boots(plan, t);
	plan->boots = xcalloc(total + 1, sizeof(*plan->boots));
	for (size_t t = 0; t < matrix->n_targets; t++) {
		struct block_order order = { .target = t };
		order.n = target_rows(plan, t, &order.first);
		AUTO_FREE size_t *rows = xcalloc(order.n, sizeof(*rows));
		order.rows = rows;
		if (matrix->measure.order == ORDER_SEQUENTIAL)
			add_sequence(plan, &order, plan_blocks(matrix, t));
		else
			add_blocks(plan, &order, plan_blocks(matrix, t));
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

static void hash_real(struct hash *hash, const char *label, double value)
{
	AUTO_FREE char *text = xasprintf("%.17g", value);
	hash_field(hash, label, text);
}

static void hash_workload(struct hash *hash, const struct workload *workload)
{
	hash_field(hash, "workload", workload->label);
	hash_field(hash, "run", workload->kind->name);
	for (size_t i = 0; workload->values[i]; i++)
		hash_field(hash, "value", workload->values[i]);
}

static void hash_target(struct hash *hash, const struct plan *plan, size_t index)
{
	const struct target *target = &plan->matrix->targets[index];
	hash_field(hash, "device", target->device->name);
	hash_field(hash, "cores", target->cores);
	hash_field(hash, "profile", target->device->profile->digest);
	hash_number(hash, "fragment", target->device->profile->needs_image);
	if (target->device->profile->needs_image)
		fragment_hash(target->device->profile->fragment, hash);
	hash_number(hash, "blocks", plan_blocks(plan->matrix, index));
	for (size_t i = 0; i < plan->n_rows; i++) {
		if (plan->rows[i].target == index && plan->rows[i].control)
			hash_field(hash, "control", row_control_name(plan->rows[i].control));
	}
}

static void hash_gate(struct hash *hash, const struct gate *gate)
{
	hash_field(hash, "gate", gate->metric);
	hash_number(hash, "against", gate->against);
	hash_field(hash, "row", gate->row);
	hash_path(hash, "run", gate->run);
	hash_field(hash, "anchor", gate->anchor);
	hash_number(hash, "kind", gate->kind);
	hash_real(hash, "limit", gate->limit);
	hash_number(hash, "steps", gate->steps);
}

/* Where a random device's run stops. Other gates, with looks, would stop it elsewhere: that is another campaign. */
static void hash_stopping(struct hash *hash, const struct matrix *matrix)
{
	const struct measure *measure = &matrix->measure;
	if (measure->half_width > 0) {
		hash_real(hash, "half_width", measure->half_width);
		hash_number(hash, "pilot", measure->pilot);
	}
	if (measure->looks) {
		hash_number(hash, "looks", measure->looks);
		for (size_t i = 0; i < matrix->n_gates; i++)
			hash_gate(hash, &matrix->gates[i]);
	}
}

static bool has_random_target(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_targets; i++) {
		if (!matrix->targets[i].device->profile->exact)
			return true;
	}
	return false;
}

char *plan_digest(const struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	struct hash *hash = hash_new();
	for (size_t i = 0; i < plan->n_variants; i++)
		hash_variant(hash, &plan->variants[i]);
	for (size_t i = 0; i < matrix->n_targets; i++)
		hash_target(hash, plan, i);
	for (size_t i = 0; i < matrix->n_workloads; i++)
		hash_workload(hash, &matrix->workloads[i]);
	hash_field(hash, "baseline", plan->variants[plan->baseline].name);
	hash_number(hash, "seed", matrix->measure.seed);
	hash_number(hash, "order", matrix->measure.order);
	if (has_random_target(matrix))
		hash_stopping(hash, matrix);
	char hex[HASH_HEX_SIZE];
	hash_finish(hash, hex);
	return xstrdup(hex);
}
