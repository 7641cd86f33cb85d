/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's plugin interface that is used here, written down from its documentation: Debian packages no header of it.
 * Versions (qemu_info.current) and what they changed of this part:
 *   1  QEMU 4.2 to 8.2
 *   2  QEMU 9.0: inline operations work on scoreboards, arrays with an element for each vCPU, and no longer on a pointer
 *   3  QEMU 9.1: qemu_plugin_insn_data() copies
 * A QEMU refuses a plugin whose qemu_plugin_version lies outside of its own range: 0 to 1, from 9.0 on 2 to its own.
 */
#ifndef TCG_PLUGIN_API_H
#define TCG_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
/* NULL in a QEMU that does not have it. */
#define SINCE_SOME __attribute__((weak))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

struct qemu_info {
	const char *target_name;
	struct {
		int min, current;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

enum { INLINE_ADD_U64 = 0 };
enum { CB_NO_REGS = 0 };

/* A 64-bit number in each element of a scoreboard, at `offset`. */
struct scoreboard_u64 {
	struct qemu_plugin_scoreboard *board;
	size_t offset;
};

typedef void plugin_exec_cb(unsigned vcpu, void *arg);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t id, struct qemu_plugin_tb *block));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t id, void *arg), void *arg);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, plugin_exec_cb *cb, int flags, void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t at);
void qemu_plugin_outs(const char *text);

/* Version 1 alone. */
SINCE_SOME void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int op, void *at, uint64_t value);
SINCE_SOME void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *at, uint64_t value);
/* Since version 2. */
SINCE_SOME struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
SINCE_SOME void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *board, unsigned vcpu);
SINCE_SOME void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *block, int op, struct scoreboard_u64 at,
								  uint64_t value);
SINCE_SOME void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, int op,
								    struct scoreboard_u64 at, uint64_t value);

/* Up to version 2 it takes the instruction alone and returns where its bytes are; since version 3 it copies and returns how many. */
EXPORTED extern int qemu_plugin_version;
EXPORTED int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

#endif
