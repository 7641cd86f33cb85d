/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Phones and boards that are flashed over fastboot, as a stepwise lane. A session proves the device (preflight, a known-good image that boots),
 * boots kernels of ours or its own with another command line, and leaves in it what was there before. It never unlocks, erases, wipes or writes
 * what the profile does not list.
 */
#ifndef DEVICE_FASTBOOT_H
#define DEVICE_FASTBOOT_H

#include "device/lane.h"

extern const struct lane_ops fastboot_lane_ops;

#endif
