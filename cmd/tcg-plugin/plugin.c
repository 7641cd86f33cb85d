/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the guest's instructions by translated block and by the agent's phases. See README.md. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "count.h"

#define COPYING_INSN_DATA 3 /* the version since which qemu_plugin_insn_data() copies */
/* movz xzr, #0x6d00 + CODE; the codes are those of src/agent/marker.h. */
#define MARK_INSN 0xd28da01fu
#define MARK_MASK 0xffffe01fu
#define MARK_SHIFT 5
/* msr pmcntenclr_el0, Xt and msr pmcntenset_el0, Xt: Linux' driver stops and starts a counter with them, and stops it before it starts it. */
#define STOP_INSN 0xd51b9c40u
#define START_INSN 0xd51b9c20u
#define REGISTER_MASK 0xffffffe0u
enum { MARK_ZERO = 0, MARK_ONE = 1, MARK_END = 2, MARK_START = 8, MARK_STOP = 16, MARK_FORGET = 24 };

/* QEMU hands no argument to the function it calls for a translated block. */
static struct {
	struct counts *counts;
	const char *path;
	uint64_t *counters; /* version 1 */
	struct qemu_plugin_scoreboard *board; /* later: one element, of all counters */
	bool copying;
} plugin;

int qemu_plugin_version = 1;

/* Before QEMU looks at the number: it says which interface this QEMU has by what it offers. */
__attribute__((constructor)) static void choose_version(void)
{
	if (qemu_plugin_scoreboard_new)
		qemu_plugin_version = 2;
}

static const uint64_t *counters_now(void)
{
	return plugin.board ? qemu_plugin_scoreboard_find(plugin.board, 0) : plugin.counters;
}

static void on_mark(unsigned vcpu, void *arg)
{
	const unsigned code = (unsigned)(uintptr_t)arg, slot = code & 1;

	(void)vcpu;
	if (code == MARK_END)
		counts_end(plugin.counts);
	else if (code <= MARK_ONE)
		counts_bit(plugin.counts, code);
	else if (code - slot == MARK_START)
		counts_start(plugin.counts, slot, counters_now());
	else if (code - slot == MARK_STOP)
		counts_stop(plugin.counts, slot, counters_now());
	else if (code - slot == MARK_FORGET)
		counts_forget(plugin.counts, slot);
}

static void on_counter(unsigned vcpu, void *arg)
{
	(void)vcpu;
	counts_held(plugin.counts, arg != NULL, counters_now());
}

extern char qemu_plugin_insn_data[]; /* a function of two shapes (api.h) */

static uint32_t insn_word(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;

	if (plugin.copying) {
		size_t (*copy)(const struct qemu_plugin_insn *insn, void *to, size_t size) = (void *)qemu_plugin_insn_data;
		copy(insn, &word, sizeof(word));
	} else {
		const void *(*where)(const struct qemu_plugin_insn *insn) = (void *)qemu_plugin_insn_data;
		memcpy(&word, where(insn), sizeof(word));
	}
	return word; /* both are little endian: Debian's hosts, and arm64 instructions */
}

static void count_insn(struct qemu_plugin_insn *insn, size_t counter, size_t n)
{
	const struct scoreboard_u64 at = { plugin.board, counter * sizeof(uint64_t) };

	if (plugin.board)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64, at, n);
	else
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &plugin.counters[counter], n);
}

static void count_block(struct qemu_plugin_tb *block, size_t counter, size_t n)
{
	const struct scoreboard_u64 at = { plugin.board, counter * sizeof(uint64_t) };

	if (plugin.board)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, INLINE_ADD_U64, at, n);
	else
		qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &plugin.counters[counter], n);
}

/*
 * A process is left in the middle of a block by every page fault, at an instruction that is then done again: each is counted when
 * the one after it begins, the last one when it begins itself.
 */
static void on_user_block(struct qemu_plugin_tb *block, size_t counter, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const uint32_t word = insn_word(insn);
		const size_t done = (i > 0) + (i + 1 == n);
		if ((word & MARK_MASK) == MARK_INSN)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, CB_NO_REGS,
							       (void *)(uintptr_t)(word >> MARK_SHIFT & 0xff));
		if (done)
			count_insn(insn, counter, done);
	}
}

static void on_kernel_block(struct qemu_plugin_tb *block, size_t counter, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const uint32_t word = insn_word(insn) & REGISTER_MASK;
		if (word == STOP_INSN || word == START_INSN)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_counter, CB_NO_REGS,
							       (void *)(uintptr_t)(word == STOP_INSN));
	}
	count_block(block, counter, n);
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *block)
{
	const uint64_t address = qemu_plugin_tb_vaddr(block);
	const size_t n = qemu_plugin_tb_n_insns(block), counter = counts_block(plugin.counts, address, n);

	(void)id;
	if (counter == MAX_BLOCKS)
		return;
	/* The upper half of the addresses is the kernel's. */
	if (address >> 63)
		on_kernel_block(block, counter, n);
	else
		on_user_block(block, counter, n);
}

static void on_end(uint64_t id, void *arg)
{
	(void)id;
	(void)arg;
	if (!counts_write(plugin.counts, plugin.path))
		qemu_plugin_outs("memcg-ab: the counts cannot be written\n");
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	static const char out[] = "out=";

	if (argc != 1 || strncmp(argv[0], out, strlen(out)) || !info->system_emulation || info->system.max_vcpus != 1)
		return -1;
	/* QEMU may free its arguments. */
	plugin.path = strdup(argv[0] + strlen(out));
	plugin.copying = info->version.current >= COPYING_INSN_DATA;
	plugin.counts = counts_new();
	if (qemu_plugin_scoreboard_new)
		plugin.board = qemu_plugin_scoreboard_new(MAX_BLOCKS * sizeof(uint64_t));
	else
		plugin.counters = calloc(MAX_BLOCKS, sizeof(uint64_t));
	if (!plugin.path || !plugin.counts || !(plugin.board || plugin.counters))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
