/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which unit of a device does which block: a simulated device with two units. */
#include "plan_data.h"

#include "run/session.h"

#define MATRIX                                                                                                                   \
	"name: t\nconfig: {a: {}, b: {MEMCG: y}}\ncmdline: {plain: ''}\nmatrix: [{config: all}]\ndevices: [phones]\n"            \
	"workloads: {pft: {}}\nmeasure: {blocks: 3, seed: 9, controls: {aa: false, layout: false}}\n"
#define LEFT 0
#define RIGHT 1
#define ROWS 2

struct bench {
	struct lab *lab;
	struct matrix *matrix;
	struct plan *plan;
	struct series_set series;
	struct prepared *prepared;
	struct install install;
	struct session session;
	size_t boots[ROWS + 1]; /* of a block; the first free one is never written to */
};

static void open_bench(void **state, struct bench *bench)
{
	*bench = (struct bench){ .lab = NULL };
	free(write_file(state, "profiles/s.yaml", "kind: sim\nsim: {exact: false}\n"));
	AUTO_FREE char *lab = write_file(state, "memcg-ab.yaml",
					 "devices: {phones: {profile: s, units: {left: {}, right: {sim: {boot: 1ms}}}}}\n");
	AUTO_FREE char *matrix = write_file(state, "m.yaml", MATRIX);
	bench->install.agent_host = write_file(state, "agent", "x");
	bench->lab = load_lab(lab, TEST_SHARE);
	bench->matrix = load_matrix(matrix, bench->lab);
	assert_ok(prepare_plan(bench->matrix, NULL, &bench->series, &bench->plan));
	assert_ok(prepare(bench->plan, &bench->series, NULL, NO_GUARD, &bench->prepared));
	assert_ok(session_init(&bench->session, bench->plan, bench->prepared, &bench->install, NO_GUARD));
	assert_int_equal(bench->session.n_devices, 2);
	assert_string_equal(bench->session.devices[LEFT].name, "phones/left");
	assert_string_equal(bench->session.devices[RIGHT].name, "phones/right");
	assert_int_equal(bench->plan->n_boots, 3 * ROWS);
}

static void close_bench(struct bench *bench)
{
	session_deinit(&bench->session);
	prepared_free(bench->prepared);
	plan_free(bench->plan);
	series_set_deinit(&bench->series);
	matrix_free(bench->matrix);
	lab_free(bench->lab);
	install_deinit(&bench->install);
}

/* What a lane does: takes a unit's next block, and has done `n_done` of its boots. */
static size_t take(struct bench *bench, size_t unit, size_t n_done)
{
	size_t n = session_next_boots(&bench->session, unit, bench->boots);

	for (size_t i = 0; i < n; i++) {
		struct session_boot *boot = &bench->session.boots[bench->boots[i]];
		boot->state = i < n_done ? BOOT_DONE : BOOT_RUNNING;
		if (i < n_done)
			boot->unit = xstrdup(bench->session.devices[unit].unit->name);
	}
	return n;
}

static unsigned block_of(const struct bench *bench, size_t i)
{
	return bench->session.boots[bench->boots[i]].plan->block;
}

static void finish(struct bench *bench, size_t unit)
{
	for (size_t i = 0; i < bench->plan->n_boots; i++) {
		struct session_boot *boot = &bench->session.boots[i];
		if (boot->state != BOOT_RUNNING || boot->plan->block != block_of(bench, 0))
			continue;
		boot->state = BOOT_DONE;
		free(boot->unit);
		boot->unit = xstrdup(bench->session.devices[unit].unit->name);
	}
}

static void units_share_blocks(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	assert_int_equal(take(&bench, LEFT, 0), ROWS);
	unsigned first = block_of(&bench, 0);
	assert_int_equal(block_of(&bench, 1), first);
	assert_int_equal(take(&bench, RIGHT, 0), ROWS);
	unsigned second = block_of(&bench, 0);
	assert_int_not_equal(second, first);
	finish(&bench, RIGHT);
	assert_int_equal(take(&bench, RIGHT, 0), ROWS);
	assert_int_not_equal(block_of(&bench, 0), first);
	assert_int_not_equal(block_of(&bench, 0), second);
	/* All are taken. */
	assert_int_equal(take(&bench, LEFT, 0), 0);
	close_bench(&bench);
}

static void the_block_of_a_lost_unit_is_done_again_whole(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	assert_int_equal(take(&bench, LEFT, 1), ROWS);
	unsigned block = block_of(&bench, 0);
	assert_true(session_lose(&bench.session, LEFT, "burnt", bench.boots, ROWS));
	assert_string_equal(bench.session.devices[LEFT].lost, "burnt");
	assert_int_equal(session_owed(&bench.session), 3 * ROWS);
	assert_int_equal(take(&bench, RIGHT, 0), ROWS);
	assert_int_equal(block_of(&bench, 0), block);
	finish(&bench, RIGHT);
	assert_int_equal(take(&bench, RIGHT, 1), ROWS);
	/* No other is left: what it has done stays, the rest is for the lab to explain. */
	assert_false(session_lose(&bench.session, RIGHT, "burnt too", bench.boots, ROWS));
	assert_int_equal(session_owed(&bench.session), ROWS + 1);
	close_bench(&bench);
}

static void a_finished_block_of_a_lost_unit_stays(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	assert_int_equal(take(&bench, LEFT, ROWS), ROWS);
	assert_true(session_lose(&bench.session, LEFT, "was not left as it was found", bench.boots, ROWS));
	assert_int_equal(session_owed(&bench.session), 2 * ROWS);
	close_bench(&bench);
}

static void store_boot(const struct bench *bench, struct store *store, size_t index, const char *unit)
{
	const struct session_boot *boot = &bench->session.boots[index];
	AUTO_FREE char *identity = xasprintf("{\"unit\":\"%s\"}", unit);
	const struct stored_boot stored = {
		.row = (int64_t)boot->plan->row,
		.block = boot->plan->block,
		.validity = boot->validity,
		.status = boot_status_name(BOOT_OK),
		.identity = identity,
	};

	assert_ok(store_put_boot(store, &stored));
}

/* Of the first two blocks one boot each is stored: of `right`, and of a unit that the lab has no more. */
static void a_run_goes_on_where_its_units_were(void **state)
{
	struct bench bench;
	AUTO_STORE store = NULL;

	open_bench(state, &bench);
	workdir_write(*state, "run/x", "");
	AUTO_FREE char *path = workdir_path(*state, "run/run.db");
	assert_ok(store_open(path, &store));
	assert_int_equal(bench.session.boots[0].plan->block, 0);
	assert_int_equal(bench.session.boots[ROWS].plan->block, 1);
	store_boot(&bench, store, 0, "right");
	store_boot(&bench, store, ROWS, "sold");
	assert_ok(session_mark_stored(&bench.session, store));
	assert_int_equal(session_owed(&bench.session), 3 * ROWS - 2);
	/* Block 0 waits for the unit that began it; of block 1 nothing counts any more. */
	assert_int_equal(take(&bench, LEFT, 0), ROWS);
	assert_int_equal(block_of(&bench, 0), 1);
	assert_int_equal(take(&bench, RIGHT, 0), ROWS - 1);
	assert_int_equal(block_of(&bench, 0), 0);
	close_bench(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_share_blocks),
		cmocka_unit_test(the_block_of_a_lost_unit_is_done_again_whole),
		cmocka_unit_test(a_finished_block_of_a_lost_unit_stays),
		cmocka_unit_test(a_run_goes_on_where_its_units_were),
	};

	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
