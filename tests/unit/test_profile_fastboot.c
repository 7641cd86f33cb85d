/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles of real devices: fastboot, command, environment, units, and what a matrix says of them. */
#include "plan_data.h"

#define PHONE "kind: fastboot\nfastboot: {product: oriole, results: adb, userspace: android, slots: true}\n"

static struct lab *load_devices(void **state, const char *devices)
{
	free(write_file(state, "lab/profiles/phone.yaml", PHONE));
	free(write_file(state, "lab/profiles/ssh.yaml", "kind: command\ncommand: {boot: ./boot.sh}\n"));
	AUTO_FREE char *path = write_file(state, "lab/memcg-ab.yaml", devices);
	return load_lab(path, TEST_SHARE);
}

static void expect_errors(void **state, const char *devices, const char *want)
{
	struct lab *lab = (struct lab *)0x1;
	free(write_file(state, "lab/profiles/phone.yaml", PHONE));
	free(write_file(state, "lab/profiles/ssh.yaml", "kind: command\ncommand: {boot: ./boot.sh}\n"));
	AUTO_FREE char *path = write_file(state, "lab/memcg-ab.yaml", devices);
	struct error *error = lab_load(path, TEST_SHARE, &lab);
	assert_int_equal(error_exit_status(error), 2);
	assert_error_in(state, error, want);
	assert_ptr_equal(lab, (struct lab *)0x1);
}

static void has_defaults(void **state)
{
	struct lab *lab = load_devices(state, "devices: {phone: {}, ssh: {}}\n");
	const struct profile *phone = lab_device(lab, "phone")->profile;
	assert_int_equal(phone->kind, DEVICE_FASTBOOT);
	assert_string_equal(device_kind_name(phone->kind), "fastboot");
	assert_string_equal(phone->verified, "never");
	assert_int_equal(phone->cmdline_match, CMDLINE_CONTAINS);
	assert_true(phone->needs_image && !phone->stock && !phone->exact);
	assert_int_equal(phone->n_nuisances, 0);
	assert_true(phone->boot_timeout_ms == 300000 && phone->silence_timeout_ms == 300000 && phone->run_timeout_ms == 3600000);
	const struct fastboot_settings *fastboot = &phone->fastboot;
	assert_string_equal(fastboot->program, "fastboot");
	assert_string_equal(fastboot->adb_program, "adb");
	assert_string_equal(fastboot->mkbootimg, "mkbootimg");
	assert_null(fastboot->serial);
	assert_string_equal(fastboot_method_name(fastboot->method), "boot");
	assert_string_equal(userspace_name(fastboot->userspace), "android");
	assert_string_equal(results_name(fastboot->results), "adb");
	assert_string_equal(fastboot->start, "reboot");
	assert_string_equal(fastboot->partition, "boot");
	assert_string_equal(fastboot->cmdline_channel, "image");
	assert_string_equal(fastboot->vendor_modules, "/lib/modules");
	assert_int_equal(fastboot->console_baud, 115200);
	assert_true(fastboot->pmu && !fastboot->exact && fastboot->vbmeta == VBMETA_KEEP);
	assert_true(fastboot->layout.page_size == 4096 && fastboot->layout.kernel == KERNEL_RAW);
	assert_true(fastboot->timeouts.getvar_ms == 5000 && fastboot->timeouts.bytes_per_s == 2 << 20);
	assert_true(fastboot->timeouts.flash_ms == 120000 && fastboot->timeouts.up_ms == 180000);
	const struct environment *environment = &phone->environment;
	assert_null(environment->governor);
	assert_true(environment->offline && environment->swap && environment->thermal_wait_ms == 600000);
	/* Without units a device is its own only one. */
	assert_int_equal(lab_device(lab, "phone")->n_units, 1);
	assert_string_equal(lab_device(lab, "phone")->units[0].name, "");
	assert_ptr_equal(lab_device(lab, "phone")->units[0].profile, phone);
	const struct profile *ssh = lab_device(lab, "ssh")->profile;
	assert_string_equal(ssh->command.boot, "./boot.sh");
	assert_path(state, ssh->command.dir, "DIR/lab/profiles");
	assert_true(ssh->command.command_ms == 120000 && ssh->command.pmu && ssh->command.clock && !ssh->exact);
	lab_free(lab);
}

