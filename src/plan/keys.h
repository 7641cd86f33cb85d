/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binder tables of the room, for the test that holds them against the schema files. */
#ifndef PLAN_KEYS_H
#define PLAN_KEYS_H

#include "plan/bind.h"

/* profile*.c */
extern const struct bind_table profile_keys, device_keys, unit_keys, qemu_keys, sim_keys, timeouts_keys, nuisance_keys,
	model_keys, fault_keys, noise_keys, outliers_keys, throttle_keys, modes_keys, environment_keys, thermal_keys,
	fastboot_keys, usb_keys, layout_keys, stock_keys, hooks_keys, module_set_keys, module_image_keys, fastboot_timeouts_keys,
	command_keys;
/* lab.c, lab_sources.c */
extern const struct bind_table lab_keys, alternative_keys, toolchain_keys, cache_keys, build_keys;
/* matrix*.c */
extern const struct bind_table matrix_keys, kernel_keys, prebuilt_keys, config_keys, option_keys, patches_keys, line_keys,
	target_keys, workload_keys, payload_keys, measure_keys, controls_keys, gate_keys, reference_keys;

#endif
