/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the fastboot device share: device/fastboot*.c alone include it. */
#ifndef DEVICE_FASTBOOT_PARTS_H
#define DEVICE_FASTBOOT_PARTS_H

#include "device/adb_client.h"
#include "device/bootimg.h"
#include "device/fastboot_client.h"
#include "device/lane.h"
#include "device/usb.h"

/* --- fastboot_state.c: which state the device is in, and by what evidence --- */

enum device_state {
	STATE_OFF, /* or not attached, or not reachable */
	STATE_FASTBOOT,
	STATE_FASTBOOTD,
	STATE_BOOTING,
	STATE_UP,
	STATE_UP_WRONG, /* up, with another kernel than the one that was booted */
	STATE_CRASHED,
	STATE_RAMDUMP,
	STATE_HUNG,
};
const char *device_state_name(enum device_state state); /* "off or not attached", "fastboot", ... */

struct device_evidence {
	bool on_usb; /* its serial is one of USB: `usb` tells what sits there */
	enum usb_kind usb;
	bool answers; /* getvar was answered */
	bool userspace; /* is-userspace is yes */
	bool adb_asked;
	enum adb_state adb;
	bool completed; /* Android says that its boot is complete */
	bool hello; /* our agent spoke */
	bool wrong; /* what is up is not the kernel that was booted */
	bool panic; /* the kernel said so, or the reason of the last boot does */
	int64_t waited_ms, limit_ms; /* since it was started, and how long it may take; 0, 0 = nothing was started */
};
enum device_state device_state_judge(const struct device_evidence *evidence);
/* "usb: fastboot, getvar answers, is-userspace no": what the judgement was made of; the caller frees. */
char *device_evidence_text(const struct device_evidence *evidence);

/* --- the session --- */

/* What getvar said: `value` is NULL where the device does not know it. */
struct fact {
	char *name, *value;
};
struct facts {
	struct fact *items;
	size_t n;
};
const char *facts_get(const struct facts *facts, const char *name); /* NULL = not told */
void facts_set(struct facts *facts, const char *name, const char *value); /* copies both */
void facts_deinit(struct facts *facts);

struct phone {
	struct lane_session *lane; /* NULL in a preflight by itself */
	const struct device_context *context;
	const struct profile *profile;
	const struct fastboot_settings *settings;
	struct fastboot fastboot;
	struct adb adb;
	char *version; /* of the client */
	char usb_name[64]; /* the port it sits at, once it was seen */
	struct facts facts;
	enum device_state found; /* what it was in when the session began */
	char found_slot; /* the active one then; 0 = it has none */
	char slot; /* the one that is booted and written; 0 = it has none */
	bool adb_used; /* the private server may run */
	bool dirty; /* something else than the known-good image was, or may have been, written */
	bool vendor_dirty; /* likewise vendor_boot, whose bootconfig was edited */
	bool slot_moved; /* another slot than found_slot was made active */
	const struct module_set *modules; /* whose images are on the device; NULL = those that were found */
	struct stock_kernel *stock; /* of the stock boot image, once it was read */
	bool expected; /* it is on its way to fastboot by itself */
	bool there; /* it was seen in fastboot, and was given no order to leave since */
	int64_t since_ms; /* since when it waits in fastboot for us */
	int64_t client_ms; /* of that time, what the client needed for transfers and writes */
	struct strlist boot_ids; /* of what was seen running before */
	char *boot_id_before; /* the last of them */
};

/* An attempt at a boot. */
struct phone_boot {
	char *image; /* boot image, packed or edited */
	char *vendor_boot; /* edited too, or NULL */
	int console_fd; /* -1 = none */
	char *death; /* lane_ending.death */
	int64_t started_ms;
};

