/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "store/store.h"
#include "unit.h"

#include <string.h>
#include <sys/stat.h>

struct folder {
	char *dir, *db;
};

static int make_folder(void **state)
{
	struct folder *folder = xcalloc(1, sizeof(*folder));
	char dir[] = "/tmp/memcg-ab-test-store-XXXXXX";

	folder->dir = xstrdup(mkdtemp(dir));
	folder->db = path_join(folder->dir, "run.db");
	*state = folder;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *folder = *state;

	assert_ok(file_remove_tree(folder->dir));
	free(folder->dir);
	free(folder->db);
	free(folder);
	return 0;
}

static const char *const names[] = { "fault.insn_k", "fault.insn_u" };

static struct stored_boot make_boot(int64_t row, int64_t block, const struct stored_sample *samples, size_t n)
{
	return (struct stored_boot){
		.row = row, .block = block, .validity = "v", .status = "ok", .samples = samples, .n_samples = n
	};
}

struct seen {
	size_t boots, samples;
	double sum;
	int64_t last_row;
	char status[32];
};

static struct error *look(void *arg, const struct stored_boot *boot)
{
	struct seen *seen = arg;

	seen->boots++;
	seen->last_row = boot->row;
	snprintf(seen->status, sizeof(seen->status), "%s", boot->status);
	for (size_t i = 0; i < boot->n_samples; i++) {
		seen->samples++;
		for (size_t k = 0; k < boot->samples[i].n_readings; k++) {
			assert_string_equal(boot->samples[i].names[k], names[k]);
			seen->sum += boot->samples[i].values[k];
		}
	}
	return NULL;
}

static void boots_and_samples_come_back(void **state)
{
	struct folder *folder = *state;
	const double values[][2] = { { 1707.05, 4.01 }, { -1.5, 1e-300 } };
	const struct stored_sample samples[] = { { "pft", -1, names, values[0], 2 }, { "pft", 0, names, values[1], 2 } };
	struct stored_boot boot = make_boot(3, 1, samples, 2);
	struct seen seen = { 0 };
	struct store *store = NULL;

	assert_ok(store_open(folder->db, &store));
	assert_ok(store_put_boot(store, &boot));
	assert_ok(store_put_boot(store, &boot)); /* replaces */
	store_close(store);
	assert_ok(store_open_readonly(folder->db, &store));
	assert_ok(store_each_boot(store, true, look, &seen));
	store_close(store);
	assert_int_equal(seen.boots, 1);
	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.last_row, 3);
	assert_true(seen.sum == 1707.05 + 4.01 + -1.5 + 1e-300);
}

static void a_boot_goes_in_whole_or_not_at_all(void **state)
{
	struct folder *folder = *state;
	const double values[] = { 1, 2 };
	/* The second sample has the key of the first: it cannot be stored. */
	const struct stored_sample samples[] = { { "pft", 0, names, values, 2 }, { "pft", 0, names, values, 2 } };
	struct stored_boot good = make_boot(0, 0, samples, 1), bad = make_boot(0, 0, samples, 2);
	struct seen seen = { 0 };
	struct store *store = NULL;

	assert_ok(store_open(folder->db, &store));
	assert_ok(store_put_boot(store, &good));
	struct error *error = store_put_boot(store, &bad);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	error_free(error);
	assert_ok(store_each_boot(store, true, look, &seen));
	assert_int_equal(seen.boots, 1);
	assert_int_equal(seen.samples, 1);
	store_close(store);
}

static void failed_boots_can_be_dropped(void **state)
{
	struct folder *folder = *state;
	struct stored_boot good = make_boot(0, 0, NULL, 0), bad = make_boot(1, 0, NULL, 0);
	struct seen seen = { 0 };
	struct store *store = NULL;

	bad.status = "lab";
	assert_ok(store_open(folder->db, &store));
	assert_ok(store_put_boot(store, &good));
	assert_ok(store_put_boot(store, &bad));
	assert_ok(store_drop_failed(store));
	assert_ok(store_each_boot(store, false, look, &seen));
	assert_int_equal(seen.boots, 1);
	assert_string_equal(seen.status, "ok");
	store_close(store);
}

static void the_description_and_the_end_are_kept(void **state)
{
	struct folder *folder = *state;
	AUTO_JNODE description = jnode_object();
	struct jnode *back = NULL;
	struct store *store = NULL;
	bool finished = true;
	int status = 9;

	jnode_set_string(description, "name", "m");
	assert_ok(store_open(folder->db, &store));
	assert_ok(store_get_run(store, &back));
	assert_null(back);
	assert_ok(store_set_run(store, description));
	assert_ok(store_get_finished(store, &finished, &status));
	assert_false(finished);
	assert_ok(store_set_finished(store, 5));
	assert_ok(store_get_finished(store, &finished, &status));
	assert_true(finished);
	assert_int_equal(status, 5);
	assert_ok(store_get_run(store, &back));
	assert_string_equal(jnode_string(back, "name", ""), "m");
	jnode_free(back);
	store_close(store);
}

static void what_is_no_database_is_refused(void **state)
{
	struct folder *folder = *state;
	struct store *store = NULL;
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s: cannot read the version: file is not a database\n", folder->db);
	static const char text[] =
		"this is not a database, and long enough to be looked at: ........................................";

	assert_ok(file_write_atomic(folder->db, text, sizeof(text), 0600));
	assert_error(store_open_readonly(folder->db, &store), want);
	assert_null(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(boots_and_samples_come_back, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_boot_goes_in_whole_or_not_at_all, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(failed_boots_can_be_dropped, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(the_description_and_the_end_are_kept, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_database_is_refused, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
