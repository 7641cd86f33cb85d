/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <string.h>

#include "kernel/build_log.h"

static void test_first_error(void **state)
{
	static const struct {
		const char *log, *first;
	} cases[] = {
		{ "  CC      mm/a.o\n/c/src/mm/a.c: In function 'f':\n/c/src/mm/a.c:3:4: error: 'y' undeclared\n"
		  "make[1]: *** [/c/src/scripts/Makefile.build:286: mm/a.o] Error 1\n",
		  "mm/a.c:3:4: error: 'y' undeclared" },
		{ "make[1]: *** wait\n/c/src/x.h:1:2: fatal error: y.h: No such file or directory\n",
		  "x.h:1:2: fatal error: y.h: No such file or directory" },
		{ "ld.lld: error: undefined symbol: foo\n", "ld.lld: error: undefined symbol: foo" },
		{ "aarch64-linux-gnu-ld: mm/a.o: in function `f':\na.c:(.text+0x4): undefined reference to `g'\nmake: *** "
		  "[Makefile:1] Error 1\n",
		  "a.c:(.text+0x4): undefined reference to `g'" },
		{ "/c/src/mm/a.S: Assembler messages:\n/c/src/mm/a.S:4: Error: unknown mnemonic `frob'\n",
		  "mm/a.S:4: Error: unknown mnemonic `frob'" },
		{ "mm/Kconfig:7: syntax error\nmake: *** [x] Error 1\n", "mm/Kconfig:7: syntax error" },
		{ "hello\nmake: *** No rule to make target 'x', needed by '/c/src/y'.  Stop.\n",
		  "make: *** No rule to make target 'x', needed by 'y'.  Stop." },
		{ "one\nlast words  \n\n", "last words" },
		{ "\n \n", "it printed nothing" },
		{ "", "it printed nothing" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *first = build_log_first_error(cases[i].log, "/c/src");
		assert_string_equal(first, cases[i].first);
	}
}

static void test_lab_faults(void **state)
{
	static const struct {
		const char *log, *fault;
	} cases[] = {
		{ "/tmp/cc.s: Fatal error: can't write 12 bytes to section: No space left on device\n", "the disk is full" },
		{ "/bin/sh: 1: flex: not found\nmake[1]: *** Error 127\n",
		  "'flex' is missing; install it (Debian: apt install flex)" },
		{ "bash: line 1: bc: command not found\n", "'bc' is missing; install it (Debian: apt install bc)" },
		{ "make[2]: bison: No such file or directory\n", "'bison' is missing; install it (Debian: apt install bison)" },
		{ "make[2]: frob: No such file or directory\n", "'frob' is missing" },
		{ "scripts/sign-file.c:25:10: fatal error: openssl/opensslv.h: No such file or directory\n",
		  "'openssl/opensslv.h' is missing; install it (Debian: apt install libssl-dev)" },
		{ "gcc: fatal error: Killed signal terminated program cc1\n",
		  "a compiler was killed: the machine has too little memory" },
		/* The kernel's own faults. */
		{ "mm/a.c:1:10: fatal error: linux/nothing.h: No such file or directory\n", NULL },
		{ "/bin/sh: 1: pahole: not found\nmm/a.c:3:4: error: 'y' undeclared\n", NULL },
		{ "make[2]: *** No rule to make target 'x'.  Stop.\n", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *fault = build_log_lab_fault(cases[i].log);
		if (cases[i].fault)
			assert_string_equal(fault, cases[i].fault);
		else
			assert_null(fault);
	}
}

static void test_counts(void **state)
{
	static const char *const objects[] = { "  CC      mm/a.o", "  AS      arch/arm64/kernel/head.o", "  LD      vmlinux" };
	static const char *const others[] = {
		"  HOSTCC  scripts/x.o", "  AR      mm/built-in.a", "  CHK     include/x", "CC mm/a.o", "  CC", ""
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		assert_true(build_log_is_object(objects[i], strlen(objects[i])));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(build_log_is_object(others[i], strlen(others[i])));
	assert_int_equal(build_log_warnings("a.c:1:2: warning: x\nb.c:1:2: error: y\nc.c:3:4: warning: z"), 2);
	assert_int_equal(build_log_warnings(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_error),
		cmocka_unit_test(test_lab_faults),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
