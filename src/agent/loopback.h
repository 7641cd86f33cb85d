/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As pid 1 nobody else has set the network up: the loopback interface is down, and localhost has no address. Some of the kernel's selftests
 * connect to themselves (test_memcg_sock). libc only.
 */
#ifndef AGENT_LOOPBACK_H
#define AGENT_LOOPBACK_H

/*
 * Brings lo up and writes /etc/hosts where it is missing. Does nothing to a machine with an init of its own. A kernel without network is no
 * failure: its tests say so themselves.
 */
void loopback_up(void);

#endif
