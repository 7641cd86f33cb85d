/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Against ELF files that gcc makes with the very sections and symbols of a kernel: up to 5.18 __crc_ symbols are
 * absolute, since then (and before it with MODULE_REL_CRCS) they stand before the words.
 */
#include "unit.h"

#include "base/elf.h"
#include "kernel/modules.h"
#include "workdir.h"

/* new and old: kernels that export module_layout and printk; plain: one without modversions; none: one without modules. */
static const char kernels[] =
	"cat >kernel.h <<'E'\n"
	"#define STR(x) #x\n"
	"#define EXPORT(sym) __asm__(\".section __ksymtab_strings,\\\"aMS\\\",%progbits,1\\n.asciz \\\"\" #sym "
	"\"\\\"\\n.previous\");\n"
	"#define CRC_WORD(sym, crc) __asm__(\".section __kcrctab,\\\"a\\\"\\n__crc_\" #sym \": .long \" #crc \"\\n.previous\");\n"
	"#define CRC_ABS(sym, crc) __asm__(\".globl __crc_\" #sym \"\\n.set __crc_\" #sym \", \" #crc);\n"
	"#define MAGIC(m) static const char vermagic[] __attribute__((used)) = m;\n"
	"#define INFO(m) static const char info[] __attribute__((used, section(\".modinfo\"))) = \"license=GPL\\0vermagic=\" m;\n"
	"struct version { unsigned long crc; char name[56]; };\n"
	"#define VERSIONS static const struct version v[] __attribute__((used, section(\"__versions\")))\n"
	"E\n"
	"link() { gcc -O1 -c -o $1.o $1.c; gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,--build-id=none -Wl,-e,0 -o $1 "
	"$1.o; }\n"
	"{ echo '#include \"kernel.h\"'; echo 'MAGIC(\"6.12.1 SMP mod_unload modversions aarch64\")';"
	"echo 'EXPORT(module_layout) EXPORT(_printk) CRC_WORD(module_layout, 0x11111111) CRC_WORD(_printk, 0xa2222222)'; } "
	">new.c; link new\n"
	"sed 's/CRC_WORD/CRC_ABS/g' new.c >old.c; link old\n"
	"sed 's/CRC_WORD([^)]*)//g; s/modversions //' new.c >plain.c; link plain\n"
	"sed '/MAGIC/d' new.c >none.c; link none; strip -o stripped new\n"
	"mod() { { echo '#include \"kernel.h\"'; cat; } >m.c; mkdir -p $(dirname $1); gcc -O1 -c -o $1 m.c; }\n";

static char *in_dir(const struct workdir *dir, const char *script)
{
	AUTO_FREE char *all = xasprintf("%s%s", kernels, script);

	return workdir_run(dir, all);
}

/* The first mismatch, "" for none; the caller frees. */
static char *compared(const struct workdir *dir, const char *folder, const char *kernel, size_t modules, size_t mismatches)
{
	AUTO_FREE char *folder_path = workdir_path(dir, folder);
	AUTO_FREE char *vmlinux = workdir_path(dir, kernel);
	struct modules_report report;

	assert_ok(modules_compare(folder_path, vmlinux, &report));
	assert_int_equal(report.n_modules, modules);
	assert_int_equal(report.n_mismatches, mismatches);
	char *mismatch = xstrdup(report.mismatch ? report.mismatch : "");
	modules_report_deinit(&report);
	return mismatch;
}

static void expect(const struct workdir *dir, const char *folder, const char *kernel, size_t modules, size_t mismatches,
		   const char *want)
{
	AUTO_FREE char *got = compared(dir, folder, kernel, modules, mismatches);

	assert_string_equal(got, want);
}

static void test_loads_what_fits(void **state)
{
	struct workdir *dir = *state;

	/* With CRCs another release is fine; b.ko uses what a.ko exports. */
	free(in_dir(dir, "mod m/a.ko <<'E'\n"
			 "INFO(\"6.12.1 SMP mod_unload modversions aarch64\")\n"
			 "EXPORT(a_helper) CRC_WORD(a_helper, 0x33333333)\n"
			 "VERSIONS = { { 0x11111111, \"module_layout\" }, { 0xa2222222, \"_printk\" } };\n"
			 "E\n"
			 "mod m/sub/b.ko <<'E'\n"
			 "INFO(\"6.12.99-other SMP mod_unload modversions aarch64\")\n"
			 "VERSIONS = { { 0x11111111, \"module_layout\" }, { 0x33333333, \"a_helper\" } };\n"
			 "E\n"
			 "echo text >m/modules.dep"));
	expect(dir, "m", "new", 2, 0, "");
	expect(dir, "m", "old", 2, 0, "");
	/* Nothing but vermagic there: all of it counts. */
	expect(dir, "m", "plain", 2, 2,
	       "a.ko: vermagic is '6.12.1 SMP mod_unload modversions aarch64', the kernel's is '6.12.1 SMP mod_unload aarch64'");
}

