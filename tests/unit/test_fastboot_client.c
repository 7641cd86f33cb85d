/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debian's real fastboot client against the fake phone, and the text of two of its versions. */
#include "unit.h"
#include "workdir.h"

#include "device/fastboot_client.h"
#include "device/fastboot_text.h"
#include "phone.h"

/* --- what the client prints */

static const struct fastboot_ending ended = { .exit_status = 0, .wall_ms = 40 };
static const struct fastboot_ending failed = { .exit_status = 1, .wall_ms = 40 };
static const struct fastboot_ending killed_usb = { .stopped = true, .exit_status = -1, .wall_ms = 5000 };
static const struct fastboot_ending killed_network = { .stopped = true, .exit_status = -1, .wall_ms = 5000, .network = true };
static const struct fastboot_ending killed_early = { .stopped = true, .exit_status = -1, .wall_ms = 1000, .network = true };

static const struct text_case {
	const char *text;
	const char *final;
	const struct fastboot_ending *ending;
	enum fastboot_outcome outcome;
	const char *remote, *step;
} text_cases[] = {
	/* getvar */
	{ "product: fake\nFinished. Total time: 0.000s\n", NULL, &ended, FASTBOOT_OKAY, NULL, NULL },
	{ "nosuchvar: \nFinished. Total time: 0.000s\n", NULL, &ended, FASTBOOT_OKAY, NULL, NULL },
	{ "getvar:nosuchvar                                   FAILED (remote: 'GetVar Variable Not found')\nFinished. Total "
	  "time: "
	  "0.000s\n",
	  NULL, &ended, FASTBOOT_REFUSED, "GetVar Variable Not found", "getvar:nosuchvar" },
	{ "getvar:product FAILED (remote: GetVar Variable Not found)\n", NULL, &ended, FASTBOOT_REFUSED,
	  "GetVar Variable Not found", "getvar:product" },
	{ "getvar:product                                     FAILED (Status read failed (No such device))\n", NULL, &ended,
	  FASTBOOT_BROKEN, "Status read failed (No such device)", "getvar:product" },
	/* no device, in 29's words and 34's */
	{ "< waiting for any device >\n", NULL, &killed_usb, FASTBOOT_ABSENT, NULL, NULL },
	{ "< waiting for NOSUCH >\n", NULL, &killed_usb, FASTBOOT_ABSENT, NULL, NULL },
	{ "< waiting for NOSUCH>\n", NULL, &killed_usb, FASTBOOT_ABSENT, NULL, NULL },
	{ "error: Failed to connect to 127.0.0.1:1\n< waiting for tcp:127.0.0.1:1 >\n", NULL, &killed_network, FASTBOOT_ABSENT,
	  "Failed to connect to 127.0.0.1:1", NULL },
	{ "error: no response from target\n< waiting for udp:127.0.0.1:15554 >\n", "Booting", &killed_network, FASTBOOT_ABSENT,
	  "no response from target", NULL },
	{ "error: no response from target\n", NULL, &killed_early, FASTBOOT_ABSENT, "no response from target", NULL },
	{ "error: No initialization message received (Operation now in progress). Target may not support TCP fastboot\n"
	  "< waiting for tcp:127.0.0.1:5 >\n",
	  NULL, &killed_network, FASTBOOT_ABSENT,
	  "No initialization message received (Operation now in progress). Target may not support TCP fastboot", NULL },
	{ "", NULL, &killed_early, FASTBOOT_ABSENT, NULL, NULL },
	/* a device that is there and says nothing */
	{ "", NULL, &killed_network, FASTBOOT_SILENT, NULL, NULL },
	{ "", NULL, &killed_usb, FASTBOOT_SILENT, NULL, NULL },
	{ "Sending 'boot_a' (106 KB)                          ", "Writing", &killed_usb, FASTBOOT_SILENT, NULL,
	  "Sending 'boot_a' (106 KB)" },
	{ "< waiting for X >\nSending 'boot_a' (106 KB)                          OKAY [  0.010s]\nWriting 'boot_a'               "
	  "        "
	  "            ",
	  "Writing", &killed_usb, FASTBOOT_SILENT, NULL, "Writing 'boot_a'" },
	/* flash */
	{ "Sending 'boot_a' (106 KB)                          OKAY [  0.000s]\nWriting 'boot_a'                                  "
	  " OKAY [  "
	  "0.000s]\nFinished. Total time: 0.001s\n",
	  "Writing", &ended, FASTBOOT_OKAY, NULL, "Writing 'boot_a'" },
	{ "(bootloader) charging\nWarning: skip copying boot_a image avb footer (boot_a partition size: 0, boot_a image size: "
	  "8192).\n"
	  "Sending 'boot_a' (8 KB)                            (bootloader) FAILED (remote: 'not really')\n(bootloader) OKAY [  "
	  "0.000s]\n"
	  "OKAY [  0.046s]\nWriting 'boot_a'                                   (bootloader) Sending 'x'\nOKAY [  0.043s]\n",
	  "Writing", &ended, FASTBOOT_OKAY, NULL, "Writing 'boot_a'" },
	{ "Sending 'nosuch' (8 KB)                            OKAY [  0.045s]\nWriting 'nosuch'                                  "
	  " "
	  "(bootloader) charging\nFAILED (remote: 'Partition not found')\nfastboot: error: Command failed\n",
	  "Writing", &failed, FASTBOOT_REFUSED, "Partition not found", "Writing 'nosuch'" },
	{ "sending 'boot'\nWriting 'boot' FAILED (remote failure)\n", "Writing", &failed, FASTBOOT_REFUSED, "",
	  "Writing 'boot'" },
	{ "Sending 'boot' (8 KB)                              FAILED (remote: 'size (too) large')\nfastboot: error: Command "
	  "failed\n",
	  "Writing", &failed, FASTBOOT_REFUSED, "size (too) large", "Sending 'boot' (8 KB)" },
	{ "Sending 'boot' (8 KB)                              FAILED (Write to device failed (no link))\nfastboot: error: "
	  "Command failed\n",
	  "Writing", &failed, FASTBOOT_BROKEN, "Write to device failed (no link)", "Sending 'boot' (8 KB)" },
	{ "Sending 'boot' (8 KB)                              FAILED (Device sent unknown status code: WHAT?)\n", "Writing",
	  &failed, FASTBOOT_BROKEN, "Device sent unknown status code: WHAT?", "Sending 'boot' (8 KB)" },
	{ "Sending sparse 'boot_a' 1/2 (131068 KB)            OKAY [  0.1s]\nWriting 'boot_a'                                   "
	  "OKAY [  "
	  "0.0s]\n",
	  "Writing", &ended, FASTBOOT_BROKEN,
	  "the client sent the image in pieces: it is bigger than the device's max-download-size", "Writing 'boot_a'" },
	{ "fastboot: error: cannot load '/x.img': No such file or directory\n", "Writing", &failed, FASTBOOT_BROKEN,
	  "cannot load '/x.img': No such file or directory", NULL },
	{ "fastboot: usage: unknown command bogus\n", "Writing", &failed, FASTBOOT_BROKEN, "unknown command bogus", NULL },
	{ "", "Writing", &failed, FASTBOOT_BROKEN, "the client ended with status 1 and said nothing of it", NULL },
	{ "Finished. Total time: 0.001s\n", "Writing", &ended, FASTBOOT_BROKEN, "the client ended without a word of \"Writing\"",
	  NULL },
	{ "Sending 'boot_a' (106 KB)                          OKAY [  0.000s]\n", "Writing", &ended, FASTBOOT_BROKEN,
	  "the client ended without a word of \"Writing\"", "Sending 'boot_a' (106 KB)" },
	/* the others */
	{ "creating boot image...\ncreating boot image - 10240 bytes\nSending 'boot.img' (8 KB)                          OKAY [  "
	  "0.042s]\n"
	  "Booting                                            OKAY [  0.001s]\nFinished. Total time: 0.043s\n",
	  "Booting", &ended, FASTBOOT_OKAY, NULL, "Booting" },
	{ "Booting                                            FAILED (remote: 'unknown command')\nfastboot: error: Command "
	  "failed\n",
	  "Booting", &failed, FASTBOOT_REFUSED, "unknown command", "Booting" },
	{ "Setting current slot to 'b'                        OKAY [  0.045s]\n", "Setting", &ended, FASTBOOT_OKAY, NULL,
	  "Setting current slot to 'b'" },
	{ "Resuming boot                                      OKAY [  0.003s]\n", "Resuming boot", &ended, FASTBOOT_OKAY, NULL,
	  "Resuming boot" },
	{ "Rebooting into fastboot                            OKAY [  0.000s]\n< waiting for any device >\n", "Rebooting",
	  &killed_usb, FASTBOOT_OKAY, NULL, "Rebooting into fastboot" },
	{ "Rebooting into fastboot                            OKAY [  0.000s]\nfastboot: error: Failed to boot into userspace "
	  "fastboot; "
	  "one or more components might be unbootable.\n",
	  "Rebooting", &failed, FASTBOOT_BROKEN,
	  "Failed to boot into userspace fastboot; one or more components might be unbootable.", "Rebooting into fastboot" },
};

