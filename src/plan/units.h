/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with units, as people write them in matrices and labs. */
#ifndef PLAN_UNITS_H
#define PLAN_UNITS_H

#include "base/mem.h"

/* Each takes the whole text or nothing; false when it is malformed or too large, with the output untouched. */

/* Decimal digits, or 0x and hex digits. */
bool units_count(const char *text, uint64_t *count_out);
/* Bytes: digits, then nothing or K, M, G, T (powers of 1024), which "iB" may follow; or 0x and hex digits. */
bool units_size(const char *text, uint64_t *bytes_out);
/* Milliseconds: digits, then ms, s, min or h; "0" needs no unit. */
bool units_time(const char *text, int64_t *ms_out);
/* A finite decimal number. */
bool units_real(const char *text, double *real_out);
/* A ratio: "0.08" or "8%". */
bool units_ratio(const char *text, double *ratio_out);

/* The shortest of these forms, which the caller frees: "64M", "4097". */
char *units_size_text(uint64_t bytes);
/* "10s", "1500ms" */
char *units_time_text(int64_t ms);

#endif
