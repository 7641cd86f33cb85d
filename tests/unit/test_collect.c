/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/collect.h"

#define CMDLINE "console=ttyAMA0 panic=-1 cgroup_disable=memory"
#define BUILD_ID "00112233445566778899aabbccddeeff00112233"
#define BOOT_ID "11111111-2222-4333-8444-555555555555"

struct line {
	enum wire_type type;
	const char *name, *value, *unit; /* unit NULL: a RESULT that failed */
};

static const struct line good[] = {
	{ WIRE_HELLO, "0.1", "1", "" },
	{ WIRE_IDENTITY, "build_id", BUILD_ID, "" },
	{ WIRE_IDENTITY, "cmdline.0", "console=ttyAMA0 panic=-1 ", "" },
	{ WIRE_IDENTITY, "cmdline.1", "cgroup_disable=memory", "" },
	{ WIRE_IDENTITY, "boot_id", BOOT_ID, "" },
	{ WIRE_IDENTITY, "release", "5.10.262", "" },
	{ WIRE_IDENTITY, "memcg", "disabled", "" },
	{ WIRE_IDENTITY, "cgroup.pft", "none", "" },
	{ WIRE_IDENTITY, "cgroup.other", "none", "" },
	{ WIRE_IDENTITY, "odd.0", "alone", "" },
	{ WIRE_RESULT, "pft.fault.insn_k.w0", "1714.65", "insn/page" },
	{ WIRE_RESULT, "pft.fault.insn_k.w1", "1711.43", "insn/page" },
	{ WIRE_RESULT, "pft.fault.insn_k.0", "1707.05", "insn/page" },
	{ WIRE_RESULT, "other.x.ns.w0", "-3", "ns/op" },
	{ WIRE_RESULT, "other.x.ns.0", "12.5", "ns/op" },
	{ WIRE_RESULT, "pft.health.temperature.w0", "36500", "mdegC" },
};

/* The records of `lines`, with lines[i].value replaced where `name` is given; a NULL value leaves the record out. */
static struct boot_record *collect_changed(const struct collect_expected *expected, const char *name, const char *value,
					   bool fail)
{
	AUTO_CONSOLE console = console_new(CMDLINE);
	struct boot_record *record = xcalloc(1, sizeof(*record));
	struct wire_record end = { .type = WIRE_END };
	char text[WIRE_LINE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		bool changed = name && !strcmp(name, good[i].name);
		struct wire_record wire = { .type = good[i].type, .seq = end.seq, .pass = !(changed && fail) };
		if (changed && !value)
			continue;
		snprintf(wire.name, sizeof(wire.name), "%s", good[i].name);
		snprintf(wire.value, sizeof(wire.value), "%s", changed ? value : good[i].value);
		snprintf(wire.unit, sizeof(wire.unit), "%s", good[i].unit);
		size_t len = wire_format(&wire, text);
		assert_true(len > 0);
		console_feed(console, text, len);
		end.seq++;
	}
	console_feed(console, text, wire_format(&end, text));
	collect_record(console, expected, record);
	return record;
}

static const struct collect_expected all_well = { .build_id = BUILD_ID, .cmdline = CMDLINE, .memcg = MEMCG_DISABLED };

static void test_ok(void **state)
{
	(void)state;
	struct boot_record *record = collect_changed(&all_well, NULL, NULL, false);
	assert_int_equal(record->status, BOOT_OK);
	assert_null(record->reason);
	assert_string_equal(record->build_id, BUILD_ID);
	assert_string_equal(record->booted_cmdline, CMDLINE);
	assert_string_equal(record->boot_id, BOOT_ID);
	assert_string_equal(record->memcg, "disabled");
	assert_string_equal(record->cgroup, "none");
	assert_string_equal(jnode_string(record->identity, "release", ""), "5.10.262");
	assert_string_equal(jnode_string(record->identity, "agent_version", ""), "0.1");
	assert_string_equal(jnode_string(record->identity, "odd.0", ""), "alone");
	assert_null(jnode_get(record->identity, "cmdline"));
	assert_null(jnode_get(record->identity, "cmdline.0"));
	assert_int_equal(record->n_readings, 6);
	static const struct {
		const char *name;
		int iteration;
		double value;
	} want[] = {
		{ "pft.fault.insn_k", -2, 1714.65 },
		{ "pft.fault.insn_k", -1, 1711.43 },
		{ "pft.fault.insn_k", 0, 1707.05 },
		{ "other.x.ns", -1, -3 },
		{ "other.x.ns", 0, 12.5 },
		{ "pft.health.temperature", -2, 36500 }, /* of two, though it was there once */
	};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_string_equal(record->readings[i].name, want[i].name);
		assert_int_equal(record->readings[i].iteration, want[i].iteration);
		assert_true(record->readings[i].value == want[i].value);
	}
	assert_string_equal(record->readings[4].unit, "ns/op");
	boot_record_free(record);
}

