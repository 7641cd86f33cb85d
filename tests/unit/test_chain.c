/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an init does on a phone: vendor modules, USB gadget, watchdog. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/chain.h"
#include "agent/gadget.h"
#include "agent/node.h"
#include "agent/sysfile.h"
#include "agent/vendor_modules.h"
#include "agent/watchdog.h"
#include "agent_root.h"

/* Notes what it is asked to load, "PATH PARAMETERS|", without the root; refuses what is called bad. */
struct loads {
	const char *root;
	char text[2000];
};

static int note_load(void *arg, const char *path, const char *parameters)
{
	struct loads *loads = arg;

	assert_memory_equal(path, loads->root, strlen(loads->root));
	strcat(loads->text, path + strlen(loads->root));
	strcat(loads->text, parameters);
	strcat(loads->text, "|");
	return strstr(path, "bad") ? ENOEXEC : strstr(path, "twice") ? EEXIST : 0;
}

static void loads_in_order(void **state)
{
	char *root = root_new(), reason[200] = "untouched";
	struct loads loads = { .root = root };
	struct vendor_modules out;

	(void)state;
	root_add(root, "lib/modules/modules.load",
		 "# in this order\nufs-qcom.ko\n\n  clk.ko \nlocked.ko\nbad_one.ko\ntwice.ko\nround.ko\nno-line.ko");
	root_add(root, "lib/modules/modules.dep",
		 "kernel/ufs-qcom.ko: kernel/ufs.ko kernel/clk.ko\nkernel/ufs.ko: kernel/scsi-core.ko\nkernel/clk.ko:\n"
		 "kernel/scsi-core.ko:\n/lib/modules/twice.ko:\nround.ko: square.ko\nsquare.ko: round.ko\nlocked.ko: clk.ko\n"
		 "kernel/ufs-more.ko: kernel/never.ko\nbad_one.ko:\n");
	root_add(root, "lib/modules/modules.options",
		 "options ufs_qcom  a=1 b=\"x y\"\n# c\noptions clk-x d=2\noptions ufs-qcom e\n");
	root_add(root, "lib/modules/modules.blocklist", "# none of these\nblocklist locked\n");
	assert_true(vendor_modules_load(root, "/lib/modules", "5.10.0", note_load, &loads, &out, reason, sizeof(reason)));
	assert_string_equal(loads.text, "/lib/modules/kernel/scsi-core.ko|/lib/modules/kernel/ufs.ko|/lib/modules/kernel/clk.ko|"
					"/lib/modules/kernel/ufs-qcom.ko  a=1 b=\"x y\" e|/lib/modules/bad_one.ko|"
					"/lib/modules/twice.ko|/lib/modules/square.ko|/lib/modules/round.ko|"
					"/lib/modules/no-line.ko|");
	assert_int_equal(out.n_loaded, 8);
	assert_int_equal(out.n_failed, 1);
	assert_int_equal(out.n_blocked, 1);
	assert_string_equal(out.failures, "bad_one: Exec format error");
	assert_string_equal(reason, "untouched");
	root_free(root);
}

static void finds_the_release(void **state)
{
	char *root = root_new(), reason[200] = "";
	struct loads loads = { .root = root };
	struct vendor_modules out;

	(void)state;
	assert_false(vendor_modules_load(root, "/lib/modules", "5.10.0", note_load, &loads, &out, reason, sizeof(reason)));
	assert_string_equal(reason, "no modules.load in /lib/modules and none in /lib/modules/5.10.0");
	root_add(root, "lib/modules/5.10.0/modules.load", "bad1.ko\nbad2.ko\n");
	assert_true(vendor_modules_load(root, "/lib/modules", "5.10.0", note_load, &loads, &out, reason, sizeof(reason)));
	assert_string_equal(loads.text, "/lib/modules/5.10.0/bad1.ko|/lib/modules/5.10.0/bad2.ko|");
	assert_string_equal(out.failures, "bad1: Exec format error; bad2: Exec format error");
	root_free(root);
}

