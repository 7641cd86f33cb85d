/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sqlite3.h>

#include "store/store_internal.h"

struct error *store_put_look(struct store *store, const struct stored_look *look)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		db_prepare(store, "INSERT INTO look (target, number, seen, blocks, reason, utc) VALUES (?, ?, ?, ?, ?, ?)",
			   &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, look->target);
	sqlite3_bind_int64(statement, 2, look->number);
	sqlite3_bind_int64(statement, 3, look->seen);
	sqlite3_bind_int64(statement, 4, look->blocks);
	db_bind_text(statement, 5, look->reason);
	sqlite3_bind_int64(statement, 6, look->utc_s);
	return db_finish(store, statement, "write a look");
}

struct error *store_each_look(struct store *store, store_look_fn *fn, void *arg)
{
	AUTO_STATEMENT statement = NULL;

	/* Databases of version 1 have none. */
	if (store->version < 2)
		return NULL;
	struct error *error =
		db_prepare(store, "SELECT target, number, seen, blocks, reason, utc FROM look ORDER BY target, number",
			   &statement);
	int step = SQLITE_DONE;
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct stored_look look = {
			.target = sqlite3_column_int64(statement, 0),
			.number = sqlite3_column_int64(statement, 1),
			.seen = sqlite3_column_int64(statement, 2),
			.blocks = sqlite3_column_int64(statement, 3),
			.reason = db_text(statement, 4),
			.utc_s = sqlite3_column_int64(statement, 5),
		};
		error = fn(arg, &look);
	}
	return !error && step != SQLITE_DONE ? db_error(store, "read looks") : error;
}
