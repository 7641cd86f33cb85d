/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by elf.c and elf_symbols.c alone. */
#ifndef BASE_ELF_INTERNAL_H
#define BASE_ELF_INTERNAL_H

#include "base/error.h"

struct Elf; /* libelf's */

/* ERROR_KERNEL when it is none. `fd` must stay open as long as the result is used. */
struct error *open_elf(const char *path, int fd, struct Elf **elf_out) MUST_CHECK;
void cleanup_elf(struct Elf **elf);

#endif
