/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/gadget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/node.h"
#include "agent/sysfile.h"

/* Linux Foundation's multifunction gadget (the usb.ids list). */
static const char vendor_id[] = "0x1d6b", product_id[] = "0x0104";
static const char own_dir[] = "/usb_gadget/memcg_ab";

/* In this order: a function appears when its folder is made. */
static const char *const folders[] = { "", "/strings/0x409", "/configs/c.1", "/configs/c.1/strings/0x409", "/functions/acm.0" };

void gadget_serial(const char *root, char *serial_out, size_t size)
{
	static const char *const files[] = { "/proc/cmdline", "/proc/bootconfig" };
	static const char key[] = "androidboot.serialno";

	snprintf(serial_out, size, "memcg-ab");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *text = sysfile_read(root, files[i], NULL);
		const char *at = text ? strstr(text, key) : NULL;

		/* bootconfig has blanks and quotes around it: androidboot.serialno = "X". */
		at = at ? at + strlen(key) + strspn(at + strlen(key), " =\"") : "";

		const size_t len = strcspn(at, " \"\r\n");

		if (len)
			snprintf(serial_out, size, "%.*s", (int)len, at);
		free(text);
		if (len)
			return;
	}
}

/* The first by name, so that it is always the same one. */
static bool find_controller(const char *root, char *udc_out, size_t size)
{
	char path[NODE_PATH_MAX];
	DIR *dir = snprintf(path, sizeof(path), "%s/sys/class/udc", root) < (int)sizeof(path) ? opendir(path) : NULL;

	*udc_out = '\0';
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] != '.' && (!*udc_out || strcmp(entry->d_name, udc_out) < 0))
			snprintf(udc_out, size, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return *udc_out;
}

/* A file of the gadget's folder; configfs has made it, so it is there or the kernel cannot do this. */
static bool put(const char *base, const char *name, const char *value)
{
	char path[NODE_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", base, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return sysfile_write(path, value);
}

static bool make_folders(const char *base)
{
	char path[NODE_PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (snprintf(path, sizeof(path), "%s%s", base, folders[i]) >= (int)sizeof(path)) {
			errno = ENAMETOOLONG;
			return false;
		}
		if (mkdir(path, 0755) && errno != EEXIST)
			return false;
	}
	return true;
}

static bool add_function(const char *base)
{
	char from[NODE_PATH_MAX], to[NODE_PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/functions/acm.0", base) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s/configs/c.1/acm.0", base) >= (int)sizeof(to)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return !symlink(from, to) || errno == EEXIST;
}

bool gadget_start(const char *root, const char *configfs, const char *serial, unsigned wait_ms, char *udc_out, size_t udc_size,
		  char *reason, size_t reason_size)
{
	const long long deadline = node_clock_ms() + wait_ms;
	char base[NODE_PATH_MAX];

	if (snprintf(base, sizeof(base), "%s%s%s", root, configfs, own_dir) >= (int)sizeof(base)) {
		snprintf(reason, reason_size, "the path of configfs is too long");
		return false;
	}
	while (!find_controller(root, udc_out, udc_size)) {
		if (node_clock_ms() >= deadline) {
			snprintf(reason, reason_size, "no USB device controller in /sys/class/udc within %g s", wait_ms / 1000.0);
			return false;
		}
		node_pause();
	}
	if (!make_folders(base) || !put(base, "idVendor", vendor_id) || !put(base, "idProduct", product_id) ||
	    !put(base, "strings/0x409/serialnumber", serial) || !put(base, "strings/0x409/manufacturer", "memcg-ab") ||
	    !put(base, "strings/0x409/product", "memcg-ab results") ||
	    !put(base, "configs/c.1/strings/0x409/configuration", "acm") || !add_function(base)) {
		snprintf(reason, reason_size, "cannot make a USB serial gadget in configfs: %s", strerror(errno));
		return false;
	}
	if (!put(base, "UDC", udc_out)) {
		snprintf(reason, reason_size, "cannot bind the USB serial gadget to %s: %s", udc_out, strerror(errno));
		return false;
	}
	return true;
}
