/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sits at a USB port, from sysfs (/sys/bus/usb/devices: Documentation/ABI of the kernel): no library, no permission, nothing sent. */
#ifndef DEVICE_USB_H
#define DEVICE_USB_H

#include "base/error.h"

#define USB_SYSFS "/sys/bus/usb/devices"

enum usb_kind {
	USB_NONE, /* nothing is there */
	USB_FASTBOOT, /* an interface of class ff/42/03 */
	USB_ADB, /* ff/42/01 */
	USB_ACM, /* a serial port (02/02) */
	USB_RAMDUMP, /* a chip's own loader: it dumps memory, or waits for a first program (ids, see usb.c) */
	USB_OTHER,
};
const char *usb_kind_name(enum usb_kind kind); /* "nothing", "fastboot", "adb", "serial port", "ram dump", "something else" */

struct usb_device {
	char name[64]; /* the port's path: "1-2.4" */
	enum usb_kind kind;
	unsigned vendor, product;
};

/* True when a fastboot serial names a device of USB (and none of the network). */
bool usb_is_serial(const char *serial);
/*
 * Finds the device of that port (`name`, if not NULL or ""), else of that serial (a serial number, or usb:PATH). False when there is none; then
 * `device_out` has USB_NONE and, where it was given, the name. `sysfs`: USB_SYSFS.
 */
bool usb_find(const char *sysfs, const char *name, const char *serial, struct usb_device *device_out);
/* The terminal (/dev/ttyACM0) of the serial port that the device `name` offers, or NULL; the caller frees. `class_tty`: /sys/class/tty. */
char *usb_terminal(const char *class_tty, const char *name);
/* Takes the device's authorization away and gives it back, which resets it. ERROR_LAB when it may not be written. */
struct error *usb_reset(const char *sysfs, const char *name) MUST_CHECK;

#endif