static void reads_every_key(void **state)
{
	struct lab *lab = load_devices(
		state,
		"devices:\n"
		"  phone:\n"
		"    verified: 2026-12-01 UP1A.231005.007\n"
		"    cmdline_match: words\n"
		"    fastboot:\n"
		"      {program: /opt/fastboot, adb_program: /opt/adb, mkbootimg: /opt/mk, serial: 'udp:127.0.0.1:5554', "
		"adb_serial: 0A1B,\n"
		"       usb: {hub: 1-2, port: '3'}, method: flash-inactive, start: continue, partition: boot, writable: "
		"[vendor_boot, dtbo],\n"
		"       known_good: good.img, stock: {boot: stock/boot.img, vendor_boot: /v.img, init_boot: i.img, vbmeta: "
		"m.img},\n"
		"       vbmeta: disable, layout: {header_version: 2, page_size: 2K, base: 0x40000000, kernel_offset: 0x80000,\n"
		"         ramdisk_offset: 16M, second_offset: 1, tags_offset: 256, dtb_offset: 32M, dtb: b.dtb, os_version: "
		"13.0.0,\n"
		"         os_patch_level: 2026-12, kernel: lz4, init_boot: true},\n"
		"       cmdline_channel: bootconfig, userspace: chained, vendor_modules: /lib/m, watchdog: /dev/watchdog0,\n"
		"       results: 'block:misc_ab', console: 'unix:run/uart', console_baud: 921600, mark_successful: true,\n"
		"       hooks: {on: on.sh, off: off.sh, cycle: c.sh, enter_fastboot: e.sh, read: r.sh},\n"
		"       modules: {nomemcg: {modules: ko, images: {vendor_boot: vb.img, dtbo: {file: d.img, logical: true}}}},\n"
		"       timeouts: {getvar: 1s, flash: 2s, command: 3s, fastboot: 4s, leave: 5s, up: 6s, adb: 7s, hook: 8s},\n"
		"       download_rate: 1M, pmu: false}\n"
		"    environment: {governor: performance, frequency: 1804000, offline: false, thermal: {below: 41.5, wait: "
		"3min},\n"
		"      stop: [perfd, vendor.thermal-hal], set: [/proc/sys/vm/x=1], setprop: [a.b=1], swap: false}\n"
		"  ssh:\n"
		"    command: {deploy: d, off: o, console: c, shell: ssh -p 22 root@b, check: k, version: v, timeout: 5s, exact: "
		"true}\n");
	const struct profile *phone = lab_device(lab, "phone")->profile;
	const struct fastboot_settings *f = &phone->fastboot;
	assert_string_equal(phone->verified, "2026-12-01 UP1A.231005.007");
	assert_int_equal(phone->cmdline_match, CMDLINE_WORDS);
	assert_string_equal(f->program, "/opt/fastboot");
	assert_string_equal(f->serial, "udp:127.0.0.1:5554");
	assert_string_equal(f->adb_serial, "0A1B");
	assert_string_equal(f->usb_hub, "1-2");
	assert_string_equal(f->usb_port, "3");
	assert_int_equal(f->method, FASTBOOT_METHOD_FLASH_INACTIVE);
	assert_string_equal(f->start, "continue");
	assert_int_equal(f->writable.n, 2);
	assert_path(state, f->known_good, "DIR/lab/good.img");
	assert_path(state, f->stock.boot, "DIR/lab/stock/boot.img");
	assert_string_equal(f->stock.vendor_boot, "/v.img");
	assert_int_equal(f->vbmeta, VBMETA_DISABLE);
	assert_int_equal(f->layout.header_version, 2);
	assert_true(f->layout.page_size == 2048 && f->layout.base == 0x40000000 && f->layout.kernel_offset == 0x80000);
	assert_true(f->layout.ramdisk_offset == 16 << 20 && f->layout.second_offset == 1 && f->layout.tags_offset == 256);
	assert_path(state, f->layout.dtb, "DIR/lab/b.dtb");
	assert_true(f->layout.kernel == KERNEL_LZ4 && f->layout.init_boot);
	assert_string_equal(f->cmdline_channel, "bootconfig");
	assert_int_equal(f->userspace, USERSPACE_CHAINED);
	assert_string_equal(f->watchdog, "/dev/watchdog0");
	assert_int_equal(f->results, RESULTS_BLOCK);
	assert_string_equal(f->results_partition, "misc_ab");
	assert_path(state, f->console, "unix:DIR/lab/run/uart");
	assert_string_equal(f->hooks.read, "r.sh");
	assert_path(state, f->hooks.dir, "DIR/lab");
	assert_int_equal(f->n_modules, 1);
	assert_string_equal(f->modules[0].config, "nomemcg");
	assert_path(state, f->modules[0].modules, "DIR/lab/ko");
	assert_path(state, f->modules[0].images[0].file, "DIR/lab/vb.img");
	assert_false(f->modules[0].images[0].logical);
	assert_string_equal(f->modules[0].images[1].partition, "dtbo");
	assert_true(f->modules[0].images[1].logical);
	assert_true(f->timeouts.leave_ms == 5000 && f->timeouts.hook_ms == 8000 && f->timeouts.bytes_per_s == 1 << 20);
	assert_false(f->pmu);
	const struct environment *e = &phone->environment;
	assert_string_equal(e->governor, "performance");
	assert_string_equal(e->frequency, "1804000");
	assert_true(!e->offline && !e->swap && e->thermal_below == 41.5 && e->thermal_wait_ms == 180000);
	assert_true(e->stop.n == 2 && e->set.n == 1 && e->setprop.n == 1);
	const struct profile *ssh = lab_device(lab, "ssh")->profile;
	assert_true(ssh->exact && !ssh->command.clock && ssh->n_nuisances == 1);
	assert_string_equal(ssh->command.shell, "ssh -p 22 root@b");
	/* The last file that names one of them says where all of them run. */
	assert_path(state, ssh->command.dir, "DIR/lab");
	lab_free(lab);
}

