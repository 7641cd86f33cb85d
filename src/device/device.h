/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices: a block of boot requests in, boot records out. Knows nothing of matrices or statistics. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/json.h"
#include "base/proc.h"
#include "plan/profile.h"

enum boot_status {
	BOOT_OK, /* measured, and proved to be the kernel that was asked for */
	BOOT_FAILED, /* the kernel's fault: panic, hang, early power-off, no agent output although the device works */
	BOOT_VOID, /* identity chain broken: no number counts */
	BOOT_LAB, /* the lab's fault: nothing said about the kernel */
};
const char *boot_status_name(enum boot_status status); /* "ok", "boot-failed", "void", "lab" */
bool boot_status_parse(const char *name, enum boot_status *status_out);

enum memcg_state { MEMCG_NONE, MEMCG_DISABLED, MEMCG_ON, MEMCG_UNKNOWN };
const char *memcg_state_name(enum memcg_state state); /* "none" (not built), "disabled" (by command line), "on", "unknown" */

struct boot_request {
	unsigned id; /* echoed in the record */
	const char *variant; /* the row's name, for messages, sim's globs and its noise */
	unsigned block;
	unsigned attempt; /* from 0 */
	unsigned ordinal, total; /* its place among the boots planned for its target */
	const struct nuisance *nuisance; /* or NULL */
	const char *kernel_file; /* Image; NULL on a device without images */
	const char *image_sha256; /* checked against the file right before it is booted; NULL = no image */
	const char *cmdline; /* all of it but padding */
	const char *build_id; /* expected; hex. NULL only on a device without images: then it is not compared */
	enum memcg_state memcg; /* expected */
	const char *workloads; /* the workload part of the agent's settings (agent/conf.h), ready made */
	const char *const *archives; /* NULL, or paths of cpio archives that the RAM disk holds besides, up to a NULL */
	const char *console_path; /* where the console's bytes are kept */
	const char *counts_path; /* where a device that counts blocks leaves them (counts.h); NULL = they are not counted */
	int64_t settle_ms;
	const char *cores; /* the target's class: "all", "big", "mid", "little" or a list; NULL = all */
	const char *config; /* the matrix' name of its config, for the profile's module sets */
	const char *config_text; /* the kernel's resolved .config; NULL = not known */
	const char *vmlinux; /* NULL = not known */
	const char *release; /* the kernel's release; NULL = not known */
};

/* A reading: one number of one iteration. */
struct reading {
	char *name; /* "pft.fault.insn_k" */
	int iteration; /* from 0; warm-ups are negative: -2, -1 */
	double value;
	char *unit; /* "insn/page" */
};

struct boot_record {
	unsigned id;
	enum boot_status status;
	char *reason; /* one line; NULL when ok */
	char *boot_id;
	char *build_id; /* of the kernel that ran, as it said */
	char *booted_cmdline; /* /proc/cmdline */
	char *memcg; /* state as proved by the agent */
	char *cgroup; /* where the workload ran: "none", "root", "child-v1", "child-v2" */
	struct jnode *identity; /* everything else the agent said of itself, an object of strings */
	struct reading *readings;
	size_t n_readings;
	int64_t wall_ms;
};

struct jnode *boot_record_to_json(const struct boot_record *record);
struct error *boot_record_from_json(const struct jnode *json, struct boot_record **record_out) MUST_CHECK;
void boot_record_free(struct boot_record *record);
void boot_record_drop_readings(struct boot_record *record); /* what is not ok has none */

/* What a device is made of; shared by the stepwise lane (lane.h). */
struct device_context {
	const char *name; /* the lab's name of it, "DEVICE" or "DEVICE/UNIT" */
	const struct profile *profile;
	const char *agent_arm64; /* path of the static arm64 agent */
	const char *agent_host; /* path of the host-built agent (sim) */
	const char
		*agent_sha256; /* of the one that the device uses: another file in its place is ERROR_LAB; NULL = not checked */
	const char *tcg_plugin; /* path of the plugin that counts blocks in QEMU; NULL = there is none */
	const char *scratch_dir; /* exists, private to this lane; removed by the caller */
	const char *lock_path; /* device_lock_path(); NULL = none is taken */
	const char *journal_path; /* what was said to the device, and what it answered, is appended to it; NULL = nowhere */
	struct guard guard;
};

/*
 * Boots each request in order, with bounded retries for the lab's faults (profile.retries), and emits one record for every attempt's
 * final outcome per request. An error only when the whole device is unusable (ERROR_LAB) or interrupted.
 */
typedef struct error *boot_emit(void *arg, const struct boot_record *record);
struct error *device_run_block(const struct device_context *context, const struct boot_request *requests, size_t n,
			       boot_emit *emit, void *arg) MUST_CHECK;

/* What is found before the first write; nothing is written for it. */
struct preflight_finding {
	bool bad; /* the device cannot be used like this */
	char *what; /* "product", "unlocked", "slot-retry-count:a" */
	char *text; /* "qemu-phone", "no: the bootloader is locked, and the tool never unlocks" */
};
struct preflight {
	char *state; /* "fastboot", "fastbootd", "up", "off or not attached", ... */
	struct preflight_finding *findings;
	size_t n;
};
void preflight_deinit(struct preflight *preflight);
/* An empty one for a kind of device that has nothing to find. The device's lock must be held. */
struct error *device_preflight(const struct device_context *context, struct preflight *preflight_out) MUST_CHECK;

/*
 * Where processes meet over a piece of hardware: "LOCKS/device-SERIAL" for what has a serial, else its name. NULL for an exact QEMU, of which
 * there can be several: it is no hardware, and another one beside it does not change its numbers. The caller frees.
 */
char *device_lock_path(const char *locks_dir, const char *name, const struct profile *profile);

/* "" when the device can be used here and now, else why not (missing program, ...); the caller frees. For doctor and devices. */
char *device_check(const struct device_context *context);
/* What identifies the device for stored numbers besides its profile: "QEMU emulator version 7.2.22"; the caller frees. */
struct error *device_version(const struct device_context *context, char **version_out) MUST_CHECK;
/* Can the device say which blocks were executed how often (boot_request.counts_path)? An exact QEMU that takes plugins can. */
struct error *device_can_count(const struct device_context *context, bool *can_out) MUST_CHECK;

#endif
