/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Against real files: this program itself, and what cc, ld and size make and say. */
#include "unit.h"

#include "base/elf.h"
#include "workdir.h"

static void note(struct strbuf *out, const char *id, size_t n)
{
	const unsigned char head[] = { 4, 0, 0, 0, (unsigned char)n, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };

	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, id, n);
}

static void test_build_id_of_a_file(void **state)
{
	struct workdir *dir = *state;
	char hex[BUILD_ID_HEX_SIZE] = "untouched";

	workdir_do(
		dir,
		"echo 'int f(void) { return 1; }' >f.c; cc -shared -fPIC -Wl,--build-id=0x0123456789abcdef00112233 -o f.so f.c;"
		"cc -c -o f.o f.c; echo text >plain");
	AUTO_FREE char *so = workdir_path(dir, "f.so");
	AUTO_FREE char *object = workdir_path(dir, "f.o");
	AUTO_FREE char *plain = workdir_path(dir, "plain");
	AUTO_FREE char *missing = workdir_path(dir, "missing");
	AUTO_FREE char *no_id = xasprintf("memcg-ab: error: %s has no GNU build id\n", object);
	AUTO_FREE char *no_elf = xasprintf("memcg-ab: error: %s is not an ELF file\n", plain);
	AUTO_FREE char *no_file = xasprintf("memcg-ab: error: cannot open %s: No such file or directory\n", missing);

	assert_error(elf_build_id(object, hex), no_id);
	assert_error(elf_build_id(plain, hex), no_elf);
	assert_error(elf_build_id(missing, hex), no_file);
	assert_string_equal(hex, "untouched");
	assert_ok(elf_build_id(so, hex));
	assert_string_equal(hex, "0123456789abcdef00112233");
}

static void test_sizes_are_those_of_size(void **state)
{
	struct workdir *dir = *state;
	struct elf_sizes sizes = { 1, 2, 3 };

	workdir_do(dir, "printf 'int d[7] = {1}; int b[100]; const char r[33] = {1}; int f(int x) { return x * d[x] + b[x] + "
			"r[x]; }' >s.c;"
			"cc -O1 -c -o s.o s.c");
	AUTO_FREE char *object = workdir_path(dir, "s.o");
	AUTO_FREE char *want = workdir_run(dir, "size s.o | awk 'NR == 2 { print $1, $2, $3 }'");
	assert_ok(elf_sizes(object, &sizes));
	AUTO_FREE char *got = xasprintf("%llu %llu %llu", (unsigned long long)sizes.text, (unsigned long long)sizes.data,
					(unsigned long long)sizes.bss);
	assert_string_equal(got, want);

	AUTO_FREE char *source = workdir_path(dir, "s.c");
	AUTO_FREE char *no_elf = xasprintf("memcg-ab: error: %s is not an ELF file\n", source);
	assert_error(elf_sizes(source, &sizes), no_elf);
	assert_int_not_equal(sizes.bss, 0);
}

static void test_build_id_in_bytes(void **state)
{
	char hex[BUILD_ID_HEX_SIZE] = "untouched";
	AUTO_STRBUF bytes = STRBUF_INIT;

	(void)state;
	assert_false(build_id_in_bytes("", 0, hex));
	strbuf_add(&bytes, "kernel text.", 12);
	assert_false(build_id_in_bytes(bytes.data, bytes.len, hex));
	/* A note of another name, one of another type, one that is cut off. */
	strbuf_add(&bytes, "\6\0\0\0\4\0\0\0\1\1\0\0Linux\0\0\0\0\0\0\0", 24);
	strbuf_add(&bytes, "\4\0\0\0\10\0\0\0\5\0\0\0GNU\0aaaabbbb", 24);
	assert_false(build_id_in_bytes(bytes.data, bytes.len, hex));
	note(&bytes, "\xab\xcd\xef\x01\x23\x45\x67\x89", 8);
	assert_false(build_id_in_bytes(bytes.data, bytes.len - 1, hex));
	assert_string_equal(hex, "untouched");
	assert_true(build_id_in_bytes(bytes.data, bytes.len, hex));
	assert_string_equal(hex, "abcdef0123456789");
}

/* An arm64 Image carries the vDSO, a whole ELF file with a build id of its own, and it may stand before the kernel's notes. */
static void test_embedded_files_are_skipped(void **state)
{
	struct workdir *dir = *state;
	char hex[BUILD_ID_HEX_SIZE];
	AUTO_STRBUF bytes = STRBUF_INIT;

	workdir_do(dir, "echo 'int f(void) { return 1; }' >f.c; cc -shared -fPIC -Wl,--build-id=0x1111111111111111 -o f.so f.c");
	AUTO_FREE char *so = workdir_path(dir, "f.so");
	strbuf_add(&bytes, "MZ..", 4);
	assert_ok(file_read(so, &bytes));
	while (bytes.len % 4)
		strbuf_addch(&bytes, 0);
	assert_false(build_id_in_bytes(bytes.data, bytes.len, hex));
	note(&bytes, "\x22\x22\x22\x22\x22\x22\x22\x22", 8);
	assert_true(build_id_in_bytes(bytes.data, bytes.len, hex));
	assert_string_equal(hex, "2222222222222222");
}

static void test_functions_by_name(void **state)
{
	(void)state;
	struct elf_functions functions = { NULL, 0 };
	bool found = false;

	assert_ok(elf_functions("/proc/self/exe", &functions));
	for (size_t i = 0; i < functions.n; i++) {
		assert_true(!i || strcmp(functions.items[i - 1].name, functions.items[i].name) < 0);
		assert_true(functions.items[i].size > 0);
		found = found || !strcmp(functions.items[i].name, "test_functions_by_name");
	}
	assert_true(found);
	elf_functions_deinit(&functions);
	assert_error(elf_functions("/proc/self/cmdline", &functions), "memcg-ab: error: /proc/self/cmdline is not an ELF file\n");
	assert_int_equal(functions.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_build_id_of_a_file, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_sizes_are_those_of_size, workdir_setup, workdir_teardown),
		cmocka_unit_test(test_build_id_in_bytes),
		cmocka_unit_test(test_functions_by_name),
		cmocka_unit_test_setup_teardown(test_embedded_files_are_skipped, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
