/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is found in what a bootloader says; slots and their counters; what a kernel's .config rules out. */
#include "unit.h"

#include <string.h>

#include "base/file.h"
#include "device/fastboot_parts.h"
#include "workdir.h"

#include "boot_samples.h"

static const struct fastboot_settings plain = {
	.serial = (char *)"PHONE0001",
	.product = (char *)"phone",
	.partition = (char *)"boot",
	.method = FASTBOOT_METHOD_FLASH_ACTIVE,
};

static const struct fastboot_settings slotted = {
	.serial = (char *)"PHONE0001",
	.product = (char *)"phone",
	.partition = (char *)"boot",
	.method = FASTBOOT_METHOD_FLASH_INACTIVE,
	.slots = true,
};

static void set_good(struct facts *facts, bool slots)
{
	static const char *const pairs[][2] = { { "product", "phone" },
						{ "serialno", "PHONE0001" },
						{ "unlocked", "yes" },
						{ "is-userspace", "no" },
						{ "max-download-size", "0x10000000" } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		facts_set(facts, pairs[i][0], pairs[i][1]);
	if (!slots) {
		facts_set(facts, "partition-size:boot", "4000000");
		return;
	}
	facts_set(facts, "slot-count", "2");
	facts_set(facts, "current-slot", "_a");
	facts_set(facts, "partition-size:boot_a", "0x4000000");
	facts_set(facts, "partition-size:boot_b", "0x4000000");
	for (char slot = 'a'; slot <= 'b'; slot++) {
		AUTO_FREE char *retry = xasprintf("slot-retry-count:%c", slot);
		AUTO_FREE char *successful = xasprintf("slot-successful:%c", slot);
		AUTO_FREE char *unbootable = xasprintf("slot-unbootable:%c", slot);
		facts_set(facts, retry, "7");
		facts_set(facts, successful, "no");
		facts_set(facts, unbootable, "no");
	}
}

/* The whole of what is bad, with one fact changed. */
static void expect(const struct fastboot_settings *settings, const char *name, const char *value, const char *bad)
{
	struct preflight preflight = { NULL, NULL, 0 };
	struct facts facts = { NULL, 0 };

	set_good(&facts, settings->slots);
	if (name)
		facts_set(&facts, name, value);
	preflight_judge(settings, &facts, slot_of_method(settings, &facts), &preflight);
	struct error *error = preflight_error(&preflight);
	if (bad) {
		AUTO_FREE char *text = xasprintf("memcg-ab: error: preflight: %s\n", bad);
		assert_error(error, text);
	} else {
		assert_ok(error);
	}
	preflight_deinit(&preflight);
	facts_deinit(&facts);
}

static void test_judgement(void **state)
{
	(void)state;
	expect(&plain, NULL, NULL, NULL);
	expect(&plain, "product", "tablet", "product: tablet, expected phone");
	expect(&plain, "product", NULL, "product: not told, expected phone: another device may be attached");
	expect(&plain, "serialno", "OTHER", "serialno: OTHER, expected PHONE0001");
	expect(&plain, "unlocked", "no", "unlocked: no: the bootloader is locked, and the tool never unlocks");
	expect(&plain, "unlocked", NULL, NULL);
	expect(&plain, "is-userspace", "yes",
	       "is-userspace: yes: this is fastbootd, which boots nothing; reboot into the bootloader");
	expect(&plain, "battery-soc-ok", "no", "battery-soc-ok: no: charge it first");
	expect(&plain, "snapshot-update-status", "none", NULL);
	expect(&plain, "snapshot-update-status", "merging",
	       "snapshot-update-status: merging: an update is being merged, and a write now could destroy the system; let it "
	       "finish");
	expect(&plain, "partition-size:boot", "big", "partition-size:boot: \"big\" is no size");
	expect(&plain, "partition-size:boot", NULL, NULL);
	expect(&plain, "max-download-size", "536870912", NULL);
	expect(&plain, "max-download-size", "much", "max-download-size: \"much\" is no size");
	expect(&plain, "slot-count", "2", "slot-count: 2, but the profile says slots: false");
}

static void test_slots(void **state)
{
	struct facts facts = { NULL, 0 };

	(void)state;
	expect(&slotted, NULL, NULL, NULL);
	expect(&slotted, "slot-count", "0", "slot-count: 0, but the profile says slots: true");
	expect(&slotted, "current-slot", NULL, "current-slot: not told: neither a nor b");
	/* What is wrong with the slot that is not used does not matter. */
	expect(&slotted, "slot-unbootable:a", "yes", NULL);
	expect(&slotted, "slot-unbootable:b", "yes", "slot-unbootable:b: yes: the bootloader does not start this slot any more");
	expect(&slotted, "slot-retry-count:b", "1",
	       "slot-retry-count:b: 1 tries are left and the slot is not marked successful: the bootloader would give it up");
	set_good(&facts, true);
	assert_int_equal(slot_of_method(&slotted, &facts), 'b');
	facts_set(&facts, "current-slot", "b");
	assert_int_equal(slot_of_method(&slotted, &facts), 'a');
	assert_int_equal(slot_of_method(&plain, &facts), 0);
	facts_set(&facts, "current-slot", "what");
	assert_int_equal(slot_of_method(&slotted, &facts), 0);
	assert_null(slot_exhausted(&facts, 'a'));
	facts_set(&facts, "slot-retry-count:a", "0");
	AUTO_FREE char *exhausted = slot_exhausted(&facts, 'a');
	assert_string_equal(exhausted, "0 tries are left and the slot is not marked successful: the bootloader would give it up");
	facts_set(&facts, "slot-successful:a", "yes");
	assert_null(slot_exhausted(&facts, 'a'));
	facts_set(&facts, "slot-retry-count:b", "seven");
	AUTO_FREE char *odd = slot_exhausted(&facts, 'b');
	assert_string_equal(odd, "\"seven\" is no count");
	facts_set(&facts, "slot-retry-count:b", NULL);
	assert_null(slot_exhausted(&facts, 'b'));
	AUTO_FREE char *with = slot_partition("boot", 'b');
	AUTO_FREE char *without = slot_partition("boot", 0);
	assert_string_equal(with, "boot_b");
	assert_string_equal(without, "boot");
	facts_deinit(&facts);
}

static void test_configs(void **state)
{
	static const char stock[] = "CONFIG_LOCALVERSION=\"-stock\"\nCONFIG_MEMCG=y\nCONFIG_MODVERSIONS=y\nCONFIG_HZ=250\n";

	(void)state;
	assert_null(cmdline_refusal("CONFIG_CMDLINE=\"x\"\nCONFIG_CMDLINE_EXTEND=y\n"));
	AUTO_FREE char *force = cmdline_refusal("CONFIG_CMDLINE=\"console=x\"\nCONFIG_CMDLINE_FORCE=y\n");
	assert_string_equal(force, "its CONFIG_CMDLINE_FORCE=y: whatever is asked for, it boots with \"console=x\"");
	assert_null(
		config_refusal(stock, "CONFIG_LOCALVERSION=\"-ours\"\nCONFIG_MEMCG=y\nCONFIG_MODVERSIONS=y\nCONFIG_HZ=250\n"));
	AUTO_FREE char *memcg = config_refusal(stock, "# CONFIG_MEMCG is not set\nCONFIG_MODVERSIONS=y\nCONFIG_HZ=250\n");
	assert_string_equal(
		memcg, "its config differs from the device's own kernel (MEMCG: y -> n), so that the vendor's modules need not "
		       "fit: give the modules built with it as a module set");
	AUTO_FREE char *more = config_refusal(stock, "CONFIG_MEMCG=y\nCONFIG_HZ=100\nCONFIG_NEW=y\n");
	assert_string_equal(
		more, "its config differs from the device's own kernel (MODVERSIONS: y -> n, HZ: 250 -> 100, NEW: n -> y), so "
		      "that the vendor's modules need not fit: give the modules built with it as a module set");
}

/* The known-good image goes in place of the stock one: it has its header's version and its shape. */
static void test_files(void **state)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *good = path_join(dir->path, "good.img");
	AUTO_FREE char *stock = path_join(dir->path, "stock.img");
	const struct fastboot_settings settings = {
		.partition = (char *)"boot", .known_good = good, .stock = { .boot = stock }, .layout = { .header_version = 1 }
	};
	AUTO_STRBUF image = STRBUF_INIT;
	struct preflight alike = { NULL, NULL, 0 }, other = { NULL, NULL, 0 }, missing = { NULL, NULL, 0 };
	struct facts facts = { NULL, 0 };

	set_good(&facts, false);
	sample_v1(&image);
	assert_ok(file_write_atomic(good, image.data, image.len, 0644));
	assert_ok(file_write_atomic(stock, image.data, image.len, 0644));
	preflight_judge_files(&settings, &facts, 0, &alike);
	assert_ok(preflight_error(&alike));
	put32(&image, 12, 0x40080000);
	assert_ok(file_write_atomic(stock, image.data, image.len, 0644));
	preflight_judge_files(&settings, &facts, 0, &other);
	assert_error(preflight_error(&other),
		     "memcg-ab: error: preflight: known_good: kernel address 0x0, the stock image has 0x40080000\n");
	assert_int_equal(unlink(stock), 0);
	preflight_judge_files(&settings, &facts, 0, &missing);
	struct error *error = preflight_error(&missing);
	assert_non_null(strstr(error_message(error), "preflight: stock.boot: "));
	assert_null(strstr(error_message(error), "known_good"));
	error_free(error);
	preflight_deinit(&alike);
	preflight_deinit(&other);
	preflight_deinit(&missing);
	facts_deinit(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judgement),
		cmocka_unit_test_setup_teardown(test_files, workdir_setup, workdir_teardown),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_configs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
