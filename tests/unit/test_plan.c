/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan_data.h"

#define HEAD                                                                                                                     \
	"kernel: {source: linux-5.10, toolchain: gcc, base_config: allnoconfig}\n"                                               \
	"config: {nomemcg: {MEMCG: n}, memcg: {MEMCG: y}}\n"                                                                     \
	"cmdline: {plain: '', disabled: cgroup_disable=memory}\nworkloads: {pft: {size: 64M}}\n"                                 \
	"name: t\n"

/* "NAME<PREVIOUS ..." with indices. */
static void check_variants(const struct plan *plan, const char *want)
{
	struct strbuf got = STRBUF_INIT;
	for (size_t i = 0; i < plan->n_variants; i++)
		strbuf_addf(&got, "%s%s<%zd", i ? " " : "", plan->variants[i].name, plan->variants[i].previous);
	assert_string_equal(strbuf_str(&got), want);
	strbuf_deinit(&got);
}

static void check_images(const struct plan *plan, const char *want)
{
	struct strbuf got = STRBUF_INIT;
	for (size_t i = 0; i < plan->n_images; i++)
		strbuf_addf(&got, "%s%s:%zu", i ? " " : "", plan->images[i].name, plan->images[i].ladder);
	assert_string_equal(strbuf_str(&got), want);
	strbuf_deinit(&got);
}

