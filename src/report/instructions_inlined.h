/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Within report/instructions: names of single instructions, functions that were inlined told apart from those they were inlined into. */
#ifndef REPORT_INSTRUCTIONS_INLINED_H
#define REPORT_INSTRUCTIONS_INLINED_H

#include "base/error.h"

struct insn_names;

/* Which kernel: `key` in the cache's folder `images`, of that build id; `variant` is for messages. */
struct insn_kernel {
	const char *images, *key, *build_id, *variant;
};

/* ERROR_INPUT when it is not there any more, is another build, or was built without debug information. */
struct error *insn_names_read(const struct insn_kernel *kernel, struct insn_names **names_out) MUST_CHECK;
/* "count_vm_event in handle_mm_fault", "handle_mm_fault", "(no function)"; the caller frees. */
char *insn_names_at(const struct insn_names *names, uint64_t address);
void insn_names_free(struct insn_names *names); /* NULL is fine */

#endif
