/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated device: no kernel and no machine, but the agent built for this host on a socket pair, in a made-up root folder,
 * reporting the numbers of the profile's models. Everything above the machine is real: console, records, identity, retries.
 *
 * A profile's faults, by variant (glob over a row's name, whose "#CONTROL" may be missing in it), block and attempt:
 *   drop-bytes, split-lines, hang, panic, die, power-off   the agent misbehaves (the fault.* keys of agent/conf.h)
 *   lie-build-id, lie-cmdline, lie-memcg                   the root says something else than what was asked for
 *   lie-boot-id                                            the root has the boot id of before the boot: nothing was booted
 *   no-device                                              there is nothing to deploy to
 *   gone                                                   the same, and no other boot can be had of it either
 */
#ifndef DEVICE_SIM_H
#define DEVICE_SIM_H

#include "base/strbuf.h"
#include "device/lane.h"

extern const struct lane_ops sim_lane_ops;

/* True when the profile's faults tell this attempt to do `what`. */
bool sim_fault_applies(const struct sim_settings *sim, const struct lane_boot *boot, const char *what);
/*
 * Appends the lines of the agent's settings that say what it reports: on a random device noise.*, drawn (device/noise.h) for each
 * workload by itself from the profile's noise.seed, the device's name, the row and the block; fault.*; model.*, each metric once
 * with the last matching model's value.
 */
void sim_write_model(const struct sim_settings *sim, const struct lane_boot *boot, struct strbuf *out);

#endif