static void reports_mistakes_in_fastboot(void **state)
{
	expect_errors(
		state,
		"devices:\n"
		"  phone:\n"
		"    verified: yesterday\n"
		"    fastboot: {serail: x, method: flash, results: blok, console: COM1, partition: 'bo ot', writable: "
		"[vendor_boot, ''],\n"
		"      layout: {header_version: 5, page_size: 3000, dtb: x.dtb}, usb: {hub: 1-2}, console_baud: 1,\n"
		"      modules: {nomemcg: {modules: ko}}, timeouts: {getvar: 5}}\n"
		"    environment: {frequency: high, thermal: {below: 400}, stop: ['a b'], set: [/etc/passwd=1, x], setprop: "
		"[=1]}\n",
		"DIR/lab/memcg-ab.yaml:3:15: error: 'verified' must be never, or the date and the build with which the profile "
		"was seen to work (2026-12-01 memcg-ab 0.1.0), not 'yesterday'\n"
		"DIR/lab/memcg-ab.yaml:4:16: error: unknown key 'serail' in 'fastboot' (did you mean 'serial'?)\n"
		"DIR/lab/memcg-ab.yaml:4:35: error: 'method' of 'fastboot' must be one of boot, flash-inactive, flash-active, "
		"not 'flash'\n"
		"DIR/lab/memcg-ab.yaml:4:51: error: 'results' of 'fastboot' must be console, adb, usb-acm, pstore, "
		"pstore:PARTITION or block:PARTITION, not 'blok'\n"
		"DIR/lab/memcg-ab.yaml:4:66: error: 'console' of 'fastboot' must be none, a terminal such as /dev/ttyUSB0, or "
		"unix:PATH, not 'COM1'\n"
		"DIR/lab/memcg-ab.yaml:4:83: error: 'bo ot' is no name of a partition: letters, digits, '_', '-' and '.', at "
		"most 36\n"
		"DIR/lab/memcg-ab.yaml:4:102: error: '' is no name of a partition: letters, digits, '_', '-' and '.', at most "
		"36\n"
		"DIR/lab/memcg-ab.yaml:5:15: error: 'page_size' of 'layout' must be 2048, 4096, 8192 or 16384\n"
		"DIR/lab/memcg-ab.yaml:5:32: error: 'header_version' of 'layout' must be from 0 to 4, not 5\n"
		"DIR/lab/memcg-ab.yaml:5:57: error: a 'dtb' stands in boot images of header version 2 alone, not in version 0\n"
		"DIR/lab/memcg-ab.yaml:5:70: error: 'usb' needs 'port'\n"
		"DIR/lab/memcg-ab.yaml:5:96: error: 'console_baud' of 'fastboot' must be from 1200 to 4000000, not 1\n"
		"DIR/lab/memcg-ab.yaml:6:26: error: the module set of config 'nomemcg' needs 'images'\n"
		"DIR/lab/memcg-ab.yaml:6:61: error: 'getvar' of 'timeouts' of 'fastboot' must be a time such as 10s (units ms, "
		"s, min, h), not '5'\n"
		"DIR/lab/memcg-ab.yaml:7:30: error: 'frequency' of 'environment' must be max, mid, min or a number of kHz\n"
		"DIR/lab/memcg-ab.yaml:7:53: error: 'below' of 'thermal' must be from 0 to 150, not 400\n"
		"DIR/lab/memcg-ab.yaml:7:65: error: 'a b' in 'stop' of 'environment' is no name of a service\n"
		"DIR/lab/memcg-ab.yaml:7:79: error: '/etc/passwd=1' in 'set' of 'environment' must be PATH=VALUE, with a path in "
		"/proc, /sys or /dev\n"
		"DIR/lab/memcg-ab.yaml:7:79: error: 'x' in 'set' of 'environment' must be PATH=VALUE, with a path in /proc, /sys "
		"or /dev\n"
		"DIR/lab/memcg-ab.yaml:7:108: error: '=1' in 'setprop' of 'environment' must be NAME=VALUE\n");
}

