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

struct looks {
	size_t n;
	int64_t blocks[4], seen[4], target[4];
	char reason[64];
};

static struct error *keep_look(void *arg, const struct stored_look *look)
{
	struct looks *looks = arg;

	looks->target[looks->n] = look->target;
	looks->seen[looks->n] = look->seen;
	looks->blocks[looks->n++] = look->blocks;
	snprintf(looks->reason, sizeof(looks->reason), "%s", look->reason);
	return NULL;
}

static void looks_come_back_in_their_order_and_are_never_replaced(void **state)
{
	struct folder *folder = *state;
	struct looks looks = { 0 };
	struct store *store = NULL;
	const struct stored_look second = { .target = 1, .number = 1, .seen = 8, .blocks = 20, .reason = "sd 1%" };
	const struct stored_look first = { .target = 1, .number = 0, .seen = 0, .blocks = 8, .reason = "first" };
	const struct stored_look other = { .target = 0, .number = 0, .seen = 0, .blocks = 3, .reason = "other" };

	assert_ok(store_open(folder->db, &store));
	assert_ok(store_put_look(store, &second));
	assert_ok(store_put_look(store, &first));
	assert_ok(store_put_look(store, &other));
	struct error *error = store_put_look(store, &first);
	assert_non_null(error);
	assert_non_null(strstr(error_message(error), "cannot write a look"));
	error_free(error);
	assert_ok(store_each_look(store, keep_look, &looks));
	assert_int_equal(looks.n, 3);
	assert_int_equal(looks.target[0], 0);
	assert_int_equal(looks.blocks[1], 8);
	assert_int_equal(looks.blocks[2], 20);
	assert_int_equal(looks.seen[2], 8);
	assert_string_equal(looks.reason, "sd 1%");
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

struct pointers {
	const char *const *names[4];
	const char *workloads[4];
	size_t n;
};

static struct error *note_pointers(void *arg, const struct stored_boot *boot)
{
	struct pointers *pointers = arg;

	for (size_t i = 0; i < boot->n_samples; i++) {
		pointers->names[pointers->n] = boot->samples[i].names;
		pointers->workloads[pointers->n++] = boot->samples[i].workload;
	}
	return NULL;
}

static void samples_of_equal_readings_share_their_names(void **state)
{
	static const char *const others[] = { "fault.ns" };
	struct folder *folder = *state;
	const double values[] = { 1, 2 };
	const struct stored_sample samples[] = { { "pft", 0, names, values, 2 }, { "pft", 1, others, values, 1 } };
	struct stored_boot first = make_boot(0, 0, samples, 2), second = make_boot(1, 0, samples, 2);
	struct pointers pointers = { .n = 0 };
	struct store *store = NULL;

	assert_ok(store_open(folder->db, &store));
	assert_ok(store_put_boot(store, &first));
	assert_ok(store_put_boot(store, &second));
	assert_ok(store_each_boot(store, true, note_pointers, &pointers));
	assert_int_equal(pointers.n, 4);
	assert_ptr_equal(pointers.names[0], pointers.names[2]);
	assert_ptr_equal(pointers.names[1], pointers.names[3]);
	assert_ptr_not_equal(pointers.names[0], pointers.names[1]);
	assert_ptr_equal(pointers.workloads[0], pointers.workloads[3]);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(boots_and_samples_come_back, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(samples_of_equal_readings_share_their_names, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_boot_goes_in_whole_or_not_at_all, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(looks_come_back_in_their_order_and_are_never_replaced, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_description_and_the_end_are_kept, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_database_is_refused, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
