/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cores and their classes. What ranks them, the first of these that tells any apart:
 *
 *   capacity   /sys/devices/system/cpu/cpuN/cpu_capacity, 0 to 1024 (1024 for all where the device tree does not say)
 *   kHz        /sys/devices/system/cpu/cpuN/cpufreq/cpuinfo_max_freq
 *   part       of /sys/devices/system/cpu/cpuN/regs/identification/midr_el1, bits 15 to 4: within one chip Arm's numbers rise
 *              from little to big
 *
 * The highest rank is big, the lowest little, all between are mid; with a single rank there is no class but all. An offline
 * core has only part of these files: what is ranked are those online.
 */
#ifndef AGENT_CORES_H
#define AGENT_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define CORES_MAX_CLASSES 16
#define CORES_TEXT_MAX 200

/* "0-3,7" as the kernel writes it; false when `text` is no such list, or names a core that no cpu_set_t holds. */
bool cores_parse(const char *text, cpu_set_t *cpus_out);
void cores_format(const cpu_set_t *cpus, char *text, size_t size);

struct core_class {
	long rank;
	cpu_set_t cpus;
};

struct cores {
	cpu_set_t online;
	const char *ranked_by; /* "capacity", "kHz", "part"; NULL = by nothing */
	struct core_class classes[CORES_MAX_CLASSES]; /* by rank, the lowest first */
	size_t n_classes;
};

/* A list such as /sys/devices/system/cpu/online or present; false when it cannot be read. */
bool cores_read_list(const char *root, const char *name, cpu_set_t *cpus_out);
/* False when the online cores are not told. */
bool cores_read(const char *root, struct cores *cores_out);
/* "little 0-3 (capacity 380), big 4-7 (capacity 1024)"; "all 0-1 (capacity 1024)". */
void cores_describe(const struct cores *cores, char *text, size_t size);
/* Those of "all", "big", "mid", "little" or a list. False with a one-line reason that tells what there is. */
bool cores_choose(const struct cores *cores, const char *wanted, cpu_set_t *cpus_out, char *reason, size_t reason_size);

#endif
