/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernel modules against a kernel: would it load them? By vermagic, by the symbols they import, and where both have
 * them by these symbols' CRCs (modversions). The rules are those of the kernel's module loader (same_magic,
 * check_version).
 */
#ifndef KERNEL_MODULES_H
#define KERNEL_MODULES_H

#include "base/error.h"

struct modules_report {
	size_t n_modules;
	/*
	 * NULL, or the first (in the order of paths) that would not load: "wlan.ko: vermagic is '...', the kernel's
	 * is '...'", "wlan.ko: disagrees about the version of symbol module_layout", "wlan.ko: needs symbol x, which
	 * neither kernel nor modules have"
	 */
	char *mismatch;
	size_t n_mismatches; /* modules that would not load */
};

/*
 * Compares every *.ko below `folder` with the kernel whose vmlinux, with its symbols, is `vmlinux`. Symbols may come
 * from other modules of the folder. ERROR_LAB when a file cannot be read, for a folder without modules, a kernel that
 * was built without module support, and a vmlinux without symbols.
 */
struct error *modules_compare(const char *folder, const char *vmlinux, struct modules_report *report_out) MUST_CHECK;
void modules_report_deinit(struct modules_report *report);

#endif