/* ERROR_LAB that a failed reply makes ("flash boot: the device said ..."); NULL for an okay one. Frees the reply. */
struct error *phone_reply_error(struct fastboot_reply *reply, const char *what) MUST_CHECK;
/* A line of the journal that is no call: "state: fastboot". */
void phone_note(const struct phone *phone, const char *what, const char *text);
/* Runs a hook of the user's; `partition` is MEMCG_AB_PARTITION or NULL, `out` may be NULL. ERROR_LAB when it fails or is late. */
struct error *phone_hook(const struct phone *phone, const char *name, const char *command, const char *partition,
			 struct strbuf *out) MUST_CHECK;

/* Looks at the device once. */
struct error *phone_look(struct phone *phone, enum device_state *state_out) MUST_CHECK;
/* Waits until it answers in fastboot or fastbootd. */
struct error *phone_await_fastboot(struct phone *phone, int64_t wait_ms, enum device_state *state_out) MUST_CHECK;
/* Waits until it has left fastboot. */
struct error *phone_await_leave(struct phone *phone, bool *left_out) MUST_CHECK;
/* Waits until Android is up; *why_not_out is NULL or says what is missing (the caller frees). */
struct error *phone_await_android(struct phone *phone, char **why_not_out) MUST_CHECK;

/* --- fastboot_recover.c: the ladder back into fastboot --- */

/*
 * Brings the device into its bootloader's fastboot from wherever it is, rung by rung: a wait of `patience_ms`, the way out of what runs, USB reset,
 * the hub's port, the user's hooks. When the last rung fails, session->lost is set and the error is ERROR_LAB.
 */
struct error *phone_enter_fastboot(struct phone *phone, int64_t patience_ms) MUST_CHECK;

/* --- fastboot_preflight.c --- */

struct error *phone_read_facts(struct phone *phone) MUST_CHECK;
/* Whether it is still the device that told the facts: product and serial number. ERROR_LAB, and the device is lost, when it is not. */
struct error *phone_check_same(struct phone *phone) MUST_CHECK;
/* What is wrong, and what is worth knowing, with a device that says `facts`; appended. `slot` is the one to be written, or 0. */
void preflight_judge(const struct fastboot_settings *settings, const struct facts *facts, char slot, struct preflight *preflight);
void preflight_add(struct preflight *preflight, bool bad, const char *what, const char *format, ...) PRINTF_FORMAT(4, 5);
/* The same about the files on this machine: the known-good image and the stock ones. */
void preflight_judge_files(const struct fastboot_settings *settings, const struct facts *facts, char slot,
			   struct preflight *preflight);
/* ERROR_LAB with all that is bad. */
struct error *preflight_error(const struct preflight *preflight) MUST_CHECK;
/* Refuses a file that the device cannot take: partition size and, when it is not told, max-download-size. */
struct error *phone_check_size(const struct phone *phone, const char *partition, const char *file) MUST_CHECK;

/* --- fastboot_slots.c --- */

/* "boot_b", or "boot" where there are no slots; the caller frees. */
char *slot_partition(const char *partition, char slot);
/* The slot that the profile's method writes and boots; 0 when it cannot be told. */
char slot_of_method(const struct fastboot_settings *settings, const struct facts *facts);
/* Why a slot must not be booted once more, or NULL; the caller frees. A slot that is not marked successful needs at least two tries. */
char *slot_exhausted(const struct facts *facts, char slot);
/* Reads the counters again and sees to it that the next boot is of phone->slot. Stops before a counter runs out. */
struct error *phone_prepare_slot(struct phone *phone, struct lane_boot *boot) MUST_CHECK;
struct error *phone_activate(struct phone *phone, char slot) MUST_CHECK;
/* The kernel that runs is good (Android is up): tells the device so. */
struct error *phone_mark_successful(struct phone *phone) MUST_CHECK;

/* --- fastboot_deploy.c --- */

