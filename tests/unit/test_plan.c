/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_DIR "/tmp/memcg-ab-test-plan"
#include "plan_data.h"

#define HEAD                                                                                                                     \
	"kernel: {source: linux-5.10, toolchain: gcc, base_config: allnoconfig}\n"                                               \
	"config: {nomemcg: {MEMCG: n}, memcg: {MEMCG: y}}\n"                                                                     \
	"cmdline: {plain: '', disabled: cgroup_disable=memory}\nworkloads: {pft: {size: 64M}}\n"                                 \
	"name: t\n"

struct fixture {
	struct lab *lab;
	struct matrix *matrix;
};

static struct fixture load(const char *text)
{
	struct fixture fixture = { .lab = load_lab(TEST_LAB, TEST_SHARE) };
	free(write_file("series/series", ""));
	free(write_file("base/series", ""));
	char *path = write_file("m.yaml", text);
	fixture.matrix = load_matrix(path, fixture.lab);
	free(path);
	return fixture;
}

static void unload(struct fixture *fixture)
{
	matrix_free(fixture->matrix);
	lab_free(fixture->lab);
}

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
	(void)state;
	struct fixture fixture =
		load(HEAD "patches: {p: {series: series}}\ndevices: [qemu, noisy, fake]\nmeasure: {blocks: 4}\n"
			  "matrix: [{config: nomemcg, cmdline: plain}, {config: memcg, cmdline: disabled, patches: p}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	check_variants(plan, "nomemcg/plain/0<-1 memcg/disabled/0<-1 memcg/disabled/1<1 memcg/disabled/2<2 memcg/disabled/3<3");
	/* qemu and noisy have the same fragment: one kernel serves both. */
	check_images(plan, "nomemcg/0:0 memcg/0:1 memcg/1:1 memcg/2:1 memcg/3:1");
	assert_int_equal(plan->n_rows, 15);
	assert_int_equal(plan->rows[4].image, 4);
	assert_int_equal(plan->rows[9].image, 4);
	assert_int_equal(plan->rows[14].image, -1);
	assert_int_equal(plan->rows[14].target, 2);
	assert_int_equal(plan->rows[14].variant, 4);
	assert_string_equal(plan->rows[0].booted_cmdline, "console=ttyAMA0");
	assert_string_equal(plan->rows[4].booted_cmdline, "console=ttyAMA0 cgroup_disable=memory");
	assert_string_equal(plan->rows[14].booted_cmdline, "console=sim cgroup_disable=memory");
	assert_int_equal(plan->variants[4].n_steps, 3);
	assert_string_equal(plan->variants[4].subject, "p 3");
	assert_null(plan->variants[1].subject);
	assert_int_equal(plan->variants[0].n_steps, 0);
	assert_int_equal(plan->n_boots, 60);
	assert_int_equal(plan->baseline, 0);
	plan_free(plan);
	unload(&fixture);
}

