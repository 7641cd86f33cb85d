/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels in QEMU's arm64 system emulator: one process a boot, its console on a pipe. */
#ifndef DEVICE_QEMU_H
#define DEVICE_QEMU_H

#include "base/strbuf.h"
#include "device/lane.h"

extern const struct lane_ops qemu_lane_ops;

/* QEMU's arguments for one boot: nothing in them but the profile, the request and the files. Added to `argv`. */
void qemu_arguments(const struct profile *profile, const struct nuisance *nuisance, const char *kernel_file,
		    const char *initrd_file, const char *cmdline, struct strlist *argv);

#endif
