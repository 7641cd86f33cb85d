/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's own test programs, from trees that have no more than it takes: what they are made of, and what becomes of them. */
#include "unit.h"

#include "base/archive.h"
#include "base/elf.h"
#include "base/file.h"
#include "kernel/selftests.h"
#include "workdir.h"

/* 0: good; 1: another file, which no program sees; 2: another program; 3: one that does not compile. */
static const char make_repo[] =
	"umask 022; git init -q r; cd r; mkdir -p mm include/uapi/linux tools/testing/selftests/cgroup;"
	"printf 'headers:\\n\\tmkdir -p $(O)/usr/include/linux\\n\\tcp include/uapi/linux/own.h $(O)/usr/include/linux\\n' "
	">Makefile;"
	"echo '#define OWN 7' >include/uapi/linux/own.h; echo 1 >mm/memcontrol.c;"
	"printf '$(OUTPUT)/test_%%: test_%%.c\\n\\t$(CC) $(CPPFLAGS) $(LDFLAGS) $^ -o $@\\n' "
	">tools/testing/selftests/cgroup/Makefile;"
	"printf '#include <linux/own.h>\\nint main(void)\\n{\\n\\treturn OWN;\\n}\\n' >tools/testing/selftests/cgroup/test_own.c;"
	"git add -A; git commit -qm 0; git rev-parse HEAD^{tree};"
	"echo 2 >mm/memcontrol.c; git add -A; git commit -qm 1; git rev-parse HEAD^{tree};"
	"echo '/* */' >>tools/testing/selftests/cgroup/test_own.c; git add -A; git commit -qm 2; git rev-parse HEAD^{tree};"
	"echo 'int broken = nothing;' >>tools/testing/selftests/cgroup/test_own.c; git add -A; git commit -qm 3; git rev-parse "
	"HEAD^{tree}";

struct fixture {
	struct workdir *dir;
	struct cache *cache;
	struct source_tree source;
	struct kernel kernel;
	char *trees[4];
	struct strlist programs;
};

static int setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	void *dir = NULL;

	if (workdir_setup(&dir))
		return -1;
	fixture->dir = dir;
	AUTO_FREE char *cache = workdir_path(dir, "cache");
	assert_ok(cache_open(cache, UINT64_C(1) << 40, NULL, &fixture->cache));
	fixture->source.objects = workdir_path(dir, "r/.git/objects");
	fixture->kernel.arch = xstrdup("arm64");
	AUTO_FREE char *out = workdir_run(dir, make_repo);
	char *rest = out;
	for (size_t i = 0; i < ARRAY_SIZE(fixture->trees); i++)
		fixture->trees[i] = xstrdup(strsep(&rest, "\n"));
	strlist_add(&fixture->programs, "own");
	strlist_add(&fixture->programs, "other");
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	void *dir = fixture->dir;

	cache_close(fixture->cache);
	free(fixture->source.objects);
	free(fixture->kernel.arch);
	for (size_t i = 0; i < ARRAY_SIZE(fixture->trees); i++)
		free(fixture->trees[i]);
	strlist_deinit(&fixture->programs);
	free(fixture);
	return workdir_teardown(&dir);
}

static struct image_input input_of(const struct fixture *fixture, size_t tree)
{
	return (struct image_input){
		.kernel = &fixture->kernel, .source = &fixture->source, .tree = fixture->trees[tree], .subject = "memcg step 1"
	};
}

static void key_of(const struct fixture *fixture, size_t tree, char key_out[65])
{
	struct image_input input = input_of(fixture, tree);

	assert_ok(selftests_key(fixture->cache, &input, &fixture->programs, NO_GUARD, key_out));
}

static struct error *build(const struct fixture *fixture, size_t tree, const char *key)
{
	struct image_input input = input_of(fixture, tree);
	struct image_build build = {
		.cache = fixture->cache, .input = &input, .jobs = 1, .deadline_ms = clock_deadline(120000), .guard = NO_GUARD
	};

	return selftests_build(&build, key, &fixture->programs);
}

