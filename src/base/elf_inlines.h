/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which function was inlined at an address, by a file's DWARF (elfutils). */
#ifndef BASE_ELF_INLINES_H
#define BASE_ELF_INLINES_H

#include "base/error.h"

struct elf_inlines;

/*
 * Reads the debug information of a linked ELF file, of any architecture. A file without it is no error: then nothing is inlined
 * anywhere (elf_inlines_any() is false).
 */
struct error *elf_inlines_read(const char *path, struct elf_inlines **inlines_out) MUST_CHECK;
bool elf_inlines_any(const struct elf_inlines *inlines);
/*
 * The functions inlined at an address of the file, the innermost first, at most `max` of them. Returns how many there are: 0 where the
 * code is that of the symbol itself. The names live as long as `inlines`.
 */
size_t elf_inlines_at(const struct elf_inlines *inlines, uint64_t address, const char *names_out[], size_t max);
void elf_inlines_free(struct elf_inlines *inlines); /* NULL is fine */

void cleanup_elf_inlines(struct elf_inlines **inlines);
#define AUTO_ELF_INLINES CLEANUP(cleanup_elf_inlines) struct elf_inlines *

#endif
