/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels built, stored and found again, with the miniature kernel of tests/data/minikernel and the real cross compiler. */
#include "unit.h"

#include <unistd.h>

#include "base/elf.h"
#include "base/json.h"
#include "kernel/image_parts.h"
#include "minikernel.h"

#define ON "CONFIG_MEMCG=y\n"

static struct image *built(struct mini *mini, bool clean)
{
	struct image *image = NULL;

	assert_ok(mini_build(mini, clean, &image));
	assert_non_null(image);
	return image;
}

static void edit(struct mini *mini, const char *script)
{
	AUTO_FREE char *in_src = xasprintf("cd src; %s", script);

	workdir_do(&mini->dir, in_src);
}

static void test_built_once(void **state)
{
	struct mini *mini = *state;
	char build_id[BUILD_ID_HEX_SIZE], key[65];
	struct image *none = (struct image *)mini;

	mini_step(mini, ON, "memcg step 0");
	assert_ok(image_key(&mini->input, key));
	assert_ok(image_lookup(mini->cache, key, &none));
	assert_null(none);
	AUTO_FREE char *never = image_explain_missing(mini->cache, &mini->input);
	assert_string_equal(never, "it was never built");

	struct image *image = built(mini, false);
	assert_true(mini->built);
	assert_int_equal(mini->objects, 4);
	assert_string_equal(image->key, key);
	assert_string_equal(image->release, "5.99.0");
	assert_string_equal(image->toolchain, mini->info->summary);
	assert_string_equal(image->config_text, mini->config->text);
	assert_string_equal(image->tree, mini->source->tree);
	AUTO_FREE char *vmlinux = path_join(image->dir, "vmlinux");
	assert_ok(elf_build_id(vmlinux, build_id));
	assert_string_equal(image->build_id, build_id);
	AUTO_FREE char *files = workdir_run(&mini->dir, "ls -A cache/images/*/ | tr '\\n' ' '");
	assert_string_equal(files, ".config Image System.map build.log.zst manifest.json sizes.tsv used vmlinux ");
	AUTO_FREE char *objects =
		workdir_run(&mini->dir, "cut -f1 cache/images/*/sizes.tsv | tr '\\n' ' '; "
					"awk '$1 == \"mm/second.o\" && $4 == 64' cache/images/*/sizes.tsv | wc -l");
	assert_string_equal(objects, "object kernel/main.o mm/first.o mm/second.o 1");

	struct image *again = built(mini, false);
	assert_false(mini->built);
	assert_string_equal(again->image_sha256, image->image_sha256);
	image_free(again);
	image_free(image);
}

/* Walks up a ladder by compiling what changed, and every step is what a clean build of it is. */
static void test_incremental_is_clean(void **state)
{
	struct mini *mini = *state;

	mini_step(mini, ON, "step 0");
	image_free(built(mini, false));
	edit(mini, "sed -i 's/x \\* 3 + 1/x * 5 + 2/' mm/first.c");
	mini_step(mini, ON, "step 1");
	AUTO_FREE char *why = image_explain_missing(mini->cache, &mini->input);
	assert_string_equal(why, "the tree differs");
	struct image *step = built(mini, false);
	assert_int_equal(mini->objects, 2); /* first.o and vmlinux */
	struct image *clean = built(mini, true);
	assert_int_equal(mini->objects, 4);
	assert_string_equal(clean->image_sha256, step->image_sha256);
	assert_string_equal(clean->build_id, step->build_id);
	assert_string_not_equal(clean->dir, step->dir);
	assert_ok(file_remove_tree(clean->dir));
	/* Of the clean build nothing else is left. */
	AUTO_FREE char *left = workdir_run(&mini->dir, "ls -A cache/builds cache/images | grep -c tmp || true");
	assert_string_equal(left, "0");
	image_free(clean);
	image_free(step);
}

