/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/identity.h"
#include "agent/quiet.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const unsigned char two_notes[] = {
	6, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0, 'L', 'i', 'n', 'u', 'x',  0,    0,	  0,	9,    9, 9, 0, /* 3 bytes, padded */
	4, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,	0xde, 0xad, 0xbe, 0xef, 0x01, 0, 0, 0,
};

static void finds_the_build_id(void **state)
{
	char hex[11] = "untouched";

	(void)state;
	assert_true(identity_build_id(two_notes, sizeof(two_notes), hex, sizeof(hex)));
	assert_string_equal(hex, "deadbeef01");
}

static void refuses_bad_notes(void **state)
{
	unsigned char bad[sizeof(two_notes)];
	char hex[64] = "untouched";

	(void)state;
	for (size_t len = 0; len < sizeof(two_notes); len++)
		assert_false(identity_build_id(two_notes, len, hex, sizeof(hex)));
	assert_false(identity_build_id(two_notes, sizeof(two_notes), hex, 10)); /* no room for the NUL */
	memcpy(bad, two_notes, sizeof(bad));
	memset(bad, 0xff, 8); /* sizes that would wrap */
	assert_false(identity_build_id(bad, sizeof(bad), hex, sizeof(hex)));
	memcpy(bad, two_notes, sizeof(bad));
	bad[24 + 8] = 1; /* NT_GNU_ABI_TAG */
	assert_false(identity_build_id(bad, sizeof(bad), hex, sizeof(hex)));
	assert_string_equal(hex, "untouched");
}

static const char *value_of(const struct records *records, const char *name)
{
	for (size_t i = 0; i < records->n; i++) {
		if (!strcmp(records->items[i].name, name))
			return records->items[i].value;
	}
	return NULL;
}

static void reads_below_a_root(void **state)
{
	static const struct {
		const char *path, *text, *key, *value;
	} files[] = {
		{ "proc/cmdline", "a  b \n", "cmdline", "a  b" },
		{ "proc/sys/kernel/osrelease", "6.12.1\n", "release", "6.12.1" },
		{ "proc/sys/kernel/version", "#1 SMP\n", "version", "#1 SMP" },
		{ "proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 1 0 -2\n/x file 1 0 -3\n", "swaps", "2" },
		{ "proc/meminfo", "MemTotal:         508328 kB\nMemFree: 1 kB\n", "mem_total_kib", "508328" },
		{ "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", "thp", "madvise" },
		{ "sys/devices/system/cpu/online", "0-3\n", "cpus", "0-3" },
		{ "sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x411fd070\n", "midr", "0x411fd070" },
		{ "sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n", "vuln.meltdown", "Mitigation: PTI" },
		{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n", "clocksource",
		  "arch_sys_counter" },
	};
	const struct memcg memcg = { .state = "on", .version = "v2", .raw = "row=enabled" };
	char *root = root_new();
	struct records records = { 0 };

	(void)state;
	for (size_t i = 0; i < N(files); i++)
		root_add(root, files[i].path, files[i].text);
	identity_add(&records, root, &memcg);
	for (size_t i = 0; i < N(files); i++) {
		assert_non_null(value_of(&records, files[i].key));
		assert_string_equal(value_of(&records, files[i].key), files[i].value);
	}
	assert_string_equal(value_of(&records, "memcg"), "on");
	assert_string_equal(value_of(&records, "memcg_version"), "v2");
	assert_string_equal(value_of(&records, "memcg_raw"), "row=enabled");
	assert_null(value_of(&records, "boot_id"));
	assert_null(value_of(&records, "build_id"));
	records_deinit(&records);
	root_free(root);
}

static void reads_this_machine(void **state)
{
	const struct memcg memcg = { .state = "none", .version = "", .raw = "" };
	struct records records = { 0 };
	char page_size[24];

	(void)state;
	identity_add(&records, "", &memcg);
	assert_non_null(value_of(&records, "release"));
	snprintf(page_size, sizeof(page_size), "%ld", sysconf(_SC_PAGESIZE));
	assert_string_equal(value_of(&records, "page_size"), page_size);
	assert_null(value_of(&records, "memcg_version"));
	records_deinit(&records);
}

static void chosen_words(void **state)
{
	static const char *const cases[][2] = {
		{ "always [madvise] never", "madvise" },
		{ "[never]", "never" },
		{ "never", "never" },
		{ "a [b", "a [b" },
		{ "", "" },
	};
	char word[16];

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		quiet_chosen_word(cases[i][0], word, sizeof(word));
		assert_string_equal(word, cases[i][1]);
	}
	quiet_chosen_word("x [a-very-long-word-indeed] y", word, sizeof(word));
	assert_string_equal(word, "a-very-long-wor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_build_id), cmocka_unit_test(refuses_bad_notes), cmocka_unit_test(reads_below_a_root),
		cmocka_unit_test(reads_this_machine), cmocka_unit_test(chosen_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