/* Records of another boot are void, and so are those of an agent that was not told whose it is; nobody asked: both are fine. */
static void test_nonce(void **state)
{
	struct collect_expected ours = all_well;

	(void)state;
	ours.nonce = "0123456789abcdef";
	struct boot_record *record = collect_changed(&ours, NULL, NULL, false);
	assert_int_equal(record->status, BOOT_VOID);
	assert_string_equal(record->reason, "the agent did not tell the boot's nonce, expected \"0123456789abcdef\"");
	boot_record_free(record);
	ours.nonce = "";
	record = collect_changed(&ours, NULL, NULL, false);
	assert_int_equal(record->status, BOOT_OK);
	boot_record_free(record);
}

static void test_foreign_nonce(void **state)
{
	AUTO_CONSOLE console = console_new(CMDLINE);
	struct collect_expected ours = all_well;
	struct boot_record record = { 0 };
	struct wire_record hello = { .type = WIRE_HELLO, .name = "0.1/fedcba9876543210", .value = "1" };
	struct wire_record end = { .type = WIRE_END, .seq = 1 };
	char line[WIRE_LINE_MAX];

	(void)state;
	ours.nonce = "0123456789abcdef";
	console_feed(console, line, wire_format(&hello, line));
	console_feed(console, line, wire_format(&end, line));
	collect_record(console, &ours, &record);
	assert_int_equal(record.status, BOOT_VOID);
	assert_string_equal(record.reason, "boot's nonce is \"fedcba9876543210\", expected \"0123456789abcdef\"");
	assert_string_equal(jnode_string(record.identity, "agent_version", ""), "0.1");
	free(record.reason);
	jnode_free(record.identity);
}

static void check_refused(const struct collect_expected *expected, const char *name, const char *value, bool fail,
			  enum boot_status status, const char *reason)
{
	struct boot_record *record = collect_changed(expected, name, value, fail);

	assert_int_equal(record->status, status);
	assert_string_equal(record->reason, reason);
	assert_int_equal(record->n_readings, 0);
	assert_null(record->readings);
	boot_record_free(record);
}

static void test_void(void **state)
{
	AUTO_STRLIST old = { NULL, 0 };
	struct collect_expected seen = all_well;

	(void)state;
	check_refused(&all_well, "build_id", "ff", false, BOOT_VOID, "build id is \"ff\", expected \"" BUILD_ID "\"");
	check_refused(&all_well, "cmdline.1", "x", false, BOOT_VOID,
		      "command line is \"console=ttyAMA0 panic=-1 x\", expected \"" CMDLINE "\"");
	check_refused(&all_well, "memcg", "on", false, BOOT_VOID, "memcg state is \"on\", expected \"disabled\"");
	check_refused(&all_well, "memcg", "unknown", false, BOOT_VOID, "memcg state is \"unknown\", expected \"disabled\"");
	check_refused(&all_well, "0.1", "2", false, BOOT_VOID, "agent's wire version is \"2\", expected \"1\"");
	check_refused(&all_well, "build_id", NULL, false, BOOT_VOID,
		      "the agent did not tell the build id, expected \"" BUILD_ID "\"");
	check_refused(&all_well, "boot_id", NULL, false, BOOT_VOID, "the agent did not tell the boot id, expected a new one");

	strlist_add(&old, "another");
	seen.boot_ids = &old;
	struct boot_record *fresh = collect_changed(&seen, NULL, NULL, false);
	assert_int_equal(fresh->status, BOOT_OK);
	boot_record_free(fresh);
	strlist_add(&old, BOOT_ID);
	check_refused(&seen, NULL, NULL, false, BOOT_VOID,
		      "boot id is \"" BOOT_ID "\", which an earlier boot had, expected a new one");
	seen.memcg = MEMCG_ON;
	check_refused(&seen, "build_id", "ff", false, BOOT_VOID,
		      "build id is \"ff\", expected \"" BUILD_ID
		      "\"; memcg state is \"disabled\", expected \"on\"; boot id is \"" BOOT_ID
		      "\", which an earlier boot had, expected a new one");
}

