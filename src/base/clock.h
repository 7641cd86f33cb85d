/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time: deadlines are milliseconds of CLOCK_MONOTONIC; UTC only for names and records. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/mem.h"

#define NO_DEADLINE INT64_MAX

int64_t clock_ms(void); /* CLOCK_MONOTONIC */
int64_t clock_deadline(int64_t timeout_ms); /* now + timeout, saturating at NO_DEADLINE */
/* Milliseconds left, at least 0 and at most INT_MAX; -1 for NO_DEADLINE: what poll() wants. */
int clock_poll_timeout(int64_t deadline_ms);
int64_t clock_utc_s(void);
/* "20261201T101500Z"; the caller frees it. */
char *clock_utc_text(int64_t utc_s);
/* CPU time of this process, and of its reaped children, in milliseconds. */
int64_t clock_self_cpu_ms(void);
int64_t clock_children_cpu_ms(void);

#endif