/* Writes one partition (its name without slot), timed. */
struct error *phone_flash(struct phone *phone, const char *partition, const char *file) MUST_CHECK;
/* Makes the boot's image: state->image, and what goes with it. Nothing is sent. */
struct error *phone_pack(struct phone *phone, struct lane_boot *boot) MUST_CHECK;
/* Writes what has to be written for it. */
struct error *phone_write(struct phone *phone, struct lane_boot *boot) MUST_CHECK;
/*
 * Starts `image` (method boot: temporarily; else it was written before), and sees the device leave fastboot. With `console_fd_out` the
 * console is opened in between (-1 stays where there is none; the caller closes): not before, since nobody reads it while something is sent, and
 * a virtual phone stops when its console is full. A Unix socket takes as little as 278 bytes that are written one by one.
 */
struct error *phone_start(struct phone *phone, const char *image, int *console_fd_out) MUST_CHECK;
/* Writes `image` where the method writes, then phone_start(). */
struct error *phone_run_image(struct phone *phone, const char *image, int *console_fd_out) MUST_CHECK;
/* Our ramdisk around the known-good kernel, with `settings`, and its build id. */
struct error *phone_pack_known_good(struct phone *phone, const char *settings, const char *dir, const char *out_file,
				    char build_id_out[BUILD_ID_HEX_SIZE]) MUST_CHECK;
/* Puts back what module sets and bootconfig have replaced. */
struct error *phone_put_back_modules(struct phone *phone) MUST_CHECK;
/* "results=block:results\n" and the like, as the profile asks. */
void phone_results_settings(const struct fastboot_settings *settings, struct strbuf *out);
/* How the agent is to end, so that the device comes back into fastboot: "reboot" or "bootloader". */
const char *phone_finish(const struct fastboot_settings *settings);

/* --- fastboot_checks.c: does this kernel go with this device? --- */

struct stock_kernel {
	struct strbuf image; /* the boot image's bytes */
	struct bootimg header;
	char build_id[BUILD_ID_HEX_SIZE];
	char *config; /* its .config, or NULL */
	char *no_config; /* why there is none */
};
/* Reads the stock boot image (once). */
struct error *phone_stock(struct phone *phone, const struct stock_kernel **stock_out) MUST_CHECK;
void stock_kernel_free(struct stock_kernel *stock);
/* Why the command line of a kernel with this .config cannot be ours, or NULL; the caller frees. */
char *cmdline_refusal(const char *config_text);
/* Why modules that were built for the kernel of `stock` would not load into one of `config`, or NULL; the caller frees. */
char *config_refusal(const char *stock, const char *config);
const struct module_set *module_set_of(const struct fastboot_settings *settings, const char *config);
/* All of it for one request, before anything is written. */
struct error *phone_check_kernel(struct phone *phone, struct lane_boot *boot) MUST_CHECK;

/* --- fastboot_results.c, fastboot_adb.c: where the records come from --- */

/* Opens the console if the records come over it: before the boot. */
struct error *phone_open_console(struct phone *phone, int64_t wait_ms, int *fd_out) MUST_CHECK;
/* Waits for the records of the boot with this nonce and gives a descriptor to read them; `death` as in struct phone_boot. */
struct error *phone_collect(struct phone *phone, const char *nonce, const char *dir, int64_t limit_ms, int *fd_out,
			    char **death_out) MUST_CHECK;
/* Android: pushes the agent, runs it, fetches its records. */
struct error *phone_collect_adb(struct phone *phone, struct lane_boot *boot, int *fd_out, char **death_out) MUST_CHECK;
/* The id of the boot that runs, over adb; NULL when it cannot be had. */
char *phone_adb_boot_id(struct phone *phone);

/* --- fastboot_knowngood.c --- */

/* Proves that it boots, once a day and image. */
struct error *phone_prove_known_good(struct phone *phone) MUST_CHECK;
/* Puts it back where something else was written, and the modules and the slot that were there. */
struct error *phone_put_back(struct phone *phone) MUST_CHECK;

#endif
