/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads the kernel modules of a vendor's ramdisk: those of DIR/modules.load in its order, each after what DIR/modules.dep says
 * it needs, with the parameters of DIR/modules.options and without those of DIR/modules.blocklist (formats of depmod; Android's
 * ramdisks have the same, with paths below /lib/modules or names alone). One that fails does not stop the others.
 */
#ifndef AGENT_VENDOR_MODULES_H
#define AGENT_VENDOR_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#define VENDOR_MODULES_TEXT 2048

/* What came of it. */
struct vendor_modules {
	unsigned n_loaded; /* those that the kernel had already among them */
	unsigned n_failed;
	unsigned n_blocked;
	char failures[VENDOR_MODULES_TEXT]; /* "ufs-qcom: Exec format error; ...", as many as fit */
};

/* Loads one file with its parameters ("" = none): 0, or an errno. */
typedef int vendor_modules_loader(void *arg, const char *path, const char *parameters);

/* By finit_module(); EEXIST counts as loaded. The usual loader. */
int vendor_modules_finit(void *arg, const char *path, const char *parameters);
/*
 * `dir` is searched below `root` ("" = the machine itself); without modules.load there, DIR/RELEASE is taken, `release` being
 * the running kernel's. False with a one-line reason when there is no modules.load at all.
 */
bool vendor_modules_load(const char *root, const char *dir, const char *release, vendor_modules_loader *load, void *arg,
			 struct vendor_modules *modules_out, char *reason, size_t reason_size);

#endif
