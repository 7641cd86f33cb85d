/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is described as, and which boots it takes from earlier ones: an exact and a random simulated device side by side. */
#include "plan_data.h"

#include "run/session.h"

#define MATRIX                                                                                                                   \
	"name: t\nconfig: {a: {}, b: {MEMCG: y}}\ncmdline: {plain: '', x: y}\nmatrix: [{config: all, cmdline: all}]\n"           \
	"devices: [exact, noisy]\nworkloads: {pft: {}}\nbaseline: b/plain/0\n"                                                   \
	"measure: {blocks: 4, seed: 9, order: abba, looks: 2, controls: {layout: false}}\n"                                      \
	"gate:\n"                                                                                                                \
	"  - {metric: pft.fault.ns, worse_by: 8%, vs: previous, steps: last}\n"                                                  \
	"  - {metric: pft.fault.ns, within: 1%, vs: {row: a/plain/0}}\n"                                                         \
	"  - {metric: pft.fault.ns, worse_by: 2%, vs: {run: old, anchor: b/x/0}}\n"

struct bench {
	struct lab *lab;
	struct matrix *matrix;
	struct plan *plan;
	struct series_set series;
	struct prepared *prepared;
	struct install install;
	struct session session;
};

static void open_bench(void **state, struct bench *bench)
{
	*bench = (struct bench){ .lab = NULL };
	free(write_file(state, "profiles/s.yaml", "kind: sim\nnuisances: [{}, {pad: 9}]\n"));
	AUTO_FREE char *lab =
		write_file(state, "memcg-ab.yaml", "devices: {exact: {profile: s}, noisy: {profile: s, sim: {exact: false}}}\n");
	AUTO_FREE char *matrix = write_file(state, "m.yaml", MATRIX);
	bench->install.agent_host = write_file(state, "agent", "x");
	bench->lab = load_lab(lab, TEST_SHARE);
	bench->matrix = load_matrix(matrix, bench->lab);
	assert_ok(prepare_plan(bench->matrix, NULL, &bench->series, &bench->plan));
	assert_ok(prepare(bench->plan, &bench->series, NULL, NO_GUARD, &bench->prepared));
	assert_ok(session_init(&bench->session, bench->plan, bench->prepared, &bench->install, NO_GUARD));
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

static void check_json(const struct jnode *node, const char *want)
{
	AUTO_STRBUF got = STRBUF_INIT;

	jnode_write(node, 0, &got);
	assert_string_equal(got.data, want);
}

static void describes_how_it_is_measured(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	struct jnode *run = session_describe(&bench.session);
	assert_int_equal(jnode_int(run, "blocks", 0), 4);
	assert_int_equal(jnode_int(run, "seed", 0), 9);
	check_json(jnode_get(run, "measure"),
		   "{\"blocks\":4,\"seed\":9,\"order\":\"abba\",\"half_width\":0.0,\"pilot\":8,\"looks\":2,\"aa\":true,"
		   "\"layout\":false}");
	const struct jnode *targets = jnode_get(run, "targets");
	for (size_t i = 0; i < 2; i++) {
		const struct jnode *target = jnode_item(targets, i);
		assert_int_equal(jnode_int(target, "blocks", 0), i ? 4 : 2);
		assert_string_equal(jnode_string(target, "profile_digest", ""), bench.matrix->targets[i].device->profile->digest);
	}
	check_json(jnode_get(run, "gates"),
		   "[{\"metric\":\"pft.fault.ns\",\"against\":\"previous\",\"row\":null,\"run\":null,\"anchor\":null,"
		   "\"kind\":\"worse_by\",\"limit\":0.08,\"steps\":\"last\"},"
		   "{\"metric\":\"pft.fault.ns\",\"against\":\"row\",\"row\":\"a/plain/0\",\"run\":null,\"anchor\":null,"
		   "\"kind\":\"within\",\"limit\":0.01,\"steps\":\"all\"},"
		   "{\"metric\":\"pft.fault.ns\",\"against\":\"run\",\"row\":null,\"run\":\"old\",\"anchor\":\"b/x/0\","
		   "\"kind\":\"worse_by\",\"limit\":0.02,\"steps\":\"all\"}]");
	jnode_free(run);
	close_bench(&bench);
}

static void describes_controls_as_rows(void **state)
{
	static const struct {
		const char *variant, *control;
		int target, baseline;
	} want[] = {
		{ "a/plain/0", "none", 0, 2 },	{ "a/x/0", "none", 0, 2 },
		{ "b/plain/0", "none", 0, 2 },	{ "b/x/0", "none", 0, 2 },
		{ "a/plain/0", "none", 1, 6 },	{ "a/x/0", "none", 1, 6 },
		{ "b/plain/0", "none", 1, 6 },	{ "b/x/0", "none", 1, 6 },
		{ "b/plain/0#aa", "aa", 1, 6 }, { "b/plain/0#replicate", "replicate", 1, 6 },
	};
	struct bench bench;

	open_bench(state, &bench);
	struct jnode *run = session_describe(&bench.session);
	const struct jnode *rows = jnode_get(run, "rows");
	assert_int_equal(jnode_size(rows), ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct jnode *row = jnode_item(rows, i);
		assert_string_equal(jnode_string(row, "variant", ""), want[i].variant);
		assert_string_equal(jnode_string(row, "control", ""), want[i].control);
		assert_int_equal(jnode_int(row, "target", -1), want[i].target);
		assert_int_equal(jnode_int(row, "baseline", -1), want[i].baseline);
		assert_int_equal(jnode_int(row, "previous", 0), -1);
	}
	jnode_free(run);
	close_bench(&bench);
}

/* No image tells a control's boots from the baseline's: its name does. */
static void controls_have_validities_of_their_own(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	const struct session *session = &bench.session;
	for (size_t i = 0; i < bench.plan->n_boots; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct plan_boot *a = session->boots[i].plan, *b = session->boots[k].plan;
			bool same = !strcmp(session->boots[i].validity, session->boots[k].validity);
			assert_true(same == (a->row == b->row && a->nuisance == b->nuisance));
		}
	}
	close_bench(&bench);
}

