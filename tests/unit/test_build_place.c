/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kernels are built in one folder. */
#include "run/build_place.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/source.h"
#include "unit.h"

enum { NOMEMCG, VANILLA, STEP1, OTHER, LATE, N_IMAGES };

struct bench {
	struct lab lab;
	struct kernel kernels[2];
	struct config configs[4];
	struct matrix matrix;
	struct plan_image images[N_IMAGES];
	struct plan plan;
	struct source_tree sources[2];
	struct prepared_kernel prepared_kernels[2];
	struct prepared prepared;
};

static void bench_init(struct bench *bench)
{
	static char *const names[] = { "nomemcg", "memcg", "other", "late" };
	static const size_t configs[N_IMAGES] = { 0, 1, 1, 2, 3 };

	*bench = (struct bench){ .lab = { .build_parallel = 1 } };
	bench->matrix = (struct matrix){ .lab = &bench->lab, .kernels = bench->kernels, .n_kernels = 2 };
	for (size_t i = 0; i < 4; i++)
		bench->configs[i].name = names[i];
	for (size_t i = 0; i < 2; i++) {
		bench->kernels[i] = (struct kernel){ .kind = KERNEL_KBUILD, .base_config = "allnoconfig" };
		strcpy(bench->sources[i].tree, i ? "b" : "a");
		bench->prepared_kernels[i].source = &bench->sources[i];
	}
	for (size_t i = 0; i < N_IMAGES; i++)
		bench->images[i] = (struct plan_image){ .kernel = &bench->kernels[i == OTHER],
							.config = &bench->configs[configs[i]],
							.ladder = configs[i] };
	bench->plan = (struct plan){ .matrix = &bench->matrix, .images = bench->images, .n_images = LATE };
	bench->prepared = (struct prepared){ .plan = &bench->plan, .kernels = bench->prepared_kernels };
}

static void assert_same_place(const struct bench *bench, size_t a, size_t b, bool same)
{
	AUTO_FREE char *place_a = build_place(&bench->prepared, a);
	AUTO_FREE char *place_b = build_place(&bench->prepared, b);

	if (same)
		assert_string_equal(place_a, place_b);
	else
		assert_string_not_equal(place_a, place_b);
}

static void test_baseline_goes_before_the_ladder(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	AUTO_FREE char *place = build_place(&bench.prepared, NOMEMCG);

	assert_int_equal(strncmp(place, "memcg-", 6), 0);
	assert_same_place(&bench, NOMEMCG, VANILLA, true);
	assert_same_place(&bench, VANILLA, STEP1, true);
	assert_same_place(&bench, NOMEMCG, OTHER, false);
}

static void test_ladders_never_take_turns(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench.plan.n_images = N_IMAGES;

	/* What is built after the ladder would leave the folder away from its last step; the ladder does not follow it. */
	assert_same_place(&bench, LATE, STEP1, false);
	assert_same_place(&bench, VANILLA, STEP1, true);
	assert_same_place(&bench, NOMEMCG, LATE, true);
}

static void test_side_by_side_builds_have_their_own(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench.lab.build_parallel = 2;

	assert_same_place(&bench, NOMEMCG, VANILLA, false);
	assert_same_place(&bench, VANILLA, STEP1, true);
}

static void test_commands_build_in_their_own(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench.kernels[0].kind = KERNEL_COMMAND;
	bench.kernels[0].command = "make";

	assert_same_place(&bench, NOMEMCG, VANILLA, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_baseline_goes_before_the_ladder),
		cmocka_unit_test(test_ladders_never_take_turns),
		cmocka_unit_test(test_side_by_side_builds_have_their_own),
		cmocka_unit_test(test_commands_build_in_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
