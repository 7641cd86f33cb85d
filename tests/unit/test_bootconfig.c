/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bootconfig section of a vendor_boot v4, on samples of ours. */
#include "unit.h"

#include "boot_samples.h"
#include "device/bootimg.h"

/* Sets a key in a section with the text `before`; the section must then be `want`, and all else but its size as it was. */
static void edited(const char *before, const char *key, const char *value, const char *want)
{
	AUTO_STRBUF data = STRBUF_INIT, text = STRBUF_INIT;
	struct bootimg image;

	sample_vendor(&data, before);
	AUTO_FREE char *old = xmemdup(data.data, data.len);
	size_t old_len = data.len;
	assert_ok(bootimg_set_bootconfig(&data, key, value));
	assert_ok(bootimg_get_bootconfig(data.data, data.len, &text));
	assert_string_equal(strbuf_str(&text), want);
	assert_ok(bootimg_parse(data.data, data.len, &image));
	assert_int_equal(image.bootconfig.offset, 5 * PAGE);
	assert_int_equal(image.bootconfig.size, strlen(want));
	assert_memory_equal(data.data, old, 2124);
	assert_memory_equal(data.data + 2128, old + 2128, 5 * PAGE - 2128);
	assert_true(data.len >= old_len);
	for (size_t i = 5 * PAGE + strlen(want); i < data.len; i++)
		assert_int_equal(data.data[i], 0);
}

static void refused(const char *before, const char *key, const char *value, const char *message)
{
	AUTO_STRBUF data = STRBUF_INIT;
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s\n", message);

	sample_vendor(&data, before);
	AUTO_FREE char *old = xmemdup(data.data, data.len);
	size_t old_len = data.len;
	assert_error(bootimg_set_bootconfig(&data, key, value), want);
	assert_int_equal(data.len, old_len);
	assert_memory_equal(data.data, old, old_len);
}

#define KEY "kernel.cgroup_disable"
#define LINE KEY " = \"memory\"\n"

static void test_adds(void **state)
{
	(void)state;
	edited("", KEY, "memory", LINE);
	edited("androidboot.hardware=phone\n", KEY, "memory", LINE "androidboot.hardware=phone\n");
	edited("androidboot.hardware=phone", KEY, "memory", LINE "androidboot.hardware=phone");
	edited("# comment without end", KEY, "memory", LINE "# comment without end");
	edited("", "kernel.a", "x \"y\" z", "kernel.a = 'x \"y\" z'\n");
	edited("", "kernel.a", "", "kernel.a = \"\"\n");
	/* A value that is open at the end takes nothing of ours. */
	edited("a =\n", KEY, "memory", LINE "a =\n");
	edited("a = b,", KEY, "memory", LINE "a = b,");
	/* Another key's beginning, end or a subkey of it is not the key. */
	edited("kernel.cgroup_disable_x = 1\nx.kernel.cgroup_disable = 2\n", KEY, "memory",
	       LINE "kernel.cgroup_disable_x = 1\nx.kernel.cgroup_disable = 2\n");
	edited("kernel { cgroup { disable = 1 } }\n", KEY, "memory", LINE "kernel { cgroup { disable = 1 } }\n");
}

static void test_replaces_every_form(void **state)
{
	(void)state;
	edited("a = b\n" KEY " = pressure\nc = d\n", KEY, "memory", LINE "a = b\nc = d\n");
	edited(KEY "=pressure; c = d", KEY, "memory", LINE " c = d");
	edited(KEY " = \"a;b\n#c\", 'd}', e # why\nx = y\n", KEY, "memory", LINE "# why\nx = y\n");
	edited(KEY " = a\n" KEY " += b\n" KEY " := c\n", KEY, "memory", LINE);
	edited("kernel {\n\tquiet\n\tcgroup_disable = a,\n\t# more\n\tb\n\tx = 1\n}\n", KEY, "memory",
	       LINE "kernel {\n\tquiet\n\tx = 1\n}\n");
	edited("kernel { cgroup_disable = a }\n", KEY, "memory", LINE "kernel {}\n");
	edited("kernel {\n\tcgroup_disable\n}", KEY, "memory", LINE "kernel {\n}");
	edited("kernel{cgroup_disable}", KEY, "memory", LINE "kernel{}");
	edited(KEY " =\n\n# far away\npressure\nz = 1\n", KEY, "memory", LINE "z = 1\n");
	edited("a { b { c = 1; d = 2 } }\n", "a.b.d", "3", "a.b.d = \"3\"\na { b { c = 1;} }\n");
}

