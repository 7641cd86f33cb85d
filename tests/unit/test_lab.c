/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan_data.h"

#include "plan/search.h"
#include "plan/units.h"

static void reads_the_repositorys_lab(void **state)
{
	(void)state;
	struct lab *lab = load_lab("memcg-ab.yaml", ".");
	const struct source *source = lab_source(lab, "linux-5.10");
	assert_int_equal(source->n, 1);
	assert_int_equal(source->alternatives[0].kind, SOURCE_DEB);
	assert_string_equal(source->alternatives[0].package, "linux-source-5.10");
	assert_string_equal(source->alternatives[0].suite, "bullseye-security");
	source = lab_source(lab, "linux-6.12");
	assert_int_equal(source->n, 2);
	assert_null(source->alternatives[0].suite);
	assert_string_equal(source->alternatives[1].suite, "trixie");
	assert_null(lab_source(lab, "linux"));
	assert_string_equal(lab_toolchain(lab, "gcc")->cross, "aarch64-linux-gnu-");
	assert_string_equal(lab_toolchain(lab, "clang")->llvm, "1");
	assert_null(lab_toolchain(lab, "clang")->cross);
	assert_true(lab->cache_max == (uint64_t)40 << 30);
	assert_int_equal(lab->build_parallel, 1);
	assert_true(lab->build_jobs >= 1);
	assert_true(lab->build_timeout_ms == 4 * 3600000);
	const struct profile *profile = lab_device(lab, "qemu-virt")->profile;
	assert_int_equal(profile->kind, DEVICE_QEMU);
	assert_true(profile->exact && profile->needs_image);
	assert_true(profile->n_nuisances >= 3);
	assert_string_equal(profile->qemu.cpu, "cortex-a57");
	assert_string_equal(lab_device(lab, "gki-like")->profile->qemu.cpu, "cortex-a76");
	profile = lab_device(lab, "sim")->profile;
	assert_int_equal(profile->kind, DEVICE_SIM);
	assert_false(profile->needs_image);
	assert_true(profile->sim.n_models > 3);
	assert_null(lab_device(lab, "phone"));
	lab_free(lab);
}