static void test_configs_have_images_of_their_own(void **state)
{
	struct mini *mini = *state;

	mini_step(mini, ON, "step 0");
	struct image *on = built(mini, false);
	mini_step(mini, "# CONFIG_MEMCG is not set\n", "step 0");
	AUTO_FREE char *why = image_explain_missing(mini->cache, &mini->input);
	assert_string_equal(why, "CONFIG_MEMCG: y -> n");
	struct image *off = built(mini, false);
	assert_string_not_equal(on->build_id, off->build_id);
	struct image *clean = built(mini, true);
	assert_string_equal(clean->image_sha256, off->image_sha256);
	image_free(clean);
	image_free(on);
	image_free(off);
}

/* A compiler that was killed leaves an object that is newer than its source, half written; make would take it. */
static void test_unfinished_build_is_mended(void **state)
{
	struct mini *mini = *state;

	mini_step(mini, ON, "step 0");
	image_free(built(mini, false));
	edit(mini, "sed -i 's/x \\* 3 + 1/x * 7/' mm/first.c");
	mini_step(mini, ON, "step 1");
	/* As it is after kill -9 in the middle of step 1: the tree is there, first.o is another kernel's. */
	workdir_do(&mini->dir, "cp cache/builds/mini/obj/mm/second.o keep; touch cache/builds/mini/started; sleep 0.05;"
			       "cp cache/builds/mini/obj/kernel/main.o cache/builds/mini/obj/mm/first.o");
	workdir_do(&mini->dir, "cd cache/builds/mini/obj; touch -d '+1 hour' mm/first.o vmlinux arch/arm64/boot/Image");
	struct image *step = built(mini, false);
	assert_int_equal(mini->objects, 2);
	struct image *clean = built(mini, true);
	assert_string_equal(clean->image_sha256, step->image_sha256);
	AUTO_FREE char *marker = workdir_run(&mini->dir, "ls cache/builds/mini");
	assert_string_equal(marker, "finished\nidentity\nobj\nsrc\nsrc.state\nused");
	image_free(clean);
	image_free(step);
}

/* Killed in its first build: nothing of it is kept, and the next one counts as a build from nothing. */
static void test_unfinished_first_build(void **state)
{
	struct mini *mini = *state;

	mini_step(mini, ON, "step 0");
	image_free(built(mini, false));
	workdir_do(&mini->dir, "rm -r cache/images/* cache/builds/*.objects cache/builds/.last.objects; touch -d '-1 hour' "
			       "cache/builds/mini/started");
	image_free(built(mini, false));
	assert_int_equal(mini->objects, 4);
	AUTO_FREE char *objects = workdir_run(&mini->dir, "cat cache/builds/mini.objects cache/builds/.last.objects");
	assert_string_equal(objects, "4\n4");
}

static void test_other_compiler_or_clock_set_back(void **state)
{
	struct mini *mini = *state;

	mini_step(mini, ON, "step 0");
	image_free(built(mini, false));
	edit(mini, "echo >>mm/first.c");
	mini_step(mini, ON, "step 1");
	workdir_do(&mini->dir, "touch -d '+1 hour' cache/builds/mini/finished");
	image_free(built(mini, false));
	assert_int_equal(mini->objects, 4);

	edit(mini, "echo >>mm/first.c");
	mini_step(mini, ON, "step 2");
	free(mini->info->linker);
	mini->info->linker = xstrdup("GNU ld 99");
	AUTO_FREE char *why = image_explain_missing(mini->cache, &mini->input);
	assert_non_null(strstr(why, " -> GNU ld 99"));
	image_free(built(mini, false));
	assert_int_equal(mini->objects, 4);
}

static void test_a_step_that_does_not_compile(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;
	char key[65];

	mini_step(mini, ON, "memcg step 0");
	image_free(built(mini, false));
	edit(mini, "sed -i 's/x \\* 3 + 1/y/' mm/first.c");
	mini_step(mini, ON, "memcg step 1: broken");
	assert_ok(image_key(&mini->input, key));
	struct error *err = mini_build(mini, false, &image);
	assert_int_equal(error_exit_status(err), 5);
	AUTO_FREE char *want = xasprintf("memcg-ab: error: memcg step 1: broken: does not build: mm/first.c:7:16: error: "
					 "'y' undeclared (first use in this function)\n"
					 "memcg-ab: note: all that the build printed is in %s/cache/failed/%s.log\n",
					 mini->dir.path, key);
	assert_error(err, want);
	assert_null(image);
	AUTO_FREE char *log = workdir_run(&mini->dir, "grep -c 'CC.*mm/first.o' cache/failed/*.log");
	assert_string_equal(log, "1");

	edit(mini, "sed -i 's/return y/return x * 9/' mm/first.c");
	mini_step(mini, ON, "memcg step 2");
	struct image *step = built(mini, false);
	struct image *clean = built(mini, true);
	assert_string_equal(clean->image_sha256, step->image_sha256);
	image_free(step);
	image_free(clean);
}

