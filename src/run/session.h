/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one `memcg-ab run` works on: the prepared plan bound to devices, and the boots it owes. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "run/install.h"
#include "run/prepare.h"
#include "run/validity.h"
#include "store/store.h"

enum image_state { IMAGE_WAITING, IMAGE_BUILDING, IMAGE_READY, IMAGE_FAILED };

struct session_image {
	enum image_state state;
	const struct image *image; /* when ready: prepared->images[].image, or `built` */
	struct image *built; /* here */
	int64_t build_ms; /* wall time spent here on building it */
};

enum session_boot_state { BOOT_OWED, BOOT_RUNNING, BOOT_DONE, BOOT_HELD /* of a block that is not decided on (run/stages.h) */ };

struct session_boot {
	const struct plan_boot *plan;
	enum session_boot_state state;
	char *unit; /* done: the unit that it ran on, "" for a device's only one; NULL = not known */
	char validity[HASH_HEX_SIZE];
	bool counted; /* the blocks that it executes are counted: the first block's, where the device can */
};

/* A piece of hardware: a unit of a device. The rows of all the device's core classes share it. */
struct session_device {
	const struct device *device;
	const struct unit *unit;
	char *name; /* "DEVICE", or "DEVICE/UNIT" */
	char *version; /* device_version() */
	bool counts; /* device_can_count() */
	char *lost; /* why it is not used again in this run; NULL while it is */
};

struct session_target {
	unsigned blocks; /* that are owed or done; more may be decided on */
	unsigned looks; /* decisions taken */
	bool decided; /* none follows */
};

struct session {
	const struct plan *plan;
	const struct prepared *prepared;
	const struct install *install;
	struct session_image *images; /* by plan->images */
	struct session_boot *boots; /* by plan->boots */
	struct session_target *targets; /* by plan->matrix->targets */
	struct session_device *devices; /* the units of a device one after another */
	size_t n_devices;
	char *workloads; /* agent settings */
	char agent_arm64_sha256[HASH_HEX_SIZE];
	char agent_host_sha256[HASH_HEX_SIZE];
	char tcg_plugin_sha256[HASH_HEX_SIZE];
	char digest[HASH_HEX_SIZE]; /* of all that the numbers depend on; its first 12 digits name the run folder */
	char *dir; /* the run folder, once it is known */
	const char *command; /* how it was started, for reports */
};

/* Asks the devices' versions, hashes the agents, computes validities and the digest. Touches nothing. */
struct error *session_init(struct session *session, const struct plan *plan, const struct prepared *prepared,
			   const struct install *install, struct guard guard) MUST_CHECK;
void session_deinit(struct session *session);
/* The first unit of the row's device. */
const struct session_device *session_device_of(const struct session *session, const struct plan_row *row);
/*
 * What the unit `device` is to boot next, as indices into session->boots; 0 when there is nothing now. An exact device of one unit boots
 * all of a row as soon as its kernel is there. Others go block by block, and only once all their kernels are: a block whole to one unit;
 * one that another unit has begun stays with that one; when that is lost, or not in this lab, all of it is owed again.
 */
size_t session_next_boots(struct session *session, size_t device, size_t *boots);
/*
 * How many lanes may work for the unit `device` at once: one for each core on an exact QEMU, of which there can be several; none disturbs
 * another's numbers. One on everything else.
 */
size_t session_lanes(const struct session *session, size_t device);
/* Gives the boots of a lost unit's unfinished block back, to be done whole elsewhere. False when no unit is left to do them. */
bool session_lose(struct session *session, size_t device, const char *reason, const size_t *boots, size_t n);
/* The memory cgroup state that a row's kernel must be in. */
enum memcg_state session_memcg(const struct session *session, const struct plan_row *row);
/* Boots to do, as far as is decided. */
size_t session_owed(const struct session *session);

/* The run's description for the store (what reports are made of); the caller frees. */
struct jnode *session_describe(const struct session *session);

/* Marks as done what the store already has and is still valid (same row, block and validity, status ok, build-failed rows excepted). */
struct error *session_mark_stored(struct session *session, struct store *store) MUST_CHECK;
/*
 * Copies from earlier runs of the same matrix name, newest first, the boots of exact devices that are still valid; `store` NULL only marks
 * them as done. On a random device a rerun is a new campaign: boots of another day, or ones that were looked at, are never mixed in.
 */
struct error *session_adopt(struct session *session, struct store *store, const struct strlist *earlier_dirs) MUST_CHECK;

#endif