static void test_refuses(void **state)
{
	(void)state;
	refused("a = \"b\nc\n", KEY, "x", "the bootconfig section: line 1: a quoted value without its second quote");
	refused("a = 1\nb { c = 2\n", KEY, "x", "the bootconfig section: line 3: a '{' without its '}'");
	refused("a = 1\n}\n", KEY, "x", "the bootconfig section: line 2: a '}' too many");
	refused("a = \"b\" c\n", KEY, "x", "the bootconfig section: line 1: text behind a quoted value");
	refused("a + 1\n", KEY, "x", "the bootconfig section: line 1: a '+' or ':' without '='");
	refused("x = 1\n\na b = 1\n", KEY, "x",
		"the bootconfig section: line 3: not a key: words of letters, digits, '-' and '_' with dots between");
	refused("= 1\n", KEY, "x",
		"the bootconfig section: line 1: not a key: words of letters, digits, '-' and '_' with dots between");
	refused("a{b{c{d{e{f{g{h{i{j{k{l{m{n{o{p{q{r=1}}}}}}}}}}}}}}}}}", KEY, "x",
		"the bootconfig section: line 1: more than 16 braces inside each other");
	refused("a = b\n", "kernel..a", "x",
		"'kernel..a' is not a bootconfig key: words of letters, digits, '-' and '_' with dots between");
	refused("a = b\n", "", "x", "'' is not a bootconfig key: words of letters, digits, '-' and '_' with dots between");
	refused("a = b\n", "kernel.a", "'\"", "a bootconfig value cannot hold both kinds of quotes: '\"");
	refused("a = b\n", "kernel.a", "x\ny", "a bootconfig value cannot hold the character 0x0a");
	refused("a = b\n\1\2\3\4\5\6\7\010#BOOTCONFIG\n", KEY, "x",
		"the bootconfig section ends with a trailer of its own; the bootloader adds one, so the kernel would read "
		"neither");
}

static void test_wants_a_section(void **state)
{
	AUTO_STRBUF boot = STRBUF_INIT, v3 = STRBUF_INIT, text = STRBUF_INIT;

	(void)state;
	sample_v4(&boot);
	assert_error(bootimg_set_bootconfig(&boot, KEY, "x"),
		     "memcg-ab: error: only a vendor_boot image with header version 4 has a bootconfig "
		     "section; this is a boot image with version 4\n");
	sample_vendor(&v3, "");
	put32(&v3, 8, 3);
	assert_error(bootimg_get_bootconfig(v3.data, v3.len, &text),
		     "memcg-ab: error: only a vendor_boot image with header version 4 has a "
		     "bootconfig section; this is vendor_boot with version 3\n");
	assert_int_equal(text.len, 0);
}

/* A section that fills its page to a few bytes, so that it must grow over the page's end. */
static char *almost_a_page(void)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "filler = \"");
	fill(&text, 'f', PAGE - 20 - text.len);
	strbuf_adds(&text, "\"\n");
	return strbuf_steal(&text);
}

static void grown(struct strbuf *data, const char *before, size_t want_len)
{
	AUTO_FREE char *want = xasprintf("%s%s", LINE, before);
	AUTO_STRBUF text = STRBUF_INIT;

	assert_ok(bootimg_set_bootconfig(data, KEY, "memory"));
	assert_ok(bootimg_get_bootconfig(data->data, data->len, &text));
	assert_string_equal(text.data, want);
	assert_int_equal(data->len, want_len);
}

static void test_grows_by_a_page(void **state)
{
	AUTO_FREE char *filler = almost_a_page();
	AUTO_STRBUF end = STRBUF_INIT, dump = STRBUF_INIT, more = STRBUF_INIT, cut = STRBUF_INIT;

	(void)state;
	/* At the end of the file. */
	sample_vendor(&end, filler);
	assert_int_equal(end.len, 6 * PAGE);
	grown(&end, filler, 7 * PAGE);

	/* In a partition's dump, over zeros: its length stays. */
	sample_vendor(&dump, filler);
	fill(&dump, 0, 10 * PAGE - 3);
	strbuf_adds(&dump, "end");
	grown(&dump, filler, 16 * PAGE);
	assert_memory_equal(dump.data + 16 * PAGE - 3, "end", 3);

	/* What stands right behind it moves, and stays the same. */
	sample_vendor(&more, filler);
	strbuf_adds(&more, "AVB0 behind");
	grown(&more, filler, 7 * PAGE + 11);
	assert_memory_equal(more.data + 7 * PAGE, "AVB0 behind", 11);
	for (size_t i = 5 * PAGE + strlen(filler) + strlen(LINE); i < 7 * PAGE; i++)
		assert_int_equal(more.data[i], 0);

	/* A file that ends with the text's last byte. */
	sample_vendor(&cut, "a = b\n");
	cut.len = 5 * PAGE + 6;
	grown(&cut, "a = b\n", 6 * PAGE);
}