static void expands_a_ladder(void **state)
{
	struct fixture fixture =
		load_text(state,
			  HEAD "patches: {p: {series: series}}\ndevices: [qemu, noisy, fake]\nmeasure: {blocks: 4}\n"
			       "matrix: [{config: nomemcg, cmdline: plain}, {config: memcg, cmdline: disabled, patches: p}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_variants(plan, "nomemcg/plain/0<-1 memcg/disabled/0<-1 memcg/disabled/1<1 memcg/disabled/2<2 memcg/disabled/3<3");
	/* qemu and noisy have the same fragment: one kernel serves both. */
	check_images(plan, "nomemcg/0:0 nomemcg/0+salt:0 memcg/0:1 memcg/1:1 memcg/2:1 memcg/3:1");
	assert_int_equal(plan->n_rows, 18);
	assert_int_equal(plan->rows[4].image, 5);
	assert_int_equal(plan->rows[9].image, 5);
	assert_int_equal(plan->rows[17].image, -1);
	assert_int_equal(plan->rows[17].target, 2);
	assert_int_equal(plan->rows[17].variant, 4);
	assert_string_equal(plan->rows[0].booted_cmdline, "console=ttyAMA0");
	assert_string_equal(plan->rows[4].booted_cmdline, "console=ttyAMA0 cgroup_disable=memory");
	assert_string_equal(plan->rows[17].booted_cmdline, "console=sim cgroup_disable=memory");
	assert_int_equal(plan->variants[4].n_steps, 3);
	assert_string_equal(plan->variants[4].subject, "p 3");
	assert_null(plan->variants[1].subject);
	assert_int_equal(plan->variants[0].n_steps, 0);
	/* Three nuisances, no limit, and one by default. */
	assert_int_equal(plan_blocks(fixture.matrix, 0), 3);
	assert_int_equal(plan_blocks(fixture.matrix, 1), 4);
	assert_int_equal(plan_blocks(fixture.matrix, 2), 1);
	assert_int_equal(plan->n_boots, 5 * 3 + 8 * 4 + 5);
	assert_int_equal(plan->baseline, 0);
	plan_free(plan);
	unload(&fixture);
}

/* "NAME=IMAGE ..." of one target's rows. */
static void check_rows(const struct plan *plan, size_t target, const char *want)
{
	struct strbuf got = STRBUF_INIT;
	for (size_t i = 0; i < plan->n_rows; i++) {
		if (plan->rows[i].target == target)
			strbuf_addf(&got, "%s%s=%zd", got.len ? " " : "", plan->rows[i].name, plan->rows[i].image);
	}
	assert_string_equal(strbuf_str(&got), want);
	strbuf_deinit(&got);
}

static void controls_stand_beside_the_baseline_on_random_devices(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD "devices: [qemu, noisy]\nbaseline: memcg/plain\nmatrix: [{config: all, cmdline: all}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_images(plan, "nomemcg/0:0 memcg/0:1 memcg/0+salt:1");
	assert_false(plan->images[1].salted);
	assert_true(plan->images[2].salted);
	assert_ptr_equal(plan->images[2].kernel, plan->images[1].kernel);
	assert_ptr_equal(plan->images[2].config, plan->images[1].config);
	check_rows(plan, 0, "nomemcg/plain/0=0 nomemcg/disabled/0=0 memcg/plain/0=1 memcg/disabled/0=1");
	check_rows(plan, 1,
		   "nomemcg/plain/0=0 nomemcg/disabled/0=0 memcg/plain/0=1 memcg/disabled/0=1 memcg/plain/0#aa=1 "
		   "memcg/plain/0#replicate=1 memcg/plain/0#layout=2");
	static const char *const names[] = { "none", "none", "none", "none", "aa", "replicate", "layout" };
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(row_control_name(plan->rows[4 + i].control), names[i]);
	for (size_t i = 8; i < 11; i++) {
		assert_int_equal(plan->rows[i].variant, 2);
		assert_string_equal(plan->rows[i].booted_cmdline, "console=ttyAMA0");
	}
	assert_int_equal(plan_target_boots(plan, 0), 4 * 3);
	assert_int_equal(plan_target_boots(plan, 1), 7 * 12);
	assert_int_equal(plan->n_boots, 4 * 3 + 7 * 12);
	plan_free(plan);
	unload(&fixture);
}

static void controls_can_be_left_out_or_asked_for(void **state)
{
	static const struct {
		const char *text, *rows, *images;
	} cases[] = {
		/* Two other variants: the baseline's second boot would cost more than it gains. */
		{ "devices: noisy\nmatrix: [{config: memcg, cmdline: all}, {config: nomemcg, cmdline: plain}]\n",
		  "memcg/plain/0=0 memcg/disabled/0=0 nomemcg/plain/0=2 memcg/plain/0#aa=0 memcg/plain/0#layout=1",
		  "memcg/0:0 memcg/0+salt:0 nomemcg/0:1" },
		{ "devices: noisy\nmatrix: [{config: memcg, cmdline: plain}]\nmeasure: {controls: {aa: false, layout: false}}\n",
		  "memcg/plain/0=0", "memcg/0:0" },
		{ "devices: qemu\nmatrix: [{config: memcg, cmdline: plain}]\nmeasure: {controls: {aa: true, layout: true}}\n",
		  "memcg/plain/0=0 memcg/plain/0#layout=1", "memcg/0:0 memcg/0+salt:0" },
		{ "devices: fake\nmatrix: [{config: memcg, cmdline: plain}]\nmeasure: {controls: {layout: true}}\n",
		  "memcg/plain/0=-1", "" },
		{ "devices: noisy\npatches: {p: {series: series}}\nbaseline: memcg/plain/2\n"
		  "matrix: [{config: memcg, cmdline: plain, patches: p, steps: 1-3}]\n",
		  "memcg/plain/1=0 memcg/plain/2=1 memcg/plain/3=3 memcg/plain/2#aa=1 memcg/plain/2#layout=2",
		  "memcg/1:0 memcg/2:0 memcg/2+salt:0 memcg/3:0" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *text = xasprintf("%s%s", HEAD, cases[i].text);
		struct fixture fixture = load_text(state, text);
		struct plan *plan = expand(fixture.matrix, NULL);
		check_rows(plan, 0, cases[i].rows);
		check_images(plan, cases[i].images);
		plan_free(plan);
		unload(&fixture);
	}
}

/* Kernels that others build cannot be salted. */
static void prebuilt_baselines_have_no_layout_control(void **state)
{
	free(write_file(state, "old/Image", "x"));
	struct fixture fixture = load_text(state, "name: t\ncmdline: {plain: ''}\nworkloads: {pft: {}}\ndevices: noisy\n"
						  "kernels: {old: {prebuilt: {image: old/Image}}}\nmatrix: [{kernel: all}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_rows(plan, 0, "old/prebuilt/plain/0=0 old/prebuilt/plain/0#aa=0");
	plan_free(plan);
	unload(&fixture);
}

/* Boots stand in the order in which they are done, each row once a block; `rows_out`: the order of each block, by position. */
static void check_boots(const struct plan *plan, size_t target, size_t n_rows, unsigned blocks, size_t *rows_out)
{
	const struct profile *profile = plan->matrix->targets[target].device->profile;
	size_t first = 0;
	while (plan->rows[plan->boots[first].row].target != target)
		first++;
	size_t *seen = xcalloc(blocks, sizeof(*seen));
	assert_int_equal(plan_target_boots(plan, target), n_rows * blocks);
	for (size_t i = 0; i < n_rows * blocks; i++) {
		const struct plan_boot *boot = &plan->boots[first + i];
		assert_int_equal(plan->rows[boot->row].target, target);
		assert_int_equal(boot->ordinal, i);
		assert_true(boot->block < blocks && boot->position < n_rows);
		assert_ptr_equal(boot->nuisance, profile->exact ? &profile->nuisances[boot->block] : NULL);
		seen[boot->block] |= (size_t)1 << plan->rows[boot->row].control << (plan->rows[boot->row].variant * 4);
		rows_out[boot->block * n_rows + boot->position] = boot->row;
	}
	for (unsigned block = 1; block < blocks; block++)
		assert_true(seen[block] == seen[0]);
	free(seen);
}

static void draws_each_block_anew(void **state)
{
	struct fixture fixture =
		load_text(state,
			  HEAD "devices: [qemu, noisy]\nmeasure: {blocks: 8, seed: 5}\nmatrix: [{config: all, cmdline: all}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	struct plan *again = expand(fixture.matrix, NULL);
	size_t rows[8 * 7];
	size_t different = 0;
	check_boots(plan, 0, 4, 3, rows);
	check_boots(plan, 1, 7, 8, rows);
	for (unsigned block = 1; block < 8; block++)
		different += memcmp(&rows[block * 7], rows, 7 * sizeof(*rows)) != 0;
	assert_true(different >= 6);
	for (size_t i = 0; i < plan->n_boots; i++)
		assert_int_equal(again->boots[i].row, plan->boots[i].row);
	assert_string_equal(plan->digest, again->digest);
	plan_free(again);
	fixture.matrix->measure.seed = 6;
	again = expand(fixture.matrix, NULL);
	size_t moved = 0;
	for (size_t i = 0; i < plan->n_boots; i++)
		moved += plan->boots[i].row != again->boots[i].row;
	assert_true(moved > 10);
	assert_string_not_equal(plan->digest, again->digest);
	plan_free(again);
	plan_free(plan);
	unload(&fixture);
}

static void every_second_block_is_a_mirror_of_the_one_before(void **state)
{
	struct fixture fixture =
		load_text(state,
			  HEAD "devices: noisy\nmeasure: {blocks: 5, order: abba}\nmatrix: [{config: all, cmdline: all}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	size_t rows[5 * 7];
	check_boots(plan, 0, 7, 5, rows);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(rows[7 + i], rows[6 - i]);
		assert_int_equal(rows[3 * 7 + i], rows[2 * 7 + 6 - i]);
	}
	assert_memory_not_equal(rows, &rows[2 * 7], 7 * sizeof(*rows));
	/* What is drawn is what a random order would have drawn. */
	fixture.matrix->measure.order = ORDER_RANDOM;
	struct plan *drawn = expand(fixture.matrix, NULL);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(drawn->boots[i].row, rows[i]);
		assert_int_equal(drawn->boots[4 * 7 + i].row, rows[4 * 7 + i]);
	}
	assert_string_not_equal(drawn->digest, plan->digest);
	plan_free(drawn);
	plan_free(plan);
	unload(&fixture);
}

static void a_sequence_takes_row_after_row(void **state)
{
	struct fixture fixture = load_text(
		state, HEAD
		"devices: [qemu, noisy]\nmeasure: {blocks: 4, order: sequential}\nmatrix: [{config: all, cmdline: plain}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	size_t rows[4 * 4];
	check_boots(plan, 0, 2, 3, rows);
	check_boots(plan, 1, 4, 4, rows);
	for (size_t i = 0; i < 16; i++) {
		const struct plan_boot *boot = &plan->boots[6 + i];
		assert_int_equal(boot->row, 2 + i / 4);
		assert_int_equal(boot->block, i % 4);
		assert_int_equal(boot->position, i / 4);
	}
	plan_free(plan);
	unload(&fixture);
}

static void looks_are_spread_over_the_blocks(void **state)
{
	static const struct measure four = { .blocks = 48, .looks = 4 };
	static const struct measure uneven = { .blocks = 10, .looks = 4 };
	static const struct measure each = { .blocks = 3, .looks = 3 };
	static const unsigned want[] = { 3, 5, 8, 10 };
	(void)state;
	for (unsigned i = 1; i <= 4; i++) {
		assert_int_equal(plan_look(&four, i), 12 * i);
		assert_int_equal(plan_look(&uneven, i), want[i - 1]);
	}
	for (unsigned i = 1; i <= 3; i++)
		assert_int_equal(plan_look(&each, i), i);
}

static void refuses_more_boots_than_anyone_waits_for(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD "devices: noisy\nmatrix: [{config: all, cmdline: all}]\nmeasure: {blocks: 1000}\n");
	/* Seven rows: four that were asked for and three controls. */
	fixture.matrix->measure.blocks = 142857;
	struct plan *plan = NULL;
	assert_ok(plan_expand(fixture.matrix, three_patches(fixture.matrix), NULL, &plan));
	plan_free(plan);
	plan = NULL;
	fixture.matrix->measure.blocks = 142858;
	assert_error_in(state, plan_expand(fixture.matrix, three_patches(fixture.matrix), NULL, &plan),
			"DIR/m.yaml:8:10: error: the matrix asks for 1000006 boots, more than 1000000\n");
	assert_null(plan);
	unload(&fixture);
}

static void says_what_can_be_said_without_a_series(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD
			  "patches: {a: {series: series}, b: {series: base}}\ndevices: qemu\nbaseline: nomemcg/plain/0\nmatrix:\n"
			  "  - {config: memcg, cmdline: plain, patches: a, steps: 1}\n"
			  "  - {config: memcg, cmdline: plain, patches: b, steps: [1, 9]}\n"
			  "  - {config: nomemcg, cmdline: plain, patches: b, steps: 0}\n");
	struct plan *plan = NULL;
	struct series_summary *series = three_patches(fixture.matrix);
	struct error *error;
	for (size_t k = 0; k < series[0].n; k++)
		free(series[0].subjects[k]);
	free(series[0].subjects);
	series[0] = (struct series_summary){ .missing = true };
	error = plan_expand(fixture.matrix, series, NULL, &plan);
	assert_error_in(state, error, "DIR/m.yaml:11:56: error: there is no step 9: patches 'b' have 3\n");
	fixture.matrix->lines[1].steps.list[1] = 2;
	series = xcalloc(2, sizeof(*series));
	series[0].missing = series[1].missing = true;
	assert_ok(plan_expand(fixture.matrix, series, NULL, &plan));
	assert_null(plan);
	unload(&fixture);
}

static void names_and_shares_the_foot_of_two_ladders(void **state)
{
	struct fixture fixture = load_text(
		state,
		HEAD "patches: {a: {series: series}, b: {series: base}, c: {series: series, on: b}}\ndevices: qemu\nmatrix:\n"
		     "  - {config: memcg, cmdline: plain, patches: a}\n"
		     "  - {config: memcg, cmdline: plain, patches: b, steps: all}\n"
		     "  - {config: memcg, cmdline: plain, patches: c, steps: [0, 3]}\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_variants(
		plan,
		"memcg/plain/0<-1 memcg/plain/a.1<0 memcg/plain/a.2<1 memcg/plain/a.3<2 memcg/plain/b.1<0 memcg/plain/b.2<4 "
		"memcg/plain/b.3<5 memcg/plain/c.0<-1 memcg/plain/c.3<7");
	check_images(plan,
		     "memcg/0:0 memcg/a.1:0 memcg/a.2:0 memcg/a.3:0 memcg/b.1:0 memcg/b.2:0 memcg/b.3:0 memcg/c.0:0 memcg/c.3:0");
	assert_null(plan->images[0].patches);
	plan_free(plan);
	unload(&fixture);
}

static void climbs_over_missing_rungs(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD "patches: {p: {series: series}}\ndevices: qemu\nmatrix:\n"
				      "  - {config: memcg, cmdline: plain, patches: p, steps: last}\n"
				      "  - {config: memcg, cmdline: plain, patches: p, steps: 1}\n"
				      "  - {config: memcg, cmdline: [disabled, plain]}\nbaseline: memcg/plain\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_variants(plan, "memcg/plain/3<1 memcg/plain/1<3 memcg/disabled/0<-1 memcg/plain/0<-1");
	check_images(plan, "memcg/0:0 memcg/1:0 memcg/3:0"); /* in the order a build folder walks */
	assert_int_equal(plan->rows[2].image, 0);
	assert_int_equal(plan->baseline, 3); /* the lowest step of memcg/plain */
	plan_free(plan);
	unload(&fixture);
}

static void keeps_what_only_matches_and_the_baseline(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD
			  "patches: {p: {series: series}}\ndevices: qemu\nbaseline: nomemcg/plain/0\nmatrix:\n"
			  "  - {config: memcg, cmdline: disabled, patches: p}\n  - {config: [memcg, nomemcg], cmdline: plain}\n");
	struct plan *all = expand(fixture.matrix, NULL);
	assert_int_equal(all->baseline, 5);
	struct plan *plan = expand(fixture.matrix, "memcg/disabled/[03]");
	check_variants(plan, "memcg/disabled/0<-1 memcg/disabled/3<0 nomemcg/plain/0<-1");
	assert_int_equal(plan->baseline, 2);
	assert_int_equal(plan->n_images, 3);
	assert_string_not_equal(plan->digest, all->digest);
	plan_free(plan);
	plan_free(all);
	plan = (struct plan *)0x1;
	struct error *error = plan_expand(fixture.matrix, three_patches(fixture.matrix), "memgc/disabled/1", &plan);
	assert_error(error,
		     "memcg-ab: error: --only 'memgc/disabled/1' is no row of this matrix (did you mean 'memcg/disabled/1'?)\n");
	error = plan_expand(fixture.matrix, three_patches(fixture.matrix), "x*", &plan);
	assert_error(error,
		     "memcg-ab: error: --only 'x*' is no row of this matrix (rows are: memcg/disabled/0, memcg/disabled/1, "
		     "memcg/disabled/2, memcg/disabled/3, memcg/plain/0, nomemcg/plain/0)\n");
	assert_ptr_equal(plan, (struct plan *)0x1);
	unload(&fixture);
}

static void keeps_what_gates_compare_with(void **state)
{
	struct fixture fixture =
		load_text(state, HEAD "devices: qemu\nmatrix: [{config: all, cmdline: all}]\ngate:\n"
				      "  - {metric: pft.both.insn, within: 1%, vs: {row: memcg/plain/0}}\n"
				      "  - {metric: pft.both.insn, within: 1%, vs: {run: old, anchor: nomemcg/disabled/0}}\n");
	struct plan *plan = expand(fixture.matrix, "memcg/disabled/0");
	check_variants(plan, "nomemcg/plain/0<-1 nomemcg/disabled/0<-1 memcg/plain/0<-1 memcg/disabled/0<-1");
	plan_free(plan);
	fixture.matrix->n_gates = 1;
	plan = expand(fixture.matrix, "memcg/disabled/0");
	check_variants(plan, "nomemcg/plain/0<-1 memcg/plain/0<-1 memcg/disabled/0<-1");
	plan_free(plan);
	fixture.matrix->n_gates = 2;
	unload(&fixture);
}

static void names_images_by_profile_when_fragments_differ(void **state)
{
	struct lab *lab = load_lab("memcg-ab.yaml", ".");
	char *path =
		write_file(state, "m.yaml", HEAD "devices: [qemu-virt, gki-like]\nmatrix: [{config: memcg, cmdline: plain}]\n");
	struct matrix *matrix = load_matrix(path, lab);
	struct plan *plan = expand(matrix, NULL);
	check_images(plan, "memcg/0@qemu-virt:0 memcg/0@gki-like:1");
	assert_int_equal(plan->rows[1].image, 1);
	plan_free(plan);
	matrix_free(matrix);
	lab_free(lab);
	free(path);
}

static void digest_names_the_numbers_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		bool same;
	} cases[] = {
		{ HEAD "devices: qemu\nmatrix: [{config: memcg, cmdline: [plain, disabled]}]\n", true },
		{ HEAD "devices: qemu\nmatrix: [{config: memcg, cmdline: all}]\ngate: [{metric: pft.both.insn, worse_by: 1%}]\n",
		  true },
		{ HEAD "devices: qemu\nmatrix: [{config: memcg, cmdline: plain}]\n", false },
		{ HEAD "devices: noisy\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nmeasure: {blocks: 2}\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nmeasure: {blocks: 9}\nmatrix: [{config: memcg, cmdline: all}]\n", true },
		{ HEAD "devices: qemu\nmeasure: {order: abba}\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nmeasure: {half_width: 1%}\nmatrix: [{config: memcg, cmdline: all}]\n", true },
		{ HEAD "devices: qemu\nmeasure: {controls: {layout: true}}\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nbaseline: memcg/disabled\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nmatrix: [{config: nomemcg, cmdline: all}]\n", false },
	};
	char *first = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture fixture = load_text(state, cases[i].text);
		struct plan *plan = expand(fixture.matrix, NULL);
		if (first)
			assert_int_equal(strcmp(first, plan->digest) == 0, cases[i].same);
		else
			first = xstrdup(plan->digest);
		plan_free(plan);
		unload(&fixture);
	}
	free(first);
}