static void test_finds_what_does_not_fit(void **state)
{
	struct workdir *dir = *state;

	free(in_dir(dir, "M='\"6.12.1 SMP mod_unload modversions aarch64\"'\n"
			 "printf 'INFO(%s)\\nVERSIONS = { { 0x11111111, \"module_layout\" }, { 0xa2222223, \"_printk\" } };\\n' "
			 "\"$M\" | mod crc/x.ko\n"
			 "printf 'INFO(%s)\\nVERSIONS = { { 0x11111111, \"module_layout\" }, { 1, \"mem_cgroup_from_task\" } "
			 "};\\n' \"$M\" | mod sym/x.ko\n"
			 "printf 'INFO(%s)\\nEXPORT(h) CRC_WORD(h, 7)\\n' \"$M\" | mod two/h.ko\n"
			 "printf 'INFO(%s)\\nVERSIONS = { { 8, \"h\" } };\\n' \"$M\" | mod two/u.ko\n"
			 "printf 'INFO(\"6.12.1 SMP preempt mod_unload modversions aarch64\")\\nVERSIONS = { { 1, "
			 "\"module_layout\" } };\\n' | mod magic/x.ko\n"
			 "printf 'INFO(\"6.12.2 SMP mod_unload aarch64\")\\n' | mod release/x.ko\n"
			 "printf 'int f(void) { return 1; }\\n' | mod bare/x.ko"));
	for (size_t i = 0; i < 2; i++) {
		const char *kernel = i ? "old" : "new";
		expect(dir, "crc", kernel, 1, 1, "x.ko: disagrees about the version of symbol _printk");
		expect(dir, "sym", kernel, 1, 1,
		       "x.ko: needs symbol mem_cgroup_from_task, which neither kernel nor modules have");
		expect(dir, "two", kernel, 2, 1, "u.ko: disagrees about the version of symbol h");
		expect(dir, "magic", kernel, 1, 1,
		       "x.ko: vermagic is '6.12.1 SMP preempt mod_unload modversions aarch64', the kernel's is '6.12.1 SMP "
		       "mod_unload modversions "
		       "aarch64'");
	}
	expect(dir, "release", "plain", 1, 1,
	       "x.ko: vermagic is '6.12.2 SMP mod_unload aarch64', the kernel's is '6.12.1 SMP mod_unload aarch64'");
	expect(dir, "bare", "plain", 1, 1, "x.ko: has no vermagic");
}

static void refused(const struct workdir *dir, const char *folder, const char *kernel, const char *format)
{
	AUTO_FREE char *folder_path = workdir_path(dir, folder);
	AUTO_FREE char *vmlinux = workdir_path(dir, kernel);
	struct modules_report report = { .n_modules = 77 };
	AUTO_STRBUF want = STRBUF_INIT;

	/* '@' stands for the test's folder. */
	strbuf_adds(&want, "memcg-ab: error: ");
	for (const char *at = format; *at; at++)
		if (*at == '@')
			strbuf_adds(&want, dir->path);
		else
			strbuf_addch(&want, *at);
	strbuf_addch(&want, '\n');
	struct error *error = modules_compare(folder_path, vmlinux, &report);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_error(error, want.data);
	assert_int_equal(report.n_modules, 77);
}

static void test_refuses(void **state)
{
	struct workdir *dir = *state;

	free(in_dir(dir, "mkdir empty text; echo no module >text/x.ko; printf 'INFO(\"x\")\\n' | mod ok/x.ko"));
	refused(dir, "empty", "new", "there is no *.ko below @/empty");
	refused(dir, "text", "new", "@/text/x.ko is not an ELF file");
	refused(dir, "ok", "none", "@/none was built without modules (no symbol vermagic)");
	refused(dir, "ok", "stripped", "@/stripped has no symbols: modules are compared with a vmlinux that was not stripped");
	refused(dir, "ok", "missing", "cannot open @/missing: No such file or directory");
}

static void test_words_of_symbols(void **state)
{
	struct workdir *dir = *state;
	const char *const files[] = { "new", "old", "new.o", "old.o" };

	free(in_dir(dir, ""));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = workdir_path(dir, files[i]);
		struct elf_words words;
		assert_ok(elf_words(path, "__crc_", &words));
		assert_int_equal(words.n, 2);
		assert_string_equal(words.items[0].name, "_printk");
		assert_int_equal(words.items[0].value, 0xa2222222);
		assert_int_equal(elf_words_find(&words, "module_layout")->value, 0x11111111);
		assert_null(elf_words_find(&words, "printk"));
		elf_words_deinit(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loads_what_fits, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_finds_what_does_not_fit, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_refuses, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_words_of_symbols, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