static void reports_what_does_not_go_together(void **state)
{
	expect_errors(
		state,
		"devices:\n"
		"  phone:\n"
		"    image: stock\n"
		"    fastboot: {serial: x, slots: false, method: flash-inactive, exact: true, cmdline_channel: bootconfig,\n"
		"      modules: {c: {modules: ko, images: {vendor_dlkm: v.img}}}}\n",
		"DIR/lab/memcg-ab.yaml:4:15: error: 'method: flash-inactive' needs 'slots: true'\n"
		"DIR/lab/memcg-ab.yaml:4:15: error: 'method: flash-inactive' needs 'known_good', the boot image that is put "
		"back\n"
		"DIR/lab/memcg-ab.yaml:4:15: error: 'image: stock' needs 'boot' in 'stock', the image that the device came with\n"
		"DIR/lab/memcg-ab.yaml:4:15: error: 'exact' and 'userspace: android' exclude each other: Android never does the "
		"same twice\n"
		"DIR/lab/memcg-ab.yaml:4:15: error: partition 'vendor_dlkm' has an image of modules, but is not in 'writable' of "
		"'fastboot'\n"
		"DIR/lab/memcg-ab.yaml:4:15: error: 'cmdline_channel: bootconfig' writes vendor_boot, which is not in 'writable' "
		"of 'fastboot'\n");
	free(write_file(state, "lab/profiles/bare.yaml", "kind: fastboot\nfastboot: {serial: x}\n"));
	expect_errors(
		state,
		"devices:\n"
		"  bare: {}\n"
		"  adb: {profile: bare, fastboot: {product: p, results: adb}}\n"
		"  acm: {profile: bare, fastboot: {product: p, results: usb-acm}}\n"
		"  kept: {profile: bare, fastboot: {product: p, results: pstore}}\n"
		"  none: {profile: phone, image: none}\n"
		"  own: {profile: ssh, image: stock, command: {exact: true, clock: true}}\n"
		"  blind: {profile: ssh, command: {pmu: false, clock: false}}\n"
		"  other: {profile: ssh, fastboot: {}}\n",
		"DIR/lab/memcg-ab.yaml:3:34: error: 'results: adb' needs 'userspace: android'\n"
		"DIR/lab/memcg-ab.yaml:4:34: error: 'results: usb-acm' needs 'userspace: chained', which brings up the gadget\n"
		"DIR/lab/memcg-ab.yaml:5:35: error: 'results: pstore' needs a way to what the device has kept: 'read' in "
		"'hooks', or the known-good kernel's 'adb_serial' or 'console'\n"
		"DIR/lab/memcg-ab.yaml:6:33: error: a device of kind 'fastboot' boots a kernel: 'image' cannot be 'none'\n"
		"DIR/lab/memcg-ab.yaml:7:30: error: 'image: stock' is for devices of kind 'fastboot', whose own kernel is "
		"measured\n"
		"DIR/lab/memcg-ab.yaml:7:46: error: 'clock' and 'exact' of 'command' exclude each other: no time repeats itself\n"
		"DIR/lab/memcg-ab.yaml:8:34: error: a device without 'pmu' and without 'clock' measures nothing\n"
		"DIR/lab/memcg-ab.yaml:9:35: error: 'fastboot' has no meaning for a device of kind 'command'\n"
		"DIR/lab/profiles/bare.yaml:2:11: error: a device of kind 'fastboot' needs 'product' in 'fastboot': what "
		"`fastboot getvar product` says\n"
		"DIR/lab/profiles/bare.yaml:2:11: error: 'results: console' needs a 'console'\n");
}