/* On a random device, all that decides what is measured and when it stops. */
static void digest_names_the_campaign(void **state)
{
#define GATE "gate: [{metric: pft.fault.ns, worse_by: 2%}]\n"
	static const char *const cases[] = {
		"{}",
		"{blocks: 13}",
		"{seed: 2}",
		"{order: abba}",
		"{half_width: 1%}",
		"{half_width: 2%}",
		"{half_width: 1%, pilot: 9}",
		"{half_width: 1%, blocks: 99}",
		"{controls: {aa: false}}",
		"{controls: {layout: false}}",
		"{looks: 2}\n" GATE,
		"{looks: 3}\n" GATE,
		"{looks: 3}\ngate: [{metric: pft.fault.ns, worse_by: 3%}]",
		"{looks: 3}\ngate: [{metric: pft.fault.ns, within: 3%}]",
		"{looks: 3}\ngate: [{metric: pft.fault.ns, worse_by: 3%, vs: {row: memcg/plain/0}}]",
	};
	AUTO_STRLIST digests = { NULL, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *text =
			xasprintf(HEAD "devices: noisy\nmatrix: [{config: memcg, cmdline: all}]\nmeasure: %s\n", cases[i]);
		struct fixture fixture = load_text(state, text);
		struct plan *plan = expand(fixture.matrix, NULL);
		assert_false(strlist_has(&digests, plan->digest));
		strlist_add(&digests, plan->digest);
		plan_free(plan);
		unload(&fixture);
	}
	/* Gates that stop nothing do not count. */
	struct fixture fixture = load_text(state, HEAD "devices: noisy\nmatrix: [{config: memcg, cmdline: all}]\n" GATE);
	struct plan *plan = expand(fixture.matrix, NULL);
	assert_string_equal(plan->digest, digests.items[0]);
	plan_free(plan);
	unload(&fixture);
#undef GATE
}

