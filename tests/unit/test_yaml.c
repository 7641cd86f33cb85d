/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/yaml.h"

static struct yaml_node *parse(const char *text)
{
	struct yaml_node *root = NULL;
	struct error *error = yaml_parse(text, strlen(text), "t.yaml", &root);
	if (error)
		error_print(error, stderr);
	assert_null(error);
	assert_non_null(root);
	return root;
}

static void check_pos(struct pos pos, int line, int col)
{
	assert_string_equal(pos.file, "t.yaml");
	assert_int_equal(pos.line, line);
	assert_int_equal(pos.col, col);
}

static void keeps_order_kinds_and_places(void **state)
{
	(void)state;
	struct yaml_node *root = parse("b: [x, \"y\", {z: 1}]\n\"é\": {k: v}\na: |\n  two\n  lines\nn:\n");
	assert_int_equal(root->kind, YAML_MAPPING);
	assert_int_equal(root->n, 4);
	assert_string_equal(root->pairs[0].key, "b");
	assert_string_equal(root->pairs[1].key, "é");
	check_pos(root->pairs[1].key_pos, 2, 1);
	check_pos(root->pairs[1].value->pos, 2, 6);
	const struct yaml_node *list = yaml_get(root, "b");
	assert_int_equal(list->kind, YAML_SEQUENCE);
	assert_int_equal(list->n, 3);
	assert_false(list->items[0]->quoted);
	assert_true(list->items[1]->quoted);
	check_pos(list->items[2]->pos, 1, 13);
	assert_string_equal(yaml_get(root, "a")->text, "two\nlines\n");
	assert_true(yaml_get(root, "a")->quoted);
	assert_string_equal(yaml_get(root, "n")->text, "");
	assert_null(yaml_get(root, "z"));
	assert_null(yaml_get(list, "z"));
	assert_null(yaml_pair(list->items[0], "x"));
	check_pos(yaml_pair(root, "n")->key_pos, 6, 1);
	assert_string_equal(yaml_kind_name(list->kind), "a list");
	yaml_node_free(root);
}

static void expands_aliases_into_copies(void **state)
{
	(void)state;
	struct yaml_node *root = parse("a: &x {k: [1]}\nb: *x\n");
	const struct yaml_node *a = yaml_get(root, "a");
	const struct yaml_node *b = yaml_get(root, "b");
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(yaml_get(a, "k"), yaml_get(b, "k"));
	check_pos(b->pos, 1, 4);
	yaml_node_free(root);
	yaml_node_free(NULL);
}

static void reports(const char *text, size_t len, const char *want)
{
	struct yaml_node *root = (struct yaml_node *)0x1;
	struct error *error = yaml_parse(text, len, "t.yaml", &root);
	assert_non_null(error);
	assert_ptr_equal(root, (struct yaml_node *)0x1);
	assert_int_equal(error_exit_status(error), 2);
	char *got = error_text(error);
	assert_string_equal(got, want);
	free(got);
	error_free(error);
}

