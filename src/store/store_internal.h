/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Within the store: what its files share. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/strbuf.h"
#include "store/store.h"

struct store {
	sqlite3 *db;
	char *path;
	int version; /* of the file when it was opened; STORE_VERSION when it is written to */
};

struct error *db_error(const struct store *store, const char *what) MUST_CHECK;
/* A prepared statement; NULL after an error. */
struct error *db_prepare(struct store *store, const char *sql, sqlite3_stmt **statement_out) MUST_CHECK;
/* Runs a statement that returns nothing. */
struct error *db_finish(struct store *store, sqlite3_stmt *statement, const char *what) MUST_CHECK;
struct error *db_execute(struct store *store, const char *sql, const char *what) MUST_CHECK;
void db_bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: null; must live until the statement ran */
const char *db_text(sqlite3_stmt *statement, int at); /* of a column; NULL: null */

void cleanup_statement(sqlite3_stmt **statement);
#define AUTO_STATEMENT CLEANUP(cleanup_statement) sqlite3_stmt *

#endif
