/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/folio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/quiet.h"
#include "agent/sysfile.h"
#include "agent/undo.h"

#define FOLDER "/sys/kernel/mm/transparent_hugepage/hugepages-64kB"
#define SETTING FOLDER "/enabled"

int folio_allow(struct workload_run *run)
{
	char *before = sysfile_line(run->root, SETTING);
	char word[32];

	if (!before)
		return workload_fail(run, "folio=64K: this kernel has no folios of 64 KiB (no hugepages-64kB)");
	quiet_chosen_word(before, word, sizeof(word));
	free(before);
	if (!undo_note(run->undo, UNDO_FILE, SETTING, word))
		return workload_fail(run, "no room to remember hugepages-64kB/enabled");
	if (sysfile_write(SETTING, "madvise"))
		return 0;
	workload_fail(run, "hugepages-64kB/enabled: %s", strerror(errno));
	undo_forget(run->undo);
	return -1;
}

/* The quiet environment has said "never" before. */
void folio_forbid(struct workload_run *run)
{
	if (sysfile_write(SETTING, "never"))
		undo_forget(run->undo);
}

uint64_t folio_count(const struct workload_run *run, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), FOLDER "/stats/%s", name);

	char *text = sysfile_line(run->root, path);
	const uint64_t count = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return count;
}
