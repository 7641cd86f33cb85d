/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was executed in which phase: block counters, pieces between marks, phases. Knows nothing of QEMU. */
#ifndef TCG_PLUGIN_COUNT_H
#define TCG_PLUGIN_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_BLOCKS ((size_t)1 << 19)
#define N_SLOTS 2

struct counts;

/* NULL when there is no memory. */
struct counts *counts_new(void);
/*
 * The number of the counter of the translated block of `n` instructions at `address`: the same each time it is translated. Below MAX_BLOCKS; when there are
 * too many, counts_write() will say so, and this is MAX_BLOCKS.
 */
size_t counts_block(struct counts *counts, uint64_t address, size_t n);
/*
 * The marks. `now` are the counters as they stand: instructions executed in each block, never going down.
 * A piece is open while more starts than stops have come.
 */
void counts_start(struct counts *counts, unsigned slot, const uint64_t *now);
void counts_stop(struct counts *counts, unsigned slot, const uint64_t *now);
void counts_forget(struct counts *counts, unsigned slot);
/*
 * The kernel stopped or started a counter of the PMU, as it does when it switches from one task to another. What is executed after a
 * stop and before a start is some other task's and belongs to no piece. When the first piece starts, they count.
 */
void counts_held(struct counts *counts, bool held, const uint64_t *now);
/* The next bit of a line, and its end. */
void counts_bit(struct counts *counts, unsigned bit);
void counts_end(struct counts *counts);
/* Writes the file that README.md describes; false when it cannot. */
bool counts_write(const struct counts *counts, const char *path);

#endif