static void the_key_is_what_programs_are_made_of(void **state)
{
	char keys[3][65];

	for (size_t i = 0; i < 3; i++)
		key_of(*state, i, keys[i]);
	assert_string_equal(keys[0], keys[1]);
	assert_string_not_equal(keys[1], keys[2]);
	struct fixture *fixture = *state;
	strlist_add(&fixture->programs, "third");
	key_of(fixture, 0, keys[1]);
	assert_string_not_equal(keys[0], keys[1]);
}

static void a_program_is_built_and_packed(void **state)
{
	struct fixture *fixture = *state;
	AUTO_STRBUF bytes = STRBUF_INIT;
	char key[65];

	key_of(fixture, 0, key);
	assert_null(selftests_lookup(fixture->cache, key));
	assert_ok(build(fixture, 0, key));
	AUTO_FREE char *archive = selftests_lookup(fixture->cache, key);
	AUTO_FREE char *path = selftests_path(fixture->cache, key);
	assert_string_equal(archive, path);
	assert_ok(file_read(archive, &bytes));
	assert_non_null(memmem(bytes.data, bytes.len, "memcg-ab/selftests/test_own", strlen("memcg-ab/selftests/test_own")));
	/* The tree has no such program. */
	assert_null(memmem(bytes.data, bytes.len, "test_other", strlen("test_other")));
	/* An arm64 executable: ELF, 64 bits, little, ..., machine 183. */
	const char *elf = memmem(bytes.data, bytes.len, "\177ELF\2\1", 6);
	assert_non_null(elf);
	assert_int_equal((unsigned char)elf[18], 183);
	/* Nothing but the archive and its time is kept. */
	AUTO_FREE char *dir = path_dirname(archive);
	AUTO_STRLIST names = { NULL, 0 };
	assert_ok(file_list(dir, &names));
	assert_int_equal(names.n, 2);
	/* It is there: nothing is built, with whatever deadline. */
	struct image_input input = input_of(fixture, 0);
	struct image_build late = { .cache = fixture->cache, .input = &input, .deadline_ms = clock_ms(), .guard = NO_GUARD };
	assert_ok(selftests_build(&late, key, &fixture->programs));
}

static void one_that_does_not_compile_says_so(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *parent = cache_path(fixture->cache, "selftests");
	AUTO_STRLIST names = { NULL, 0 };
	char key[65];

	key_of(fixture, 3, key);
	AUTO_ERROR error = build(fixture, 3, key);
	assert_int_equal(error_kind(error), ERROR_KERNEL);
	assert_non_null(strstr(error_message(error), "selftests of memcg step 1: test_own: "));
	assert_null(selftests_lookup(fixture->cache, key));
	assert_ok(file_list(parent, &names));
	assert_int_equal(names.n, 0);
}

static void a_kernel_without_source_has_none(void **state)
{
	struct fixture *fixture = *state;
	struct image_input input = input_of(fixture, 0);
	char key[65] = "untouched";

	input.tree = NULL;
	AUTO_ERROR error = selftests_key(fixture->cache, &input, &fixture->programs, NO_GUARD, key);
	assert_int_equal(error_kind(error), ERROR_INPUT);
	assert_string_equal(key, "untouched");
}

static void only_what_is_needed_is_looked_at(void **state)
{
	(void)state;
	assert_true(selftests_wants("Makefile"));
	assert_true(selftests_wants("include/uapi/linux/sched.h"));
	assert_true(selftests_wants("include/uapi/linux/sched/types.h"));
	assert_true(selftests_wants("tools/testing/selftests/kselftest.h"));
	assert_true(selftests_wants("tools/testing/selftests/cgroup/test_memcontrol.c"));
	assert_false(selftests_wants("mm/memcontrol.c"));
	assert_false(selftests_wants("include/linux/memcontrol.h"));
	assert_false(selftests_wants("include/uapi/drm/drm.h"));
	assert_false(selftests_wants("tools/testing/selftests/vm/gup_test.c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_key_is_what_programs_are_made_of, setup, teardown),
		cmocka_unit_test_setup_teardown(a_program_is_built_and_packed, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_does_not_compile_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kernel_without_source_has_none, setup, teardown),
		cmocka_unit_test(only_what_is_needed_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
