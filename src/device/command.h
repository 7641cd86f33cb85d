/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A device that the user's own commands drive (plan/profile_device.h says which, and what they find in their environment): boards that take
 * TFTP, kexec or GRUB, virtual machines, labs with tools of their own. Identity, environment and verdicts are those of every device.
 */
#ifndef DEVICE_COMMAND_H
#define DEVICE_COMMAND_H

#include "device/lane.h"

extern const struct lane_ops command_lane_ops;

#endif
