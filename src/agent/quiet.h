/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A quiet environment: no address space randomization, no huge pages, no kernel messages on the console. Each setting
 * is read back into the records (identity.h); what was changed is restored at the end (undo.h), which matters where the
 * agent is not pid 1.
 */
#ifndef AGENT_QUIET_H
#define AGENT_QUIET_H

#include <stdbool.h>

#include "agent/undo.h"

/* Does this process run without address space randomization? */
bool quiet_aslr_is_off(void);
/* Runs this program anew without it. Returns only when that cannot be done, or is so already. */
void quiet_exec_without_aslr(char *const argv[]);
/* Only messages of level 0 (emergency) go to the console from here on. */
void quiet_console(struct undo *undo);
/* "never" for transparent huge pages of every size. */
void quiet_huge_pages(struct undo *undo);
/* The chosen one of "always [madvise] never"; into `word_out`, which is `text` without brackets when none is chosen. */
void quiet_chosen_word(const char *text, char *word_out, unsigned long size);

#endif
