/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan_data.h"

static const struct config *find_config(const struct matrix *matrix, const char *name)
{
	for (size_t i = 0; i < matrix->n_configs; i++) {
		if (strcmp(matrix->configs[i].name, name) == 0)
			return &matrix->configs[i];
	}
	return NULL;
}

static void reads_every_form(void **state)
{
	(void)state;
	struct lab *lab = load_lab(TEST_LAB, TEST_SHARE);
	struct matrix *matrix = load_matrix("tests/data/matrix/good/several.yaml", lab);
	assert_string_equal(matrix->name, "several");
	assert_int_equal(matrix->n_kernels, 3);
	assert_int_equal(matrix->kernels[0].n_sources, 2);
	assert_ptr_equal(matrix->kernels[0].sources[1], lab_source(lab, "linux-6.12"));
	assert_ptr_equal(matrix->kernels[0].toolchain, lab_toolchain(lab, "gcc"));
	assert_true(matrix->kernels[0].base_is_target);
	assert_int_equal(matrix->kernels[1].kind, KERNEL_COMMAND);
	assert_int_equal(matrix->kernels[1].outputs.n, 3);
	assert_int_equal(matrix->kernels[2].kind, KERNEL_PREBUILT);
	assert_true(*matrix->kernels[2].prebuilt_image == '/' &&
		    str_ends(matrix->kernels[2].prebuilt_image, "/tests/data/matrix/good/Image"));
	assert_null(matrix->kernels[2].prebuilt_vmlinux);

	assert_int_equal(matrix->n_configs, 3);
	assert_true(matrix->configs[2].prebuilt);
	struct strbuf out = STRBUF_INIT;
	const struct fragment *fragment = find_config(matrix, "memcg")->fragment;
	fragment_write(fragment, &out);
	assert_string_equal(out.data, "CONFIG_SWAP=y\nCONFIG_NR_CPUS=8\nCONFIG_MEMCG=y\nCONFIG_MEMCG_SWAP=y\nCONFIG_NR_CPUS=4\n"
				      "CONFIG_LOCALVERSION=\"-a\\\"b\"\nCONFIG_PHYSICAL_START=0x100\nCONFIG_MODULES=m\n");
	strbuf_deinit(&out);
	assert_string_equal(fragment->requests[0].pos.file, "tests/data/matrix/swap.config");
	assert_true(fragment->requests[3].optional && !fragment->requests[2].optional);
	assert_string_equal(matrix->cmdlines[1].text, "cgroup_disable=memory");

	assert_int_equal(matrix->patches[1].n_stack, 3);
	assert_true(str_ends(matrix->patches[1].stack[0].path, "/matrix/base"));
	assert_int_equal(matrix->patches[2].n_stack, 2);
	assert_int_equal(matrix->n_lines, 7);
	assert_int_equal(matrix->lines[2].steps.kind, STEPS_LIST);
	assert_int_equal(matrix->lines[4].steps.kind, STEPS_RANGE);
	assert_int_equal(matrix->lines[4].steps.last, 2);
	assert_int_equal(matrix->lines[0].patches, -1);
	assert_int_equal(matrix->n_targets, 3);
	assert_string_equal(matrix->targets[1].cores, "all");
	assert_int_equal(matrix->n_workloads, 2);
	const struct workload *small = &matrix->workloads[1];
	for (size_t i = 0; i < small->kind->n_options; i++) {
		if (strcmp(small->kind->options[i].name, "size") == 0)
			assert_string_equal(small->values[i], "131072");
		if (strcmp(small->kind->options[i].name, "threads") == 0)
			assert_string_equal(small->values[i], "1");
	}
	for (size_t i = 0; i < workload_n_common_options; i++) {
		if (strcmp(workload_common_options[i].name, "iterations") == 0)
			assert_string_equal(small->values[small->kind->n_options + i], "7");
	}
	assert_int_equal(matrix->measure.blocks, 4);
	assert_true(matrix->measure.seed == UINT64_MAX);
	assert_true(matrix->measure.blocks_given && !matrix->measure.layout_given);
	assert_true(matrix->measure.aa && matrix->measure.layout);
	assert_int_equal(matrix->measure.order, ORDER_RANDOM);
	assert_int_equal(matrix->n_gates, 2);
	assert_true(matrix->gates[0].limit == 0.08 && matrix->gates[0].steps == GATE_STEPS_LAST);
	assert_int_equal(matrix->gates[0].against, GATE_BASELINE);
	assert_true(matrix->gates[1].limit == 0.5 && matrix->gates[1].steps == GATE_STEPS_ALL);
	assert_int_equal(matrix->gates[1].against, GATE_PREVIOUS);
	matrix_free(matrix);
	lab_free(lab);
}

