/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The quiet environment on a machine with several cores or a userspace of its own (settings env.*, conf.h). In this order:
 * services are stopped, since they would undo the rest; properties; core_ctl; cores; affinity; governor and frequency;
 * memory (reclaim.h); further files. Each thing is read back before the first sample and after each workload, and restored at the
 * end (undo.h); hold.h says how it is told. Keys:
 *
 *   classes, cores                 what there is, what was asked for: "little 0-3 (capacity 380), ...", "big 4-7"
 *   cpuN.online, online            cores taken offline; those online
 *   core_ctl.cpuN, cpuset, affinity
 *   governor.policyN, frequency.policyN[.min|.max]
 *   stop.SERVICE                   "stopped"
 *   setprop-N, set-N               "NAME=VALUE", "PATH=VALUE"
 *   ksm, compaction_proactiveness, thp, swap, drop_caches
 *   thermal-LABEL                  how hot it was before that workload
 *   restore                        only as env.failed.restore: what could not be put back
 *
 * Without any env.* setting nothing of this is done.
 */
#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/conf.h"
#include "agent/hold.h"

struct environment {
	const struct conf *conf;
	bool asked; /* some env.* setting is there */
	struct holds holds;
};

/* Is there any env.* setting? */
bool environment_is_asked(const struct conf *conf);
/*
 * Makes it quiet, as far as that goes. `undo` is open and outlives it. False with a one-line reason when the cores that were asked
 * for do not exist: then nothing is to be measured.
 */
bool environment_set(struct environment *environment, const struct conf *conf, struct undo *undo, char *reason,
		     size_t reason_size);
/* Waits until it is cool enough for a workload. `alive` is called every few seconds. */
void environment_cool(struct environment *environment, const char *label, void (*alive)(void *arg), void *arg);
/* `label`: the workload that has just run, or NULL before the first. */
void environment_check(struct environment *environment, const char *label);
void environment_report(const struct environment *environment, struct records *records);
void environment_deinit(struct environment *environment);

#endif
