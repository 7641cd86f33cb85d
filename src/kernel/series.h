/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patch series: read from folders, mboxes and commit ranges, applied in memory (libgit2), each step a commit in the cache. */
#ifndef KERNEL_SERIES_H
#define KERNEL_SERIES_H

#include "kernel/source.h"
#include "plan/matrix.h"
#include "plan/plan.h"

struct series;

/* Reads and parses all patches of the stack; every error at once. Needs no kernel source. A commit range is read from its repository. */
struct error *series_load(const struct patches *patches, struct series **series_out) MUST_CHECK;
void series_free(struct series *series);
/* Number of steps of the measured (last) part. */
size_t series_steps(const struct series *series);
const char *series_subject(const struct series *series, size_t step); /* step from 1 */
/* A summary for plan_expand; the caller owns its strings. */
void series_summarise(const struct series *series, struct series_summary *summary_out);

struct series_step {
	char tree[OID_HEX_SIZE];
	char commit[OID_HEX_SIZE];
	char *note; /* what was done besides plain applying: "mm/memcontrol.c hunk 2 found 40 lines below", "three-way merge"; NULL = nothing */
};

/*
 * Applies the whole stack to `base`: steps_out gets series_steps() + 1 entries; entry 0 is base plus what the series stands on. All that
 * fails is reported at once, as far as later patches can still be tried. Steps of a commit range are its commits' own trees.
 */
struct error *series_apply(const struct cache *cache, const struct source_tree *base, const struct series *series,
			   struct series_step **steps_out) MUST_CHECK;
void series_steps_free(struct series_step *steps, size_t n);

#endif
