/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots and their samples. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "store/store_internal.h"

/* Of samples that are being written: neighbours mostly share a layout. */
struct writing {
	sqlite3_stmt *insert;
	struct strbuf names; /* of the layout `layout` */
	int64_t layout;
};

static struct error *find_layout_id(struct store *store, const char *names, int64_t *id_out)
{
	AUTO_STATEMENT insert = NULL;
	AUTO_STATEMENT select = NULL;
	struct error *error = db_prepare(store, "INSERT OR IGNORE INTO layout (names) VALUES (?)", &insert);

	if (error)
		return error;
	db_bind_text(insert, 1, names);
	error = db_finish(store, insert, "write a layout");
	if (!error)
		error = db_prepare(store, "SELECT id FROM layout WHERE names = ?", &select);
	if (error)
		return error;
	db_bind_text(select, 1, names);
	if (sqlite3_step(select) != SQLITE_ROW)
		return db_error(store, "read a layout");
	*id_out = sqlite3_column_int64(select, 0);
	return NULL;
}

static struct error *choose_layout(struct store *store, struct writing *writing, const struct stored_sample *sample)
{
	AUTO_STRBUF names = STRBUF_INIT;

	for (size_t i = 0; i < sample->n_readings; i++)
		strbuf_addf(&names, "%s%s", i ? " " : "", sample->names[i]);
	if (writing->layout && !strcmp(strbuf_str(&names), strbuf_str(&writing->names)))
		return NULL;
	strbuf_reset(&writing->names);
	strbuf_adds(&writing->names, strbuf_str(&names));
	return find_layout_id(store, strbuf_str(&names), &writing->layout);
}

static struct error *put_sample(struct store *store, struct writing *writing, int64_t boot, const struct stored_sample *sample)
{
	AUTO_FREE uint64_t *packed = xcalloc(sample->n_readings, sizeof(*packed));
	struct error *error = choose_layout(store, writing, sample);

	if (error)
		return error;
	for (size_t i = 0; i < sample->n_readings; i++) {
		memcpy(&packed[i], &sample->values[i], sizeof(packed[i]));
		packed[i] = htole64(packed[i]);
	}
	sqlite3_reset(writing->insert);
	sqlite3_bind_int64(writing->insert, 1, boot);
	db_bind_text(writing->insert, 2, sample->workload);
	sqlite3_bind_int(writing->insert, 3, sample->iteration);
	sqlite3_bind_int64(writing->insert, 4, writing->layout);
	sqlite3_bind_blob(writing->insert, 5, packed, (int)(sample->n_readings * sizeof(*packed)), SQLITE_STATIC);
	return db_finish(store, writing->insert, "write a sample");
}

static struct error *put_samples(struct store *store, const struct stored_boot *boot)
{
	struct writing writing = { .names = STRBUF_INIT };
	int64_t id = sqlite3_last_insert_rowid(store->db);
	struct error *error =
		db_prepare(store, "INSERT INTO sample (boot, workload, iteration, layout, readings) VALUES (?, ?, ?, ?, ?)",
			   &writing.insert);

	for (size_t i = 0; !error && i < boot->n_samples; i++)
		error = put_sample(store, &writing, id, &boot->samples[i]);
	sqlite3_finalize(writing.insert);
	strbuf_deinit(&writing.names);
	return error;
}

static struct error *delete_boot(struct store *store, int64_t row, int64_t block)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "DELETE FROM boot WHERE row = ? AND block = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, row);
	sqlite3_bind_int64(statement, 2, block);
	return db_finish(store, statement, "replace a boot");
}

static struct error *insert_boot(struct store *store, const struct stored_boot *boot)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error =
		db_prepare(store,
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
		db_bind_text(statement, (int)i + 3, texts[i]);
	sqlite3_bind_int64(statement, 13, boot->wall_ms);
	sqlite3_bind_int64(statement, 14, boot->utc_s);
	return db_finish(store, statement, "write a boot");
}

static struct error *replace_boot(struct store *store, void *arg)
{
	const struct stored_boot *boot = arg;
	struct error *error = delete_boot(store, boot->row, boot->block);

	if (!error)
		error = insert_boot(store, boot);
	return error ? error : put_samples(store, boot);
}

struct error *store_put_boot(struct store *store, const struct stored_boot *boot)
{
	return store_group(store, replace_boot, (void *)(uintptr_t)boot);
}

/* The names of a layout, cut up once. Lives until all boots are read, so equal lists of names are equal pointers. */
struct layout {
	int64_t id;
	char *text;
	const char **names;
	size_t n;
};

/* Samples of one boot; their memory is used again for the next. */
struct samples {
	sqlite3_stmt *select;
	struct stored_sample *items;
	size_t n, capacity;
	double *values;
	size_t n_values, values_capacity;
	struct layout **layouts;
	size_t n_layouts;
	struct strlist workloads;
};

static void samples_deinit(struct samples *samples)
{
	sqlite3_finalize(samples->select);
	free(samples->items);
	free(samples->values);
	for (size_t i = 0; i < samples->n_layouts; i++) {
		free(samples->layouts[i]->names);
		free(samples->layouts[i]->text);
		free(samples->layouts[i]);
	}
	free(samples->layouts);
	strlist_deinit(&samples->workloads);
}

static struct error *read_layout(struct store *store, int64_t id, char **text_out)
{
	AUTO_STATEMENT statement = NULL;
	struct error *error = db_prepare(store, "SELECT names FROM layout WHERE id = ?", &statement);

	if (error)
		return error;
	sqlite3_bind_int64(statement, 1, id);
	if (sqlite3_step(statement) != SQLITE_ROW)
		return error_new(ERROR_LAB, "%s: a sample has no layout", store->path);
	*text_out = xstrdup(db_text(statement, 0));
	return NULL;
}

