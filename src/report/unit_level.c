/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/unit_level.h"

#include <stdlib.h>
#include <string.h>

bool has_units(const struct evidence *evidence, size_t target)
{
	return evidence->targets[target].n_units > 1;
}

/* Of the blocks in `mask` (NULL = all). */
static double mean_of_blocks(const double *boots, size_t n_blocks, const bool *mask)
{
	AUTO_FREE double *chosen = xcalloc(n_blocks + 1, sizeof(*chosen));
	struct level level;
	size_t n = 0;

	for (size_t i = 0; i < n_blocks; i++)
		if (!mask || mask[i])
			chosen[n++] = boots[i];
	level_of(chosen, n, &level);
	return level.mean;
}

double *unit_level(const struct evidence *evidence, size_t target, const double *boots, size_t n_blocks)
{
	const struct target_evidence *own = &evidence->targets[target];
	double *levelled = xcalloc(n_blocks + 1, sizeof(*levelled));

	memcpy(levelled, boots, n_blocks * sizeof(*levelled));
	if (!has_units(evidence, target))
		return levelled;
	double all = mean_of_blocks(boots, n_blocks, NULL);
	for (size_t i = 0; i < own->n_units; i++) {
		double mean = mean_of_blocks(boots, n_blocks, own->units[i].blocks);
		for (size_t b = 0; mean > 0 && b < n_blocks; b++)
			if (own->units[i].blocks[b])
				levelled[b] *= all / mean;
	}
	return levelled;
}