static void reads_what_the_client_prints(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(text_cases); i++) {
		const struct text_case *c = &text_cases[i];
		struct fastboot_reply reply;
		fastboot_text_parse(c->text, c->final, c->ending, &reply);
		const char *remote = reply.remote ? reply.remote : "(none)", *step = reply.step ? reply.step : "(none)";
		if (reply.outcome != c->outcome || strcmp(remote, c->remote ? c->remote : "(none)") ||
		    strcmp(step, c->step ? c->step : "(none)"))
			fail_msg("case %zu: %s, remote '%s', step '%s' of: %s", i, fastboot_outcome_name(reply.outcome), remote,
				 step, c->text);
		assert_int_equal(reply.wall_ms, c->ending->wall_ms);
		fastboot_reply_deinit(&reply);
	}
}

static void value_is(const char *text, const char *name, const char *want)
{
	AUTO_FREE char *value = fastboot_text_value(text, name);

	if (want)
		assert_string_equal(value, want);
	else
		assert_null(value);
}

static void finds_the_value(void **state)
{
	(void)state;
	value_is("product: fake\nFinished. Total time: 0.000s\n", "product", "fake");
	value_is("(bootloader) product: liar\nproduct:  two words \r\nFinished\n", "product", "two words");
	value_is("product: old\nproduct: new\n", "product", "new");
	value_is("partition-size:boot_a: 0x4000000\n", "partition-size:boot_a", "0x4000000");
	value_is("product: a\tb\x01\n", "product", "a b");
	value_is("product: \n", "product", NULL);
	value_is("(bootloader) product: liar\n", "product", NULL);
	value_is("products: x\n", "product", NULL);
	value_is("", "product", NULL);
}

