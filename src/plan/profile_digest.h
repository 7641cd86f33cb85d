/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PLAN_PROFILE_DIGEST_H
#define PLAN_PROFILE_DIGEST_H

#include "plan/profile.h"

/* profile.digest of a profile that is otherwise complete; the caller frees it. */
char *profile_digest(const struct profile *profile);

#endif