static void test_nothing_to_compare_with(void **state)
{
	const struct collect_expected anything = { .cmdline = CMDLINE, .memcg = MEMCG_UNKNOWN };

	(void)state;
	struct boot_record *record = collect_changed(&anything, "build_id", "ff", false);
	assert_int_equal(record->status, BOOT_OK);
	assert_string_equal(record->build_id, "ff");
	boot_record_free(record);
}

static void test_lab(void **state)
{
	const struct collect_expected on = { .build_id = BUILD_ID, .cmdline = CMDLINE, .memcg = MEMCG_ON };

	(void)state;
	check_refused(&all_well, "pft.fault.insn_k.0", "minor faults: 16380, expected 16384", true, BOOT_LAB,
		      "pft.fault.insn_k.0: minor faults: 16380, expected 16384");
	/* What is wrong with the kernel comes first. */
	check_refused(&on, "pft.fault.insn_k.0", "no group", true, BOOT_VOID, "memcg state is \"disabled\", expected \"on\"");
}

static void test_lost_records(void **state)
{
	AUTO_CONSOLE console = console_new(CMDLINE);
	struct wire_record wire = { .type = WIRE_IDENTITY, .seq = 1, .name = "memcg", .value = "on" };
	struct boot_record *no_end = xcalloc(1, sizeof(*no_end));
	struct boot_record *lost = xcalloc(1, sizeof(*lost));
	char text[WIRE_LINE_MAX];

	(void)state;
	console_feed(console, text, wire_format(&wire, text));
	collect_record(console, &all_well, no_end);
	assert_int_equal(no_end->status, BOOT_LAB);
	assert_string_equal(no_end->reason, "console lost records: no END in either copy");
	assert_string_equal(no_end->memcg, "on");
	wire = (struct wire_record){ .type = WIRE_END, .seq = 7 };
	console_feed(console, text, wire_format(&wire, text));
	collect_record(console, &all_well, lost);
	assert_int_equal(lost->status, BOOT_LAB);
	assert_string_equal(lost->reason, "console lost records: 6 of 7 in both copies");
	boot_record_free(no_end);
	boot_record_free(lost);
}

static void test_bad_results(void **state)
{
	AUTO_CONSOLE nothing = console_new(CMDLINE);
	struct wire_record wire = { .type = WIRE_HELLO, .name = "0.1", .value = "1" };
	struct boot_record *record = xcalloc(1, sizeof(*record));
	char text[WIRE_LINE_MAX];

	(void)state;
	console_feed(nothing, text, wire_format(&wire, text));
	wire = (struct wire_record){ .type = WIRE_RESULT, .seq = 1, .pass = true, .name = "pft", .value = "1", .unit = "x" };
	console_feed(nothing, text, wire_format(&wire, text));
	wire = (struct wire_record){
		.type = WIRE_RESULT, .seq = 2, .pass = true, .name = "pft.a.b.x", .value = "2", .unit = "x"
	};
	console_feed(nothing, text, wire_format(&wire, text));
	wire = (struct wire_record){ .type = WIRE_END, .seq = 3 };
	console_feed(nothing, text, wire_format(&wire, text));
	collect_record(nothing, &all_well, record);
	assert_int_equal(record->status, BOOT_LAB);
	assert_string_equal(record->reason, "pft: \"1\" is no reading; pft.a.b.x: \"2\" is no reading");
	boot_record_free(record);
}

static void test_json_round_trip(void **state)
{
	AUTO_STRBUF first = STRBUF_INIT;
	AUTO_STRBUF second = STRBUF_INIT;
	struct boot_record *copy = NULL;

	(void)state;
	struct boot_record *record = collect_changed(&all_well, NULL, NULL, false);
	record->id = 42;
	record->wall_ms = 2345;
	AUTO_JNODE json = boot_record_to_json(record);
	jnode_write(json, 0, &first);
	AUTO_JNODE parsed = NULL;
	assert_null(jnode_parse(first.data, first.len, "record", &parsed));
	assert_null(boot_record_from_json(parsed, &copy));
	assert_int_equal(copy->id, 42);
	assert_int_equal(copy->status, BOOT_OK);
	assert_null(copy->reason);
	assert_int_equal(copy->n_readings, 6);
	assert_int_equal(copy->readings[0].iteration, -2);
	assert_true(copy->readings[2].value == 1707.05);
	AUTO_JNODE again = boot_record_to_json(copy);
	jnode_write(again, 0, &second);
	assert_string_equal(first.data, second.data);
	boot_record_free(record);
	boot_record_free(copy);
}