static void expect_text(enum fastboot_outcome outcome, char *remote, char *step, const char *want)
{
	const struct fastboot_reply reply = { .outcome = outcome, .remote = remote, .step = step, .wall_ms = 1500 };
	AUTO_FREE char *text = fastboot_reply_text(&reply, "flash boot_b");

	assert_string_equal(text, want);
}

static void says_what_went_wrong(void **state)
{
	(void)state;
	expect_text(FASTBOOT_OKAY, NULL, NULL, "flash boot_b: okay");
	expect_text(FASTBOOT_REFUSED, "Partition not found", NULL, "flash boot_b: the device said 'Partition not found'");
	expect_text(FASTBOOT_REFUSED, "", NULL, "flash boot_b: the device refused and gave no reason");
	expect_text(FASTBOOT_ABSENT, NULL, NULL, "flash boot_b: no device answered within 1500 ms");
	expect_text(FASTBOOT_ABSENT, "Connection refused", NULL,
		    "flash boot_b: no device answered within 1500 ms (Connection refused)");
	expect_text(FASTBOOT_SILENT, NULL, "Sending 'boot_b' (8 KB)",
		    "flash boot_b: the device fell silent in \"Sending 'boot_b' (8 KB)\", after 1500 ms");
	expect_text(FASTBOOT_SILENT, NULL, NULL, "flash boot_b: the device was silent for 1500 ms");
	expect_text(FASTBOOT_BROKEN, "no link", NULL, "flash boot_b: fastboot said 'no link'");
}

