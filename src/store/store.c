/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"

/* How long another process (a report that reads) may keep the database busy. */
#define BUSY_MS 10000

struct store {
	sqlite3 *db;
	char *path;
};

/*
 * A sample's readings are the doubles of its layout in order, little endian; a layout is a list of names, stored once. One row a
 * sample keeps a million samples small and quick to read.
 */
static const char schema[] =
	"CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL,"
	" exit_status INTEGER, finished_utc INTEGER);"
	"CREATE TABLE IF NOT EXISTS image (key TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT, detail TEXT);"
	"CREATE TABLE IF NOT EXISTS boot (id INTEGER PRIMARY KEY, row INTEGER NOT NULL, block INTEGER NOT NULL,"
	" validity TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, boot_id TEXT, build_id TEXT, booted_cmdline TEXT,"
	" memcg TEXT, cgroup TEXT, identity TEXT, console TEXT, wall_ms INTEGER, utc INTEGER, UNIQUE (row, block));"
	"CREATE TABLE IF NOT EXISTS layout (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);"
	"CREATE TABLE IF NOT EXISTS sample (boot INTEGER NOT NULL REFERENCES boot (id) ON DELETE CASCADE,"
	" workload TEXT NOT NULL, iteration INTEGER NOT NULL, layout INTEGER NOT NULL REFERENCES layout (id),"
	" readings BLOB NOT NULL, PRIMARY KEY (boot, workload, iteration)) WITHOUT ROWID;"
	"PRAGMA user_version = 1;";

static struct error *db_error(const struct store *store, const char *what)
{
	return error_new(ERROR_LAB, "%s: cannot %s: %s", store->path, what, sqlite3_errmsg(store->db));
}

static struct error *execute(struct store *store, const char *sql, const char *what)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : db_error(store, what);
}

/* A prepared statement; NULL after an error. */
static struct error *prepare(struct store *store, const char *sql, sqlite3_stmt **statement_out)
{
	return sqlite3_prepare_v2(store->db, sql, -1, statement_out, NULL) == SQLITE_OK ? NULL
											: db_error(store, "prepare a query");
}

static void cleanup_statement(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}
#define AUTO_STATEMENT CLEANUP(cleanup_statement) sqlite3_stmt *

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, at);
}

static const char *column(sqlite3_stmt *statement, int at)
{
	return (const char *)sqlite3_column_text(statement, at);
}

/* Runs a statement that returns nothing. */
static struct error *finish(struct store *store, sqlite3_stmt *statement, const char *what)
{
	return sqlite3_step(statement) == SQLITE_DONE ? NULL : db_error(store, what);
}

static struct error *read_version(struct store *store, int *version_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "PRAGMA user_version", &statement);

	if (error)
		return error;
	if (sqlite3_step(statement) != SQLITE_ROW)
		return db_error(store, "read the version");
	*version_out = sqlite3_column_int(statement, 0);
	return NULL;
}

static struct error *open_database(const char *path, int flags, struct store **store_out)
{
	struct store *store = xcalloc(1, sizeof(*store));
	int version = 0;

	store->path = xstrdup(path);
	struct error *error = NULL;
	if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
		error = db_error(store, "open it");
	sqlite3_busy_timeout(store->db, BUSY_MS);
	if (!error)
		error = read_version(store, &version);
	if (!error && version > STORE_VERSION)
		error = error_new(ERROR_LAB, "%s is of version %d, this tool knows %d: use the newer memcg-ab that made it", path,
				  version, STORE_VERSION);
	if (error) {
		store_close(store);
		return error;
	}
	*store_out = store;
	return NULL;
}

struct error *store_open(const char *path, struct store **store_out)
{
	struct store *store = NULL;
	struct error *error = open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store);

	if (error)
		return error;
	error = execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", "set it up");
	if (!error)
		error = execute(store, schema, "make its tables");
	if (error) {
		store_close(store);
		return error;
	}
	*store_out = store;
	return NULL;
}