static void reads_every_form(void **state)
{
	char *path = write_file(
		state, "lab/memcg-ab.yaml",
		"sources:\n"
		"  a: {git: ../src, rev: v5.10}\n"
		"  b: [{folder: linux}, {tarball: /t/linux.tar.xz, sha256: "
		"ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789}]\n"
		"  c: {deb: linux-source-5.10, version: 5.10.262-1}\n"
		"toolchains: {llvm: {llvm: -14, cross: x-}, cached: {cross: y-, wrapper: ccache}}\n"
		"devices:\n"
		"  board: {}\n"
		"  laid: {profile: board, cmdline: quiet, qemu: {smp: 2, memory: 1G, disk: 64M}, retries: 5, timeouts: {boot: "
		"2min}}\n"
		"  clear: {profile: ./profiles/board.yaml, qemu: {icount: \"\"}}\n"
		"  sim: {profile: fake, sim: {faults: [{variant: x, what: panic}], noise: {iteration: 2%, outliers: {size: "
		"3}}}}\n"
		"cache: {dir: ../cache, max: 5G}\n"
		"build: {parallel: 2, jobs: 3, timeout: 90min}\n");
	free(write_file(state, "lab/profiles/board.yaml",
			"kind: qemu\nconfig: board.config\ncmdline: a b\n"
			"qemu: {cpu: max, icount: shift=0}\nnuisances: [{}, {pad: 3, memory: 1G, region_offset: 4M}]\n"));
	free(write_file(state, "lab/profiles/board.config", "CONFIG_A=y\n"));
	free(write_file(state, "lab/profiles/fake.yaml",
			"kind: sim\nimage: kernel\nsim: {exact: false, boot: 5ms, models: [{variant: "
			"'*', metrics: {l.p.u: 1.5, l.p.v: 2}}],\n"
			"  faults: [{variant: y, what: hang, block: 2, attempt: 1}],\n"
			"  noise: {seed: 7, boot: 0.5%, iteration: 1%, drift: -0.01, outliers: {share: 1%, size: 2},\n"
			"    throttle: {share: 5%, size: 10%}, modes: {share: 20%, shift: -3%}}}\n"));
	struct lab *lab = load_lab(path, TEST_SHARE);
	assert_string_equal(lab->path, path);
	assert_path(state, lab->sources[0].alternatives[0].path, "DIR/src");
	assert_string_equal(lab->sources[0].alternatives[0].rev, "v5.10");
	assert_path(state, lab->sources[1].alternatives[0].path, "DIR/lab/linux");
	assert_string_equal(lab->sources[1].alternatives[1].path, "/t/linux.tar.xz");
	assert_string_equal(lab->sources[1].alternatives[1].sha256,
			    "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789");
	assert_string_equal(lab->sources[2].alternatives[0].version, "5.10.262-1");
	assert_string_equal(lab->toolchains[0].llvm, "-14");
	assert_string_equal(lab->toolchains[1].wrapper, "ccache");
	assert_null(lab->toolchains[0].wrapper);
	assert_path(state, lab->cache_dir, "DIR/cache");
	assert_int_equal(lab->build_jobs, 3);
	assert_true(lab->build_timeout_ms == 90 * 60000);

	const struct profile *board = lab->devices[0].profile;
	assert_string_equal(board->name, "board");
	assert_string_equal(board->cmdline, "a b");
	assert_int_equal(board->fragment->n, 1);
	assert_true(board->exact);
	assert_int_equal(board->nuisances[1].pad, 3);
	assert_true(board->nuisances[1].memory == (uint64_t)1 << 30);
	assert_true(board->nuisances[1].region_offset == 4 << 20);
	const struct profile *laid = lab->devices[1].profile;
	assert_string_equal(laid->cmdline, "quiet");
	assert_string_equal(laid->qemu.cpu, "max");
	assert_int_equal(laid->qemu.smp, 2);
	assert_true(laid->qemu.disk == (uint64_t)64 << 20 && board->qemu.disk == 0);
	assert_false(laid->exact);
	assert_int_equal(laid->n_nuisances, 0);
	assert_int_equal(laid->retries, 5);
	assert_true(laid->boot_timeout_ms == 120000);
	assert_string_not_equal(laid->digest, board->digest);
	assert_null(lab->devices[2].profile->qemu.icount);
	assert_false(lab->devices[2].profile->exact);
	const struct profile *sim = lab->devices[3].profile;
	assert_true(sim->needs_image && !sim->exact);
	assert_int_equal(sim->sim.boot_ms, 5);
	/* The device's noise is laid over the profile's. */
	const struct sim_noise *noise = &sim->sim.noise;
	assert_int_equal(noise->seed, 7);
	assert_true(noise->sd_boot == 0.005 && noise->sd_iteration == 0.02 && noise->drift == -0.01);
	assert_true(noise->outlier_share == 0.01 && noise->outlier_size == 3);
	assert_true(noise->throttle_share == 0.05 && noise->throttle_size == 0.1);
	assert_true(noise->mode_share == 0.2 && noise->mode_shift == -0.03);
	assert_int_equal(sim->sim.n_models, 2);
	assert_string_equal(sim->sim.models[1].metric, "l.p.v");
	assert_int_equal(sim->sim.n_faults, 1);
	assert_string_equal(sim->sim.faults[0].what, "panic");
	assert_int_equal(sim->sim.faults[0].block, -1);
	lab_free(lab);
	free(path);
}

