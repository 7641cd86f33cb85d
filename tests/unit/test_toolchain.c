/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include "kernel/toolchain.h"
#include "workdir.h"

static void test_summaries(void **state)
{
	static const struct {
		const char *line, *summary;
	} cases[] = {
		{ "aarch64-linux-gnu-gcc (Debian 12.2.0-14) 12.2.0", "gcc 12.2.0" },
		{ "gcc (GCC) 13.2.1 20230801", "gcc 13.2.1" },
		{ "aarch64-none-linux-gnu-gcc (Arm GNU Toolchain 12.2.Rel1 (Build arm-12.24)) 12.2.1 20221205", "gcc 12.2.1" },
		{ "Debian clang version 14.0.6", "clang 14.0.6" },
		{ "Android (7284624, based on r416183b) clang version 12.0.5 (https://example.org c935d99d7cf2)",
		  "clang 12.0.5" },
		{ "Debian clang version 19.1.7-3+b1", "clang 19.1.7" },
		{ "something else", "something else" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *summary = toolchain_summary(cases[i].line);
		assert_string_equal(summary, cases[i].summary);
	}
}

static void test_packages(void **state)
{
	static const struct {
		const char *program, *package;
	} cases[] = {
		{ "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu" },
		{ "aarch64-linux-gnu-ld", "binutils-aarch64-linux-gnu" },
		{ "clang-14", "clang-14" },
		{ "ld.lld-14", "lld-14" },
		{ "ld.lld", "lld" },
		{ "llvm-objcopy-16", "llvm-16" },
		{ "flex", "flex" },
		{ "openssl/opensslv.h", "libssl-dev" },
		{ "frobnicate", NULL },
		{ "aarch64-linux-gnu-frobnicate", NULL },
		{ "-14", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *package = toolchain_package(cases[i].program);
		if (cases[i].package)
			assert_string_equal(package, cases[i].package);
		else
			assert_null(package);
	}
}

static char *joined(const struct strlist *list)
{
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < list->n; i++)
		strbuf_addf(&text, "%s%s", i ? "|" : "", list->items[i]);
	return strbuf_steal(&text);
}

/* A folder of programs that print a version and nothing else, first in PATH. */
static void fake_tools(const struct workdir *dir)
{
	workdir_do(
		dir,
		"mkdir bin; for name in a64-gcc a64-ld clang-99 ld.lld-99 llvm-ar-99 llvm-nm-99 llvm-objcopy-99 llvm-objdump-99 "
		"llvm-readelf-99 llvm-strip-99 ccache; do "
		"printf '#!/bin/sh\\necho \"%s (Test 1) 9.8.7\"\\necho more\\n' $name >bin/$name; chmod +x bin/$name; done;"
		"printf '#!/bin/sh\\necho \"Test clang version 99.1.2\"\\n' >bin/clang-99");
	AUTO_FREE char *path = xasprintf("%s/bin:%s", dir->path, getenv("PATH"));
	setenv("PATH", path, 1);
}

static void test_probe_gcc(void **state)
{
	const struct workdir *dir = *state;
	const struct toolchain toolchain = { .name = "gcc", .cross = (char *)"a64-", .wrapper = (char *)"ccache" };
	struct toolchain_info *info = NULL;

	fake_tools(dir);
	assert_ok(toolchain_probe(&toolchain, "arm64", NO_GUARD, &info));
	AUTO_FREE char *args = joined(&info->make_args);
	assert_string_equal(info->compiler, "a64-gcc (Test 1) 9.8.7");
	assert_string_equal(info->linker, "a64-ld (Test 1) 9.8.7");
	assert_string_equal(info->summary, "gcc 9.8.7");
	assert_string_equal(args, "CROSS_COMPILE=a64-|CC=ccache a64-gcc");
	toolchain_info_free(info);
}

static void test_probe_llvm(void **state)
{
	const struct workdir *dir = *state;
	const struct toolchain toolchain = { .name = "clang", .llvm = (char *)"-99" };
	struct toolchain_info *info = NULL;

	fake_tools(dir);
	assert_ok(toolchain_probe(&toolchain, "arm64", NO_GUARD, &info));
	AUTO_FREE char *args = joined(&info->make_args);
	assert_string_equal(info->summary, "clang 99.1.2");
	assert_string_equal(
		args,
		"LLVM=1|LLVM_IAS=1|CROSS_COMPILE=aarch64-linux-gnu-|LD=ld.lld-99|AR=llvm-ar-99|NM=llvm-nm-99|"
		"OBJCOPY=llvm-objcopy-99|OBJDUMP=llvm-objdump-99|READELF=llvm-readelf-99|STRIP=llvm-strip-99|HOSTCC=clang-99|"
		"HOSTCXX=clang++-99|HOSTAR=llvm-ar-99|HOSTLD=ld.lld-99|CC=clang-99");
	toolchain_info_free(info);
}

static void test_missing_tools_are_all_named(void **state)
{
	const struct toolchain toolchain = {
		.name = "far", .cross = (char *)"sparc-none-", .wrapper = (char *)"nocache", .pos = { "lab.yaml", 4, 9 }
	};
	struct toolchain_info *info = NULL;

	(void)state;
	struct error *err = toolchain_probe(&toolchain, "arm64", NO_GUARD, &info);
	assert_int_equal(error_kind(err), ERROR_LAB);
	assert_error(err, "lab.yaml:4:9: error: toolchain 'far': no program 'sparc-none-gcc'; install it (Debian: apt install "
			  "gcc-sparc-none)\n"
			  "lab.yaml:4:9: error: toolchain 'far': no program 'sparc-none-ld'; install it (Debian: apt install "
			  "binutils-sparc-none)\n"
			  "lab.yaml:4:9: error: toolchain 'far': no program 'nocache' in PATH\n");
	assert_null(info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_packages),
		cmocka_unit_test(test_missing_tools_are_all_named),
		cmocka_unit_test_setup_teardown(test_probe_gcc, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_probe_llvm, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
