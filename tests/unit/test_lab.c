/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_DIR "/tmp/memcg-ab-test-lab"
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
	(void)state;
	char *path = write_file(
		"lab/memcg-ab.yaml",
		"sources:\n"
		"  a: {git: ../src, rev: v5.10}\n"
		"  b: [{folder: linux}, {tarball: /t/linux.tar.xz, sha256: "
		"ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789}]\n"
		"  c: {deb: linux-source-5.10, version: 5.10.262-1}\n"
		"toolchains: {llvm: {llvm: -14, cross: x-}, cached: {cross: y-, wrapper: ccache}}\n"
		"devices:\n"
		"  board: {}\n"
		"  laid: {profile: board, cmdline: quiet, qemu: {smp: 2, memory: 1G}, retries: 5, timeouts: {boot: 2min}}\n"
		"  clear: {profile: ./profiles/board.yaml, qemu: {icount: \"\"}}\n"
		"  sim: {profile: fake, sim: {faults: [{variant: x, what: panic}], sd: 2%}}\n"
		"cache: {dir: ../cache, max: 5G}\n"
		"build: {parallel: 2, jobs: 3, timeout: 90min}\n");
	free(write_file("lab/profiles/board.yaml",
			"kind: qemu\nconfig: board.config\ncmdline: a b\n"
			"qemu: {cpu: max, icount: shift=0}\nnuisances: [{}, {pad: 3, memory: 1G, region_offset: 4M}]\n"));
	free(write_file("lab/profiles/board.config", "CONFIG_A=y\n"));
	free(write_file("lab/profiles/fake.yaml", "kind: sim\nimage: kernel\nsim: {exact: false, boot: 5ms, models: [{variant: "
						  "'*', metrics: {l.p.u: 1.5, l.p.v: 2}}],\n"
						  "  faults: [{variant: y, what: hang, block: 2, attempt: 1}]}\n"));
	struct lab *lab = load_lab(path, TEST_SHARE);
	assert_string_equal(lab->path, path);
	assert_string_equal(lab->sources[0].alternatives[0].path, TEST_DIR "/src");
	assert_string_equal(lab->sources[0].alternatives[0].rev, "v5.10");
	assert_string_equal(lab->sources[1].alternatives[0].path, TEST_DIR "/lab/linux");
	assert_string_equal(lab->sources[1].alternatives[1].path, "/t/linux.tar.xz");
	assert_string_equal(lab->sources[1].alternatives[1].sha256,
			    "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789");
	assert_string_equal(lab->sources[2].alternatives[0].version, "5.10.262-1");
	assert_string_equal(lab->toolchains[0].llvm, "-14");
	assert_string_equal(lab->toolchains[1].wrapper, "ccache");
	assert_null(lab->toolchains[0].wrapper);
	assert_string_equal(lab->cache_dir, TEST_DIR "/cache");
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
	assert_false(laid->exact);
	assert_int_equal(laid->n_nuisances, 0);
	assert_int_equal(laid->retries, 5);
	assert_true(laid->boot_timeout_ms == 120000);
	assert_string_not_equal(laid->digest, board->digest);
	assert_null(lab->devices[2].profile->qemu.icount);
	assert_false(lab->devices[2].profile->exact);
	const struct profile *sim = lab->devices[3].profile;
	assert_true(sim->needs_image && !sim->exact);
	assert_true(sim->sim.sd == 0.02 && sim->sim.boot_ms == 5);
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
		{ "{profile: fake, sim: {sd: 0.1}}", true },
		{ "{profile: fake, sim: {faults: [{variant: x, what: die}]}}", true },
	};
	(void)state;
	free(write_file("lab/profiles/fake.yaml", "kind: sim\n"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("devices: {a: {profile: fake}, b: %s}\n", cases[i].settings);
		char *path = write_file("lab/memcg-ab.yaml", text);
		struct lab *lab = load_lab(path, TEST_SHARE);
		assert_int_equal(strcmp(lab->devices[0].profile->digest, lab->devices[1].profile->digest) != 0, cases[i].changes);
		lab_free(lab);
		free(path);
		free(text);
	}
}

static void reports_all_errors_at_once(void **state)
{
	(void)state;
	struct strbuf want = STRBUF_INIT;
	assert_null(file_read("tests/data/lab/bad/lab.err", &want));
	struct lab *lab = (struct lab *)0x1;
	struct error *error = lab_load("tests/data/lab/bad/lab.yaml", "tests/data/lab/none", &lab);
	assert_int_equal(error_exit_status(error), 2);
	check_error(error, want.data);
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
	(void)state;
	free(write_file("lab/memcg-ab.yaml", "{}\n"));
	free(write_file("lab/a/b/file", ""));
	char *path = lab_find(TEST_DIR "/lab/a/b");
	assert_string_equal(path, TEST_DIR "/lab/memcg-ab.yaml");
	free(path);
	assert_null(file_remove_tree(TEST_DIR "/lab/memcg-ab.yaml"));
	assert_null(lab_find(TEST_DIR "/lab/a"));
}

static void look(const char *text, const char *want_path, const char *want_error)
{
	const struct search search = { TEST_DIR "/s/lab/memcg-ab.yaml", TEST_DIR "/s/share" };
	struct yaml_node node = { .kind = YAML_SCALAR, .pos = { TEST_DIR "/s/here/m.yaml", 1, 2 }, .text = (char *)text };
	char *path = NULL;
	struct error *error = search_file(&search, &node, "fragment", "", &path);
	if (want_path)
		assert_string_equal(path, want_path);
	else
		assert_null(path);
	check_error(error, want_error);
	free(path);
}

static void looks_files_up(void **state)
{
	(void)state;
	free(write_file("s/lab/profiles/both", ""));
	free(write_file("s/share/profiles/both", ""));
	free(write_file("s/share/profiles/shared", ""));
	free(write_file("s/share/profiles/p.yaml", ""));
	free(write_file("s/here/beside", ""));
	look("both", TEST_DIR "/s/lab/profiles/both", "");
	look("shared", TEST_DIR "/s/share/profiles/shared", "");
	look("./beside", TEST_DIR "/s/here/beside", "");
	look("../share/profiles/both", TEST_DIR "/s/share/profiles/both", "");
	look(TEST_DIR "/s/here/beside", TEST_DIR "/s/here/beside", "");
	look("./both", NULL, TEST_DIR "/s/here/m.yaml:1:2: error: there is no fragment " TEST_DIR "/s/here/both\n");
	look("beside", NULL,
	     TEST_DIR "/s/here/m.yaml:1:2: error: there is no fragment 'beside' (there is: both, shared)\n"
		      "memcg-ab: note: looked for " TEST_DIR "/s/lab/profiles/beside\n"
		      "memcg-ab: note: looked for " TEST_DIR "/s/share/profiles/beside\n"
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
		cmocka_unit_test(reads_the_repositorys_lab),
		cmocka_unit_test(reads_every_form),
		cmocka_unit_test(digest_is_of_what_changes_numbers),
		cmocka_unit_test(reports_all_errors_at_once),
		cmocka_unit_test(does_without_a_file),
		cmocka_unit_test(finds_the_file_upwards),
		cmocka_unit_test(looks_files_up),
		cmocka_unit_test(reads_units),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