/* What a bad matrix gives: the errors of the file, or, when it has none, those of its expansion. */
static struct error *errors_of(const char *path, const struct lab *lab)
{
	struct matrix *matrix = (struct matrix *)0x1;
	struct error *error = matrix_load(path, lab, &matrix);
	if (error) {
		assert_ptr_equal(matrix, (struct matrix *)0x1);
		return error;
	}
	struct plan *plan = (struct plan *)0x1;
	error = plan_expand(matrix, three_patches(matrix), NULL, &plan);
	assert_ptr_equal(plan, (struct plan *)0x1);
	matrix_free(matrix);
	return error;
}

static void reports_all_errors_at_once(void **state)
{
	static const char dir[] = "tests/data/matrix/bad";
	(void)state;
	struct lab *lab = load_lab(TEST_LAB, "tests/data/matrix/none");
	AUTO_STRLIST names = { NULL, 0 };
	assert_null(file_list(dir, &names));
	size_t cases = 0;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(names.items[i], ".yaml"))
			continue;
		char *path = path_join(dir, names.items[i]);
		char *err = xasprintf("%.*s.err", (int)(strlen(path) - strlen(".yaml")), path);
		struct strbuf want = STRBUF_INIT;
		assert_null(file_read(err, &want));
		struct error *error = errors_of(path, lab);
		assert_non_null(error);
		assert_int_equal(error_exit_status(error), 2);
		if (strcmp(names.items[i], "twelve.yaml") == 0)
			assert_int_equal(error_count(error), 12);
		assert_error(error, want.data);
		strbuf_deinit(&want);
		free(err);
		free(path);
		cases++;
	}
	assert_true(cases >= 20);
	lab_free(lab);
}

static void checks_what_needs_no_lab(void **state)
{
	(void)state;
	struct matrix *matrix = (struct matrix *)0x1;
	struct error *error = matrix_load("tests/data/matrix/good/several.yaml", NULL, &matrix);
	assert_ok(error);
	assert_ptr_equal(matrix, (struct matrix *)0x1);
	error = matrix_load("tests/data/matrix/bad/twelve.yaml", NULL, &matrix);
	assert_int_equal(error_count(error), 10); /* neither the source nor the device */
	error_free(error);
	assert_ptr_equal(matrix, (struct matrix *)0x1);
}

static void reads_the_repositorys_matrices(void **state)
{
	static const char *const files[] = { "matrix.yaml", "matrix-gki-like.yaml", "matrix-6.12.yaml" };
	static const size_t rows[] = { 5, 5, 3 };
	static const size_t images[] = { 5, 5, 2 };
	(void)state;
	struct lab *lab = load_lab("memcg-ab.yaml", ".");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *path = xasprintf("kernel-patches/disabled-overhead/%s", files[i]);
		struct matrix *matrix = load_matrix(path, lab);
		struct plan *plan = expand(matrix, NULL);
		assert_int_equal(plan->n_variants, rows[i]);
		assert_int_equal(plan->n_images, images[i]);
		assert_int_equal(plan->n_boots, rows[i] * 3);
		assert_string_equal(plan->variants[plan->baseline].name, "nomemcg/plain/0");
		plan_free(plan);
		matrix_free(matrix);
		free(path);
	}
	lab_free(lab);
}

static void needs_no_kernel_for_a_device_without_images(void **state)
{
	(void)state;
	struct lab *lab = load_lab(TEST_LAB, TEST_SHARE);
	struct matrix *matrix = load_matrix("tests/data/matrix/good/sim.yaml", lab);
	assert_int_equal(matrix->n_kernels, 1);
	assert_string_equal(matrix->kernels[0].name, "");
	assert_int_equal(matrix->kernels[0].n_sources, 0);
	matrix_free(matrix);
	lab_free(lab);
}

