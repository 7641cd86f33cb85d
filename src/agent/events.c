/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define LIST_MAX 256

/* As perf_event_open(2) has it: a cache, what is done to it, and how that goes. */
#define CACHE_READ_MISS(cache)                                                                                                   \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define HARDWARE(config) true, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config
#define CACHE(cache) true, PERF_TYPE_HW_CACHE, CACHE_READ_MISS(cache)
#define NOT_GENERIC false, 0, 0
#define NAMES(name) name, name "_k"

const struct event_info event_infos[N_EVENTS] = {
	[EVENT_CYCLES] = { NAMES("cycles"), "cycles of the core", 0x11, "cpu_cycles", HARDWARE(CPU_CYCLES) },
	[EVENT_L1D_MISSES] = { NAMES("l1d_misses"), "lines brought into the first data cache", 0x03, "l1d_cache_refill",
			       CACHE(L1D) },
	[EVENT_L1I_MISSES] = { NAMES("l1i_misses"), "lines brought into the first instruction cache", 0x01, "l1i_cache_refill",
			       CACHE(L1I) },
	[EVENT_L2D_MISSES] = { NAMES("l2d_misses"), "lines brought into the second cache", 0x17, "l2d_cache_refill",
			       NOT_GENERIC },
	[EVENT_LLC_MISSES] = { NAMES("llc_misses"), "reads that miss the last cache", 0x37, "ll_cache_miss_rd", CACHE(LL) },
	[EVENT_DTLB_MISSES] = { NAMES("dtlb_misses"), "entries brought into the first data TLB", 0x05, "l1d_tlb_refill",
				CACHE(DTLB) },
	[EVENT_ITLB_MISSES] = { NAMES("itlb_misses"), "entries brought into the first instruction TLB", 0x02, "l1i_tlb_refill",
				CACHE(ITLB) },
	[EVENT_DTLB_WALKS] = { NAMES("dtlb_walks"), "walks of page tables for data", 0x34, "dtlb_walk", NOT_GENERIC },
	[EVENT_ITLB_WALKS] = { NAMES("itlb_walks"), "walks of page tables for instructions", 0x35, "itlb_walk", NOT_GENERIC },
	[EVENT_BRANCH_MISSES] = { NAMES("branch_misses"), "branches that were predicted wrongly", 0x10, "br_mis_pred",
				  HARDWARE(BRANCH_MISSES) },
};

const char *const event_names[N_EVENTS + 1] = {
	[EVENT_CYCLES] = "cycles",
	[EVENT_L1D_MISSES] = "l1d_misses",
	[EVENT_L1I_MISSES] = "l1i_misses",
	[EVENT_L2D_MISSES] = "l2d_misses",
	[EVENT_LLC_MISSES] = "llc_misses",
	[EVENT_DTLB_MISSES] = "dtlb_misses",
	[EVENT_ITLB_MISSES] = "itlb_misses",
	[EVENT_DTLB_WALKS] = "dtlb_walks",
	[EVENT_ITLB_WALKS] = "itlb_walks",
	[EVENT_BRANCH_MISSES] = "branch_misses",
	[N_EVENTS] = NULL,
};

static unsigned bit_of(const char *name, size_t len)
{
	for (enum event event = 0; event < N_EVENTS; event++) {
		if (strlen(event_infos[event].name) == len && !memcmp(event_infos[event].name, name, len))
			return 1u << event;
	}
	return 0;
}

unsigned events_parse(const char *text)
{
	unsigned events = 0;

	for (;;) {
		const size_t len = strcspn(text, ",");
		const unsigned bit = bit_of(text, len);

		if (!bit || events & bit)
			return 0;
		events |= bit;
		if (!text[len])
			return events;
		text += len + 1;
	}
}

void events_format(unsigned events, char *text, size_t size)
{
	char list[LIST_MAX] = "";
	size_t len = 0;

	for (enum event event = 0; event < N_EVENTS; event++) {
		if (events & 1u << event)
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len ? "," : "", event_infos[event].name);
	}
	snprintf(text, size, "%s", list);
}

enum event event_of_unit(const char *unit)
{
	enum event event = 0;

	while (event < N_EVENTS && strcmp(event_infos[event].unit, unit) != 0)
		event++;
	return event;
}