static void units_are_equal_but_for_where_they_are(void **state)
{
	struct lab *lab = load_devices(state, "devices:\n"
					      "  phone:\n"
					      "    fastboot: {stock: {boot: b.img}}\n"
					      "    units:\n"
					      "      left: {fastboot: {serial: L, hooks: {cycle: c 1}}}\n"
					      "      right: {fastboot: {serial: R, console: /dev/ttyUSB0}}\n");
	const struct device *device = lab_device(lab, "phone");
	assert_int_equal(device->n_units, 2);
	assert_string_equal(device->units[0].name, "left");
	assert_string_equal(device->units[0].profile->fastboot.serial, "L");
	assert_string_equal(device->units[1].profile->fastboot.console, "/dev/ttyUSB0");
	assert_string_equal(device->units[0].profile->digest, device->units[1].profile->digest);
	assert_string_equal(device->profile->digest, device->units[1].profile->digest);
	lab_free(lab);
	expect_errors(
		state,
		"devices:\n"
		"  phone:\n"
		"    fastboot: {stock: {boot: b.img}}\n"
		"    units:\n"
		"      left: {fastboot: {serial: L, product: raven}}\n"
		"      ri ght: {fastboot: {serial: R}, environment: {governor: powersave}}\n",
		"DIR/lab/memcg-ab.yaml:5:7: error: units of one device must be equal but for where they are (serials, console, "
		"hooks): unit 'left' of device 'phone' has other settings that change numbers; make it a device of its own\n"
		"DIR/lab/memcg-ab.yaml:6:7: error: 'ri ght' cannot be the name of a unit: names are made of letters, digits, "
		"'_', '.', '+' and '-', and begin with a letter, a digit or '_'\n"
		"DIR/lab/memcg-ab.yaml:6:7: error: units of one device must be equal but for where they are (serials, console, "
		"hooks): unit 'ri ght' of device 'phone' has other settings that change numbers; make it a device of its own\n");
}