static void test_json_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"id\": 1, \"status\": \"fine\", \"readings\": []}",
		"{\"id\": 1, \"status\": \"ok\", \"readings\": [[\"a\", 0, 1]]}",
		"{\"id\": 1, \"status\": \"ok\", \"readings\": [[0, 0, 1, \"x\"]]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		AUTO_JNODE json = NULL;
		struct boot_record *record = NULL;
		assert_null(jnode_parse(texts[i], strlen(texts[i]), "record", &json));
		AUTO_ERROR error = boot_record_from_json(json, &record);
		assert_int_equal(error_kind(error), ERROR_LAB);
		assert_string_equal(error_message(error),
				    "a boot record cannot be read: id, status or readings are not as expected");
		assert_null(record);
	}
}

static void test_names(void **state)
{
	enum boot_status status = BOOT_LAB;

	(void)state;
	for (int i = BOOT_OK; i <= BOOT_LAB; i++) {
		assert_true(boot_status_parse(boot_status_name((enum boot_status)i), &status));
		assert_int_equal(status, i);
	}
	assert_false(boot_status_parse("OK", &status));
	assert_int_equal(status, BOOT_LAB);
	assert_string_equal(memcg_state_name(MEMCG_DISABLED), "disabled");
}

static void test_cmdline_match(void **state)
{
	static const struct {
		const char *booted, *asked;
		enum cmdline_match match;
		const char *why;
	} rows[] = {
		{ "a b", "a b", CMDLINE_EXACT, NULL },
		{ "a b c", "a b", CMDLINE_EXACT, "command line is \"a b c\", expected \"a b\"" },
		{ "x a b y", "a b", CMDLINE_CONTAINS, NULL },
		{ "a b", "a b ", CMDLINE_CONTAINS, NULL },
		{ "x a c b", "a b", CMDLINE_CONTAINS,
		  "command line is \"x a c b\", which does not contain \"a b\" in one piece" },
		/* A part of a word is no word. */
		{ "xa b", "a b", CMDLINE_CONTAINS, "command line is \"xa b\", which does not contain \"a b\" in one piece" },
		{ "a bc x a b", "a b", CMDLINE_CONTAINS, NULL },
		{ "b x a", "a b", CMDLINE_WORDS, NULL },
		{ "x cgroup_disable=\"memory\" y", "cgroup_disable=memory", CMDLINE_WORDS, NULL },
		{ "x \"cgroup_disable=memory\" y", "cgroup_disable=memory", CMDLINE_WORDS, NULL },
		{ "x dyndbg=\"file a +p\" y", "dyndbg=\"file a +p\" x", CMDLINE_WORDS, NULL },
		{ "x -- cgroup_disable=memory", "cgroup_disable=memory", CMDLINE_WORDS,
		  "command line is \"x -- cgroup_disable=memory\", in which \"cgroup_disable=memory\" is missing" },
		{ "cgroup_disable=memory,io", "cgroup_disable=memory", CMDLINE_WORDS,
		  "command line is \"cgroup_disable=memory,io\", in which \"cgroup_disable=memory\" is missing" },
		{ "x", "", CMDLINE_WORDS, NULL },
		{ "x", "", CMDLINE_CONTAINS, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_FREE char *why = collect_match_cmdline(rows[i].booted, rows[i].asked, rows[i].match);
		if (rows[i].why)
			assert_string_equal(why, rows[i].why);
		else
			assert_null(why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmdline_match), cmocka_unit_test(test_nonce),
		cmocka_unit_test(test_foreign_nonce), cmocka_unit_test(test_ok),
		cmocka_unit_test(test_void),	      cmocka_unit_test(test_nothing_to_compare_with),
		cmocka_unit_test(test_lab),	      cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_bad_results),   cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_json_refused),  cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
