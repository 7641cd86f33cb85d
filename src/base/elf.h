/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files (elfutils). */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include "base/error.h"
#include "base/strbuf.h"

#define BUILD_ID_HEX_SIZE 129 /* at most 64 bytes as hex digits, and NUL */

/* The GNU build id of an ELF file (vmlinux), as lower-case hex digits; ERROR_KERNEL when it has none. */
struct error *elf_build_id(const char *path, char hex_out[BUILD_ID_HEX_SIZE]) MUST_CHECK;
/* Finds the GNU build id note in raw bytes (an arm64 Image, or /sys/kernel/notes); false when there is none. */
bool build_id_in_bytes(const void *data, size_t len, char hex_out[BUILD_ID_HEX_SIZE]);

struct elf_sizes {
	uint64_t text, data, bss; /* as binutils' size prints them (Berkeley form), in bytes */
};
struct error *elf_sizes(const char *path, struct elf_sizes *sizes_out) MUST_CHECK;

/* Appends the bytes of the (first) section of that name, as they stand in the file; nothing when there is none. */
struct error *elf_section(const char *path, const char *section, struct strbuf *out) MUST_CHECK;
/*
 * Appends the bytes of the object `symbol`, for which "symbol.SUFFIX" is taken as well (what LTO renames); nothing
 * when there is none.
 */
struct error *elf_object(const char *path, const char *symbol, struct strbuf *out) MUST_CHECK;

struct elf_word {
	char *name; /* without the prefix */
	uint32_t value;
};
struct elf_words {
	struct elf_word *items; /* sorted by name, bytewise */
	size_t n;
};
/*
 * The 32-bit word of every symbol whose name starts with `prefix`: an absolute symbol's own value, else the four
 * little-endian bytes that it stands before. Symbols without bytes (undefined, .bss) are left out.
 */
struct error *elf_words(const char *path, const char *prefix, struct elf_words *words_out) MUST_CHECK;
const struct elf_word *elf_words_find(const struct elf_words *words, const char *name);
void elf_words_deinit(struct elf_words *words);

struct elf_function {
	char *name;
	uint64_t size; /* bytes */
};
struct elf_functions {
	struct elf_function *items; /* sorted by name, bytewise; functions of one name together */
	size_t n;
};
/* The functions that have a size; none in a stripped file. */
struct error *elf_functions(const char *path, struct elf_functions *functions_out) MUST_CHECK;
void elf_functions_deinit(struct elf_functions *functions);

#endif
