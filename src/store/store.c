/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "store/store_internal.h"

/* How long another process (a report that reads) may keep the database busy. */
#define BUSY_MS 10000

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
	"CREATE TABLE IF NOT EXISTS look (target INTEGER NOT NULL, number INTEGER NOT NULL, seen INTEGER NOT NULL,"
	" blocks INTEGER NOT NULL, reason TEXT, utc INTEGER, PRIMARY KEY (target, number)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS counts (id INTEGER PRIMARY KEY, boot INTEGER NOT NULL REFERENCES boot (id) ON DELETE CASCADE,"
	" workload TEXT NOT NULL, phase TEXT NOT NULL, iterations INTEGER NOT NULL, operations INTEGER NOT NULL,"
	" blocks BLOB NOT NULL, UNIQUE (boot, workload, phase));"
	"CREATE TABLE IF NOT EXISTS function_count (counts INTEGER NOT NULL REFERENCES counts (id) ON DELETE CASCADE,"
	" kernel INTEGER NOT NULL, name TEXT NOT NULL, insns INTEGER NOT NULL, PRIMARY KEY (counts, kernel, name)) WITHOUT ROWID;"
	"PRAGMA user_version = 3;";

struct error *db_error(const struct store *store, const char *what)
{
	return error_new(ERROR_LAB, "%s: cannot %s: %s", store->path, what, sqlite3_errmsg(store->db));
}

struct error *db_execute(struct store *store, const char *sql, const char *what)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : db_error(store, what);
}

struct error *db_prepare(struct store *store, const char *sql, sqlite3_stmt **statement_out)
{
	return sqlite3_prepare_v2(store->db, sql, -1, statement_out, NULL) == SQLITE_OK ? NULL
											: db_error(store, "prepare a query");
}

void cleanup_statement(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

void db_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, at);
}

const char *db_text(sqlite3_stmt *statement, int at)
{
	return (const char *)sqlite3_column_text(statement, at);
}

struct error *store_group(struct store *store, store_group_fn *fn, void *arg)
{
	/* The outermost one is a transaction. */
	struct error *error = db_execute(store, "SAVEPOINT a_group", "begin");

	if (error)
		return error;
	error = fn(store, arg);
	if (!error)
		error = db_execute(store, "RELEASE a_group", "write");
	if (error)
		sqlite3_exec(store->db, "ROLLBACK TO a_group; RELEASE a_group", NULL, NULL, NULL);
	return error;
}

struct error *db_finish(struct store *store, sqlite3_stmt *statement, const char *what)
{
	return sqlite3_step(statement) == SQLITE_DONE ? NULL : db_error(store, what);
}

static struct error *read_version(struct store *store, int *version_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "PRAGMA user_version", &statement);

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
	store->path = xstrdup(path);
	struct error *error = NULL;
	if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
		error = db_error(store, "open it");
	sqlite3_busy_timeout(store->db, BUSY_MS);
	if (!error)
		error = read_version(store, &store->version);
	if (!error && store->version > STORE_VERSION)
		error = error_new(ERROR_LAB, "%s is of version %d, this tool knows %d: use the newer memcg-ab that made it", path,
				  store->version, STORE_VERSION);
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
	error = db_execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", "set it up");
	if (!error)
		error = db_execute(store, schema, "make its tables");
	if (error) {
		store_close(store);
		return error;
	}
	store->version = STORE_VERSION;
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
	struct error *error = db_prepare(store, "INSERT OR REPLACE INTO run (id, description) VALUES (1, ?)", &statement);

	if (error)
		return error;
	jnode_write(description, 0, &text);
	db_bind_text(statement, 1, strbuf_str(&text));
	return db_finish(store, statement, "write the run");
}

struct error *store_get_run(struct store *store, struct jnode **description_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "SELECT description FROM run", &statement);

	if (error)
		return error;
	int step = sqlite3_step(statement);
	if (step == SQLITE_DONE) {
		*description_out = NULL;
		return NULL;
	}
	if (step != SQLITE_ROW)
		return db_error(store, "read the run");
	const char *text = db_text(statement, 0);
	return jnode_parse(text, strlen(text), store->path, description_out);
}

struct error *store_set_finished(struct store *store, int exit_status)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "UPDATE run SET exit_status = ?, finished_utc = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int(statement, 1, exit_status);
	sqlite3_bind_int64(statement, 2, clock_utc_s());
	return db_finish(store, statement, "finish the run");
}

struct error *store_get_finished(struct store *store, bool *finished_out, int *exit_status_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "SELECT exit_status FROM run WHERE finished_utc IS NOT NULL", &statement);

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
		db_prepare(store, "INSERT OR REPLACE INTO image (key, status, reason, detail) VALUES (?, ?, ?, ?)", &statement);

	if (error)
		return error;
	db_bind_text(statement, 1, image->key);
	db_bind_text(statement, 2, image->status);
	db_bind_text(statement, 3, image->reason);
	db_bind_text(statement, 4, image->detail);
	return db_finish(store, statement, "write an image");
}

struct error *store_each_image(struct store *store, store_image_fn *fn, void *arg)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "SELECT key, status, reason, detail FROM image ORDER BY key", &statement);
	int step = SQLITE_DONE;

	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct stored_image image = { db_text(statement, 0), db_text(statement, 1), db_text(statement, 2),
					      db_text(statement, 3) };
		error = fn(arg, &image);
	}
	return !error && step != SQLITE_DONE ? db_error(store, "read images") : error;
}