static void says_what_is_wrong_and_where(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "t.yaml:1:1: error: the file is empty\n" },
		{ "# c\n\n", "t.yaml:1:1: error: the file is empty\n" },
		{ "a: 1\nb: {c: 1, c: 2}\na: 3\n",
		  "t.yaml:2:11: error: key 'c' stands here for the second time\nt.yaml:2:5: note: the first is here\n"
		  "t.yaml:3:1: error: key 'a' stands here for the second time\nt.yaml:1:1: note: the first is here\n" },
		{ "a: &x {b: 1}\nc: {<<: *x}\n", "t.yaml:2:5: error: merge keys (<<) are not understood: write the keys out\n" },
		{ "a: &x [1, *x]\n", "t.yaml:1:4: error: an alias cannot stand inside the value that it repeats\nt.yaml:1:4: "
				     "note: that value begins here\n" },
		{ "a: &x {b: {c: *x}}\n", "t.yaml:1:12: error: an alias cannot stand inside the value that it repeats\n"
					  "t.yaml:1:4: note: that value begins here\n" },
		{ "{a: 1}: b\n", "t.yaml:1:1: error: a key must be a text, not a list or a mapping\n" },
		{ "a: *b\n", "t.yaml:1:4: error: found undefined alias\n" },
		{ "a: 1\n--- \nb: 1\n", "t.yaml:2:1: error: a second document begins here: a file holds one\n" },
		{ "a: !!int 1\n", "t.yaml:1:4: error: tags (tag:yaml.org,2002:int) are not understood: leave it out\n" },
		{ "a: \"\\0\"\n", "t.yaml:1:4: error: a text cannot hold a NUL character\n" },
		{ "\"a\\0\": 1\n", "t.yaml:1:1: error: a key cannot hold a NUL character\n" },
		{ "a: \xc3\xa9\xff\xfe\nb: \xed\xa0\x80\n",
		  "t.yaml:1:5: error: byte 0xff is not UTF-8\nt.yaml:2:4: error: byte 0xed is not UTF-8\n" },
		{ "a: \xf0\x9f\x98\x80\xc3", "t.yaml:1:5: error: byte 0xc3 is not UTF-8\n" },
		{ "\xff\xfe"
		  "a",
		  "t.yaml:1:1: error: byte 0xff is not UTF-8\n" },
		{ "a: \x01\n", "t.yaml:1:4: error: character 0x01 is not allowed here\n" },
		{ "a:\n\tb: 1\n",
		  "t.yaml:2:1: error: found character that cannot start any token (a tab: YAML is indented with blanks)\n"
		  "t.yaml:2:1: note: while scanning for the next token\n" },
		{ "a: [1\nb: 2\n",
		  "t.yaml:2:2: error: did not find expected ',' or ']'\nt.yaml:1:4: note: while parsing a flow sequence\n" },
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		reports(cases[i].text, strlen(cases[i].text), cases[i].want);
	reports("a: b\0c\n", 7, "t.yaml:1:5: error: character 0x00 is not allowed here\n");
}

static void bounds_depth_and_size(void **state)
{
	(void)state;
	struct strbuf text = STRBUF_INIT;
	for (int i = 0; i < 101; i++)
		strbuf_adds(&text, "[");
	for (int i = 0; i < 101; i++)
		strbuf_adds(&text, "]");
	reports(text.data, text.len, "t.yaml:1:101: error: values are nested more than 100 deep\n");
	strbuf_reset(&text);
	strbuf_adds(&text, "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
	for (int i = 1; i < 10; i++)
		strbuf_addf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1,
			    i - 1, i - 1, i - 1, i - 1, i - 1);
	struct yaml_node *root = NULL;
	struct error *error = yaml_parse_partial(text.data, text.len, "t.yaml", &root);
	assert_non_null(error);
	assert_null(root);
	assert_string_equal(error_message(error), "the file, its aliases written out, has more than 100000 values");
	error_free(error);
	strbuf_deinit(&text);
}

static void gives_what_it_can(void **state)
{
	static const char text[] = "a: 1\na: 2\nb: \xff\nc: &x [*x, 1]\n";
	(void)state;
	struct yaml_node *root = NULL;
	struct error *error = yaml_parse_partial(text, strlen(text), "t.yaml", &root);
	assert_int_equal(error_count(error), 3);
	assert_int_equal(root->n, 3);
	assert_string_equal(yaml_get(root, "a")->text, "1");
	assert_string_equal(yaml_get(root, "b")->text, "_");
	assert_int_equal(yaml_get(root, "c")->n, 1);
	error_free(error);
	yaml_node_free(root);
}

static void names_a_file_that_is_not_there(void **state)
{
	(void)state;
	struct yaml_node *root = NULL;
	struct error *error = yaml_load("no/such/file.yaml", &root);
	assert_non_null(error);
	assert_null(root);
	assert_non_null(strstr(error_message(error), "no/such/file.yaml"));
	error_free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_kinds_and_places),
		cmocka_unit_test(expands_aliases_into_copies),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(bounds_depth_and_size),
		cmocka_unit_test(gives_what_it_can),
		cmocka_unit_test(names_a_file_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
