/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what an earlier boot's agent left: the known-good kernel tells what a kernel without any other way out measured. */
#ifndef AGENT_RELAY_H
#define AGENT_RELAY_H

#include <stdbool.h>

/*
 * `setting` is the value of relay= (conf.h). pmsg: mounts pstore where it is not, and reads each pmsg-* below /sys/fs/pstore;
 * block: the partition up to its first NUL. Prints the intact records of the boot of `nonce` (NULL: all), then one line that is
 * no record:
 *
 *   MEMCG-AB-RELAY 57 records of this boot, 0 of others, 9120 bytes in pmsg-ramoops-0
 *   MEMCG-AB-RELAY nothing: no pmsg record in /sys/fs/pstore
 *
 * `root` and `wait_ms` as in node.h. False when it cannot be written to `fd`.
 */
bool relay_print(const char *setting, const char *root, const char *nonce, unsigned wait_ms, int fd);

#endif
