/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a profile says of real devices: those that are flashed over fastboot, and those that the user's own commands drive. */
#ifndef PLAN_PROFILE_DEVICE_H
#define PLAN_PROFILE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* How /proc/cmdline must show the command line that was asked for. */
enum cmdline_match {
	CMDLINE_EXACT, /* nothing else stands there */
	CMDLINE_CONTAINS, /* it stands there in one piece, between blanks: a bootloader adds its own */
	CMDLINE_WORDS, /* each word of it stands there somewhere, perhaps in quotes (bootconfig) */
};

/* What is kept quiet on a device with more than one core or its own userspace; all of it is read back and restored. */
struct environment {
	char *governor; /* "performance"; NULL = left alone */
	char *frequency; /* "max", "min", "mid" (the middle of those offered) or kHz; NULL = left alone */
	char *cores; /* the target's class, not of the profile: "all", "big", "mid", "little", or a list "4-7" */
	bool offline; /* take the other cores offline, where that can be done; else affinity alone. Default true */
	double thermal_below; /* degrees Celsius that every zone must be under before a workload; 0 = not waited for */
	int64_t thermal_wait_ms; /* how long that may take; default 10 min */
	struct strlist stop; /* services, stopped and started again: Android's init, or systemd */
	struct strlist set; /* "PATH=VALUE": further files of /proc and /sys */
	struct strlist setprop; /* "NAME=VALUE": Android properties */
	bool swap; /* leave swap on; default true: swap off would change what the kernel does */
};
/* Does it ask for anything that is not so by default? */
bool environment_asks(const struct environment *environment);

enum fastboot_method { FASTBOOT_METHOD_BOOT, FASTBOOT_METHOD_FLASH_INACTIVE, FASTBOOT_METHOD_FLASH_ACTIVE };
const char *fastboot_method_name(enum fastboot_method method); /* "boot", "flash-inactive", "flash-active" */
enum userspace { USERSPACE_BARE, USERSPACE_CHAINED, USERSPACE_ANDROID };
const char *userspace_name(enum userspace userspace); /* "bare", "chained", "android" */
enum results { RESULTS_CONSOLE, RESULTS_ADB, RESULTS_USB_ACM, RESULTS_PSTORE, RESULTS_BLOCK };
const char *results_name(enum results results); /* "console", "adb", "usb-acm", "pstore", "block" */

/*
 * Commands of the user's, run by /bin/sh -c, with MEMCG_AB_DEVICE and MEMCG_AB_SERIAL in their environment and in the folder of the file
 * that names them; each within timeouts.hook_ms. NULL = there is none.
 */
struct hooks {
	char *on, *off, *cycle; /* power; cycle defaults to off, then on */
	char *enter_fastboot; /* with keys held, or a console's command */
	char *read; /* prints the bytes of the results partition or the pstore record that MEMCG_AB_PARTITION names */
	char *dir; /* where they run: the folder of the file that names the last of them */
};

enum kernel_compression { KERNEL_RAW, KERNEL_GZIP, KERNEL_LZ4 };

/* How a boot image of ours is made. Sizes and offsets in bytes. */
struct boot_layout {
	unsigned header_version; /* 0 to 4 */
	uint64_t page_size; /* v0 to v2 */
	uint64_t base, kernel_offset, ramdisk_offset, second_offset, tags_offset, dtb_offset; /* v0 to v2 */
	char *dtb; /* file, v2; NULL = none */
	char *os_version, *os_patch_level; /* NULL = as in the stock image, else none */
	enum kernel_compression kernel; /* default raw */
	bool init_boot; /* the generic ramdisk is in init_boot, boot has none */
};

/* The good files of the device itself. NULL = not given. */
struct stock_images {
	char *boot, *vendor_boot, *init_boot, *vbmeta;
};

enum vbmeta_policy { VBMETA_KEEP, VBMETA_DISABLE };

struct module_image {
	char *partition, *file;
	bool logical; /* in super: flashed through fastbootd */
};

/* Modules that were built with the kernel of one config, and the partitions that hold them. */
struct module_set {
	char *config; /* the matrix' config that it was built for */
	char *modules; /* folder with its *.ko, compared with the kernel before anything is written */
	struct module_image *images;
	size_t n_images;
};

