/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "device/counts.h"
#include "kernel/symbols.h"

#define MOST_UNKNOWN 0.01

static bool in_kernel(const struct counted_block *block)
{
	/* The upper half of arm64's addresses. */
	return block->address >> 63;
}

/* Of processes only how much they did is kept: the agent's own functions say nothing. */
static struct stored_function function_of(const struct symbols *symbols, const struct counted_block *block)
{
	bool kernel = in_kernel(block);

	return (struct stored_function){ kernel ? symbols_find(symbols, block->address) : "", kernel, block->insns };
}

static int compare_functions(const void *left, const void *right)
{
	const struct stored_function *a = left, *b = right;

	return a->kernel != b->kernel ? (int)a->kernel - (int)b->kernel : strcmp(a->name, b->name);
}

/* One function after the other, each once; the caller frees. */
static struct stored_function *sum_functions(const struct symbols *symbols, const struct counted_phase *phase, size_t *n_out)
{
	struct stored_function *functions = xcalloc(phase->n + 1, sizeof(*functions));
	size_t n = 0;

	for (size_t i = 0; i < phase->n; i++)
		functions[i] = function_of(symbols, &phase->blocks[i]);
	qsort(functions, phase->n, sizeof(*functions), compare_functions);
	for (size_t i = 0; i < phase->n; i++) {
		if (n && !compare_functions(&functions[n - 1], &functions[i]))
			functions[n - 1].insns += functions[i].insns;
		else
			functions[n++] = functions[i];
	}
	*n_out = n;
	return functions;
}

static struct error *check_known(const struct stored_counts *counts, const char *symbols)
{
	uint64_t all = 0, unknown = 0;

	for (size_t i = 0; i < counts->n_functions; i++) {
		const struct stored_function *function = &counts->functions[i];
		all += function->kernel ? function->insns : 0;
		unknown += function->kernel && !*function->name ? function->insns : 0;
	}
	if ((double)unknown <= MOST_UNKNOWN * (double)all)
		return NULL;
	return error_new(ERROR_LAB,
			 "%.1f%% of the kernel's instructions in %s.%s lie in no function of %s: it runs elsewhere (nokaslr?), "
			 "or in modules",
			 100 * (double)unknown / (double)all, counts->workload, counts->phase, symbols);
}

static struct stored_block *copy_blocks(const struct counted_phase *phase)
{
	struct stored_block *blocks = xcalloc(phase->n + 1, sizeof(*blocks));

	for (size_t i = 0; i < phase->n; i++)
		blocks[i] = (struct stored_block){ phase->blocks[i].address, phase->blocks[i].n, phase->blocks[i].insns };
	return blocks;
}

static struct error *put_phases(struct store *store, int64_t row, int64_t block, const struct device_counts *counts,
				const struct symbols *symbols, const char *symbols_path)
{
	AUTO_FREE struct stored_counts *stored = xcalloc(counts->n + 1, sizeof(*stored));
	struct error *error = NULL;

	for (size_t i = 0; i < counts->n; i++) {
		const struct counted_phase *phase = &counts->phases[i];
		stored[i] = (struct stored_counts){
			.workload = phase->workload,
			.phase = phase->phase,
			.iterations = phase->iterations,
			.operations = phase->operations,
			.blocks = copy_blocks(phase),
			.n_blocks = phase->n,
		};
		stored[i].functions = sum_functions(symbols, phase, &stored[i].n_functions);
		if (!error)
			error = check_known(&stored[i], symbols_path);
	}
	if (!error)
		error = store_put_counts(store, row, block, stored, counts->n);
	for (size_t i = 0; i < counts->n; i++) {
		free((void *)stored[i].functions);
		free((void *)stored[i].blocks);
	}
	return error;
}

struct error *attribution_store(struct store *store, int64_t row, int64_t block, const struct attribution *attribution)
{
	struct device_counts counts = { NULL, 0 };
	struct symbols *symbols = NULL;
	struct error *error = device_counts_read(attribution->counts, &counts);

	if (!error)
		error = symbols_read(attribution->symbols, &symbols);
	if (!error)
		error = put_phases(store, row, block, &counts, symbols, attribution->symbols);
	symbols_free(symbols);
	device_counts_deinit(&counts);
	return error;
}