struct error *store_open_readonly(const char *path, struct store **store_out)
{
	return open_database(path, SQLITE_OPEN_READONLY, store_out);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

void cleanup_store(struct store **store)
{
	store_close(*store);
}

struct error *store_set_run(struct store *store, const struct jnode *description)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "INSERT OR REPLACE INTO run (id, description) VALUES (1, ?)", &statement);

	if (error)
		return error;
	jnode_write(description, 0, &text);
	bind_text(statement, 1, strbuf_str(&text));
	return finish(store, statement, "write the run");
}

struct error *store_get_run(struct store *store, struct jnode **description_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "SELECT description FROM run", &statement);

	if (error)
		return error;
	int step = sqlite3_step(statement);
	if (step == SQLITE_DONE) {
		*description_out = NULL;
		return NULL;
	}
	if (step != SQLITE_ROW)
		return db_error(store, "read the run");
	const char *text = column(statement, 0);
	return jnode_parse(text, strlen(text), store->path, description_out);
}

struct error *store_set_finished(struct store *store, int exit_status)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "UPDATE run SET exit_status = ?, finished_utc = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int(statement, 1, exit_status);
	sqlite3_bind_int64(statement, 2, clock_utc_s());
	return finish(store, statement, "finish the run");
}

struct error *store_get_finished(struct store *store, bool *finished_out, int *exit_status_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "SELECT exit_status FROM run WHERE finished_utc IS NOT NULL", &statement);

	if (error)
		return error;
	int step = sqlite3_step(statement);
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return db_error(store, "read the run");
	*finished_out = step == SQLITE_ROW;
	*exit_status_out = step == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
	return NULL;
}

struct error *store_put_image(struct store *store, const struct stored_image *image)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		prepare(store, "INSERT OR REPLACE INTO image (key, status, reason, detail) VALUES (?, ?, ?, ?)", &statement);

	if (error)
		return error;
	bind_text(statement, 1, image->key);
	bind_text(statement, 2, image->status);
	bind_text(statement, 3, image->reason);
	bind_text(statement, 4, image->detail);
	return finish(store, statement, "write an image");
}

struct error *store_each_image(struct store *store, store_image_fn *fn, void *arg)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "SELECT key, status, reason, detail FROM image ORDER BY key", &statement);
	int step = SQLITE_DONE;

	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct stored_image image = { column(statement, 0), column(statement, 1), column(statement, 2),
					      column(statement, 3) };
		error = fn(arg, &image);
	}
	return !error && step != SQLITE_DONE ? db_error(store, "read images") : error;
}

static struct error *layout_id(struct store *store, const struct stored_sample *sample, int64_t *id_out)
{
	AUTO_STRBUF names = STRBUF_INIT;

	for (size_t i = 0; i < sample->n_readings; i++)
		strbuf_addf(&names, "%s%s", i ? " " : "", sample->names[i]);
	AUTO_STATEMENT insert = NULL;
	struct error *error = prepare(store, "INSERT OR IGNORE INTO layout (names) VALUES (?)", &insert);
	if (error)
		return error;
	bind_text(insert, 1, strbuf_str(&names));
	error = finish(store, insert, "write a layout");
	if (error)
		return error;
	AUTO_STATEMENT select = NULL;
	error = prepare(store, "SELECT id FROM layout WHERE names = ?", &select);
	if (error)
		return error;
	bind_text(select, 1, strbuf_str(&names));
	if (sqlite3_step(select) != SQLITE_ROW)
		return db_error(store, "read a layout");
	*id_out = sqlite3_column_int64(select, 0);
	return NULL;
}

static void pack_double(double value, unsigned char bytes[8])
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(bits >> (8 * i));
}

