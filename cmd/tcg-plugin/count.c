/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 160
#define NAME_MAX_LEN 64
#define MAX_PHASES 64
#define TABLE_SIZE (2 * MAX_BLOCKS) /* of the hash table; a power of two */

struct block {
	uint64_t address;
	size_t n;
};

struct piece {
	unsigned depth; /* starts without a stop */
	size_t n_begun; /* blocks known at the start */
	uint64_t *begun; /* the counters then */
	uint64_t *counted;
};

struct phase {
	char label[NAME_MAX_LEN], name[NAME_MAX_LEN];
	uint64_t iterations, operations;
	uint64_t *counted;
};

struct counts {
	struct block *blocks;
	size_t n_blocks;
	uint32_t *table; /* a block's index + 1; 0 = free */
	struct piece pieces[N_SLOTS];
	struct phase phases[MAX_PHASES];
	size_t n_phases;
	bool held; /* the PMU's counters are stopped */
	char label[NAME_MAX_LEN]; /* of the workload that runs; "" before the first */
	int iteration;
	char line[LINE_MAX_LEN];
	size_t n_bits;
	const char *trouble; /* the first thing that makes the counts worthless */
};

/* Memory that the kernel fills with zeroes when it is touched: most of it never is. */
static uint64_t *new_counters(void)
{
	return calloc(MAX_BLOCKS, sizeof(uint64_t));
}

struct counts *counts_new(void)
{
	struct counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return NULL;
	counts->blocks = calloc(MAX_BLOCKS, sizeof(*counts->blocks));
	counts->table = calloc(TABLE_SIZE, sizeof(*counts->table));
	bool good = counts->blocks && counts->table;
	for (size_t i = 0; i < N_SLOTS; i++) {
		counts->pieces[i].begun = new_counters();
		counts->pieces[i].counted = new_counters();
		good = good && counts->pieces[i].begun && counts->pieces[i].counted;
	}
	return good ? counts : NULL;
}

static void spoil(struct counts *counts, const char *trouble)
{
	if (!counts->trouble)
		counts->trouble = trouble;
}

static size_t first_place(uint64_t address, size_t n)
{
	/* Fibonacci hashing: the multiplier is 2^64 over the golden ratio. */
	return (size_t)(((address ^ (uint64_t)n << 48) * 0x9e3779b97f4a7c15u) >> 40) & (TABLE_SIZE - 1);
}

size_t counts_block(struct counts *counts, uint64_t address, size_t n)
{
	size_t place = first_place(address, n);

	for (; counts->table[place]; place = (place + 1) & (TABLE_SIZE - 1)) {
		const struct block *block = &counts->blocks[counts->table[place] - 1];
		if (block->address == address && block->n == n)
			return counts->table[place] - 1;
	}
	if (counts->n_blocks == MAX_BLOCKS) {
		spoil(counts, "there were more blocks than can be counted");
		return MAX_BLOCKS;
	}
	counts->blocks[counts->n_blocks] = (struct block){ address, n };
	counts->table[place] = (uint32_t)counts->n_blocks + 1;
	return counts->n_blocks++;
}

static void begin(const struct counts *counts, struct piece *piece, const uint64_t *now)
{
	piece->n_begun = counts->n_blocks;
	memcpy(piece->begun, now, piece->n_begun * sizeof(*now));
}

static void take(const struct counts *counts, struct piece *piece, const uint64_t *now)
{
	for (size_t i = 0; i < counts->n_blocks; i++)
		piece->counted[i] += now[i] - (i < piece->n_begun ? piece->begun[i] : 0);
}

static bool any_open(const struct counts *counts)
{
	for (size_t i = 0; i < N_SLOTS; i++)
		if (counts->pieces[i].depth)
			return true;
	return false;
}

void counts_start(struct counts *counts, unsigned slot, const uint64_t *now)
{
	struct piece *piece = &counts->pieces[slot];

	if (!any_open(counts))
		counts->held = false;
	if (!piece->depth++ && !counts->held)
		begin(counts, piece, now);
}

void counts_stop(struct counts *counts, unsigned slot, const uint64_t *now)
{
	struct piece *piece = &counts->pieces[slot];

	if (!piece->depth)
		spoil(counts, "a piece was stopped that was never started");
	else if (!--piece->depth && !counts->held)
		take(counts, piece, now);
}

