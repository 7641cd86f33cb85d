/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When two rows are the same, whatever their names. */
#ifndef PLAN_MATRIX_ROWS_H
#define PLAN_MATRIX_ROWS_H

#include "plan/matrix.h"

bool matrix_same_kernel(const struct kernel *a, const struct kernel *b);
bool matrix_same_config(const struct config *a, const struct config *b);
bool matrix_same_cmdline(const struct cmdline *a, const struct cmdline *b);
/* Nothing is applied at this step: no patches, or step 0 of a series that stands on no other. */
bool matrix_is_vanilla(const struct patches *patches, unsigned step);
/* "[KERNEL/]CONFIG/CMDLINE", which the caller frees. */
char *matrix_row_prefix(const struct kernel *kernel, const struct config *config, const struct cmdline *cmdline);

#endif
