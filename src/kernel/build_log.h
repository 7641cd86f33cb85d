/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what make and the compilers print. Pure. */
#ifndef KERNEL_BUILD_LOG_H
#define KERNEL_BUILD_LOG_H

#include "base/mem.h"

/*
 * The line that says first what is wrong ("mm/memcontrol.c:12:3: error: ..."), without `src` in front of its paths; when no compiler
 * or linker complains, make's own complaint, else the last line. Never NULL; the caller frees.
 */
char *build_log_first_error(const char *log, const char *src);
/* What was wrong with the machine rather than with the kernel (disk full, a host tool missing, out of memory), or NULL; the caller frees. */
char *build_log_lab_fault(const char *log);
unsigned build_log_warnings(const char *log);
/* True when a line of make's output (V=0) announces a kernel object that is compiled or linked: "  CC      mm/memcontrol.o". */
bool build_log_is_object(const char *line, size_t len);

#endif
