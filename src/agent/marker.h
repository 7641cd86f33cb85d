/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks for who watches the machine from outside, as our QEMU plugin does (cmd/tcg-plugin/README.md): each is one arm64 instruction that
 * does nothing and that no compiler makes, `movz xzr, #0x6d00 + CODE`. A kernel never sees it, and it counts as one instruction whether
 * anybody watches or not. Elsewhere they are nothing. Private to the agent.
 */
#ifndef AGENT_MARKER_H
#define AGENT_MARKER_H

#include <stdint.h>

#define MARKER_SLOTS 2 /* pieces that may be open side by side */

/* Codes; the last three have the slot added. */
enum marker { MARKER_ZERO = 0, MARKER_ONE = 1, MARKER_END = 2, MARKER_START = 8, MARKER_STOP = 16, MARKER_FORGET = 24 };

#ifdef __aarch64__
#define MARK(code) __asm__ volatile("movz xzr, %0" ::"i"(0x6d00 + (code)) : "memory")
#else
#define MARK(code) ((void)(code))
#endif

/* What is executed from here on belongs to the piece in `slot`, until as many stops as starts have come. */
static inline void marker_start(unsigned slot)
{
	if (slot)
		MARK(MARKER_START + 1);
	else
		MARK(MARKER_START);
}

static inline void marker_stop(unsigned slot)
{
	if (slot)
		MARK(MARKER_STOP + 1);
	else
		MARK(MARKER_STOP);
}

/* The piece in `slot` was for nothing. */
static inline void marker_forget(unsigned slot)
{
	if (slot)
		MARK(MARKER_FORGET + 1);
	else
		MARK(MARKER_FORGET);
}

/* An iteration of a workload begins (warm-ups are negative); no piece is open. */
void marker_iteration(const char *label, int iteration);
/* The piece in `slot` was `operations` of a phase; it is empty afterwards. */
void marker_phase(unsigned slot, const char *phase, double operations);

#endif
