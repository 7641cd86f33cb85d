/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workloads need besides a kernel. */
#ifndef PLAN_NEEDS_H
#define PLAN_NEEDS_H

#include "plan/matrix.h"

/* Names of the kernel's test programs that workloads run ("memcontrol"), sorted, each once; empty when none does. */
void needs_selftests(const struct matrix *matrix, struct strlist *names_out);
/* Can files be brought to it along with the agent? That is so where the agent comes in an initial RAM file system of ours. */
bool needs_carries_files(const struct profile *profile);

#endif