struct fastboot_timeouts {
	int64_t getvar_ms; /* default 5 s */
	uint64_t bytes_per_s; /* slowest download; its deadline is size / rate + 6 * getvar_ms (30 s). Default 2M */
	int64_t flash_ms; /* writing one partition; default 120 s */
	int64_t command_ms; /* boot, reboot, continue, set_active; default 15 s */
	int64_t fastboot_ms; /* until the device is back in fastboot; default 60 s */
	int64_t leave_ms; /* until it has left it; default 20 s */
	int64_t up_ms; /* until Android is up (adb, boot completed); default 180 s */
	int64_t adb_ms; /* one adb call; default 30 s */
	int64_t hook_ms; /* default 60 s */
};

struct fastboot_settings {
	char *program, *adb_program, *mkbootimg; /* "fastboot", "adb", "mkbootimg" */
	char *serial; /* what fastboot -s takes: a serial number, usb:PATH, udp:HOST:PORT, tcp:HOST:PORT */
	char *adb_serial; /* NULL = the same as `serial` */
	char *product; /* what `getvar product` must say */
	char *usb_hub, *usb_port; /* uhubctl -l HUB -p PORT; NULL = the port is never switched */
	enum fastboot_method method;
	bool slots; /* it has slots a and b */
	char *start; /* how a flashed kernel is started: "continue" or "reboot" (default) */
	char *partition; /* what boots: "boot" (default) */
	struct strlist
		writable; /* partitions that may be written besides it; what fastboot_forbidden() names is refused here too */
	char *known_good; /* boot image that is proved to boot before anything else, and is put back at the end */
	struct stock_images stock;
	enum vbmeta_policy vbmeta;
	struct boot_layout layout;
	char *cmdline_channel; /* "image" (default): the boot image's field; "bootconfig": kernel.* in the known v4 vendor_boot */
	enum userspace userspace;
	char *vendor_modules; /* chained: folder in the ramdisk with modules.load; default /lib/modules */
	char *watchdog; /* chained: device that is fed; NULL = none */
	enum results results;
	char *results_partition; /* block: its name; pstore: the partition that the known-good kernel's agent copies them to, or NULL */
	char *console; /* "none", a terminal device, or unix:PATH; NULL = none */
	unsigned console_baud; /* of a terminal; default 115200 */
	bool mark_successful; /* after a good boot, through bootctl or qbootctl, else set_active before each boot */
	struct hooks hooks;
	struct module_set *modules;
	size_t n_modules;
	struct fastboot_timeouts timeouts;
	bool exact; /* QEMU under icount behind it; default false */
	bool pmu; /* count instructions; default true: a device without a PMU refuses, and says so */
};

/*
 * A device that the user's commands drive. Each is run by /bin/sh -c in the folder of the file that names it, with MEMCG_AB_DEVICE,
 * MEMCG_AB_VARIANT, MEMCG_AB_KERNEL (the Image), MEMCG_AB_INITRD (our ramdisk: agent as /init, settings in it), MEMCG_AB_CMDLINE,
 * MEMCG_AB_AGENT, MEMCG_AB_SETTINGS (agent and settings as files, for a shell device), MEMCG_AB_MEMORY (bytes of RAM that the block's nuisance
 * asks for, or nothing) and MEMCG_AB_DIR (private to this boot).
 */
struct command_settings {
	char *deploy; /* puts kernel, ramdisk and command line where the device takes them; NULL = nothing to do */
	char *boot; /* starts it; may go on running until the device is off. What it leaves in its process group ends with the boot */
	char *off; /* switches it off; NULL = `boot` is stopped */
	char *console; /* its standard output is the console, from before `boot` on; NULL = `boot`'s is */
	char *shell; /* runs the command in its last argument on the device ("ssh -p 2222 root@board"); agent and settings go there through its
	                standard input, records come back on its standard output. NULL = the agent is /init and the console has the records */
	char *check, *version; /* prove that the device can be used; tell what it is. NULL = none */
	char *dir; /* where they run: the folder of the file that names them */
	int64_t command_ms; /* deploy, off, check, version; default 120 s */
	bool exact; /* default false */
	bool pmu; /* default true */
	bool clock; /* its clock is a metric; default: where it is not exact */
};

#endif