#define MEASURED                                                                                                                 \
	"name: t\ncmdline: {plain: ''}\nconfig: {a: {}, b: {MEMCG: y}}\nmatrix: [{config: all}]\ndevices: fake\nworkloads: "     \
	"{pft: {}}\n"

static void reads_how_to_measure(void **state)
{
	struct fixture fixture = load_text(state, MEASURED);
	const struct measure *measure = &fixture.matrix->measure;
	assert_int_equal(measure->blocks, 12);
	assert_false(measure->blocks_given);
	assert_int_equal(measure->seed, 1);
	assert_int_equal(measure->order, ORDER_RANDOM);
	assert_true(measure->half_width == 0);
	assert_int_equal(measure->looks, 0);
	assert_true(measure->aa && measure->layout && !measure->layout_given);
	unload(&fixture);

	fixture = load_text(state,
			    MEASURED "measure: {order: abba, half_width: 0.5%, pilot: 3, controls: {aa: false, layout: true}}\n");
	measure = &fixture.matrix->measure;
	assert_int_equal(measure->blocks, 100);
	assert_int_equal(measure->order, ORDER_ABBA);
	assert_true(measure->half_width == 0.005);
	assert_int_equal(measure->pilot, 3);
	assert_true(!measure->aa && measure->layout && measure->layout_given);
	unload(&fixture);

	fixture = load_text(state, MEASURED "measure: {half_width: 50%, blocks: 8, controls: {layout: false}}\n");
	measure = &fixture.matrix->measure;
	assert_int_equal(measure->blocks, 8);
	assert_true(measure->blocks_given);
	assert_int_equal(measure->pilot, 8);
	assert_true(measure->aa && !measure->layout);
	unload(&fixture);

	fixture = load_text(state, MEASURED "measure: {blocks: 48, looks: 4}\ngate: [{metric: pft.fault.ns, worse_by: 2%}]\n");
	measure = &fixture.matrix->measure;
	assert_int_equal(measure->looks, 4);
	for (unsigned i = 1; i <= 4; i++)
		assert_int_equal(plan_look(measure, i), 12 * i);
	unload(&fixture);
}

static void reads_what_gates_compare_with(void **state)
{
	workdir_write(*state, "runs/old/run.db", "");
	struct fixture fixture =
		load_text(state, MEASURED "gate:\n"
					  "  - {metric: pft.fault.ns, worse_by: 2%}\n"
					  "  - {metric: pft.fault.ns, within: 1%, vs: {row: a/plain/0}, steps: last}\n"
					  "  - {metric: pft.fault.ns, worse_by: 2%, vs: {run: last-release}}\n"
					  "  - {metric: pft.fault.ns, within: 0, vs: {run: runs/old, anchor: b/plain/0}}\n");
	const struct gate *gates = fixture.matrix->gates;
	assert_int_equal(fixture.matrix->n_gates, 4);
	assert_int_equal(gates[0].against, GATE_BASELINE);
	assert_int_equal(gates[0].kind, GATE_WORSE_BY);
	assert_null(gates[0].row);
	assert_int_equal(gates[1].against, GATE_ROW);
	assert_int_equal(gates[1].kind, GATE_WITHIN);
	assert_int_equal(gates[1].steps, GATE_STEPS_LAST);
	assert_true(gates[1].limit == 0.01);
	assert_string_equal(gates[1].row, "a/plain/0");
	assert_int_equal(gates[1].against_pos.line, 9);
	assert_int_equal(gates[1].against_pos.col, 50);
	assert_int_equal(gates[2].against, GATE_RUN);
	assert_string_equal(gates[2].run, "last-release");
	assert_null(gates[2].anchor);
	assert_int_equal(gates[3].against, GATE_RUN);
	assert_path(state, gates[3].run, "DIR/runs/old");
	assert_string_equal(gates[3].anchor, "b/plain/0");
	assert_int_equal(gates[3].against_pos.col, 67);
	struct plan *plan = expand(fixture.matrix, NULL);
	plan_free(plan);
	unload(&fixture);
}