static double unpack_double(const unsigned char bytes[8])
{
	uint64_t bits = 0;
	double value;

	for (int i = 0; i < 8; i++)
		bits |= (uint64_t)bytes[i] << (8 * i);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static struct error *put_sample(struct store *store, int64_t boot, const struct stored_sample *sample)
{
	int64_t layout = 0;
	struct error *error = layout_id(store, sample, &layout);
	if (error)
		return error;

	AUTO_FREE unsigned char *packed = xcalloc(sample->n_readings, 8);
	for (size_t i = 0; i < sample->n_readings; i++)
		pack_double(sample->values[i], packed + 8 * i);
	AUTO_STATEMENT statement = NULL;
	error = prepare(store, "INSERT INTO sample (boot, workload, iteration, layout, readings) VALUES (?, ?, ?, ?, ?)",
			&statement);
	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, boot);
	bind_text(statement, 2, sample->workload);
	sqlite3_bind_int(statement, 3, sample->iteration);
	sqlite3_bind_int64(statement, 4, layout);
	sqlite3_bind_blob(statement, 5, packed, (int)(8 * sample->n_readings), SQLITE_STATIC);
	return finish(store, statement, "write a sample");
}

static struct error *delete_boot(struct store *store, int64_t row, int64_t block)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = prepare(store, "DELETE FROM boot WHERE row = ? AND block = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, row);
	sqlite3_bind_int64(statement, 2, block);
	return finish(store, statement, "replace a boot");
}

static struct error *insert_boot(struct store *store, const struct stored_boot *boot)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		prepare(store,
			"INSERT INTO boot (row, block, validity, status, reason, boot_id, build_id, booted_cmdline, memcg,"
			" cgroup, identity, console, wall_ms, utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			&statement);
	if (error)
		return error;
	const char *texts[] = { boot->validity,	      boot->status, boot->reason, boot->boot_id,  boot->build_id,
				boot->booted_cmdline, boot->memcg,  boot->cgroup, boot->identity, boot->console };
	sqlite3_bind_int64(statement, 1, boot->row);
	sqlite3_bind_int64(statement, 2, boot->block);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		bind_text(statement, (int)i + 3, texts[i]);
	sqlite3_bind_int64(statement, 13, boot->wall_ms);
	sqlite3_bind_int64(statement, 14, boot->utc_s);
	return finish(store, statement, "write a boot");
}

struct error *store_put_boot(struct store *store, const struct stored_boot *boot)
{
	struct error *error = execute(store, "BEGIN IMMEDIATE", "begin");

	if (error)
		return error;
	error = delete_boot(store, boot->row, boot->block);
	if (!error)
		error = insert_boot(store, boot);
	int64_t id = sqlite3_last_insert_rowid(store->db);
	for (size_t i = 0; !error && i < boot->n_samples; i++)
		error = put_sample(store, id, &boot->samples[i]);
	if (!error)
		error = execute(store, "COMMIT", "write a boot");
	if (error)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* The names of a layout, cut up once: neighbouring samples mostly share one. */
struct layout {
	int64_t id;
	char *text;
	const char **names;
	size_t n;
};

struct samples {
	struct stored_sample *items;
	size_t n;
	struct layout **layouts;
	size_t n_layouts;
};

static void samples_reset(struct samples *samples)
{
	for (size_t i = 0; i < samples->n; i++) {
		free((char *)samples->items[i].workload);
		free((double *)samples->items[i].values);
	}
	samples->n = 0;
}

static void samples_deinit(struct samples *samples)
{
	samples_reset(samples);
	free(samples->items);
	for (size_t i = 0; i < samples->n_layouts; i++) {
		free(samples->layouts[i]->names);
		free(samples->layouts[i]->text);
		free(samples->layouts[i]);
	}
	free(samples->layouts);
}

static const struct layout *find_layout(struct samples *samples, int64_t id, const char *text)
{
	for (size_t i = 0; i < samples->n_layouts; i++)
		if (samples->layouts[i]->id == id)
			return samples->layouts[i];
	struct layout *layout = xcalloc(1, sizeof(*layout));
	*layout = (struct layout){ .id = id, .text = xstrdup(text) };
	char *rest = layout->text, *name;
	while ((name = strsep(&rest, " "))) {
		layout->names = array_grow(layout->names, layout->n, sizeof(*layout->names));
		layout->names[layout->n++] = name;
	}
	samples->layouts = array_grow(samples->layouts, samples->n_layouts, sizeof(*samples->layouts));
	samples->layouts[samples->n_layouts++] = layout;
	return layout;
}

static struct error *add_sample(struct store *store, sqlite3_stmt *statement, struct samples *samples)
{
	const struct layout *layout = find_layout(samples, sqlite3_column_int64(statement, 2), column(statement, 3));
	const unsigned char *packed = sqlite3_column_blob(statement, 4);