void counts_held(struct counts *counts, bool held, const uint64_t *now)
{
	if (held == counts->held)
		return;
	counts->held = held;
	for (size_t i = 0; i < N_SLOTS; i++) {
		if (counts->pieces[i].depth && !held)
			begin(counts, &counts->pieces[i], now);
		else if (counts->pieces[i].depth)
			take(counts, &counts->pieces[i], now);
	}
}

void counts_forget(struct counts *counts, unsigned slot)
{
	counts->pieces[slot].depth = 0;
	memset(counts->pieces[slot].counted, 0, counts->n_blocks * sizeof(uint64_t));
}

void counts_bit(struct counts *counts, unsigned bit)
{
	size_t at = counts->n_bits / 8;

	if (at + 1 >= LINE_MAX_LEN) {
		spoil(counts, "a line of the agent's is too long");
		return;
	}
	if (counts->n_bits % 8 == 0)
		counts->line[at] = 0;
	counts->line[at] = (char)((unsigned char)counts->line[at] | (bit ? 1u << counts->n_bits % 8 : 0));
	counts->n_bits++;
}

static struct phase *find_phase(struct counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->n_phases; i++)
		if (!strcmp(counts->phases[i].label, counts->label) && !strcmp(counts->phases[i].name, name))
			return &counts->phases[i];
	if (counts->n_phases == MAX_PHASES) {
		spoil(counts, "there were more phases than can be counted");
		return NULL;
	}
	struct phase *phase = &counts->phases[counts->n_phases];
	phase->counted = new_counters();
	if (!phase->counted) {
		spoil(counts, "there was no memory for another phase");
		return NULL;
	}
	snprintf(phase->label, sizeof(phase->label), "%s", counts->label);
	snprintf(phase->name, sizeof(phase->name), "%s", name);
	counts->n_phases++;
	return phase;
}

/* Warm-ups do not count. */
static void close_phase(struct counts *counts, unsigned slot, const char *name, uint64_t operations)
{
	struct phase *phase = counts->iteration >= 0 ? find_phase(counts, name) : NULL;

	if (counts->pieces[slot].depth)
		spoil(counts, "a phase ended that had not been stopped");
	if (phase) {
		phase->iterations++;
		phase->operations += operations;
		for (size_t i = 0; i < counts->n_blocks; i++)
			phase->counted[i] += counts->pieces[slot].counted[i];
	}
	counts_forget(counts, slot);
}

void counts_end(struct counts *counts)
{
	char name[NAME_MAX_LEN];
	unsigned slot;
	uint64_t operations;
	int iteration;

	counts->line[counts->n_bits / 8] = '\0';
	counts->n_bits = 0;
	if (sscanf(counts->line, "iteration %63s %d", name, &iteration) == 2) {
		memcpy(counts->label, name, sizeof(name));
		counts->iteration = iteration;
		for (slot = 0; slot < N_SLOTS; slot++)
			counts_forget(counts, slot);
	} else if (sscanf(counts->line, "phase %u %63s %" SCNu64, &slot, name, &operations) == 3 && slot < N_SLOTS &&
		   counts->label[0]) {
		close_phase(counts, slot, name, operations);
	} else {
		spoil(counts, "a line of the agent's cannot be read");
	}
}

static void write_phase(const struct counts *counts, const struct phase *phase, FILE *stream)
{
	fprintf(stream, "phase %s %s %" PRIu64 " %" PRIu64 "\n", phase->label, phase->name, phase->iterations, phase->operations);
	for (size_t i = 0; i < counts->n_blocks; i++)
		if (phase->counted[i])
			fprintf(stream, "%" PRIx64 " %zu %" PRIu64 "\n", counts->blocks[i].address, counts->blocks[i].n,
				phase->counted[i]);
}

bool counts_write(const struct counts *counts, const char *path)
{
	FILE *stream = fopen(path, "we");

	if (!stream)
		return false;
	fputs("memcg-ab-blocks 1\n", stream);
	if (counts->trouble)
		fprintf(stream, "trouble %s\n", counts->trouble);
	for (size_t i = 0; i < counts->n_phases; i++)
		write_phase(counts, &counts->phases[i], stream);
	fputs("end\n", stream);
	bool written = !ferror(stream);
	return !fclose(stream) && written;
}
