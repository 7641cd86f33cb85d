/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/fragment.h"

static void reads_every_form(void **state)
{
	static const char text[] = "# a comment\n\nCONFIG_64BIT=y\nCONFIG_M=m\n# CONFIG_OFF is not set\nCONFIG_NO=n\n"
				   "# memcg-ab: optional\n# why\nCONFIG_NR_CPUS=8  \r\nCONFIG_PHYS=0x1F\nCONFIG_NEG=-1\n"
				   "CONFIG_TEXT=\"a \\\"b\\\" # \\\\\"\n#CONFIG_OUT=y\nCONFIG_EMPTY=\"\"";
	static const struct {
		const char *name, *value;
		int line;
	} want[] = {
		{ "64BIT", "y", 3 },	 { "M", "m", 4 },	 { "OFF", "n", 5 },   { "NO", "n", 6 },
		{ "NR_CPUS", "8", 9 },	 { "PHYS", "0x1F", 10 }, { "NEG", "-1", 11 }, { "TEXT", "\"a \\\"b\\\" # \\\\\"", 12 },
		{ "EMPTY", "\"\"", 14 },
	};
	(void)state;
	struct fragment *fragment = NULL;
	assert_null(fragment_parse(text, strlen(text), "f.config", &fragment));
	assert_int_equal(fragment->n, ARRAY_SIZE(want));
	assert_string_equal(fragment->path, "f.config");
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_string_equal(fragment->requests[i].name, want[i].name);
		assert_string_equal(fragment->requests[i].value, want[i].value);
		assert_int_equal(fragment->requests[i].pos.line, want[i].line);
		assert_int_equal(fragment->requests[i].pos.col, 1);
		assert_int_equal(fragment->requests[i].optional, i == 4);
	}
	fragment_free(fragment);
}

static void reports_every_bad_line(void **state)
{
	static const char text[] =
		"FOO=y\nCONFIG_A\n CONFIG_B=y\nCONFIG_C = y\nCONFIG_C= y\nCONFIG_D=yes\nCONFIG_E=\"x\nCONFIG_F=y # no\n"
		"# memcg-ab: optinal\nCONFIG_=y\nCONFIG_G=\nCONFIG_H=\"\\n\"\nCONFIG_I=0x\n# memcg-ab: optional\n";
	(void)state;
	struct fragment *fragment = (struct fragment *)0x1;
	struct error *error = fragment_parse(text, strlen(text), "f.config", &fragment);
	assert_ptr_equal(fragment, (struct fragment *)0x1);
	char *got = error_text(error);
	assert_string_equal(
		got, "f.config:1:1: error: the name of an option begins with CONFIG_ here\n"
		     "f.config:2:1: error: expected CONFIG_NAME=value, '# CONFIG_NAME is not set' or a comment\n"
		     "f.config:3:1: error: a line cannot begin with blanks\n"
		     "f.config:4:9: error: the name of an option is made of letters, digits and '_', and '=' follows at once\n"
		     "f.config:5:10: error: no blanks can stand around '='\n"
		     "f.config:6:10: error: the value must be y, m, n, a number, or a text in double quotes\n"
		     "f.config:7:10: error: the value must be y, m, n, a number, or a text in double quotes\n"
		     "f.config:8:10: error: a comment needs a line of its own\n"
		     "f.config:9:13: error: '# memcg-ab:' is followed by 'optional'\n"
		     "f.config:10:8: error: the name of an option is made of letters, digits and '_', and '=' follows at once\n"
		     "f.config:11:10: error: the value must be y, m, n, a number, or a text in double quotes\n"
		     "f.config:12:10: error: the value must be y, m, n, a number, or a text in double quotes\n"
		     "f.config:13:10: error: the value must be y, m, n, a number, or a text in double quotes\n"
		     "f.config:14:1: error: no option follows this 'optional'\n");
	free(got);
	error_free(error);
	error = fragment_parse("CONFIG_A=\"\0\"\n", 13, "f.config", &fragment);
	assert_string_equal(error_message(error), "a NUL character cannot stand here");
	error_free(error);
}

static void writes_what_kconfig_reads(void **state)
{
	(void)state;
	struct fragment *fragment = fragment_new();
	fragment_add(fragment, "A", "y", false, NO_POS);
	fragment_add(fragment, "B", "n", true, NO_POS);
	fragment_add(fragment, "C", "\"x\"", false, NO_POS);
	struct strbuf out = STRBUF_INIT;
	fragment_write(fragment, &out);
	assert_string_equal(out.data, "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x\"\n");
	struct fragment *back = NULL;
	assert_null(fragment_parse(out.data, out.len, "back", &back));
	assert_false(fragment_equal(fragment, back)); /* "optional" is not in a .config */
	back->requests[1].optional = true;
	assert_true(fragment_equal(fragment, back));
	fragment_append(back, fragment);
	assert_int_equal(back->n, 6);
	assert_false(fragment_equal(fragment, back));
	fragment_free(back);
	fragment_free(fragment);
	strbuf_deinit(&out);
	fragment = fragment_new();
	assert_true(fragment_equal(fragment, NULL));
	fragment_free(fragment);
	fragment_free(NULL);
}

static void reads_the_profiles_fragments(void **state)
{
	static const char *const files[] = { "profiles/qemu-virt.config", "profiles/gki-like.config" };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct fragment *fragment = NULL;
		assert_null(fragment_load(files[i], &fragment));
		assert_true(fragment->n > 50);
		fragment_free(fragment);
	}
	struct fragment *fragment = NULL;
	struct error *error = fragment_load("no/such.config", &fragment);
	assert_non_null(strstr(error_message(error), "no/such.config"));
	assert_null(fragment);
	error_free(error);
}

int main(void)
{
	const char *root = getenv("MEMCG_AB_ROOT");
	if (root && chdir(root) != 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form),
		cmocka_unit_test(reports_every_bad_line),
		cmocka_unit_test(writes_what_kconfig_reads),
		cmocka_unit_test(reads_the_profiles_fragments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
