/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions by address: a kernel's System.map. */
#ifndef KERNEL_SYMBOLS_H
#define KERNEL_SYMBOLS_H

#include "base/error.h"

struct symbols;

/* ERROR_KERNEL when there is a line that is no symbol, or no function in it. */
struct error *symbols_read(const char *path, struct symbols **symbols_out) MUST_CHECK;
/* The same of `text`; `name` is for messages. */
struct error *symbols_parse(const char *text, const char *name, struct symbols **symbols_out) MUST_CHECK;
/*
 * The function that `address` lies in, without what a compiler adds to a name (.isra.0, .constprop.0, .part.0, .cold): "" when
 * it lies in none. Of several names of one place it is the one with the fewest underscores in front, then the shortest.
 */
const char *symbols_find(const struct symbols *symbols, uint64_t address);
void symbols_free(struct symbols *symbols);

#endif
