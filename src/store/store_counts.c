/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was executed in the boots whose blocks were counted. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

#define COUNTS_VERSION 3 /* of databases that have them */
#define NUMBERS_A_BLOCK 3

static struct error *boot_id(struct store *store, int64_t row, int64_t block, int64_t *id_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "SELECT id FROM boot WHERE row = ? AND block = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, row);
	sqlite3_bind_int64(statement, 2, block);
	if (sqlite3_step(statement) != SQLITE_ROW)
		return error_new(ERROR_LAB, "%s: counts of a boot that is not there", store->path);
	*id_out = sqlite3_column_int64(statement, 0);
	return NULL;
}

static struct error *put_functions(struct store *store, int64_t id, const struct stored_counts *counts)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		db_prepare(store, "INSERT INTO function_count (counts, kernel, name, insns) VALUES (?, ?, ?, ?)", &statement);

	for (size_t i = 0; !error && i < counts->n_functions; i++) {
		sqlite3_reset(statement);
		sqlite3_bind_int64(statement, 1, id);
		sqlite3_bind_int(statement, 2, counts->functions[i].kernel);
		db_bind_text(statement, 3, counts->functions[i].name);
		sqlite3_bind_int64(statement, 4, (int64_t)counts->functions[i].insns);
		error = db_finish(store, statement, "write a function's count");
	}
	return error;
}

/* Blocks are kept as three little-endian 64-bit numbers each: address, length, instructions. */
static struct error *put_phase(struct store *store, int64_t boot, const struct stored_counts *counts)
{
	AUTO_FREE uint64_t *packed = xcalloc(counts->n_blocks * NUMBERS_A_BLOCK + 1, sizeof(*packed));
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		db_prepare(store,
			   "INSERT INTO counts (boot, workload, phase, iterations, operations, blocks) VALUES (?, ?, ?, ?, ?, ?)",
			   &statement);

	if (error)
		return error;
	for (size_t i = 0; i < counts->n_blocks; i++) {
		packed[NUMBERS_A_BLOCK * i] = htole64(counts->blocks[i].address);
		packed[NUMBERS_A_BLOCK * i + 1] = htole64(counts->blocks[i].n);
		packed[NUMBERS_A_BLOCK * i + 2] = htole64(counts->blocks[i].insns);
	}
	sqlite3_bind_int64(statement, 1, boot);
	db_bind_text(statement, 2, counts->workload);
	db_bind_text(statement, 3, counts->phase);
	sqlite3_bind_int64(statement, 4, (int64_t)counts->iterations);
	sqlite3_bind_int64(statement, 5, (int64_t)counts->operations);
	sqlite3_bind_blob(statement, 6, packed, (int)(counts->n_blocks * NUMBERS_A_BLOCK * sizeof(*packed)), SQLITE_STATIC);
	error = db_finish(store, statement, "write a phase's counts");
	return error ? error : put_functions(store, sqlite3_last_insert_rowid(store->db), counts);
}

struct new_counts {
	int64_t row, block;
	const struct stored_counts *items;
	size_t n;
};

static struct error *put_phases(struct store *store, void *arg)
{
	const struct new_counts *counts = arg;
	int64_t boot = 0;
	struct error *error = boot_id(store, counts->row, counts->block, &boot);

	for (size_t i = 0; !error && i < counts->n; i++)
		error = put_phase(store, boot, &counts->items[i]);
	return error;
}

struct error *store_put_counts(struct store *store, int64_t row, int64_t block, const struct stored_counts *counts, size_t n)
{
	struct new_counts all = { row, block, counts, n };

	return store_group(store, put_phases, &all);
}

static struct error *read_functions(struct store *store, int64_t id, struct strlist *names,
				    struct stored_function **functions_out, size_t *n_out)
{
	AUTO_STATEMENT statement = NULL;
	struct stored_function *functions = NULL;
	size_t n = 0;
	int step = SQLITE_DONE;
	struct error *error =
		db_prepare(store, "SELECT kernel, name, insns FROM function_count WHERE counts = ? ORDER BY kernel, name",
			   &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, id);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		functions = array_grow(functions, n, sizeof(*functions));
		strlist_add(names, db_text(statement, 1));
		functions[n++] = (struct stored_function){ names->items[names->n - 1], sqlite3_column_int(statement, 0) != 0,
							   (uint64_t)sqlite3_column_int64(statement, 2) };
	}
	*functions_out = functions;
	*n_out = n;
	return step == SQLITE_DONE ? NULL : db_error(store, "read functions");
}

static struct stored_block *unpack_blocks(sqlite3_stmt *statement, int column, size_t *n_out)
{
	const unsigned char *packed = sqlite3_column_blob(statement, column);
	size_t n = (size_t)sqlite3_column_bytes(statement, column) / (NUMBERS_A_BLOCK * sizeof(uint64_t));
	struct stored_block *blocks = xcalloc(n + 1, sizeof(*blocks));

	for (size_t i = 0; i < n; i++) {
		uint64_t numbers[NUMBERS_A_BLOCK];
		memcpy(numbers, packed + i * sizeof(numbers), sizeof(numbers));
		blocks[i] = (struct stored_block){ le64toh(numbers[0]), le64toh(numbers[1]), le64toh(numbers[2]) };
	}
	*n_out = n;
	return blocks;
}

static struct error *read_phase(struct store *store, sqlite3_stmt *statement, store_counts_fn *fn, void *arg)
{
	AUTO_STRLIST names = { NULL, 0 };
	struct stored_function *functions = NULL;
	struct stored_counts counts = {
		.workload = db_text(statement, 1),
		.phase = db_text(statement, 2),
		.iterations = (uint64_t)sqlite3_column_int64(statement, 3),
		.operations = (uint64_t)sqlite3_column_int64(statement, 4),
	};
	struct stored_block *blocks = unpack_blocks(statement, 5, &counts.n_blocks);
	struct error *error = read_functions(store, sqlite3_column_int64(statement, 0), &names, &functions, &counts.n_functions);

	counts.blocks = blocks;
	counts.functions = functions;
	if (!error)
		error = fn(arg, &counts);
	free(functions);
	free(blocks);
	return error;
}

struct error *store_each_counts(struct store *store, int64_t row, int64_t block, store_counts_fn *fn, void *arg)
{
	AUTO_STATEMENT statement = NULL;
	int step = SQLITE_DONE;

	if (store->version < COUNTS_VERSION)
		return NULL;
	struct error *error = db_prepare(store,
					 "SELECT counts.id, workload, phase, iterations, operations, blocks FROM counts"
					 " JOIN boot ON boot.id = counts.boot WHERE row = ? AND block = ? ORDER BY counts.id",
					 &statement);
	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, row);
	sqlite3_bind_int64(statement, 2, block);
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW)
		error = read_phase(store, statement, fn, arg);
	return !error && step != SQLITE_DONE ? db_error(store, "read counts") : error;
}