static void test_faults_of_the_machine(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;

	edit(mini, "sed -i 's/^Image:/Image: fault\\nfault:\\n\\t@echo \"cc1: error: x.o: No space left on device\" >\\&2; "
		   "false\\nImage:/' Makefile");
	mini_step(mini, ON, "step 0");
	struct error *err = mini_build(mini, false, &image);
	assert_int_equal(error_exit_status(err), 3);
	assert_string_equal(error_message(err), "step 0: the disk is full");
	error_free(err);

	edit(mini, "sed -i 's/@echo .*/sleep 100/' Makefile");
	mini_step(mini, ON, "step 0");
	const struct image_build late = {
		.cache = mini->cache, .input = &mini->input, .jobs = 1, .deadline_ms = clock_deadline(1500), .guard = NO_GUARD
	};
	err = image_build(&late, &image);
	assert_int_equal(error_exit_status(err), 3);
	assert_string_equal(error_message(err), "step 0: the build did not end before its deadline");
	error_free(err);

	int fds[2];
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	const struct image_build stopped = {
		.cache = mini->cache, .input = &mini->input, .jobs = 1, .deadline_ms = clock_deadline(60000), .guard = { fds[0] }
	};
	err = image_build(&stopped, &image);
	assert_int_equal(error_exit_status(err), 130);
	error_free(err);
	close(fds[0]);
	assert_null(image);
}

static void test_config_that_moves(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;

	mini_step(mini, "CONFIG_MOVES=y\n", "step 0");
	struct error *err = mini_build(mini, false, &image);
	assert_int_equal(error_exit_status(err), 2);
	assert_error(err, "matrix.yaml:2:9: error: step 0: make changed the config that was resolved for it: EXTRA: n -> y\n");
	assert_null(image);
}

static void test_swapped_image_is_refused(void **state)
{
	struct mini *mini = *state;
	struct image *found = NULL;
	char key[65];

	mini_step(mini, ON, "step 0");
	struct image *image = built(mini, false);
	assert_ok(image_key(&mini->input, key));
	workdir_do(&mini->dir, "cd cache/images/*/; cp Image keep; printf x >>Image");
	struct error *err = image_lookup(mini->cache, key, &found);
	assert_int_equal(error_exit_status(err), 3);
	AUTO_FREE char *text = error_text(err);
	AUTO_FREE char *start = xasprintf("memcg-ab: error: %s/Image was swapped: its sha256 is ", image->dir);
	assert_true(str_starts(text, start));
	assert_true(str_ends(text, "; remove the folder to have it made again\n"));
	error_free(err);
	assert_int_equal(error_exit_status(err = mini_build(mini, false, &found)), 3);
	error_free(err);

	/* Also when manifest and Image were swapped together for those of nothing with a build id. */
	workdir_do(&mini->dir,
		   "cd cache/images/*/; mv keep Image; sed -i 's/\"build_id\": \"..../\"build_id\": \"0000/' manifest.json");
	err = image_lookup(mini->cache, key, &found);
	assert_non_null(strstr(error_message(err), "its build id is "));
	error_free(err);
	workdir_do(&mini->dir, "cd cache/images/*/; echo '{' >manifest.json");
	err = image_lookup(mini->cache, key, &found);
	assert_int_equal(error_kind(err), ERROR_LAB);
	error_free(err);
	assert_null(found);
	image_free(image);
}