static void store_all(const struct session *session, const char *path)
{
	AUTO_STORE store = NULL;

	assert_ok(store_open(path, &store));
	for (size_t i = 0; i < session->plan->n_boots; i++) {
		const struct session_boot *boot = &session->boots[i];
		struct stored_boot stored = {
			.row = (int64_t)boot->plan->row,
			.block = boot->plan->block,
			.validity = boot->validity,
			.status = boot_status_name(BOOT_OK),
		};
		assert_ok(store_put_boot(store, &stored));
	}
}

static void takes_boots_of_exact_devices_alone(void **state)
{
	struct bench bench;

	open_bench(state, &bench);
	struct session *session = &bench.session;
	workdir_write(*state, "earlier/x", "");
	AUTO_FREE char *dir = workdir_path(*state, "earlier");
	AUTO_FREE char *path = path_join(dir, "run.db");
	AUTO_STRLIST earlier = { NULL, 0 };
	strlist_add(&earlier, dir);
	store_all(session, path);
	assert_int_equal(session_owed(session), 4 * 2 + 6 * 4);
	assert_ok(session_adopt(session, NULL, &earlier));
	assert_int_equal(session_owed(session), 6 * 4);
	for (size_t i = 0; i < bench.plan->n_boots; i++)
		assert_int_equal(session->boots[i].state, bench.plan->boots[i].nuisance ? BOOT_DONE : BOOT_OWED);
	/* The same run, gone on with, has them all. */
	AUTO_STORE own = NULL;
	assert_ok(store_open(path, &own));
	assert_ok(session_mark_stored(session, own));
	assert_int_equal(session_owed(session), 0);
	close_bench(&bench);
}

static void says_what_is_wrong_beside_a_series_that_cannot_be_read(void **state)
{
	workdir_write(*state, "broken/series", "missing.patch\n");
	workdir_write(*state, "fine/0001-a.patch",
		      "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\nFrom: A <a@x.org>\n"
		      "Date: Tue, 1 Dec 2026 10:00:01 +0000\nSubject: [PATCH] a\n\n---\n\n"
		      "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1 +1,2 @@\n line\n+new\n");
	struct fixture fixture =
		load_text(state, "name: t\nconfig: {a: {}}\ncmdline: {plain: ''}\ndevices: fake\nworkloads: {pft: {}}\n"
				 "patches: {p: {series: broken}, q: {series: fine}}\n"
				 "matrix: [{patches: p}, {patches: q, steps: 2}]\n");
	struct series_set series = { NULL, 0 };
	struct plan *plan = NULL;
	struct error *error = prepare_plan(fixture.matrix, NULL, &series, &plan);
	assert_int_equal(error_count(error), 2);
	assert_error_in(state, error,
			"DIR/broken/series:1:1: error: there is no file DIR/broken/missing.patch\n"
			"DIR/m.yaml:7:44: error: there is no step 2: patches 'q' have 1\n");
	assert_null(plan);
	assert_null(series.items);
	unload(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(describes_how_it_is_measured),
		cmocka_unit_test(describes_controls_as_rows),
		cmocka_unit_test(controls_have_validities_of_their_own),
		cmocka_unit_test(takes_boots_of_exact_devices_alone),
		cmocka_unit_test(says_what_is_wrong_beside_a_series_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
