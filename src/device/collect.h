/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an agent's records to a boot record: is it all there, and was it the kernel that was asked for? */
#ifndef DEVICE_COLLECT_H
#define DEVICE_COLLECT_H

#include "base/strbuf.h"
#include "device/console.h"
#include "device/device.h"

struct collect_expected {
	const char *build_id; /* hex; NULL = nothing to compare with (a device without images) */
	const char *cmdline; /* what was asked for, padding included */
	enum cmdline_match match; /* how /proc/cmdline must show it */
	enum memcg_state memcg; /* MEMCG_UNKNOWN = whatever the agent proves */
	const char *nonce; /* that the settings of this boot had; NULL or "" = none */
	const struct strlist
		*boot_ids; /* of boots before this one: one of them again means that nothing was booted; NULL = they may repeat */
};

/*
 * Why /proc/cmdline does not show what was asked for (plan/profile_device.h), or NULL; the caller frees. CMDLINE_WORDS takes NAME=VALUE also as
 * NAME="VALUE", as kernels print bootconfig. What stands behind " -- " is init's: only words before it count there.
 */
char *collect_match_cmdline(const char *booted, const char *asked, enum cmdline_match match);

/*
 * Fills in all of `record` (whose other fields must be empty) but id and wall_ms. Status:
 *   BOOT_OK    every record is there, nothing failed, the identity is the expected one; only then there are readings
 *   BOOT_VOID  another build id, command line, memcg state, wire version or nonce, or an old boot id: the reason names expected
 *              and found
 *   BOOT_LAB   records lost in both copies, or something that the agent itself calls failed
 */
void collect_record(const struct console *console, const struct collect_expected *expected, struct boot_record *record);

#endif
