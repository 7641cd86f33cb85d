/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of the agent: the root of a made-up phone. */
#ifndef TESTS_AGENT_PHONE_H
#define TESTS_AGENT_PHONE_H

#include "agent/sysfile.h"
#include "agent_root.h"

#define CPU "sys/devices/system/cpu/"
#define POLICY CPU "cpufreq/policy"

static inline void check_file(const char *root, const char *path, const char *want)
{
	char *text = sysfile_line(root, path);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static inline void add_numbered(const char *root, const char *folder, int number, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%d/%s", folder, number, file);
	root_add(root, path, text);
}

/* Cores 0-3 little, 4-7 big; cpu0 cannot be taken offline. */
static inline char *phone(void)
{
	char *root = root_new();

	root_add(root, CPU "online", "0-7\n");
	root_add(root, CPU "present", "0-7\n");
	for (int cpu = 0; cpu < 8; cpu++) {
		add_numbered(root, CPU "cpu", cpu, "cpu_capacity", cpu < 4 ? "380\n" : "1024\n");
		if (cpu)
			add_numbered(root, CPU "cpu", cpu, "online", "1\n");
	}
	for (int policy = 0; policy < 8; policy += 4) {
		add_numbered(root, POLICY, policy, "affected_cpus", policy ? "4 5 6 7\n" : "0 1 2 3\n");
		add_numbered(root, POLICY, policy, "scaling_governor", "schedutil\n");
		add_numbered(root, POLICY, policy, "cpuinfo_min_freq", "300000\n");
		add_numbered(root, POLICY, policy, "cpuinfo_max_freq", policy ? "2841600\n" : "1804800\n");
		add_numbered(root, POLICY, policy, "scaling_min_freq", "300000\n");
		add_numbered(root, POLICY, policy, "scaling_max_freq", policy ? "2841600\n" : "1804800\n");
		add_numbered(root, POLICY, policy, "scaling_cur_freq", policy ? "1420000\n" : "1017600\n");
	}
	root_add(root, POLICY "0/scaling_available_frequencies", "1804800 300000 1017600 \n");
	root_add(root, CPU "cpu4/core_ctl/enable", "1\n");
	root_add(root, "proc/self/status", "Cpus_allowed_list:\t4-7\n");
	root_add(root, "proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/block/zram0\tpartition\t2097148\t0\t32758\n");
	root_add(root, "proc/sys/vm/drop_caches", "0\n");
	root_add(root, "proc/sys/vm/compaction_proactiveness", "20\n");
	root_add(root, "proc/sys/vm/swappiness", "60\n");
	root_add(root, "sys/kernel/mm/ksm/run", "1\n");
	root_add(root, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	return root;
}

#endif