/* Very many failures: the text is full, the count is right. */
static void many_failures(void **state)
{
	char *root = root_new(), *list = calloc(1, 20000), reason[200] = "";
	struct vendor_modules out;

	(void)state;
	for (int i = 0; i < 300; i++)
		sprintf(list + strlen(list), "/nowhere/m%d.ko\n", i);
	root_add(root, "m/modules.load", list);
	assert_true(vendor_modules_load(root, "/m", "x", vendor_modules_finit, NULL, &out, reason, sizeof(reason)));
	assert_int_equal(out.n_failed, 300);
	assert_int_equal(out.n_loaded, 0);
	assert_int_equal(strlen(out.failures), VENDOR_MODULES_TEXT - 1);
	assert_memory_equal(out.failures, "m0: No such file or directory; m1: ", 35);
	free(list);
	root_free(root);
}

static void check_file(const char *root, const char *path, const char *want)
{
	char *text = sysfile_read(root, path, NULL);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

/* What configfs itself makes in a gadget's folder. */
static void add_configfs(const char *root)
{
	static const char *const files[] = { "idVendor",
					     "idProduct",
					     "UDC",
					     "strings/0x409/serialnumber",
					     "strings/0x409/manufacturer",
					     "strings/0x409/product",
					     "configs/c.1/strings/0x409/configuration" };
	char path[200];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "config/usb_gadget/memcg_ab/%s", files[i]);
		root_add(root, path, "");
	}
	root_add(root, "config/usb_gadget/memcg_ab/functions/x", "");
}

static void makes_a_gadget(void **state)
{
	char *root = root_new(), udc[64], reason[200] = "untouched", path[PATH_MAX], target[PATH_MAX] = "";

	(void)state;
	add_configfs(root);
	root_add(root, "sys/class/udc/b.usb/state", "not attached\n");
	root_add(root, "sys/class/udc/a600000.dwc3/state", "not attached\n");
	assert_true(gadget_start(root, "/config", "R58M123", 0, udc, sizeof(udc), reason, sizeof(reason)));
	assert_string_equal(udc, "a600000.dwc3");
	check_file(root, "/config/usb_gadget/memcg_ab/UDC", "a600000.dwc3");
	check_file(root, "/config/usb_gadget/memcg_ab/idVendor", "0x1d6b");
	check_file(root, "/config/usb_gadget/memcg_ab/idProduct", "0x0104");
	check_file(root, "/config/usb_gadget/memcg_ab/strings/0x409/serialnumber", "R58M123");
	check_file(root, "/config/usb_gadget/memcg_ab/configs/c.1/strings/0x409/configuration", "acm");
	snprintf(path, sizeof(path), "%s/config/usb_gadget/memcg_ab/configs/c.1/acm.0", root);
	assert_true(readlink(path, target, sizeof(target) - 1) > 0);
	snprintf(path, sizeof(path), "%s/config/usb_gadget/memcg_ab/functions/acm.0", root);
	assert_string_equal(target, path);
	assert_int_equal(access(path, F_OK), 0);
	assert_string_equal(reason, "untouched");
	root_free(root);
}

static void says_why_there_is_no_gadget(void **state)
{
	char *root = root_new(), udc[64], reason[200] = "";

	(void)state;
	assert_false(gadget_start(root, "/config", "x", 0, udc, sizeof(udc), reason, sizeof(reason)));
	assert_string_equal(reason, "no USB device controller in /sys/class/udc within 0 s");
	root_add(root, "sys/class/udc/a600000.dwc3/state", "not attached\n");
	assert_false(gadget_start(root, "/config", "x", 0, udc, sizeof(udc), reason, sizeof(reason)));
	assert_string_equal(reason, "cannot make a USB serial gadget in configfs: No such file or directory");
	root_free(root);
}

static void the_bootloader_names_the_device(void **state)
{
	char *root = root_new(), serial[20];

	(void)state;
	gadget_serial(root, serial, sizeof(serial));
	assert_string_equal(serial, "memcg-ab");
	root_add(root, "proc/cmdline", "quiet androidboot.slot_suffix=_a\n");
	root_add(root, "proc/bootconfig", "androidboot.hardware = \"x\"\nandroidboot.serialno = \"BOOT1\"\n");
	gadget_serial(root, serial, sizeof(serial));
	assert_string_equal(serial, "BOOT1");
	root_add(root, "proc/cmdline", "quiet androidboot.serialno=CMD1 x\n");
	gadget_serial(root, serial, sizeof(serial));
	assert_string_equal(serial, "CMD1");
	root_free(root);
}

