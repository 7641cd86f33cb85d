/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/usb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Qualcomm's ram dump (900e, 9091) and emergency download (9008); MediaTek's boot ROM and preloader. */
static const struct {
	unsigned vendor, product;
} loaders[] = { { 0x05c6, 0x900e }, { 0x05c6, 0x9091 }, { 0x05c6, 0x9008 },
		{ 0x0e8d, 0x0003 }, { 0x0e8d, 0x2000 }, { 0x0e8d, 0x20ff } };

const char *usb_kind_name(enum usb_kind kind)
{
	static const char *const names[] = { "nothing", "fastboot", "adb", "serial port", "ram dump", "something else" };

	return names[kind];
}

bool usb_is_serial(const char *serial)
{
	return serial && !str_starts(serial, "udp:") && !str_starts(serial, "tcp:");
}

/* A file of a device without white space at its ends; NULL when there is none. */
static char *read_attribute(const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR error = file_read(path, &text);

	if (error)
		return NULL;
	AUTO_FREE char *copy = strbuf_steal(&text);
	return xstrdup(str_trim(copy));
}

static unsigned read_hex(const char *folder, const char *name)
{
	AUTO_FREE char *text = read_attribute(folder, name);

	return text ? (unsigned)strtoul(text, NULL, 16) : 0;
}

static enum usb_kind interface_kind(const char *folder)
{
	unsigned class = read_hex(folder, "bInterfaceClass"), subclass = read_hex(folder, "bInterfaceSubClass"),
		 protocol = read_hex(folder, "bInterfaceProtocol");

	if (class == 0xff && subclass == 0x42)
		return protocol == 3 ? USB_FASTBOOT : protocol == 1 ? USB_ADB : USB_OTHER;
	return class == 2 && subclass == 2 ? USB_ACM : USB_OTHER;
}

/* The most telling of its interfaces, which are folders NAME:CONFIGURATION.NUMBER beside it. */
static enum usb_kind device_kind_of(const char *sysfs, const struct strlist *names, const struct usb_device *device)
{
	AUTO_FREE char *prefix = xasprintf("%s:", device->name);
	enum usb_kind kind = USB_OTHER;

	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++)
		if (device->vendor == loaders[i].vendor && device->product == loaders[i].product)
			return USB_RAMDUMP;
	for (size_t i = 0; i < names->n; i++) {
		AUTO_FREE char *folder = path_join(sysfs, names->items[i]);
		enum usb_kind found = str_starts(names->items[i], prefix) ? interface_kind(folder) : USB_OTHER;
		if (found < kind)
			kind = found;
	}
	return kind;
}

static bool is_wanted(const char *folder, const char *entry, const char *name, const char *serial)
{
	if (strchr(entry, ':'))
		return false;
	if (name && *name)
		return !strcmp(entry, name);
	if (str_starts(serial, "usb:"))
		return !strcmp(entry, serial + strlen("usb:"));
	AUTO_FREE char *found = read_attribute(folder, "serial");
	return found && !strcmp(found, serial);
}

bool usb_find(const char *sysfs, const char *name, const char *serial, struct usb_device *device_out)
{
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_ERROR error = file_list(sysfs, &names);

	*device_out = (struct usb_device){ .kind = USB_NONE };
	snprintf(device_out->name, sizeof(device_out->name), "%s", name ? name : "");
	for (size_t i = 0; !error && i < names.n; i++) {
		AUTO_FREE char *folder = path_join(sysfs, names.items[i]);
		if (!is_wanted(folder, names.items[i], name, serial))
			continue;
		snprintf(device_out->name, sizeof(device_out->name), "%s", names.items[i]);
		device_out->vendor = read_hex(folder, "idVendor");
		device_out->product = read_hex(folder, "idProduct");
		device_out->kind = device_kind_of(sysfs, &names, device_out);
		return true;
	}
	return false;
}

char *usb_terminal(const char *class_tty, const char *name)
{
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_ERROR error = file_list(class_tty, &names);
	AUTO_FREE char *part = xasprintf("/%s:", name);

	for (size_t i = 0; !error && i < names.n; i++) {
		if (!str_starts(names.items[i], "ttyACM"))
			continue;
		/* Its `device` is the interface it belongs to: .../1-2/1-2:1.0. */
		AUTO_FREE char *link = xasprintf("%s/%s/device", class_tty, names.items[i]);
		AUTO_FREE char *real = realpath(link, NULL);
		if (real && strstr(real, part))
			return xasprintf("/dev/%s", names.items[i]);
	}
	return NULL;
}

static struct error *authorize(const char *sysfs, const char *name, const char *value)
{
	AUTO_FREE char *path = xasprintf("%s/%s/authorized", sysfs, name);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, 1) != 1)
		return error_os(errno, "cannot reset the USB device %s by %s", name, path);
	return NULL;
}

struct error *usb_reset(const char *sysfs, const char *name)
{
	struct error *error = authorize(sysfs, name, "0");

	return error ? error : authorize(sysfs, name, "1");
}