/* Two Images and nothing else: no tree, no compiler, no config section. */
static void takes_prebuilt_kernels_alone(void **state)
{
	struct lab *lab = load_lab(NULL, ".");
	free(write_file(state, "old/Image", "x"));
	free(write_file(state, "new/Image", "y"));
	char *path = write_file(state, "m.yaml",
				"name: two\n"
				"kernels: {old: {prebuilt: {image: old/Image}}, new: {prebuilt: {image: new/Image}}}\n"
				"cmdline: {plain: ''}\nmatrix: [{kernel: all}]\ndevices: [qemu-virt]\nworkloads: {pft: {}}\n");
	struct matrix *matrix = load_matrix(path, lab);
	struct plan *plan = expand(matrix, NULL);
	assert_int_equal(plan->n_variants, 2);
	assert_string_equal(plan->variants[0].name, "old/prebuilt/plain/0");
	assert_string_equal(plan->variants[1].name, "new/prebuilt/plain/0");
	assert_int_equal(plan->n_images, 2);
	assert_null(plan->images[0].device_fragment);
	plan_free(plan);
	matrix_free(matrix);
	lab_free(lab);
	free(path);
}

static void takes_commit_ranges_and_files_as_bases(void **state)
{
	struct lab *lab = load_lab(TEST_LAB, TEST_SHARE);
	free(write_file(state, "repo/README", "x"));
	free(write_file(state, "base.config", "CONFIG_A=y\n"));
	char *path = write_file(state, "range.yaml",
				"name: range\nkernel: {source: linux-5.10, toolchain: clang, base_config: ./base.config}\n"
				"config: {a: {MEMCG: y}}\ncmdline: {plain: ''}\npatches: {r: {git: repo, range: v5.10..v5.11}}\n"
				"matrix: [{patches: r}]\ndevices: [qemu]\nworkloads: {pft: {}}\n");
	struct matrix *matrix = load_matrix(path, lab);
	assert_int_equal(matrix->patches[0].stack[0].kind, PATCHES_RANGE);
	assert_path(state, matrix->patches[0].stack[0].path, "DIR/repo");
	assert_string_equal(matrix->patches[0].stack[0].range, "v5.10..v5.11");
	assert_false(matrix->kernels[0].base_is_target);
	assert_path(state, matrix->kernels[0].base_config, "DIR/base.config");
	assert_int_equal(matrix->lines[0].steps.kind, STEPS_ALL);
	matrix_free(matrix);
	lab_free(lab);
	free(path);
}

/* QEMU without icount has neither instructions nor a time that is a metric. */
static void refuses_workloads_that_report_nothing(void **state)
{
	char *path = write_file(state, "smp.yaml", "devices: {smp: {profile: qemu-smp}}\n");
	struct lab *lab = load_lab(path, ".");
	free(path);
	free(write_file(state, "nothing/Image", "x"));
	path = write_file(state, "nothing.yaml",
			  "name: nothing\nkernels: {old: {prebuilt: {image: nothing/Image}}}\n"
			  "cmdline: {plain: ''}\nmatrix: [{kernel: all}]\ndevices: [smp]\n"
			  "workloads:\n  pft: {}\n  m: {run: memory}\n");
	assert_error_in(
		state, errors_of(path, lab),
		"DIR/nothing.yaml:7:3: error: workload 'pft' (pft) reports instructions and times alone, and device 'smp' has "
		"neither: QEMU without icount counts no instructions, and its time is no metric; set qemu: {icount: ...}, "
		"or use 'exec' or 'selftest' there\n");
	lab_free(lab);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form),
		cmocka_unit_test(reports_all_errors_at_once),
		cmocka_unit_test(checks_what_needs_no_lab),
		cmocka_unit_test(reads_the_repositorys_matrices),
		cmocka_unit_test(needs_no_kernel_for_a_device_without_images),
		cmocka_unit_test(reads_how_to_measure),
		cmocka_unit_test(reads_what_gates_compare_with),
		cmocka_unit_test(takes_prebuilt_kernels_alone),
		cmocka_unit_test(takes_commit_ranges_and_files_as_bases),
		cmocka_unit_test(refuses_workloads_that_report_nothing),
	};
	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
