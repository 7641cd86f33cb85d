/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles: profiles/NAME.yaml beside the lab file or in PREFIX/share/memcg-ab/profiles (plan/search.h). */
#ifndef PLAN_PROFILE_H
#define PLAN_PROFILE_H

#include "base/error.h"
#include "plan/fragment.h"
#include "plan/profile_device.h"

enum device_kind { DEVICE_QEMU, DEVICE_SIM, DEVICE_FASTBOOT, DEVICE_COMMAND };
const char *device_kind_name(enum device_kind kind); /* "qemu", "sim", "fastboot", "command" */

/* What block b's boot differs in on an exact device: entry b. There are no more blocks than entries. */
struct nuisance {
	unsigned pad; /* bytes of padding on the command line */
	uint64_t memory; /* bytes of RAM; 0 = the profile's */
	uint64_t region_offset; /* bytes, a multiple of 2 MiB */
};

struct qemu_settings {
	char *program; /* "qemu-system-aarch64" */
	char *machine; /* "virt,gic-version=3,dtb-randomness=off" */
	char *cpu;
	char *icount; /* "shift=0,sleep=off"; NULL = none: then no insn metric is exact */
	uint64_t memory; /* bytes */
	unsigned smp;
	uint64_t disk; /* bytes of an empty disk of its own for each boot, the guest's /dev/vda; 0 = none */
};

/* sim: the numbers the host-built agent is told to report, and what goes wrong. */
struct sim_model {
	char *variant; /* glob over a row's name, "[KERNEL/]CONFIG/CMDLINE/STEP", with or without "#CONTROL"; the last that matches wins */
	char *metric; /* "pft.fault.insn_k" */
	double value;
};

struct sim_fault {
	char *variant; /* glob, as above */
	int block; /* -1 = every block */
	int attempt; /* -1 = every attempt; 0 = the first try of a boot */
	char *what; /* drop-bytes, split-lines, hang, panic, die, power-off, lie-build-id, lie-cmdline, lie-memcg, lie-boot-id, no-device, gone */
	struct pos pos;
};

/* What scatters on a simulated random device; sds, sizes and shifts are fractions (0.01 = 1%). All default to 0. */
struct sim_noise {
	uint64_t seed; /* another campaign of the same device; default 1 */
	double sd_boot; /* of boot means */
	double sd_iteration; /* within a boot */
	double drift; /* linear, from the first boot to the last */
	double outlier_share, outlier_size; /* that part of the iterations takes 1 + size times as long */
	double throttle_share,
		throttle_size; /* that part of the boots throttles from a drawn iteration to its end, recorded by the device */
	double mode_share, mode_shift; /* that part of the boots runs in a second mode */
};

struct sim_settings {
	struct sim_noise noise; /* not on an exact device */
	struct sim_model *models;
	size_t n_models;
	struct sim_fault *faults;
	size_t n_faults;
	int64_t boot_ms; /* how long a boot takes; default 0 */
	bool exact; /* default true */
};

struct profile {
	char *name;
	char *path;
	enum device_kind kind;
	struct fragment *fragment; /* the device's kernel options; NULL = none */
	char *cmdline; /* the device's part of the command line, goes before the variant's; "" = none */
	bool needs_image; /* false: `image: none` or `stock`, nothing is built for it */
	bool stock; /* `image: stock`: the device's own kernel (fastboot.stock) with another command line */
	bool exact; /* icount with one vCPU; sim, fastboot and command: told so */
	char *verified; /* "never", or date and build with which the profile was last seen to work; printed in every report */
	enum cmdline_match cmdline_match; /* default exact; contains for fastboot and command devices */
	struct environment environment;
	unsigned events; /* bits 1 << event (agent/events.h): counted beside instructions */
	struct nuisance *nuisances; /* at least one on an exact device */
	size_t n_nuisances;
	int64_t boot_timeout_ms; /* power on to HELLO */
	int64_t silence_timeout_ms; /* longest time without a byte */
	int64_t run_timeout_ms; /* power on to END */
	unsigned retries; /* of a boot that failed for the lab's reasons; default 2 */
	struct qemu_settings qemu;
	struct sim_settings sim;
	struct fastboot_settings fastboot;
	struct command_settings command;
	/*
	 * sha256 over everything above that can change a number of a given image: part of what makes a stored boot valid. The
	 * fragment is not in it (it is in the image's key), nor are timeouts, retries, where the file stands, `verified`, nor what only says where a
	 * device is (serials, console, hooks): two units of one device have the same.
	 */
	char *digest;
};

struct search;
struct yaml_node;

/*
 * Loads the profile file `path` and lays `settings` (a mapping of the lab's, or NULL) over it: single settings replace the
 * profile's, lists replace whole lists. `where` names the settings in messages ("device 'phone'"). All errors at once.
 */
struct error *profile_load(const char *path, const struct search *search, const struct yaml_node *settings, const char *where,
			   struct profile **profile_out) MUST_CHECK;
/* The same with a third layer: `unit` (a mapping, or NULL) is what one unit of the device says anew, `unit_where` names it. */
struct error *profile_load_unit(const char *path, const struct search *search, const struct yaml_node *settings,
				const char *where, const struct yaml_node *unit, const char *unit_where,
				struct profile **profile_out) MUST_CHECK;
void profile_free(struct profile *profile);

#endif
