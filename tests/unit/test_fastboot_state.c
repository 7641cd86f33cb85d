/* SPDX-License-Identifier: GPL-3.0-or-later */
/* States from evidence, and what sysfs says of a USB port. */
#include "unit.h"
#include "workdir.h"

#include "device/fastboot_parts.h"

struct row {
	struct device_evidence evidence;
	enum device_state state;
	const char *text;
};

static void test_states(void **state)
{
	static const struct row rows[] = {
		{ { .on_usb = true }, STATE_OFF, "usb: nothing, getvar does not answer" },
		{ { .on_usb = false }, STATE_OFF, "getvar does not answer" },
		{ { .on_usb = true, .usb = USB_FASTBOOT, .answers = true },
		  STATE_FASTBOOT,
		  "usb: fastboot, getvar answers, is-userspace no" },
		{ { .answers = true, .userspace = true }, STATE_FASTBOOTD, "getvar answers, is-userspace yes" },
		/* A client that hears nothing from what sysfs shows: hung, not off. */
		{ { .on_usb = true, .usb = USB_FASTBOOT }, STATE_HUNG, "usb: fastboot, getvar does not answer" },
		{ { .waited_ms = 10, .limit_ms = 100 }, STATE_BOOTING, "getvar does not answer" },
		{ { .waited_ms = 100, .limit_ms = 100 }, STATE_HUNG, "getvar does not answer" },
		{ { .on_usb = true, .usb = USB_RAMDUMP, .waited_ms = 10, .limit_ms = 100 },
		  STATE_RAMDUMP,
		  "usb: ram dump, getvar does not answer" },
		{ { .adb_asked = true, .adb = ADB_DEVICE, .completed = true },
		  STATE_UP,
		  "getvar does not answer, adb: device, boot completed" },
		{ { .adb_asked = true, .adb = ADB_DEVICE, .waited_ms = 10, .limit_ms = 100 },
		  STATE_BOOTING,
		  "getvar does not answer, adb: device" },
		{ { .adb_asked = true, .adb = ADB_OFFLINE }, STATE_HUNG, "getvar does not answer, adb: offline" },
		{ { .adb_asked = true, .adb = ADB_ABSENT }, STATE_OFF, "getvar does not answer, adb: absent" },
		{ { .hello = true }, STATE_UP, "getvar does not answer, the agent spoke" },
		{ { .hello = true, .wrong = true },
		  STATE_UP_WRONG,
		  "getvar does not answer, the agent spoke from another kernel" },
		{ { .panic = true, .waited_ms = 10, .limit_ms = 100 },
		  STATE_CRASHED,
		  "getvar does not answer, the kernel panicked" },
		/* It crashed and is back: what it is in now counts. */
		{ { .panic = true, .answers = true }, STATE_FASTBOOT, "getvar answers, is-userspace no, the kernel panicked" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_FREE char *text = device_evidence_text(&rows[i].evidence);
		assert_string_equal(device_state_name(device_state_judge(&rows[i].evidence)), device_state_name(rows[i].state));
		assert_string_equal(text, rows[i].text);
	}
}

static void put(const struct workdir *dir, const char *path, const char *text)
{
	AUTO_FREE char *full = path_join(dir->path, path);
	AUTO_FREE char *folder = path_dirname(full);

	assert_ok(file_mkdirs(folder));
	assert_ok(file_write_atomic(full, text, strlen(text), 0644));
}

static void put_interface(const struct workdir *dir, const char *name, const char *class, const char *subclass,
			  const char *protocol)
{
	AUTO_FREE char *class_path = xasprintf("usb/%s/bInterfaceClass", name);
	AUTO_FREE char *subclass_path = xasprintf("usb/%s/bInterfaceSubClass", name);
	AUTO_FREE char *protocol_path = xasprintf("usb/%s/bInterfaceProtocol", name);

	put(dir, class_path, class);
	put(dir, subclass_path, subclass);
	put(dir, protocol_path, protocol);
}

static void test_usb(void **state)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *sysfs = path_join(dir->path, "usb");
	struct usb_device device;

	put(dir, "usb/1-2/serial", "PHONE1\n");
	put(dir, "usb/1-2/idVendor", "18d1\n");
	put(dir, "usb/1-2/idProduct", "4ee0\n");
	put_interface(dir, "1-2:1.0", "ff\n", "42\n", "03\n");
	put(dir, "usb/1-3/serial", "PHONE2\n");
	put(dir, "usb/1-3/idVendor", "18d1\n");
	put(dir, "usb/1-3/idProduct", "4ee7\n");
	put_interface(dir, "1-3:1.0", "08\n", "06\n", "50\n");
	put_interface(dir, "1-3:1.1", "ff\n", "42\n", "01\n");
	put(dir, "usb/1-4/idVendor", "05c6\n");
	put(dir, "usb/1-4/idProduct", "900e\n");

	assert_true(usb_find(sysfs, NULL, "PHONE1", &device));
	assert_string_equal(device.name, "1-2");
	assert_int_equal(device.kind, USB_FASTBOOT);
	assert_int_equal(device.vendor, 0x18d1);
	assert_true(usb_find(sysfs, "", "usb:1-3", &device));
	assert_int_equal(device.kind, USB_ADB);
	/* A ram dump tells no serial: the port that the phone was seen at does. */
	assert_true(usb_find(sysfs, "1-4", "PHONE1", &device));
	assert_int_equal(device.kind, USB_RAMDUMP);
	assert_false(usb_find(sysfs, NULL, "PHONE3", &device));
	assert_int_equal(device.kind, USB_NONE);
	assert_false(usb_find(sysfs, "1-9", "PHONE1", &device));
	assert_string_equal(device.name, "1-9");
	assert_true(usb_is_serial("PHONE1") && usb_is_serial("usb:1-2") && !usb_is_serial("udp:h:1") && !usb_is_serial("tcp:h"));
}

static void test_usb_terminal_and_reset(void **state)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *tty = path_join(dir->path, "tty");
	AUTO_FREE char *sysfs = path_join(dir->path, "usb");
	AUTO_FREE char *link = path_join(dir->path, "tty/ttyACM3/device");
	AUTO_FREE char *target = path_join(dir->path, "devices/1-2/1-2:1.0");
	AUTO_FREE char *authorized = path_join(dir->path, "usb/1-2/authorized");
	AUTO_STRBUF text = STRBUF_INIT;

	assert_ok(file_mkdirs(target));
	put(dir, "tty/ttyACM3/dev", "166:3\n");
	put(dir, "tty/ttyS0/dev", "4:64\n");
	assert_int_equal(symlink(target, link), 0);
	AUTO_FREE char *found = usb_terminal(tty, "1-2");
	assert_string_equal(found, "/dev/ttyACM3");
	assert_null(usb_terminal(tty, "1-3"));
	put(dir, "usb/1-2/authorized", "9");
	assert_ok(usb_reset(sysfs, "1-2"));
	assert_ok(file_read(authorized, &text));
	assert_string_equal(strbuf_str(&text), "1");
	AUTO_FREE char *wanted =
		xasprintf("memcg-ab: error: cannot reset the USB device 1-9 by %s/1-9/authorized: No such file or directory\n",
			  sysfs);
	assert_error(usb_reset(sysfs, "1-9"), wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test_setup_teardown(test_usb, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_usb_terminal_and_reset, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