	if ((size_t)sqlite3_column_bytes(statement, 4) != 8 * layout->n)
		return error_new(ERROR_LAB, "%s: a sample does not fit its layout", store->path);
	double *values = xcalloc(layout->n, sizeof(*values));
	for (size_t i = 0; i < layout->n; i++)
		values[i] = unpack_double(packed + 8 * i);
	samples->items = array_grow(samples->items, samples->n, sizeof(*samples->items));
	samples->items[samples->n++] = (struct stored_sample){
		.workload = xstrdup(column(statement, 0)),
		.iteration = sqlite3_column_int(statement, 1),
		.names = layout->names,
		.values = values,
		.n_readings = layout->n,
	};
	return NULL;
}

static struct error *read_samples(struct store *store, sqlite3_stmt *statement, int64_t boot, struct samples *samples)
{
	struct error *error = NULL;
	int step = SQLITE_DONE;

	samples_reset(samples);
	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, boot);
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW)
		error = add_sample(store, statement, samples);
	return !error && step != SQLITE_DONE ? db_error(store, "read samples") : error;
}

static struct stored_boot boot_of_columns(sqlite3_stmt *statement, const struct samples *samples)
{
	return (struct stored_boot){
		.row = sqlite3_column_int64(statement, 1),
		.block = sqlite3_column_int64(statement, 2),
		.validity = column(statement, 3),
		.status = column(statement, 4),
		.reason = column(statement, 5),
		.boot_id = column(statement, 6),
		.build_id = column(statement, 7),
		.booted_cmdline = column(statement, 8),
		.memcg = column(statement, 9),
		.cgroup = column(statement, 10),
		.identity = column(statement, 11),
		.console = column(statement, 12),
		.wall_ms = sqlite3_column_int64(statement, 13),
		.utc_s = sqlite3_column_int64(statement, 14),
		.samples = samples->items,
		.n_samples = samples->n,
	};
}

struct error *store_each_boot(struct store *store, bool with_samples, store_boot_fn *fn, void *arg)
{
	AUTO_STATEMENT boots = NULL;
	AUTO_STATEMENT readings = NULL;
	struct samples samples = { NULL, 0, NULL, 0 };
	int step = SQLITE_DONE;

	struct error *error =
		prepare(store,
			"SELECT id, row, block, validity, status, reason, boot_id, build_id, booted_cmdline, memcg, cgroup,"
			" identity, console, wall_ms, utc FROM boot ORDER BY row, block",
			&boots);
	if (!error)
		error = prepare(
			store,
			"SELECT workload, iteration, layout, names, readings FROM sample JOIN layout ON layout.id = layout"
			" WHERE boot = ? ORDER BY workload, iteration",
			&readings);
	while (!error && (step = sqlite3_step(boots)) == SQLITE_ROW) {
		if (with_samples)
			error = read_samples(store, readings, sqlite3_column_int64(boots, 0), &samples);
		if (!error) {
			struct stored_boot boot = boot_of_columns(boots, &samples);
			error = fn(arg, &boot);
		}
	}
	samples_deinit(&samples);
	return !error && step != SQLITE_DONE ? db_error(store, "read boots") : error;
}

struct error *store_drop_failed(struct store *store)
{
	return execute(store, "DELETE FROM boot WHERE status != 'ok'", "drop failed boots");
}
