/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kernel this is, and in which state it measures: IDENTITY records. A key whose file cannot be read is left out.
 *
 *   build_id       hex GNU build id                 /sys/kernel/notes (an ELF note section)
 *   cmdline        kernel command line              /proc/cmdline
 *   boot_id        new in each boot                 /proc/sys/kernel/random/boot_id
 *   release, version, arch                          uname; below a root /proc/sys/kernel/{osrelease,version}
 *   memcg          none, disabled, on, unknown      memcg.h: /proc/cgroups, /sys/fs/cgroup/cgroup.controllers, /proc/kallsyms
 *   memcg_raw      the facts behind it
 *   memcg_version  v1 or v2, when on
 *   cgroup.LABEL   none, root, child-v1, child-v2   where the workload ran
 *   aslr           on or off
 *   thp            never, madvise, always           /sys/kernel/mm/transparent_hugepage/enabled
 *   swaps          number of swap areas in use      /proc/swaps
 *   mem_total_kib                                   /proc/meminfo
 *   cpus           those online, as "0-3"           /sys/devices/system/cpu/online
 *   midr           of the first core that it may    /sys/devices/system/cpu/cpuN/regs/identification/midr_el1
 *                  run on; below a root of core 0
 *   vuln.NAME      meltdown tells KPTI              /sys/devices/system/cpu/vulnerabilities/NAME
 *   clocksource                                     /sys/devices/system/clocksource/clocksource0/current_clocksource
 *   page_size      bytes
 *   counter        pmu, clock, none, model
 *   init           yes or no                        the agent is pid 1
 *   expect_memcg, region_offset                     as the settings say
 *   checks.LABEL   pages=N minflt=N majflt=N nvcsw=N nivcsw=N over all iterations
 *   compat.LABEL   lines of a historic program, each with a newline
 *
 * With a root (sim) files are read below it and nothing is asked of the machine: no mount, probe, kernel log, change
 * of group or setting. For a whole identity chain sim makes these below ROOT:
 *
 *   sys/kernel/notes                    one note: namesz 4, descsz 20, type 3 (32-bit, native), "GNU\0", the build id
 *   proc/cmdline                        one line
 *   proc/sys/kernel/random/boot_id      one line
 *   proc/sys/kernel/osrelease           one line; "5.10.0" or any release below 6.11 spares proc/kallsyms
 *   proc/cgroups                        "#subsys_name\thierarchy\tnum_cgroups\tenabled", then for memcg on "memory\t0\t1\t1", for
 *                                       disabled "memory\t0\t1\t0", for none no such line
 *   sys/fs/cgroup/cgroup.controllers    "cpu memory" when on, "cpu" otherwise; when on and without "memory" it counts as v1
 *
 * The others of the table may stand there too, and are left out of the records when they do not.
 */
#ifndef AGENT_IDENTITY_H
#define AGENT_IDENTITY_H

#include <stddef.h>

#include "agent/memcg.h"
#include "agent/records.h"

/* All but cgroup.*, checks.*, compat.* and what only the settings know. */
void identity_add(struct records *records, const char *root, const struct memcg *memcg);
/* Hex digits of the GNU build id in an ELF note section; false when there is none that fits into `size`. */
bool identity_build_id(const void *notes, size_t len, char *hex_out, size_t size);

#endif