static void test_an_empty_section_at_the_end(void **state)
{
	AUTO_STRBUF data = STRBUF_INIT;

	(void)state;
	sample_vendor(&data, "");
	data.len = 4 * PAGE + 216;
	grown(&data, "", 6 * PAGE);
}

static void kept(struct strbuf *data, const char *key, const char *value, const char *want)
{
	AUTO_FREE char *old = xmemdup(data->data, data->len);
	size_t len = data->len;

	assert_error(bootimg_set_bootconfig(data, key, value), want);
	assert_int_equal(data->len, len);
	assert_memory_equal(data->data, old, len);
}

static void test_refuses_to_move_what_a_footer_points_to(void **state)
{
	AUTO_FREE char *filler = almost_a_page();
	AUTO_STRBUF data = STRBUF_INIT, used = STRBUF_INIT, full = STRBUF_INIT, big = STRBUF_INIT;

	(void)state;
	sample_vendor(&data, filler);
	part(&data, 'v', 300);
	fill(&data, 0, PAGE - 64);
	strbuf_adds(&data, "AVBf");
	fill(&data, 0, 60);
	kept(&data, KEY, "memory",
	     "memcg-ab: error: the bootconfig section needs 4096 bytes more, and the file ends with an AVB footer that says "
	     "where the bytes behind it "
	     "are: remove it first (avbtool erase_footer)\n");

	sample_vendor(&used, "a = b\n");
	used.data[6 * PAGE - 1] = 'x';
	kept(&used, KEY, "memory", "memcg-ab: error: the bootconfig section cannot grow: its padding is in use\n");

	strbuf_adds(&big, "filler = \"");
	fill(&big, 'f', 32767 - 12 - strlen(LINE) + 1);
	strbuf_adds(&big, "\"\n");
	sample_vendor(&full, big.data);
	kept(&full, KEY, "memory",
	     "memcg-ab: error: the bootconfig section would have 32768 bytes; the kernel reads no more than 32767\n");
}

/* Behind padding the kernel finds no trailer, but it would once the padding is gone. */
static void test_a_trailer_behind_which_nuls_follow(void **state)
{
	AUTO_STRBUF data = STRBUF_INIT;

	(void)state;
	sample_vendor(&data, "a = b\n#BOOTCONFIG\n");
	put32(&data, 2124, 500);
	kept(&data, KEY, "memory",
	     "memcg-ab: error: the bootconfig section ends with a trailer of its own; the bootloader adds one, so the kernel "
	     "would read neither\n");
}

static void test_shrinks_and_drops_padding_nuls(void **state)
{
	AUTO_STRBUF data = STRBUF_INIT, text = STRBUF_INIT;
	struct bootimg image;

	(void)state;
	sample_vendor(&data, "kernel.cgroup_disable = \"memory and much more text than before\"\n");
	put32(&data, 2124, 500);
	assert_ok(bootimg_set_bootconfig(&data, KEY, "memory"));
	assert_ok(bootimg_get_bootconfig(data.data, data.len, &text));
	assert_string_equal(text.data, LINE);
	assert_ok(bootimg_parse(data.data, data.len, &image));
	assert_int_equal(image.bootconfig.size, strlen(LINE));
	assert_int_equal(data.len, 6 * PAGE);
	for (size_t i = 5 * PAGE + strlen(LINE); i < data.len; i++)
		assert_int_equal(data.data[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds),
		cmocka_unit_test(test_replaces_every_form),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_wants_a_section),
		cmocka_unit_test(test_grows_by_a_page),
		cmocka_unit_test(test_an_empty_section_at_the_end),
		cmocka_unit_test(test_refuses_to_move_what_a_footer_points_to),
		cmocka_unit_test(test_a_trailer_behind_which_nuls_follow),
		cmocka_unit_test(test_shrinks_and_drops_padding_nuls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
