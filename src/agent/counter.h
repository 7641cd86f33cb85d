/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions of the calling thread from the PMU, kernel and user apart. On arm64 it is the architected event
 * INST_RETIRED (raw 0x08), which QEMU emulates under -icount; elsewhere the kernel's own generic instructions event.
 * With them what else was asked for (events.h), in the kernel alone. All are one group: the kernel counts all or none at any moment.
 */
#ifndef AGENT_COUNTER_H
#define AGENT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/events.h"

enum counter_kind { COUNTER_PMU, COUNTER_CLOCK, COUNTER_NONE, COUNTER_MODEL };

const char *counter_name(enum counter_kind kind); /* "pmu", "clock", "none", "model" */

/* What is to be counted. */
struct counter_plan {
	enum counter_kind kind;
	uint32_t type; /* arm64: perf's number of the measured cores' PMU (pmu.h); 0 = the raw type */
	unsigned events; /* bits 1 << event: beside instructions */
};

/* Are the events' numbers those of this machine's architecture, or the kernel's generic ones? */
#ifdef __aarch64__
#define COUNTER_RAW true
#else
#define COUNTER_RAW false
#endif

struct counter {
	size_t n; /* 0 without a PMU */
	int fds[2 + N_EVENTS]; /* instructions of the kernel, which lead the group, of the user, then the events in their order */
	unsigned events;
};

struct counter_reading {
	uint64_t kernel, user; /* instructions */
	uint64_t events[N_EVENTS]; /* 0 of what is not counted */
};

/*
 * Opens the counter of the calling thread, stopped. The other kinds open nothing; then the functions
 * below do nothing and read zeroes. False with a one-line reason.
 */
bool counter_open(struct counter *counter, const struct counter_plan *plan, char *reason, size_t reason_size);
/*
 * The same, and of all processes and threads that it starts from then on, up to the middle of their exit. To follow one costs
 * instructions itself, on both sides of a comparison. Of a child that has not exited what it did is not there yet.
 */
bool counter_open_tree(struct counter *counter, const struct counter_plan *plan, char *reason, size_t reason_size);
/* Of another process and all that it starts, from its next exec on: counter_start() and counter_stop() are not needed. */
bool counter_open_command(struct counter *counter, const struct counter_plan *plan, pid_t pid, char *reason, size_t reason_size);
void counter_close(struct counter *counter);
/* From zero. A failure shows in counter_read(). */
void counter_start(const struct counter *counter);
void counter_stop(const struct counter *counter);
/* What was counted from start to stop; false with a reason when the PMU was not there all the time (multiplexed). */
bool counter_read(const struct counter *counter, struct counter_reading *reading_out, char *reason, size_t reason_size);
/* Adds a reading to a sum of them. */
void counter_add(struct counter_reading *sum, const struct counter_reading *reading);

#endif