static void digest_is_of_what_changes_numbers(void **state)
{
	static const struct {
		const char *settings;
		bool changes;
	} cases[] = {
		{ "{}", false },
		{ "{verified: 2026-12-01 x}", false },
		{ "{fastboot: {serial: x, stock: {boot: b.img}}}", true },
		{ "{fastboot: {console: /dev/ttyS0, console_baud: 9600}}", false },
		{ "{fastboot: {hooks: {on: x}, usb: {hub: 1, port: 2}}}", false },
		{ "{fastboot: {timeouts: {up: 1s}}, timeouts: {boot: 2s}}", false },
		{ "{fastboot: {known_good: x}}", false },
		{ "{fastboot: {product: raven}}", true },
		{ "{fastboot: {pmu: false}}", true },
		{ "{fastboot: {layout: {base: 1M}}}", true },
		{ "{fastboot: {layout: {kernel: gzip}}}", true },
		{ "{image: stock}", true },
		{ "{environment: {governor: performance}}", true },
		{ "{environment: {frequency: max}}", true },
		{ "{environment: {offline: false}}", true },
		{ "{environment: {thermal: {below: 40}}}", true },
		{ "{environment: {stop: x}}", true },
		{ "{environment: {set: /proc/x=1}}", true },
		{ "{environment: {setprop: a=1}}", true },
		{ "{environment: {swap: false}}", true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *devices =
			xasprintf("devices: {a: {profile: phone}, b: {profile: phone, %s}\n", cases[i].settings + 1);
		struct lab *lab = load_devices(state, devices);
		bool changes = strcmp(lab->devices[0].profile->digest, lab->devices[1].profile->digest) != 0;
		if (changes != cases[i].changes)
			fail_msg("%s: digest %s", cases[i].settings, changes ? "changed" : "is the same");
		lab_free(lab);
	}
}

/* Another stock image at the same path is another device; the same one elsewhere is not. */
static void digest_is_of_the_stock_image(void **state)
{
	static const char *const contents[] = { "one", "two" };
	char *digests[3] = { NULL, NULL, NULL };
	for (size_t i = 0; i < 3; i++) {
		free(write_file(state, i < 2 ? "lab/b.img" : "lab/c.img", contents[i % 2]));
		struct lab *lab = load_devices(state, i < 2 ? "devices: {phone: {fastboot: {stock: {boot: b.img}}}}\n"
							    : "devices: {phone: {fastboot: {stock: {boot: c.img}}}}\n");
		digests[i] = xstrdup(lab->devices[0].profile->digest);
		lab_free(lab);
	}
	assert_string_not_equal(digests[0], digests[1]);
	assert_string_equal(digests[0], digests[2]);
	for (size_t i = 0; i < 3; i++)
		free(digests[i]);
}

#define STOCK_LAB                                                                                                                \
	"devices:\n"                                                                                                             \
	"  phone: {image: stock, fastboot: {serial: x, stock: {boot: b.img}}}\n"                                                 \
	"  lost: {profile: phone, fastboot: {serial: x, known_good: no.img, stock: {boot: gone.img}}}\n"                         \
	"  nowhere: {profile: phone}\n"                                                                                          \
	"  pair: {profile: phone, fastboot: {stock: {boot: b.img}}, units: {a: {fastboot: {serial: x}}, b: {}}}\n"               \
	"  qemu: {profile: quiet}\n"

static struct lab *load_stock(void **state)
{
	free(write_file(state, "lab/b.img", "boot"));
	free(write_file(state, "lab/profiles/quiet.yaml", "kind: qemu\nqemu: {cpu: max}\n"));
	return load_devices(state, STOCK_LAB);
}

static void stock_needs_command_lines_alone(void **state)
{
	struct lab *lab = load_stock(state);
	AUTO_FREE char *path = write_file(
		state, "m.yaml",
		"name: first\ncmdline: {plain: '', disabled: cgroup_disable=memory}\n"
		"matrix: [{cmdline: all}]\ndevices: [{device: phone, cores: 4-7}]\nworkloads: {pft: {}}\nmeasure: {blocks: 2}\n");
	struct matrix *matrix = load_matrix(path, lab);
	struct plan *plan = expand(matrix, NULL);
	assert_int_equal(plan->n_images, 0);
	assert_int_equal(plan->n_variants, 2);
	assert_string_equal(plan->variants[0].name, "stock/plain/0");
	assert_string_equal(plan->variants[1].name, "stock/disabled/0");
	assert_int_equal(plan->rows[0].image, -1);
	assert_string_equal(plan->rows[1].booted_cmdline, "cgroup_disable=memory");
	assert_string_equal(matrix->targets[0].cores, "4-7");
	plan_free(plan);
	matrix_free(matrix);
	lab_free(lab);
}

static void expect_matrix_errors(void **state, const char *text, const char *want)
{
	struct lab *lab = load_stock(state);
	free(write_file(state, "s/series", ""));
	AUTO_FREE char *path = write_file(state, "m.yaml", text);
	struct matrix *matrix = (struct matrix *)0x1;
	assert_error_in(state, matrix_load(path, lab, &matrix), want);
	assert_ptr_equal(matrix, (struct matrix *)0x1);
	lab_free(lab);
}

static void stock_refuses_what_it_cannot_have(void **state)
{
	expect_matrix_errors(state,
			     "name: x\nkernel: {prebuilt: {image: b.img}}\ncmdline: {plain: ''}\n"
			     "matrix: [{cmdline: plain}]\ndevices: [phone]\nworkloads: {pft: {}}\n",
			     "DIR/m.yaml:2:1: error: device 'phone' boots its own kernel ('image: stock'): leave 'kernel' out, "
			     "or measure the devices that need it in a matrix of their own\n"
			     "DIR/m.yaml:2:28: error: 'image' of 'prebuilt': there is no file DIR/b.img\n");
	expect_matrix_errors(state,
			     "name: x\nconfig: {nomemcg: {MEMCG: n}}\ncmdline: {plain: ''}\npatches: {p: {series: s}}\n"
			     "matrix: [{cmdline: plain, patches: p}]\ndevices: [phone]\nworkloads: {pft: {}}\n",
			     "DIR/m.yaml:2:10: error: device 'phone' boots its own kernel ('image: stock'): config 'nomemcg' "
			     "cannot change it\n"
			     "DIR/m.yaml:5:10: error: device 'phone' boots its own kernel ('image: stock'): no patches can be "
			     "applied to it\n");
}

static void a_used_device_is_somewhere(void **state)
{
	expect_matrix_errors(
		state,
		"name: x\ncmdline: {plain: ''}\nmatrix: [{cmdline: plain}]\nworkloads: {pft: {}}\n"
		"devices: [nowhere, lost, pair, {device: qemu, cores: big}, {device: phone, cores: 4-}]\n",
		"DIR/lab/memcg-ab.yaml:3:3: error: device 'lost': 'known_good' DIR/lab/no.img cannot be read: No such file or "
		"directory\n"
		"DIR/lab/memcg-ab.yaml:3:3: error: device 'lost': 'boot' of 'stock' DIR/lab/gone.img cannot be read: No such "
		"file or directory\n"
		"DIR/m.yaml:1:1: error: the matrix needs 'kernel' (or 'kernels', several by name)\n"
		"DIR/m.yaml:1:1: error: the matrix needs 'config': names and their options, such as {nomemcg: {MEMCG: n}}\n"
		"DIR/m.yaml:5:11: error: device 'nowhere' has no 'serial' in 'fastboot': say in the lab file which one it is\n"
		"DIR/lab/memcg-ab.yaml:4:3: note: declared here\n"
		"DIR/m.yaml:5:26: error: device 'pair', unit 'b' has no 'serial' in 'fastboot': say in the lab file which one it "
		"is\n"
		"DIR/lab/memcg-ab.yaml:5:96: note: declared here\n"
		"DIR/m.yaml:5:54: error: device 'qemu' has cores of one kind: 'cores' can only be 'all'\n"
		"DIR/m.yaml:5:83: error: 'cores' must be all, big, mid, little or a list such as 4-7, not '4-'\n");
}

static void shipped_profiles_load(void **state)
{
	AUTO_FREE char *path = write_file(state, "lab/memcg-ab.yaml",
					  "devices: {generic-gki: {}, generic-fastboot-board: {}, pixel-biglittle: {}}\n");
	struct lab *lab = load_lab(path, ".");
	for (size_t i = 0; i < lab->n_devices; i++) {
		const struct profile *profile = lab->devices[i].profile;
		assert_int_equal(profile->kind, DEVICE_FASTBOOT);
		assert_string_equal(profile->verified, "never");
		assert_null(profile->fastboot.serial);
		assert_int_equal(profile->fastboot.method, FASTBOOT_METHOD_BOOT);
		assert_int_equal(profile->fastboot.vbmeta, VBMETA_KEEP);
		assert_int_equal(profile->fastboot.writable.n, 0);
	}
	const struct profile *pixel = lab_device(lab, "pixel-biglittle")->profile;
	assert_string_equal(pixel->environment.frequency, "mid");
	assert_int_equal(pixel->environment.setprop.n, 3);
	lab_free(lab);
	/* Without a lab file no one says which phone: they are left out. */
	lab = load_lab(NULL, ".");
	assert_null(lab_device(lab, "generic-gki"));
	assert_non_null(lab_device(lab, "qemu-virt"));
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_defaults),
		cmocka_unit_test(reads_every_key),
		cmocka_unit_test(reports_mistakes_in_fastboot),
		cmocka_unit_test(reports_what_does_not_go_together),
		cmocka_unit_test(units_are_equal_but_for_where_they_are),
		cmocka_unit_test(digest_is_of_what_changes_numbers),
		cmocka_unit_test(digest_is_of_the_stock_image),
		cmocka_unit_test(stock_needs_command_lines_alone),
		cmocka_unit_test(stock_refuses_what_it_cannot_have),
		cmocka_unit_test(a_used_device_is_somewhere),
		cmocka_unit_test(shipped_profiles_load),
	};
	return cmocka_run_group_tests(tests, plan_setup, workdir_teardown);
}
