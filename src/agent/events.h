/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be counted beside instructions (setting events=), in the kernel alone. On arm64 these are the architected events of
 * PMUv3, by their numbers in the Arm Architecture Reference Manual (DDI 0487, "PMU events and event numbers"), which the kernel's
 * armv8_pmuv3 driver offers under the same names in lower case. Elsewhere they are the kernel's generic ones; what has none is
 * counted on arm64 alone. libc only; built for the host and for arm64.
 */
#ifndef AGENT_EVENTS_H
#define AGENT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event {
	EVENT_CYCLES,
	EVENT_L1D_MISSES,
	EVENT_L1I_MISSES,
	EVENT_L2D_MISSES,
	EVENT_LLC_MISSES,
	EVENT_DTLB_MISSES,
	EVENT_ITLB_MISSES,
	EVENT_DTLB_WALKS,
	EVENT_ITLB_WALKS,
	EVENT_BRANCH_MISSES,
	N_EVENTS,
};

struct event_info {
	const char *name; /* "dtlb_misses", as in the settings */
	const char *unit; /* "dtlb_misses_k", as in metrics */
	const char *help;
	uint16_t arm_number; /* 0x05 */
	const char *arm_name; /* "l1d_tlb_refill", as in the PMU's folder events/ */
	bool generic; /* the two below are there */
	uint32_t generic_type; /* PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE */
	uint64_t generic_config;
};

extern const struct event_info event_infos[N_EVENTS];
/* Their names in that order, NULL-terminated. */
extern const char *const event_names[N_EVENTS + 1];

/*
 * Reads names with a comma between each two; bit 1 << event of the result for each. 0 when it is no such list: a name that is none,
 * one that comes twice, nothing at all.
 */
unsigned events_parse(const char *text);
/* The same the other way round, in the table's order: "cycles,dtlb_misses". As snprintf() when it does not fit. */
void events_format(unsigned events, char *text, size_t size);
/* The event whose unit it is, or N_EVENTS. */
enum event event_of_unit(const char *unit);

#endif