static void knows_its_version(void **state)
{
	(void)state;
	assert_int_equal(fastboot_major("fastboot version 29.0.6-debian"), 29);
	assert_int_equal(fastboot_major("fastboot version 34.0.5-debian"), 34);
	assert_int_equal(fastboot_major("fastboot version unknown"), 0);
	assert_int_equal(fastboot_major(""), 0);
}

/* --- names and numbers */

static void forbids_what_must_never_be_written(void **state)
{
	static const char *const never[] = { "bootloader",  "bootloader_a", "BOOTLOADER",  "abl_b",    "xbl_config_a",
					     "preloader",   "lk",	    "tee1",	   "modem_a",  "radio",
					     "gpt",	    "partition:0",  "userdata",	   "metadata", "super",
					     "super_empty", "frp",	    "persist",	   "misc",     "efs",
					     "nvram",	    "keymaster_a",  "devinfo",	   "tz_b",     "md1img",
					     "u-boot",	    "mbr",	    "mmc0boot0",   "-w",       "",
					     "boot a",	    "../boot",	    "0x100;reset", "cache",    "aboot",
					     "seccfg",	    "pgpt",	    "rpm",	   "bl2",      "uboot_a",
					     "protect1",    "sec1" };
	static const char *const may_be[] = { "boot",	       "boot_a",      "boot_b",
					      "init_boot_a",   "vendor_boot", "vendor_kernel_boot_b",
					      "vendor_dlkm_a", "system_dlkm", "dtbo_a",
					      "vbmeta_a",      "recovery",    "alt_a",
					      "memcg_ab",      "kernel" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (!fastboot_forbidden(never[i]))
			fail_msg("\"%s\" is not forbidden", never[i]);
	for (size_t i = 0; i < ARRAY_SIZE(may_be); i++)
		if (fastboot_forbidden(may_be[i]))
			fail_msg("\"%s\" is forbidden: %s", may_be[i], fastboot_forbidden(may_be[i]));
	assert_string_equal(fastboot_forbidden("userdata"), "it holds the user's data");
	assert_string_equal(fastboot_forbidden("-w"), "it is no partition's name");
}

static uint64_t size_of(const char *text, bool hex_bare)
{
	uint64_t bytes = 12345;

	return fastboot_parse_size(text, hex_bare, &bytes) ? bytes : 12345;
}

static void reads_sizes(void **state)
{
	(void)state;
	assert_int_equal(size_of("0x10000000", false), 0x10000000);
	assert_int_equal(size_of("0X10000000", true), 0x10000000);
	assert_int_equal(size_of("10000000", true), 0x10000000);
	assert_int_equal(size_of("536870912", false), 536870912);
	assert_int_equal(size_of(" 4000000\r\n", true), 0x4000000);
	assert_int_equal(size_of("4000c00", false), 0x4000c00);
	assert_int_equal(size_of("08000000", false), 0x8000000);
	assert_int_equal(size_of("0", false), 0);
	assert_int_equal(size_of("ffffffffffffffff", true), UINT64_MAX);
	static const char *const no_sizes[] = {
		"", " ", "0x", "64M", "-1", "1ffffffffffffffff", "0x10 bytes", "99999999999999999999999", "x10"
	};
	for (size_t i = 0; i < ARRAY_SIZE(no_sizes); i++)
		if (size_of(no_sizes[i], false) != 12345)
			fail_msg("\"%s\" was taken for a size", no_sizes[i]);
}

static void reads_slots(void **state)
{
	(void)state;
	assert_int_equal(fastboot_parse_slot("a"), 'a');
	assert_int_equal(fastboot_parse_slot("_b"), 'b');
	assert_int_equal(fastboot_parse_slot("A\n"), 'a');
	assert_int_equal(fastboot_parse_slot(""), 0);
	assert_int_equal(fastboot_parse_slot("_"), 0);
	assert_int_equal(fastboot_parse_slot("c"), 0);
	assert_int_equal(fastboot_parse_slot("ab"), 0);
}

/* --- the client against the fake phone */

struct session {
	struct phone phone;
	struct fastboot_settings settings;
	struct fastboot fastboot;
	char *journal;
};

static struct session start(const struct workdir *dir, const char *const *options)
{
	struct session s = { .phone = phone_start(dir, options), .journal = workdir_path(dir, "journal") };

	s.settings = phone_settings(&s.phone);
	return s;
}

static void stop(struct session *s)
{
	phone_stop(&s->phone);
	free(s->journal);
}

static const struct fastboot *client(struct session *s)
{
	s->fastboot = (struct fastboot){ .settings = &s->settings, .journal = s->journal, .guard = NO_GUARD };
	return &s->fastboot;
}

/* Wants the outcome, and a time within the deadline's. */
static void expect_reply(struct fastboot_reply *reply, const char *what, const char *want)
{
	AUTO_FREE char *text = fastboot_reply_text(reply, what);
	size_t len = strlen(want);

	/* "*" at the end: a time follows. */
	if (len && want[len - 1] == '*')
		text[len - 1 < strlen(text) ? len - 1 : strlen(text)] = '*', text[len < strlen(text) ? len : strlen(text)] = '\0';
	assert_string_equal(text, want);
	fastboot_reply_deinit(reply);
}

static void gets_variables(void **state)
{
	const struct workdir *dir = *state;
	struct session s = start(dir, NULL);
	struct fastboot_reply reply;
	AUTO_FREE char *version = NULL;
	char *value = NULL;
	bool answers = false;

	assert_ok(fastboot_version(client(&s), &version));
	assert_true(fastboot_major(version) >= 29);
	assert_ok(fastboot_answers(client(&s), 0, &answers));
	assert_true(answers);
	assert_ok(fastboot_getvar(client(&s), "product", &value, &reply));
	assert_string_equal(value, "fake");
	free(value);
	expect_reply(&reply, "getvar", "getvar: okay");
	assert_ok(fastboot_getvar(client(&s), "partition-size:boot_a", &value, &reply));
	assert_string_equal(value, "0x4000000");
	free(value);
	fastboot_reply_deinit(&reply);
	/* The client ends with 0 when the device refuses. */
	assert_ok(fastboot_getvar(client(&s), "nosuch", &value, &reply));
	assert_null(value);
	expect_reply(&reply, "getvar nosuch", "getvar nosuch: the device said 'GetVar Variable Not found'");

	AUTO_FREE char *journal = workdir_read(dir, "journal");
	assert_non_null(strstr(journal, " getvar product: okay, "));
	assert_non_null(strstr(journal, "\n\tproduct: fake\n"));
	assert_non_null(strstr(journal, " getvar nosuch: refused, "));
	stop(&s);
}

static void flashes_and_boots(void **state)
{
	const struct workdir *dir = *state;
	const char *const options[] = { "--boot-time", "1", NULL };
	struct session s = start(dir, options);
	AUTO_FREE char *image = phone_image(dir, "new.img", 'n');
	struct fastboot_reply reply;
	bool reached = false;

	assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
	expect_reply(&reply, "flash boot_b", "flash boot_b: okay");
	workdir_do(dir, "cmp new.img phone/parts/boot_b && ! cmp -s new.img phone/parts/boot_a");
	assert_ok(fastboot_set_active(client(&s), 'b', &reply));
	expect_reply(&reply, "set_active b", "set_active b: okay");
	assert_ok(fastboot_continue(client(&s), &reply));
	expect_reply(&reply, "continue", "continue: okay");
	assert_ok(fastboot_gone(client(&s), 3000, &reached));
	assert_true(reached);
	assert_ok(fastboot_answers(client(&s), 10000, &reached));
	assert_true(reached);
	assert_ok(fastboot_boot(client(&s), image, &reply));
	expect_reply(&reply, "boot", "boot: okay");
	assert_ok(fastboot_gone(client(&s), 3000, &reached));
	assert_true(reached);
	assert_ok(fastboot_answers(client(&s), 10000, &reached));
	assert_true(reached);
	assert_ok(fastboot_reboot(client(&s), "bootloader", &reply));
	expect_reply(&reply, "reboot", "reboot: okay");
	phone_expect(&s.phone, "command reboot-bootloader");
	assert_ok(fastboot_reboot(client(&s), NULL, &reply));
	expect_reply(&reply, "reboot", "reboot: okay");
	phone_expect(&s.phone, "command reboot");
	stop(&s);
}

static void refuses_before_the_client_is_asked(void **state)
{
	const struct workdir *dir = *state;
	struct session s = start(dir, NULL);
	AUTO_FREE char *image = phone_image(dir, "new.img", 'n');
	AUTO_FREE char *other = workdir_path(dir, "vendor_boot.img");
	AUTO_FREE char *want = xasprintf("memcg-ab: error: %s is no boot image (it does not begin with ANDROID!)\n", other);
	struct fastboot_reply reply;

	workdir_write(dir, "vendor_boot.img", "VNDRBOOT and more of it");
	assert_error(fastboot_flash(client(&s), "userdata", image, &reply),
		     "memcg-ab: error: partition \"userdata\" is never written: it holds the user's data\n");
	assert_error(
		fastboot_flash(client(&s), "vbmeta_a", image, &reply),
		"memcg-ab: error: partition \"vbmeta_a\" is not written: the device's profile does not list it as writable\n");
	assert_error(fastboot_boot(client(&s), other, &reply), want);
	strlist_add(&s.settings.writable, "userdata");
	assert_error(fastboot_flash(client(&s), "userdata", image, &reply),
		     "memcg-ab: error: partition \"userdata\" is never written: it holds the user's data\n");
	strlist_deinit(&s.settings.writable);
	s.settings.slots = false;
	assert_error(fastboot_flash(client(&s), "boot_a", image, &reply),
		     "memcg-ab: error: partition \"boot_a\" is not written: the device's profile does not list it as writable\n");
	assert_false(file_exists(s.journal));
	s.settings.program = "/no/such/fastboot";
	assert_error(fastboot_continue(client(&s), &reply), "memcg-ab: error: cannot run /no/such/fastboot: no such program\n");
	stop(&s);
}

static void tells_absent_from_silent(void **state)
{
	const struct workdir *dir = *state;
	const char *const options[] = { "--fault", "silent@1", "--fault", "close@2", "--fault", "garbage@3", NULL };
	struct session s = start(dir, options);
	struct fastboot_reply reply;
	bool reached = true;
	char *value = NULL;

	assert_ok(fastboot_continue(client(&s), &reply));
	expect_reply(&reply, "continue", "continue: the device fell silent in \"Resuming boot\", after 4*");
	/* The client goes on reading from a closed connection for ever. */
	assert_ok(fastboot_continue(client(&s), &reply));
	expect_reply(&reply, "continue", "continue: the device fell silent in \"Resuming boot\", after 4*");
	assert_ok(fastboot_continue(client(&s), &reply));
	expect_reply(&reply, "continue", "continue: fastboot said 'Device sent unknown status code: WHATever'");
	assert_ok(fastboot_getvar(client(&s), "product", &value, &reply));
	assert_string_equal(value, "fake");
	free(value);
	fastboot_reply_deinit(&reply);

	proc_stop(take_ptr(s.phone.proc), 1000);
	assert_ok(fastboot_getvar(client(&s), "product", &value, &reply));
	assert_null(value);
	assert_int_equal(reply.outcome, FASTBOOT_ABSENT);
	assert_true(reply.wall_ms >= 1400 && reply.wall_ms < 4000);
	fastboot_reply_deinit(&reply);
	assert_ok(fastboot_answers(client(&s), 500, &reached));
	assert_false(reached);
	assert_ok(fastboot_gone(client(&s), 0, &reached));
	assert_true(reached);
	stop(&s);
}

static void ends_a_stalled_transfer(void **state)
{
	const struct workdir *dir = *state;
	const char *const options[] = { "--fault", "stall-data@1",	 "--fault", "close-data@2",
					"--fault", "download-refused@3", NULL };
	struct session s = start(dir, options);
	AUTO_FREE char *image = phone_image(dir, "new.img", 'n');
	struct fastboot_reply reply;

	s.settings.timeouts.getvar_ms = 400;
	for (int i = 0; i < 2; i++) {
		assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
		expect_reply(&reply, "flash", "flash: the device fell silent in \"Sending 'boot_b' (18 KB)\", after 3*");
	}
	assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
	expect_reply(&reply, "flash", "flash: the device said 'Requested download size is more than max allowed'");
	workdir_do(dir, "! cmp -s new.img phone/parts/boot_b");
	assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
	expect_reply(&reply, "flash", "flash: okay");
	stop(&s);
}

static void is_not_taken_in_by_info_lines(void **state)
{
	const struct workdir *dir = *state;
	const char *const options[] = { "--fault", "info", "--fault", "no-boot-command", "--fault", "flash-fails@1", NULL };
	struct session s = start(dir, options);
	AUTO_FREE char *image = phone_image(dir, "new.img", 'n');
	struct fastboot_reply reply;
	char *value = NULL;

	assert_ok(fastboot_getvar(client(&s), "product", &value, &reply));
	assert_string_equal(value, "fake");
	free(value);
	expect_reply(&reply, "getvar", "getvar: okay");
	assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
	expect_reply(&reply, "flash", "flash: the device said 'Partition not found'");
	assert_ok(fastboot_flash(client(&s), "boot_b", image, &reply));
	expect_reply(&reply, "flash", "flash: okay");
	assert_ok(fastboot_boot(client(&s), image, &reply));
	expect_reply(&reply, "boot", "boot: the device said 'unknown command'");
	stop(&s);
}

static void stops_when_interrupted(void **state)
{
	const struct workdir *dir = *state;
	const char *const options[] = { "--fault", "silent", NULL };
	struct session s = start(dir, options);
	struct fastboot_reply reply;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	client(&s);
	s.fastboot.guard.fd = fds[0];
	close(fds[1]);
	int64_t started = clock_ms();
	assert_error(fastboot_continue(&s.fastboot, &reply), "memcg-ab: error: fastboot was interrupted\n");
	assert_true(clock_ms() - started < 3000);
	close(fds[0]);
	AUTO_FREE char *journal = workdir_read(dir, "journal");
	assert_non_null(strstr(journal, " continue: interrupted, "));
	stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_client_prints),
		cmocka_unit_test(finds_the_value),
		cmocka_unit_test(says_what_went_wrong),
		cmocka_unit_test(knows_its_version),
		cmocka_unit_test(forbids_what_must_never_be_written),
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(reads_slots),
		cmocka_unit_test_setup_teardown(gets_variables, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(flashes_and_boots, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(refuses_before_the_client_is_asked, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(tells_absent_from_silent, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(ends_a_stalled_transfer, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(is_not_taken_in_by_info_lines, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(stops_when_interrupted, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