static void test_command_gives_the_same_kernel(void **state)
{
	struct mini *mini = *state;
	static const char *const outputs[] = { "vmlinux", ".config", "arch/arm64/boot/Image", "note.bin" };

	mini_step(mini, ON, "step 0");
	struct image *ours = built(mini, false);
	mini->kernel.kind = KERNEL_COMMAND;
	mini->kernel.command =
		(char *)"make -s O=$MEMCG_AB_OUT KCONFIG_ALLCONFIG=$MEMCG_AB_FRAGMENT CROSS_COMPILE=aarch64-linux-gnu- "
			"allnoconfig && "
			"make -C \"$MEMCG_AB_TREE\" -j$MEMCG_AB_JOBS O=$MEMCG_AB_OUT CROSS_COMPILE=aarch64-linux-gnu- Image";
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		strlist_add(&mini->kernel.outputs, outputs[i]);
	mini_step(mini, ON, "step 0");
	mini->input.build_folder = "mini-command";
	struct image *theirs = built(mini, false);
	assert_string_equal(theirs->build_id, ours->build_id);
	assert_string_equal(theirs->image_sha256, ours->image_sha256);
	assert_string_not_equal(theirs->key, ours->key);
	assert_string_equal(theirs->release, "5.99.0");
	AUTO_FREE char *other = path_join(theirs->dir, "note.bin");
	assert_true(file_is_regular(other));
	image_free(theirs);
	theirs = built(mini, false);
	assert_false(mini->built);
	image_free(theirs);
	image_free(ours);
	strlist_deinit(&mini->kernel.outputs);
}

static void test_command_that_goes_wrong(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;

	mini->kernel.kind = KERNEL_COMMAND;
	mini->kernel.command = (char *)"echo 'mm/x.c:1:2: error: no' >&2; false";
	strlist_add(&mini->kernel.outputs, "vmlinux");
	mini_step(mini, ON, "step 0");
	assert_error(mini_build(mini, false, &image), "matrix.yaml:2:9: error: outputs: the kernel itself is not among them (a "
						      "path that ends in Image, Image.gz or Image.lz4)\n"
						      "matrix.yaml:2:9: error: outputs: .config is not among them\n");
	strlist_add(&mini->kernel.outputs, "Image");
	strlist_add(&mini->kernel.outputs, ".config");
	struct error *err = mini_build(mini, false, &image);
	assert_int_equal(error_exit_status(err), 5);
	assert_string_equal(error_message(err), "step 0: does not build: mm/x.c:1:2: error: no");
	error_free(err);

	mini->kernel.command = (char *)"cd $MEMCG_AB_OUT; touch Image";
	err = mini_build(mini, false, &image);
	assert_int_equal(error_count(err), 2);
	assert_string_equal(error_message(err), "step 0: the command succeeded but left no file vmlinux in MEMCG_AB_OUT");
	error_free(err);

	mini->kernel.command = (char *)"cd $MEMCG_AB_OUT; touch Image vmlinux; echo CONFIG_MEMCG=m >.config";
	assert_error(mini_build(mini, false, &image),
		     "m.config:1:1: error: MEMCG=y does not hold: the kernel's .config has MEMCG=m\n");
	assert_null(image);
	strlist_deinit(&mini->kernel.outputs);
}

static void prebuilt(struct mini *mini, const char *options)
{
	mini->kernel.kind = KERNEL_PREBUILT;
	fragment_free(mini->fragment);
	mini->fragment = NULL;
	assert_ok(fragment_parse(options, strlen(options), "m.config", &mini->fragment));
	mini->input = (struct image_input){
		.kernel = &mini->kernel, .fragment = mini->fragment, .subject = "mine", .build_folder = "mine"
	};
}