static void refuses_a_command_line_that_the_kernel_would_cut(void **state)
{
	struct strbuf text = STRBUF_INIT;
	strbuf_adds(&text, "devices: {q: {profile: qemu, cmdline: ");
	for (int i = 0; i < 600; i++)
		strbuf_addch(&text, 'x');
	strbuf_adds(&text, "}}\nsources: {linux-5.10: {deb: a}}\ntoolchains: {gcc: {cross: b-}}\n");
	char *lab_path = write_file(state, "long/memcg-ab.yaml", text.data);
	free(write_file(state, "long/profiles/qemu.yaml",
			"kind: qemu\nqemu: {cpu: max, icount: shift=0}\nnuisances: [{}, {pad: 48}]\n"));
	strbuf_reset(&text);
	strbuf_adds(&text,
		    "name: t\nkernel: {source: linux-5.10, base_config: defconfig}\nconfig: {a: {}}\nworkloads: {pft: {}}\n"
		    "matrix: [{config: a}]\ndevices: q\ncmdline: {l: ");
	for (int i = 0; i < 1400; i++)
		strbuf_addch(&text, 'y');
	strbuf_adds(&text, "}\n");
	char *path = write_file(state, "long/m.yaml", text.data);
	struct lab *lab = load_lab(lab_path, TEST_SHARE);
	struct matrix *matrix = load_matrix(path, lab);
	struct plan *plan = NULL;
	struct error *error = plan_expand(matrix, three_patches(matrix), NULL, &plan);
	assert_error_in(state, error,
			"DIR/long/m.yaml:7:11: error: the command line of a/l/0 on q would have 2050 characters: the kernel "
			"takes 2047\n");
	assert_null(plan);
	matrix_free(matrix);
	lab_free(lab);
	strbuf_deinit(&text);
	free(path);
	free(lab_path);
}

