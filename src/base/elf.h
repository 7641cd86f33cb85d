/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files (elfutils). */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include "base/error.h"

#define BUILD_ID_HEX_SIZE 129 /* at most 64 bytes as hex digits, and NUL */

/* The GNU build id of an ELF file (vmlinux), as lower-case hex digits; ERROR_KERNEL when it has none. */
struct error *elf_build_id(const char *path, char hex_out[BUILD_ID_HEX_SIZE]) MUST_CHECK;
/* Finds the GNU build id note in raw bytes (an arm64 Image, or /sys/kernel/notes); false when there is none. */
bool build_id_in_bytes(const void *data, size_t len, char hex_out[BUILD_ID_HEX_SIZE]);

struct elf_sizes {
	uint64_t text, data, bss; /* as binutils' size prints them (Berkeley form), in bytes */
};
struct error *elf_sizes(const char *path, struct elf_sizes *sizes_out) MUST_CHECK;

#endif
