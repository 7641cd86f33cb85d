/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Against what addr2line says of every instruction of real programs. */
#include "unit.h"

#include <inttypes.h>

#include "base/elf_inlines.h"
#include "workdir.h"

#define DEPTH 8

static const char source[] = "volatile int v[64];\n"
			     "static inline __attribute__((always_inline)) void leaf(int i) { v[i]++; v[i + 1] *= 3; }\n"
			     "static inline __attribute__((always_inline)) int middle(int i) { if (v[i] > 4) leaf(i); v[i] ^= 5; "
			     "leaf(i + 2); return v[i]; }\n"
			     "static inline __attribute__((always_inline)) int twin(int i) { for (int k = 0; k < v[0]; k++) "
			     "leaf(k); return middle(i) + middle(i + 3); }\n"
			     "__attribute__((noinline)) int outer(int i) { v[9] = i; int r = twin(i); if (__builtin_expect(v[3] "
			     "== 9, 0)) leaf(7); return r + v[1]; }\n"
			     "__attribute__((noinline)) int plain(int i) { v[5] = i; return v[6] / 3; }\n"
			     "int main(void) { return outer(v[2]) + plain(v[4]); }\n";

/* "outermost ... innermost" of the functions inlined at an address. */
static char *chain_at(const struct elf_inlines *inlines, uint64_t address)
{
	const char *names[DEPTH] = { NULL };
	size_t n = elf_inlines_at(inlines, address, names, DEPTH);
	AUTO_STRBUF text = STRBUF_INIT;

	assert_true(n <= DEPTH);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&text, "%s%s", i ? " " : "", names[i]);
	return xstrdup(strbuf_str(&text));
}

/* Compares every instruction of outer, plain and main; `want` has a line "ADDRESS INNERMOST ... FUNCTION" each. Returns how many differ from the symbol alone. */
static size_t compare_all(const struct elf_inlines *inlines, char *want)
{
	char *rest = want, *line;
	size_t n = 0, inlined = 0;

	while ((line = strsep(&rest, "\n"))) {
		char *names = NULL;
		uint64_t address = strtoull(line, &names, 16);
		assert_non_null(strchr(line, ' '));
		char *function = strrchr(line, ' ');
		*function = '\0';
		AUTO_FREE char *got = chain_at(inlines, address);
		if (strcmp(got, *names ? names + 1 : ""))
			fail_msg("%" PRIx64 ": '%s', addr2line says '%s'", address, got, *names ? names + 1 : "");
		inlined += *got != '\0';
		n++;
	}
	assert_true(n > 40);
	return inlined;
}

static void check_program(struct workdir *dir, const char *prefix, const char *flags)
{
	AUTO_ELF_INLINES inlines = NULL;
	AUTO_FREE char *script =
		xasprintf("%1$sgcc %2$s -o p p.c;"
			  "%1$sobjdump -d --no-show-raw-insn p | awk '/^[0-9a-f]+ <(outer|plain|main|outer.cold)>:/ { in_it = 1; "
			  "next } /^$/ { in_it = 0 } in_it && $1 ~ /^[0-9a-f]+:$/ { sub(\":\", \"\", $1); print $1 }' >at;"
			  "%1$saddr2line -a -f -i -e p <at | awk '/^0x/ { if (line) print line; line = $1; next } "
			  "/^[a-z]+$/ { line = line \" \" $1 } END { print line }'",
			  prefix, flags);

	workdir_write(dir, "p.c", source);
	AUTO_FREE char *want = workdir_run(dir, script);
	AUTO_FREE char *path = workdir_path(dir, "p");
	assert_ok(elf_inlines_read(path, &inlines));
	assert_true(elf_inlines_any(inlines));
	assert_true(compare_all(inlines, want) > 20);
}

static void test_says_what_addr2line_says(void **state)
{
	check_program(*state, "", "-g -O2");
	check_program(*state, "", "-gdwarf-4 -O1");
}

static void test_of_another_architecture(void **state)
{
	check_program(*state, "aarch64-linux-gnu-", "-g -O2 -static");
	check_program(*state, "aarch64-linux-gnu-", "-gdwarf-5 -gz -Os");
}

static void test_depth_is_limited_by_the_caller(void **state)
{
	struct workdir *dir = *state;
	AUTO_ELF_INLINES inlines = NULL;
	const char *names[2] = { NULL, "untouched" };
	size_t deepest = 0;

	workdir_write(dir, "p.c", source);
	workdir_do(dir, "gcc -g -O2 -no-pie -o p p.c");
	AUTO_FREE char *text = workdir_run(dir, "nm p | awk '$3 == \"outer\" { print $1 }'");
	AUTO_FREE char *path = workdir_path(dir, "p");
	assert_ok(elf_inlines_read(path, &inlines));
	uint64_t outer = strtoull(text, NULL, 16);
	for (uint64_t at = outer; at < outer + 256; at++) {
		size_t n = elf_inlines_at(inlines, at, names, 1);
		deepest = n > deepest ? n : deepest;
	}
	assert_int_equal(deepest, 3);
	assert_string_equal(names[1], "untouched");
	assert_int_equal(elf_inlines_at(inlines, 0, names, 1), 0);
	assert_int_equal(elf_inlines_at(inlines, UINT64_MAX, names, 1), 0);
}

static void test_without_debug_information(void **state)
{
	struct workdir *dir = *state;
	AUTO_ELF_INLINES inlines = NULL;
	AUTO_ELF_INLINES untouched = NULL;
	const char *name = NULL;

	workdir_write(dir, "p.c", source);
	workdir_do(dir, "gcc -O2 -o p p.c; cp p damaged; gcc -g -O2 -o g p.c; echo text >plain;"
			"head -c 400 /dev/zero >zero; objcopy --update-section .debug_abbrev=zero g damaged");
	AUTO_FREE char *path = workdir_path(dir, "p");
	AUTO_FREE char *damaged = workdir_path(dir, "damaged");
	AUTO_FREE char *plain = workdir_path(dir, "plain");
	AUTO_FREE char *missing = workdir_path(dir, "missing");
	AUTO_FREE char *no_elf = xasprintf("memcg-ab: error: %s is not an ELF file\n", plain);
	AUTO_FREE char *no_file = xasprintf("memcg-ab: error: cannot open %s: No such file or directory\n", missing);

	assert_ok(elf_inlines_read(path, &inlines));
	assert_false(elf_inlines_any(inlines));
	assert_int_equal(elf_inlines_at(inlines, 0x1000, &name, 1), 0);
	assert_error(elf_inlines_read(plain, &untouched), no_elf);
	assert_error(elf_inlines_read(missing, &untouched), no_file);
	struct error *error = elf_inlines_read(damaged, &untouched);
	assert_non_null(error);
	AUTO_FREE char *text = error_text(error);
	error_free(error);
	assert_non_null(strstr(text, "cannot read the debug information of"));
	assert_null(untouched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_says_what_addr2line_says, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_of_another_architecture, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_depth_is_limited_by_the_caller, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_without_debug_information, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
