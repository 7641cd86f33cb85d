/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel's own tests said, by row: a test that passed on vanilla and fails on a step fails the run as a gate does. */
#ifndef REPORT_SELFTESTS_H
#define REPORT_SELFTESTS_H

#include "report/model.h"

/* Takes down the records selftest.* of a boot's identity (JSON, or NULL). Of several boots of a row the worst counts: fail, skip, pass. */
struct error *selftests_take(struct report *report, size_t row, const char *identity) MUST_CHECK;
void selftests_free(struct report *report);
/* "pass", "fail" or "skip", without the reason; "-" where nothing is known. */
const char *selftest_outcome(const struct report_selftest *selftest, size_t row);
/* Why, or NULL. Points into `selftest`. */
const char *selftest_reason(const struct report_selftest *selftest, size_t row);
/* The row without patches below `row` in its ladder; -1 when there is none but itself. */
ssize_t selftest_vanilla(const struct report *report, size_t row);
/* Passed on vanilla, and fails or is never reached here. */
bool selftest_regressed(const struct report *report, const struct report_selftest *selftest, size_t row);

#endif
