/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .config texts and the reasons for what did not hold. How the kernel's own kconfig is run: test_resolve.c. */
#include "unit.h"

#include "kernel/config_parts.h"
#include "workdir.h"

static const char text[] =
	"#\n# Linux/arm64 Kernel Configuration\n#\nCONFIG_MEMCG=y\n# CONFIG_SWAP is not set\nCONFIG_NR_CPUS=8\n"
	"CONFIG_NAME=\"a=b # c\"\nCONFIG_MEM=m\nCONFIG_BASE=0x1F\nCONFIG_EMPTY=\"\"\n# CONFIG_LAST is not set";

static void test_value(void **state)
{
	static const struct {
		const char *name, *value;
	} cases[] = { { "MEMCG", "y" },	   { "SWAP", "n" }, { "NR_CPUS", "8" }, { "NAME", "\"a=b # c\"" }, { "MEM", "m" },
		      { "EMPTY", "\"\"" }, { "LAST", "n" }, { "ABSENT", "n" },	{ "MEMC", "n" },	   { "", "n" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *value = config_value(text, cases[i].name);
		assert_string_equal(value, cases[i].value);
	}
}

static void test_value_is(void **state)
{
	(void)state;
	assert_true(config_value_is("y", "y"));
	assert_false(config_value_is("y", "m"));
	assert_true(config_value_is("0x1f", "0x1F"));
	assert_true(config_value_is("08", "8"));
	assert_false(config_value_is("8", "80"));
	assert_false(config_value_is("8", "8a"));
	assert_false(config_value_is("n", "0"));
	assert_false(config_value_is("\"1\"", "1"));
	assert_true(config_value_is("-5", "-5"));
}

static void test_difference(void **state)
{
	AUTO_STRLIST list = { NULL, 0 };

	(void)state;
	config_difference(text, text, &list);
	assert_int_equal(list.n, 0);
	config_difference(text,
			  "CONFIG_NEW=y\nCONFIG_MEMCG=m\n# CONFIG_OFF is not set\nCONFIG_NR_CPUS=8\nCONFIG_NAME=\"a=b # "
			  "c\"\nCONFIG_MEM=m\n",
			  &list);
	assert_int_equal(list.n, 4);
	assert_string_equal(list.items[0], "BASE: 0x1F -> n");
	assert_string_equal(list.items[1], "EMPTY: \"\" -> n");
	assert_string_equal(list.items[2], "MEMCG: y -> m");
	assert_string_equal(list.items[3], "NEW: n -> y");
}

static struct fragment *parse(const char *name, const char *fragment_text)
{
	struct fragment *fragment = NULL;

	assert_ok(fragment_parse(fragment_text, strlen(fragment_text), name, &fragment));
	return fragment;
}

static void test_last_request_counts(void **state)
{
	struct fragment *device = parse("dev.config", "CONFIG_A=y\nCONFIG_B=y\nCONFIG_A=m\n");
	struct fragment *matrix = parse("m.config", "CONFIG_C=y\n# CONFIG_B is not set\n");
	size_t n = 0;

	(void)state;
	AUTO_FREE const struct config_request **final = config_final_requests(device, matrix, &n);
	assert_int_equal(n, 3);
	assert_ptr_equal(final[0], &device->requests[2]);
	assert_ptr_equal(final[1], &matrix->requests[1]);
	assert_ptr_equal(final[2], &matrix->requests[0]);
	AUTO_FREE const struct config_request **none = config_final_requests(NULL, NULL, &n);
	assert_int_equal(n, 0);
	fragment_free(device);
	fragment_free(matrix);
}

static void test_check(void **state)
{
	struct fragment *good =
		parse("good.config", "CONFIG_MEMCG=y\nCONFIG_ABSENT=n\nCONFIG_BASE=0x1f\n# memcg-ab: optional\nCONFIG_SWAP=y\n");
	struct fragment *bad = parse("bad.config", "CONFIG_MEMCG=n\n\nCONFIG_NR_CPUS=4\n");

	(void)state;
	assert_ok(config_check(text, good, NULL));
	assert_ok(config_check(text, NULL, NULL));
	assert_error(config_check(text, good, bad),
		     "bad.config:1:1: error: MEMCG=n does not hold: the kernel's .config has MEMCG=y\n"
		     "bad.config:3:1: error: NR_CPUS=4 does not hold: the kernel's .config has NR_CPUS=8\n");
	fragment_free(good);
	fragment_free(bad);
}

static void test_wanted_files(void **state)
{
	static const char *const wanted[] = { "Kconfig",
					      "Makefile",
					      "Kbuild",
					      "mm/Kconfig",
					      "drivers/net/Kconfig.debug",
					      "scripts/kconfig/conf.c",
					      "arch/arm64/Makefile",
					      "arch/arm64/configs/defconfig",
					      "kernel/configs/tiny.config",
					      "arch/s390/tools/gcc-thunk-extern.sh",
					      "Documentation/Kconfig" };
	static const char *const left_out[] = { "mm/memcontrol.c",
						"mm/Makefile",
						"include/linux/mm.h",
						"arch/arm64/mm/Makefile",
						"arch/arm64/kernel/head.S",
						"tools/scripts/Makefile.include",
						"COPYING" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_true(config_tree_wants(wanted[i]));
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		assert_false(config_tree_wants(left_out[i]));
}

/* What the helper said of 5.10 and 6.12, in its own words. */
static const char facts_text[] =
	"ZRAM\ttype\ttristate\nZRAM\tvisible\tn\nZRAM\tdepends\tBLK_DEV [=y] && ZSMALLOC [=n] && CRYPTO [=n]\n"
	"ZRAM\tunmet\tZSMALLOC [=n]\nZRAM\tunmet\tCRYPTO [=n]\nZRAM\tprompt\tBLK_DEV [=y] && ZSMALLOC [=n] && CRYPTO [=n]\n"
	"BUGGY\ttype\tbool\nBUGGY\tvisible\tn\nBUGGY\tdepends\tBUG [=n]\nBUGGY\tunmet\tBUG [=n]\n"
	"PSCI\ttype\tunknown\n"
	"PAGE_COUNTER\ttype\tbool\nPAGE_COUNTER\tvisible\tn\nPAGE_COUNTER\tselected\tMEMCG [=y] && CGROUPS [=y]\n"
	"SELECTABLE\ttype\tbool\nSELECTABLE\tvisible\tn\nSELECTABLE\tselectable\tA [=n]\nSELECTABLE\tselectable\tB "
	"[=n]\nSELECTABLE\tselectable\tC [=n]\n"
	"SELECTABLE\tselectable\tD [=n]\nSELECTABLE\tselectable\tE [=n]\nSELECTABLE\tselectable\tF [=n]\n"
	"MEMCG_SWAP\ttype\tbool\nMEMCG_SWAP\tvisible\tn\nMEMCG_SWAP\tdepends\tMEMCG [=y] && SWAP [=y]\nMEMCG_SWAP\tdefault\ty if "
	"MEMCG [=y] && SWAP [=y]\n"
	"ORPHAN\ttype\tbool\nORPHAN\tvisible\tn\n"
	"NR_CPUS\ttype\tinteger\nNR_CPUS\tvisible\ty\nNR_CPUS\tprompt\ty\nNR_CPUS\trange\t2 4096\n"
	"PHYS\ttype\thex\nPHYS\tvisible\ty\nPHYS\tprompt\ty\nPHYS\trange\t0x10 0xff\n"
	"HZ\ttype\tinteger\nHZ\tvisible\tn\nHZ\tdefault\t250 if HZ_250 [=y]\n"
	"HZ_100\ttype\tbool\nHZ_100\tvisible\ty\nHZ_100\tprompt\ty\nHZ_100\tchoice\tHZ_250\n"
	"HZ_250\ttype\tbool\nHZ_250\tvisible\ty\nHZ_250\tprompt\ty\nHZ_250\tchoice\tHZ_250\n"
	"EXT4_FS\ttype\ttristate\nEXT4_FS\tvisible\ty\nEXT4_FS\tprompt\tBLOCK [=y]\n"
	"HIDDEN\ttype\tbool\nHIDDEN\tvisible\tn\nHIDDEN\tprompt\tEXPERT [=n]\nHIDDEN\tdefault\ty\n"
	"IMPLIED\ttype\tbool\nIMPLIED\tvisible\ty\nIMPLIED\tprompt\ty\nIMPLIED\timplied\tZ [=y]\n"
	"HOST\ttype\tstring\nHOST\tvisible\ty\nHOST\tprompt\ty\n"
	"broken line\nMORE\tbroken\n";

static void test_reasons(void **state)
{
	static const struct {
		const char *name, *wanted, *actual;
		bool modules;
		const char *reason;
	} cases[] = {
		{ "ZRAM", "y", "n", true,
		  "dependencies unmet: it depends on BLK_DEV [=y] && ZSMALLOC [=n] && CRYPTO [=n]; not met: ZSMALLOC [=n]; "
		  "CRYPTO [=n]" },
		{ "BUGGY", "y", "n", false, "dependencies unmet: it depends on BUG [=n]" },
		{ "PSCI", "y", "n", false, "no such symbol in this kernel" },
		{ "PAGE_COUNTER", "n", "y", false, "forced by select: it is selected by MEMCG [=y] && CGROUPS [=y]" },
		{ "SELECTABLE", "y", "n", false,
		  "not settable, it has no prompt: only a select can turn it on, by: A [=n]; B [=n]; C [=n]; D [=n]; and 2 "
		  "more" },
		{ "MEMCG_SWAP", "n", "y", false,
		  "not settable, it has no prompt: it follows from its default: y if MEMCG [=y] && SWAP [=y]" },
		{ "ORPHAN", "y", "n", false,
		  "not settable, it has no prompt: nothing in this kernel selects it and it has no default" },
		{ "NR_CPUS", "100000", "4096", false, "value out of range: it takes 2 to 4096" },
		{ "NR_CPUS", "n", "8", false, "it is a number (integer) and cannot be turned off" },
		{ "NR_CPUS", "y", "8", false, "it takes a whole number" },
		{ "PHYS", "0x100", "0x10", false, "value out of range: it takes 0x10 to 0xff" },
		{ "HZ", "300", "250", false, "not settable, it has no prompt: it follows from its default: 250 if HZ_250 [=y]" },
		{ "HZ_100", "y", "n", false, "lost in a choice: HZ_250=y was chosen" },
		{ "HZ_250", "n", "y", false, "it is a member of a choice, which takes it when no other member is asked for" },
		{ "EXT4_FS", "m", "y", false, "it cannot be m: this kernel has no modules (MODULES=n)" },
		{ "HZ_100", "m", "n", true, "wrong type: it is a bool, which cannot be m" },
		{ "HZ_100", "5", "n", true, "wrong type: it is a bool and takes y or n" },
		{ "EXT4_FS", "\"x\"", "n", true, "wrong type: it is a tristate and takes y, m or n" },
		{ "HIDDEN", "n", "y", false,
		  "not settable here, its prompt is shown only if EXPERT [=n]: it follows from its default: y" },
		{ "IMPLIED", "n", "y", false, "forced by imply: it is implied by Z [=y]" },
		{ "HOST", "y", "\"h\"", false, "it takes a text in quotes" },
		{ "HOST", "\"x\"", "\"h\"", false, NULL },
		{ "NOT_ASKED", "y", "n", false, NULL },
	};
	struct config_facts facts;

	(void)state;
	config_facts_parse(facts_text, &facts);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *reason = config_reason(&facts, cases[i].name, cases[i].wanted, cases[i].actual, cases[i].modules);
		if (cases[i].reason)
			assert_string_equal(reason, cases[i].reason);
		else
			assert_null(reason);
	}
	config_facts_deinit(&facts);
	assert_null(facts.items);
}

static void test_ikconfig(void **state)
{
	const struct workdir *dir = *state;
	char *got = (char *)"untouched";
	AUTO_STRBUF image = STRBUF_INIT;

	workdir_write(dir, "config", text);
	workdir_do(dir, "{ printf 'kernel bytes IKCFG_ST is a string here too'; printf IKCFG_ST; gzip -c config; printf "
			"IKCFG_ED; echo rest; } >Image;"
			"{ printf IKCFG_ST; gzip -c config; } >cut; { printf IKCFG_ST; gzip -c config | head -c 40; printf "
			"IKCFG_ED; } >damaged");
	AUTO_FREE char *path = workdir_path(dir, "Image");
	AUTO_FREE char *cut_path = workdir_path(dir, "cut");
	AUTO_FREE char *damaged_path = workdir_path(dir, "damaged");
	AUTO_STRBUF cut = STRBUF_INIT;
	AUTO_STRBUF damaged = STRBUF_INIT;
	assert_ok(file_read(cut_path, &cut));
	assert_ok(file_read(damaged_path, &damaged));
	assert_error(config_from_ikconfig(cut.data, cut.len, &got),
		     "memcg-ab: error: the kernel's IKCONFIG has no end mark: is the file cut off?\n");
	struct error *err = config_from_ikconfig(damaged.data, damaged.len, &got);
	assert_non_null(err);
	assert_true(str_starts(error_message(err), "the kernel's IKCONFIG: "));
	error_free(err);
	assert_string_equal(got, "untouched");

	assert_ok(file_read(path, &image));
	assert_ok(config_from_ikconfig(image.data, image.len, &got));
	assert_string_equal(got, text);
	free(got);
	assert_ok(config_from_ikconfig("no config", 9, &got));
	assert_null(got);
	assert_ok(config_from_ikconfig(NULL, 0, &got));
	assert_null(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value),
		cmocka_unit_test(test_value_is),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_last_request_counts),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_wanted_files),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test_setup_teardown(test_ikconfig, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