static void finds_metrics(void **state)
{
	struct fixture fixture = load_text(state, HEAD "devices: qemu\nmatrix: [{config: memcg, cmdline: plain}]\n");
	const struct workload *workload = NULL;
	const struct workload_metric *metric = plan_metric(fixture.matrix, "pft.both.insn", &workload);
	assert_non_null(metric);
	assert_string_equal(metric->phase, "both");
	assert_non_null(metric->derived);
	assert_ptr_equal(workload, &fixture.matrix->workloads[0]);
	workload = NULL;
	assert_null(plan_metric(fixture.matrix, "pft.both", &workload));
	assert_null(plan_metric(fixture.matrix, "pf.both.insn", &workload));
	assert_null(plan_metric(fixture.matrix, "", &workload));
	assert_null(workload);
	unload(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands_a_ladder),
		cmocka_unit_test(controls_stand_beside_the_baseline_on_random_devices),
		cmocka_unit_test(controls_can_be_left_out_or_asked_for),
		cmocka_unit_test(prebuilt_baselines_have_no_layout_control),
		cmocka_unit_test(draws_each_block_anew),
		cmocka_unit_test(every_second_block_is_a_mirror_of_the_one_before),
		cmocka_unit_test(a_sequence_takes_row_after_row),
		cmocka_unit_test(looks_are_spread_over_the_blocks),
		cmocka_unit_test(refuses_more_boots_than_anyone_waits_for),
		cmocka_unit_test(says_what_can_be_said_without_a_series),
		cmocka_unit_test(names_and_shares_the_foot_of_two_ladders),
		cmocka_unit_test(climbs_over_missing_rungs),
		cmocka_unit_test(keeps_what_only_matches_and_the_baseline),
		cmocka_unit_test(keeps_what_gates_compare_with),
		cmocka_unit_test(names_images_by_profile_when_fragments_differ),
		cmocka_unit_test(digest_names_the_numbers_and_nothing_else),
		cmocka_unit_test(digest_names_the_campaign),
		cmocka_unit_test(refuses_a_command_line_that_the_kernel_would_cut),
		cmocka_unit_test(finds_metrics),
	};
	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
