/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debian's adb client, executed: always with -s, on a server port of the tool's own (a version fight kills everybody's server),
 * without standard input, with deadlines; the remote status by a marker, since old devices always say 0.
 */
#ifndef DEVICE_ADB_CLIENT_H
#define DEVICE_ADB_CLIENT_H

#include "base/proc.h"
#include "plan/profile.h"

/* How commands become root's. */
enum adb_root_way { ADB_ROOT_UNKNOWN, ADB_ROOT_ADBD, ADB_ROOT_SU_C /* su -c COMMAND */, ADB_ROOT_SU_0 /* su 0 sh -c COMMAND */ };

struct adb {
	const struct fastboot_settings *settings;
	unsigned port; /* of the private server */
	enum adb_root_way root_way; /* adb_root() finds out */
	const char *journal; /* as in fastboot_client.h */
	struct guard guard;
};

enum adb_state { ADB_ABSENT, ADB_OFFLINE, ADB_UNAUTHORIZED, ADB_RECOVERY, ADB_DEVICE };
const char *adb_state_name(enum adb_state state); /* "absent", "offline", "unauthorized", "recovery", "device" */

/* Errors: ERROR_LAB when the client cannot be started, the call fails or its deadline passes; ERROR_INTERRUPTED. */
struct error *adb_version(const struct adb *adb, char **version_out) MUST_CHECK;
struct error *adb_get_state(const struct adb *adb, enum adb_state *state_out) MUST_CHECK;
/* Calls that fail while it waits are no errors. Polls until the state is `wanted`, or (leave) any other, or the time is over. */
struct error *adb_wait(const struct adb *adb, enum adb_state wanted, bool leave, int64_t wait_ms, bool *reached_out) MUST_CHECK;
/*
 * Runs `command` in the device's shell; `out` (may be NULL) collects what it printed (standard error too), *status_out its exit
 * status. `root`: as root, through adbd or su (adb_root() has found out how).
 */
struct error *adb_shell(const struct adb *adb, bool root, const char *command, struct strbuf *out, int *status_out) MUST_CHECK;
/*
 * adbd is restarted by it where that works, which ends what runs in its shells. Makes root possible: adbd as root, else su -c,
 * else su 0. ERROR_LAB when none works.
 */
struct error *adb_root(struct adb *adb) MUST_CHECK;
struct error *adb_push(const struct adb *adb, const char *file, const char *remote) MUST_CHECK;
/* `file` is replaced when all of it is there. */
struct error *adb_pull(const struct adb *adb, const char *remote, const char *file) MUST_CHECK;
/* `target`: NULL, "bootloader" or "fastboot". */
struct error *adb_reboot(const struct adb *adb, const char *target) MUST_CHECK;
/* Stops the private server. */
void adb_stop_server(const struct adb *adb);

#endif