static struct error *find_layout(struct store *store, struct samples *samples, int64_t id, const struct layout **layout_out)
{
	for (size_t i = 0; i < samples->n_layouts; i++)
		if (samples->layouts[i]->id == id) {
			*layout_out = samples->layouts[i];
			return NULL;
		}
	struct layout *layout = xcalloc(1, sizeof(*layout));
	struct error *error = read_layout(store, id, &layout->text);
	if (error) {
		free(layout);
		return error;
	}
	layout->id = id;
	char *rest = *layout->text ? layout->text : NULL, *name;
	while ((name = strsep(&rest, " "))) {
		layout->names = array_grow(layout->names, layout->n, sizeof(*layout->names));
		layout->names[layout->n++] = name;
	}
	samples->layouts = array_grow(samples->layouts, samples->n_layouts, sizeof(*samples->layouts));
	samples->layouts[samples->n_layouts++] = layout;
	*layout_out = layout;
	return NULL;
}

/* A copy of the label that lives as long as the layouts. */
static const char *find_workload(struct samples *samples, const char *label)
{
	for (size_t i = 0; i < samples->workloads.n; i++)
		if (!strcmp(samples->workloads.items[i], label))
			return samples->workloads.items[i];
	strlist_add(&samples->workloads, label);
	return samples->workloads.items[samples->workloads.n - 1];
}

static void reserve(struct samples *samples, size_t n_values)
{
	if (samples->n == samples->capacity) {
		samples->capacity = samples->capacity ? 2 * samples->capacity : 64;
		samples->items = xreallocarray(samples->items, samples->capacity, sizeof(*samples->items));
	}
	if (samples->n_values + n_values > samples->values_capacity) {
		samples->values_capacity = 2 * samples->values_capacity + n_values;
		samples->values = xreallocarray(samples->values, samples->values_capacity, sizeof(*samples->values));
	}
}

static struct error *add_sample(struct store *store, struct samples *samples)
{
	const struct layout *layout = NULL;
	struct error *error = find_layout(store, samples, sqlite3_column_int64(samples->select, 2), &layout);

	if (error)
		return error;
	const unsigned char *packed = sqlite3_column_blob(samples->select, 3);
	if ((size_t)sqlite3_column_bytes(samples->select, 3) != sizeof(double) * layout->n)
		return error_new(ERROR_LAB, "%s: a sample does not fit its layout", store->path);
	reserve(samples, layout->n);
	for (size_t i = 0; i < layout->n; i++) {
		uint64_t bits;
		memcpy(&bits, packed + sizeof(bits) * i, sizeof(bits));
		bits = le64toh(bits);
		memcpy(&samples->values[samples->n_values++], &bits, sizeof(bits));
	}
	samples->items[samples->n++] = (struct stored_sample){
		.workload = find_workload(samples, db_text(samples->select, 0)),
		.iteration = sqlite3_column_int(samples->select, 1),
		.names = layout->names,
		.n_readings = layout->n,
	};
	return NULL;
}

static struct error *read_samples(struct store *store, struct samples *samples, int64_t boot)
{
	struct error *error = NULL;
	int step = SQLITE_DONE;

	samples->n = samples->n_values = 0;
	sqlite3_reset(samples->select);
	sqlite3_bind_int64(samples->select, 1, boot);
	while (!error && (step = sqlite3_step(samples->select)) == SQLITE_ROW)
		error = add_sample(store, samples);
	if (!error && step != SQLITE_DONE)
		error = db_error(store, "read samples");
	/* Only now do the values stay where they are. */
	double *values = samples->values;
	for (size_t i = 0; i < samples->n; i++) {
		samples->items[i].values = values;
		values += samples->items[i].n_readings;
	}
	return error;
}

static struct stored_boot boot_of_columns(sqlite3_stmt *statement, const struct samples *samples)
{
	return (struct stored_boot){
		.row = sqlite3_column_int64(statement, 1),
		.block = sqlite3_column_int64(statement, 2),
		.validity = db_text(statement, 3),
		.status = db_text(statement, 4),
		.reason = db_text(statement, 5),
		.boot_id = db_text(statement, 6),
		.build_id = db_text(statement, 7),
		.booted_cmdline = db_text(statement, 8),
		.memcg = db_text(statement, 9),
		.cgroup = db_text(statement, 10),
		.identity = db_text(statement, 11),
		.console = db_text(statement, 12),
		.wall_ms = sqlite3_column_int64(statement, 13),
		.utc_s = sqlite3_column_int64(statement, 14),
		.samples = samples->items,
		.n_samples = samples->n,
	};
}

struct error *store_each_boot(struct store *store, bool with_samples, store_boot_fn *fn, void *arg)
{
	AUTO_STATEMENT boots = NULL;
	struct samples samples = { .select = NULL };
	int step = SQLITE_DONE;

	struct error *error =
		db_prepare(store,
			   "SELECT id, row, block, validity, status, reason, boot_id, build_id, booted_cmdline, memcg, cgroup,"
			   " identity, console, wall_ms, utc FROM boot ORDER BY row, block",
			   &boots);
	if (!error)
		error = db_prepare(store,
				   "SELECT workload, iteration, layout, readings FROM sample WHERE boot = ?"
				   " ORDER BY workload, iteration",
				   &samples.select);
	while (!error && (step = sqlite3_step(boots)) == SQLITE_ROW) {
		if (with_samples)
			error = read_samples(store, &samples, sqlite3_column_int64(boots, 0));
		if (!error) {
			struct stored_boot boot = boot_of_columns(boots, &samples);
			error = fn(arg, &boot);
		}
	}
	samples_deinit(&samples);
	return !error && step != SQLITE_DONE ? db_error(store, "read boots") : error;
}
