/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a boot's instructions went: counted blocks and the kernel's symbols, to functions, to the store. */
#ifndef RUN_ATTRIBUTION_H
#define RUN_ATTRIBUTION_H

#include "store/store.h"

/* A boot's counts: what was counted, and where the kernel's symbols are. */
struct attribution {
	const char *counts; /* path of what the plugin left */
	const char *symbols; /* path of the System.map */
};
/*
 * Puts the counts of the stored boot (row, block) into the store, by function and by block. ERROR_LAB or ERROR_KERNEL when they cannot be had, or
 * when more than a hundredth of the kernel's instructions lie in no function (then it does not run where its symbols say).
 */
struct error *attribution_store(struct store *store, int64_t row, int64_t block,
				const struct attribution *attribution) MUST_CHECK;

#endif