static void draws_each_block_anew(void **state)
{
	(void)state;
	struct fixture fixture =
		load(HEAD "devices: [qemu, noisy]\nmeasure: {blocks: 8, seed: 5}\nmatrix: [{config: all, cmdline: all}]\n");
	struct plan *plan = expand(fixture.matrix, NULL);
	struct plan *again = expand(fixture.matrix, NULL);
	assert_int_equal(plan->n_boots, 2 * 8 * 4);
	size_t different = 0;
	for (size_t t = 0; t < 2; t++) {
		for (unsigned block = 0; block < 8; block++) {
			const struct plan_boot *boots = &plan->boots[(t * 8 + block) * 4];
			unsigned seen = 0;
			bool like_first = true;
			for (unsigned i = 0; i < 4; i++) {
				assert_int_equal(boots[i].block, block);
				assert_int_equal(boots[i].position, i);
				assert_int_equal(plan->rows[boots[i].row].target, t);
				seen |= 1u << plan->rows[boots[i].row].variant;
				like_first &= plan->rows[boots[i].row].variant == plan->rows[plan->boots[i].row].variant;
				const struct profile *profile = fixture.matrix->targets[t].device->profile;
				assert_ptr_equal(boots[i].nuisance, t ? NULL : &profile->nuisances[block % 3]);
				assert_int_equal(again->boots[(t * 8 + block) * 4 + i].row, boots[i].row);
			}
			assert_int_equal(seen, 15);
			different += !like_first;
		}
	}
	assert_true(different > 8);
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

static void names_and_shares_the_foot_of_two_ladders(void **state)
{
	(void)state;
	struct fixture fixture = load(
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
	(void)state;
	struct fixture fixture = load(HEAD "patches: {p: {series: series}}\ndevices: qemu\nmatrix:\n"
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
	(void)state;
	struct fixture fixture =
		load(HEAD "patches: {p: {series: series}}\ndevices: qemu\nbaseline: nomemcg/plain/0\nmatrix:\n"
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
	check_error(error,
		    "memcg-ab: error: --only 'memgc/disabled/1' is no row of this matrix (did you mean 'memcg/disabled/1'?)\n");
	error = plan_expand(fixture.matrix, three_patches(fixture.matrix), "x*", &plan);
	check_error(error, "memcg-ab: error: --only 'x*' is no row of this matrix (rows are: memcg/disabled/0, memcg/disabled/1, "
			   "memcg/disabled/2, memcg/disabled/3, memcg/plain/0, nomemcg/plain/0)\n");
	assert_ptr_equal(plan, (struct plan *)0x1);
	unload(&fixture);
}

static void names_images_by_profile_when_fragments_differ(void **state)
{
	(void)state;
	struct lab *lab = load_lab("memcg-ab.yaml", ".");
	char *path = write_file("m.yaml", HEAD "devices: [qemu-virt, gki-like]\nmatrix: [{config: memcg, cmdline: plain}]\n");
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
		{ HEAD "devices: qemu\nmeasure: {blocks: 9}\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nbaseline: memcg/disabled\nmatrix: [{config: memcg, cmdline: all}]\n", false },
		{ HEAD "devices: qemu\nmatrix: [{config: nomemcg, cmdline: all}]\n", false },
	};
	(void)state;
	char *first = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture fixture = load(cases[i].text);
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

static void refuses_a_command_line_that_the_kernel_would_cut(void **state)
{
	(void)state;
	struct strbuf text = STRBUF_INIT;
	strbuf_adds(&text, "devices: {q: {profile: qemu, cmdline: ");
	for (int i = 0; i < 600; i++)
		strbuf_addch(&text, 'x');
	strbuf_adds(&text, "}}\nsources: {linux-5.10: {deb: a}}\ntoolchains: {gcc: {cross: b-}}\n");
	char *lab_path = write_file("long/memcg-ab.yaml", text.data);
	free(write_file("long/profiles/qemu.yaml",
			"kind: qemu\nqemu: {cpu: max, icount: shift=0}\nnuisances: [{}, {pad: 48}]\n"));
	strbuf_reset(&text);
	strbuf_adds(&text,
		    "name: t\nkernel: {source: linux-5.10, base_config: defconfig}\nconfig: {a: {}}\nworkloads: {pft: {}}\n"
		    "matrix: [{config: a}]\ndevices: q\ncmdline: {l: ");
	for (int i = 0; i < 1400; i++)
		strbuf_addch(&text, 'y');
	strbuf_adds(&text, "}\n");
	char *path = write_file("long/m.yaml", text.data);
	struct lab *lab = load_lab(lab_path, TEST_SHARE);
	struct matrix *matrix = load_matrix(path, lab);
	struct plan *plan = NULL;
	struct error *error = plan_expand(matrix, three_patches(matrix), NULL, &plan);
	check_error(
		error, TEST_DIR
		"/long/m.yaml:7:11: error: the command line of a/l/0 on q would have 2050 characters: the kernel takes 2047\n");
	assert_null(plan);
	matrix_free(matrix);
	lab_free(lab);
	strbuf_deinit(&text);
	free(path);
	free(lab_path);
}

static void finds_metrics(void **state)
{
	(void)state;
	struct fixture fixture = load(HEAD "devices: qemu\nmatrix: [{config: memcg, cmdline: plain}]\n");
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

static int teardown(void **state)
{
	(void)state;
	error_free(file_remove_tree(TEST_DIR));
	return 0;
}

int main(void)
{
	if (enter_root() != 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands_a_ladder),
		cmocka_unit_test(draws_each_block_anew),
		cmocka_unit_test(names_and_shares_the_foot_of_two_ladders),
		cmocka_unit_test(climbs_over_missing_rungs),
		cmocka_unit_test(keeps_what_only_matches_and_the_baseline),
		cmocka_unit_test(names_images_by_profile_when_fragments_differ),
		cmocka_unit_test(digest_names_the_numbers_and_nothing_else),
		cmocka_unit_test(refuses_a_command_line_that_the_kernel_would_cut),
		cmocka_unit_test(finds_metrics),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