static void test_prebuilt(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;

	mini_step(mini, ON, "step 0");
	struct image *ours = built(mini, false);
	/* A real kernel has its config between the marks; gzipped as a whole it is what some phones boot. */
	workdir_do(&mini->dir, "cp cache/images/*/Image cache/images/*/vmlinux cache/images/*/.config .; cp Image plain;"
			       "{ cat Image; printf IKCFG_ST; gzip -c .config; printf IKCFG_ED; } >with; gzip -c with >with.gz");
	AUTO_FREE char *with = workdir_path(&mini->dir, "with.gz");
	AUTO_FREE char *plain = workdir_path(&mini->dir, "plain");
	AUTO_FREE char *vmlinux = workdir_path(&mini->dir, "vmlinux");
	AUTO_FREE char *config = workdir_path(&mini->dir, ".config");
	mini->kernel.prebuilt_image = with;
	prebuilt(mini, ON);
	image = built(mini, false);
	assert_string_equal(image->build_id, ours->build_id);
	assert_string_equal(image->config_sha256, ours->config_sha256);
	assert_string_equal(image->release, "5.99.0");
	assert_null(image->tree);
	image_free(image);
	image = NULL;

	/* The options are asked for again when the matrix says others. */
	prebuilt(mini, "CONFIG_MEMCG=n\n");
	assert_error(mini_build(mini, false, &image),
		     "m.config:1:1: error: MEMCG=n does not hold: the kernel's .config has MEMCG=y\n");

	mini->kernel.prebuilt_image = plain;
	AUTO_FREE char *unknown =
		xasprintf("m.config:1:1: error: the options cannot be checked: %s carries no config (IKCONFIG); say where its "
			  ".config is\nmatrix.yaml:2:9: note: the kernel is named here\n",
			  plain);
	assert_error(mini_build(mini, false, &image), unknown);
	mini->kernel.prebuilt_config = config;
	mini->kernel.prebuilt_vmlinux = vmlinux;
	prebuilt(mini, ON);
	image = built(mini, false);
	assert_string_equal(image->image_sha256, ours->image_sha256);
	image_free(image);
	image_free(ours);
}

static void test_prebuilt_that_is_none(void **state)
{
	struct mini *mini = *state;
	struct image *image = NULL;

	mini_step(mini, ON, "step 0");
	image_free(built(mini, false));
	workdir_do(&mini->dir, "cp cache/images/*/Image cache/images/*/vmlinux .; { head -c 56 /dev/zero; printf 'ARM\\144'; "
			       "head -c 999 /dev/zero; } >anon;"
			       "echo 'int f;' >f.c; cc -shared -o other.so f.c");
	AUTO_FREE char *path = workdir_path(&mini->dir, "Image");
	AUTO_FREE char *vmlinux = workdir_path(&mini->dir, "vmlinux");
	AUTO_FREE char *anonymous = workdir_path(&mini->dir, "anon");
	AUTO_FREE char *other = workdir_path(&mini->dir, "other.so");
	AUTO_FREE char *missing = workdir_path(&mini->dir, "missing");

	mini->kernel.prebuilt_image = missing;
	prebuilt(mini, "");
	AUTO_FREE char *no_file = xasprintf("matrix.yaml:2:9: error: cannot open %s: No such file or directory\n", missing);
	assert_error(mini_build(mini, false, &image), no_file);
	mini->kernel.prebuilt_image = vmlinux;
	AUTO_FREE char *no_image =
		xasprintf("matrix.yaml:2:9: error: %s is no arm64 kernel Image, but an ELF file (a vmlinux?)\n", vmlinux);
	assert_error(mini_build(mini, false, &image), no_image);
	mini->kernel.prebuilt_image = anonymous;
	AUTO_FREE char *no_id = xasprintf("matrix.yaml:2:9: error: %s holds no GNU build id, so that the running kernel could "
					  "not be proved to be this one\n",
					  anonymous);
	assert_error(mini_build(mini, false, &image), no_id);
	mini->kernel.prebuilt_image = path;
	mini->kernel.prebuilt_vmlinux = other;
	struct error *err = mini_build(mini, false, &image);
	assert_int_equal(error_exit_status(err), 2);
	assert_non_null(strstr(error_message(err), " does not belong to "));
	error_free(err);
	assert_null(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_built_once, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_incremental_is_clean, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_configs_have_images_of_their_own, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_unfinished_build_is_mended, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_unfinished_first_build, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_other_compiler_or_clock_set_back, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_a_step_that_does_not_compile, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_faults_of_the_machine, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_config_that_moves, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_swapped_image_is_refused, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_command_gives_the_same_kernel, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_command_that_goes_wrong, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_prebuilt, mini_setup, mini_teardown),
		cmocka_unit_test_setup_teardown(test_prebuilt_that_is_none, mini_setup, mini_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