static void wait_for_text(const char *root, const char *path, const char *want)
{
	const long long deadline = node_clock_ms() + 10000;
	bool same = false;

	while (!same && node_clock_ms() < deadline) {
		char *text = sysfile_read(root, path, NULL);

		same = text && !strcmp(text, want);
		free(text);
		node_pause();
	}
	assert_true(same);
}

static void feeds_a_watchdog(void **state)
{
	char *root = root_new(), path[PATH_MAX], reason[200] = "untouched";
	struct watchdog watchdog;

	(void)state;
	root_add(root, "watchdog0", "");
	snprintf(path, sizeof(path), "%s/watchdog0", root);
	assert_true(watchdog_start(&watchdog, path, reason, sizeof(reason)));
	wait_for_text(root, "/watchdog0", "1");
	watchdog_stop(&watchdog);
	check_file(root, "/watchdog0", "1V");
	assert_int_equal(watchdog.feeder, 0);
	watchdog_stop(&watchdog);
	assert_string_equal(reason, "untouched");
	root_free(root);
}

/* An agent that dies says nothing to the watchdog, which then resets the device. */
static void a_dead_agent_feeds_no_more(void **state)
{
	char *root = root_new(), path[PATH_MAX], reason[200] = "";
	struct watchdog watchdog;
	int status;

	(void)state;
	root_add(root, "watchdog0", "");
	snprintf(path, sizeof(path), "%s/watchdog0", root);
	assert_true(watchdog_start(&watchdog, path, reason, sizeof(reason)));
	wait_for_text(root, "/watchdog0", "1");
	close(watchdog.end_fd);
	assert_int_equal(waitpid(watchdog.feeder, &status, 0), watchdog.feeder);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	check_file(root, "/watchdog0", "1");
	snprintf(path, sizeof(path), "%s/none", root);
	assert_false(watchdog_start(&watchdog, path, reason, sizeof(reason)));
	assert_non_null(strstr(reason, "none: No such file or directory"));
	watchdog_stop(&watchdog);
	root_free(root);
}

static const char *value_of(const struct records *records, const char *key)
{
	for (size_t i = 0; i < records->n; i++)
		if (!strcmp(records->items[i].name, key))
			return records->items[i].value;
	return NULL;
}

/* Everything that was asked for is told, what was not is not. */
static void tells_what_came_of_it(void **state)
{
	char *root = root_new(), text[400], reason[200] = "";
	struct records records = { 0 };
	struct chain chain = { 0 };
	struct conf conf;

	(void)state;
	root_add(root, "dev/watchdog0", "");
	root_add(root, "vendor/modules.load", "/none/a-b.ko\n");
	snprintf(text, sizeof(text), "version=1\nroot=%s\nchain=1\nmodules=/vendor\nwatchdog=watchdog0\n", root);
	assert_true(conf_parse(text, &conf, reason, sizeof(reason)));
	chain_start(&chain, &conf, true);
	chain_report(&chain, &records);
	chain_stop(&chain);
	assert_int_equal(records.n, 3);
	assert_string_equal(value_of(&records, "chain.modules"), "0 loaded, 1 failed, 0 on the blocklist");
	assert_string_equal(value_of(&records, "chain.failed"), "a_b: No such file or directory");
	assert_string_equal(value_of(&records, "chain.watchdog"), "fed");
	check_file(root, "/dev/watchdog0", "1V");
	records_deinit(&records);
	/* Not as pid 1: nothing is loaded. */
	chain = (struct chain){ 0 };
	chain_start(&chain, &conf, false);
	chain_report(&chain, &records);
	chain_stop(&chain);
	assert_int_equal(records.n, 1);
	assert_string_equal(records.items[0].name, "chain.watchdog");
	records_deinit(&records);
	conf_deinit(&conf);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_in_order),
		cmocka_unit_test(finds_the_release),
		cmocka_unit_test(many_failures),
		cmocka_unit_test(makes_a_gadget),
		cmocka_unit_test(says_why_there_is_no_gadget),
		cmocka_unit_test(the_bootloader_names_the_device),
		cmocka_unit_test(feeds_a_watchdog),
		cmocka_unit_test(a_dead_agent_feeds_no_more),
		cmocka_unit_test(tells_what_came_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