static void digest_is_of_what_changes_numbers(void **state)
{
	static const struct {
		const char *settings;
		bool changes;
	} cases[] = {
		{ "{profile: fake}", false },
		{ "{profile: fake, retries: 9, timeouts: {run: 1h}}", false },
		{ "{profile: fake, cmdline: x}", true },
		{ "{profile: fake, nuisances: [{pad: 1}]}", true },
		{ "{profile: fake, sim: {boot: 3s}}", false },
		{ "{profile: fake, sim: {faults: [{variant: x, what: die}]}}", true },
	};
	free(write_file(state, "lab/profiles/fake.yaml", "kind: sim\n"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("devices: {a: {profile: fake}, b: %s}\n", cases[i].settings);
		char *path = write_file(state, "lab/memcg-ab.yaml", text);
		struct lab *lab = load_lab(path, TEST_SHARE);
		assert_int_equal(strcmp(lab->devices[0].profile->digest, lab->devices[1].profile->digest) != 0, cases[i].changes);
		lab_free(lab);
		free(path);
		free(text);
	}
}

static void digest_is_of_all_noise(void **state)
{
	static const char *const noises[] = {
		"seed: 2",
		"boot: 0.1",
		"iteration: 0.1",
		"drift: 0.1",
		"outliers: {share: 0.1}",
		"outliers: {size: 0.1}",
		"throttle: {share: 0.1}",
		"throttle: {size: 0.1}",
		"modes: {share: 0.1}",
		"modes: {shift: 0.1}",
	};
	free(write_file(state, "lab/profiles/fake.yaml", "kind: sim\nsim: {exact: false}\n"));
	struct strbuf text = STRBUF_INIT;
	strbuf_adds(&text, "devices: {fake: {}");
	for (size_t i = 0; i < ARRAY_SIZE(noises); i++)
		strbuf_addf(&text, ", d%zu: {profile: fake, sim: {noise: {%s}}}", i, noises[i]);
	strbuf_adds(&text, "}\n");
	AUTO_FREE char *path = write_file(state, "lab/memcg-ab.yaml", text.data);
	strbuf_deinit(&text);
	struct lab *lab = load_lab(path, TEST_SHARE);
	assert_int_equal(lab->n_devices, 1 + ARRAY_SIZE(noises));
	assert_int_equal(lab->devices[0].profile->sim.noise.seed, 1);
	for (size_t i = 0; i < lab->n_devices; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(lab->devices[i].profile->digest, lab->devices[k].profile->digest);
	}
	lab_free(lab);
}

static void exact_devices_have_no_noise(void **state)
{
	free(write_file(state, "lab/profiles/fake.yaml", "kind: sim\nsim: {exact: false, noise: {boot: 1%}}\n"));
	AUTO_FREE char *path = write_file(
		state, "lab/memcg-ab.yaml",
		"devices:\n  fake: {sim: {exact: true}}\n  quiet: {profile: fake, sim: {exact: true, noise: {boot: 0}}}\n"
		"  late: {profile: fake, sim: {exact: true, noise: {modes: {shift: 1%}}}}\n");
	struct lab *lab = NULL;
	assert_error_in(
		state, lab_load(path, TEST_SHARE, &lab),
		"DIR/lab/memcg-ab.yaml:4:51: error: an exact device has no noise: leave it out, or say 'exact: false' in 'sim'\n"
		"DIR/lab/profiles/fake.yaml:2:28: error: an exact device has no noise: leave it out, or say 'exact: false' in "
		"'sim'\n");
	assert_null(lab);
}

static void reports_all_errors_at_once(void **state)
{
	(void)state;
	struct strbuf want = STRBUF_INIT;
	assert_null(file_read("tests/data/lab/bad/lab.err", &want));
	struct lab *lab = (struct lab *)0x1;
	struct error *error = lab_load("tests/data/lab/bad/lab.yaml", "tests/data/lab/none", &lab);
	assert_int_equal(error_exit_status(error), 2);
	assert_error(error, want.data);
	assert_ptr_equal(lab, (struct lab *)0x1);
	strbuf_deinit(&want);
}

static void does_without_a_file(void **state)
{
	(void)state;
	assert_int_equal(setenv("XDG_CACHE_HOME", "/x/cache", 1), 0);
	struct lab *lab = load_lab(NULL, ".");
	assert_null(lab->path);
	assert_string_equal(lab->cache_dir, "/x/cache/memcg-ab");
	assert_non_null(lab_device(lab, "qemu-virt"));
	assert_non_null(lab_toolchain(lab, "clang"));
	lab_free(lab);
	assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
	assert_int_equal(setenv("HOME", "/h", 1), 0);
	lab = load_lab(NULL, TEST_SHARE);
	assert_int_equal(lab->n_devices, 0);
	assert_string_equal(lab->cache_dir, "/h/.cache/memcg-ab");
	lab_free(lab);
}

static void finds_the_file_upwards(void **state)
{
	free(write_file(state, "lab/memcg-ab.yaml", "{}\n"));
	free(write_file(state, "lab/a/b/file", ""));
	AUTO_FREE char *deep = workdir_path(*state, "lab/a/b");
	AUTO_FREE char *file = workdir_path(*state, "lab/memcg-ab.yaml");
	AUTO_FREE char *found = lab_find(deep);
	assert_string_equal(found, file);
	assert_ok(file_remove_tree(file));
	assert_null(lab_find(deep));
}

static void look(void **state, const char *text, const char *want_path, const char *want_error)
{
	AUTO_FREE char *lab = workdir_path(*state, "s/lab/memcg-ab.yaml");
	AUTO_FREE char *share = workdir_path(*state, "s/share");
	AUTO_FREE char *matrix = workdir_path(*state, "s/here/m.yaml");
	AUTO_FREE char *wanted = in_folder(state, text);
	const struct search search = { lab, share };
	struct yaml_node node = { .kind = YAML_SCALAR, .pos = { intern(matrix), 1, 2 }, .text = wanted };
	char *path = NULL;
	struct error *error = search_file(&search, &node, "fragment", "", &path);
	if (want_error) {
		assert_error_in(state, error, want_error);
		assert_null(path);
		return;
	}
	assert_ok(error);
	assert_path(state, path, want_path);
	free(path);
}

static void looks_files_up(void **state)
{
	free(write_file(state, "s/lab/profiles/both", ""));
	free(write_file(state, "s/share/profiles/both", ""));
	free(write_file(state, "s/share/profiles/shared", ""));
	free(write_file(state, "s/share/profiles/p.yaml", ""));
	free(write_file(state, "s/here/beside", ""));
	look(state, "both", "DIR/s/lab/profiles/both", NULL);
	look(state, "shared", "DIR/s/share/profiles/shared", NULL);
	look(state, "./beside", "DIR/s/here/beside", NULL);
	look(state, "../share/profiles/both", "DIR/s/share/profiles/both", NULL);
	look(state, "DIR/s/here/beside", "DIR/s/here/beside", NULL);
	look(state, "./both", NULL, "DIR/s/here/m.yaml:1:2: error: there is no fragment DIR/s/here/both\n");
	look(state, "beside", NULL,
	     "DIR/s/here/m.yaml:1:2: error: there is no fragment 'beside' (there is: both, shared)\n"
	     "memcg-ab: note: looked for DIR/s/lab/profiles/beside\n"
	     "memcg-ab: note: looked for DIR/s/share/profiles/beside\n"
	     "memcg-ab: note: the file beside this one is written ./beside\n");
}

static void reads_units(void **state)
{
	static const struct {
		const char *text;
		bool size_fine;
		uint64_t size;
		bool time_fine;
		int64_t time;
	} cases[] = {
		{ "0", true, 0, true, 0 },
		{ "64M", true, 64 << 20, false, 0 },
		{ "64MiB", true, 64 << 20, false, 0 },
		{ "3K", true, 3072, false, 0 },
		{ "2T", true, (uint64_t)2 << 40, false, 0 },
		{ "4096", true, 4096, false, 0 },
		{ "0x80000", true, 524288, false, 0 },
		{ "0x", false, 0, false, 0 },
		{ "0x8M", false, 0, false, 0 },
		{ "0x10000000000000000", false, 0, false, 0 },
		{ "500ms", false, 0, true, 500 },
		{ "10s", false, 0, true, 10000 },
		{ "2min", false, 0, true, 120000 },
		{ "4h", false, 0, true, 14400000 },
		{ "64MB", false, 0, false, 0 },
		{ "64m", false, 0, false, 0 },
		{ "10sec", false, 0, false, 0 },
		{ "-1", false, 0, false, 0 },
		{ "", false, 0, false, 0 },
		{ " 1", false, 0, false, 0 },
		{ "1 M", false, 0, false, 0 },
		{ "18446744073709551616", false, 0, false, 0 },
		{ "99999999999T", false, 0, false, 0 },
		{ "9999999999999999999h", false, 0, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t size = 77;
		int64_t time = 77;
		assert_int_equal(units_size(cases[i].text, &size), cases[i].size_fine);
		assert_true(size == (cases[i].size_fine ? cases[i].size : 77));
		assert_int_equal(units_time(cases[i].text, &time), cases[i].time_fine);
		assert_true(time == (cases[i].time_fine ? cases[i].time : 77));
	}
	double ratio = 0;
	assert_true(units_ratio("8%", &ratio) && ratio == 0.08);
	assert_true(units_ratio("0.08", &ratio) && ratio == 0.08);
	assert_false(units_ratio("%", &ratio) || units_ratio("nan", &ratio) || units_ratio("0x8", &ratio) ||
		     units_ratio("1e999", &ratio));
	char *text = units_size_text(((uint64_t)3 << 30) + 1024);
	assert_string_equal(text, "3145729K");
	free(text);
	text = units_time_text(90000);
	assert_string_equal(text, "90s");
	free(text);
	text = units_size_text(0);
	assert_string_equal(text, "0");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_repositorys_lab),
		cmocka_unit_test(reads_every_form),
		cmocka_unit_test(digest_is_of_what_changes_numbers),
		cmocka_unit_test(digest_is_of_all_noise),
		cmocka_unit_test(exact_devices_have_no_noise),
		cmocka_unit_test(reports_all_errors_at_once),
		cmocka_unit_test(does_without_a_file),
		cmocka_unit_test(finds_the_file_upwards),
		cmocka_unit_test(looks_files_up),
		cmocka_unit_test(reads_units),
	};
	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
