/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_internal.h"

#define BUILD_ID_MAX 64

static void hex_text(const unsigned char *bytes, size_t n, char *hex_out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		hex_out[2 * i] = digits[bytes[i] >> 4];
		hex_out[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex_out[2 * n] = '\0';
}

void cleanup_elf(Elf **elf)
{
	if (*elf)
		elf_end(*elf);
}

struct error *open_elf(const char *path, int fd, Elf **elf_out)
{
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return error_new(ERROR_KERNEL, "cannot read %s: %s", path, elf_errmsg(-1));
	if (elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return error_new(ERROR_KERNEL, "%s is not an ELF file", path);
	}
	*elf_out = elf;
	return NULL;
}

static bool build_id_in_notes(Elf_Data *data, char *hex_out)
{
	GElf_Nhdr note;
	size_t offset = 0, name_offset, desc_offset;

	while ((offset = gelf_getnote(data, offset, &note, &name_offset, &desc_offset)) > 0) {
		const unsigned char *bytes = data->d_buf;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) || !note.n_descsz ||
		    note.n_descsz > BUILD_ID_MAX || memcmp(bytes + name_offset, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		hex_text(bytes + desc_offset, note.n_descsz, hex_out);
		return true;
	}
	return false;
}

struct error *elf_build_id(const char *path, char hex_out[BUILD_ID_HEX_SIZE])
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);
	CLEANUP(cleanup_elf) Elf *elf = NULL;
	struct error *err = open_elf(path, fd, &elf);
	if (err)
		return err;

	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (data && data->d_buf && build_id_in_notes(data, hex_out))
			return NULL;
	}
	return error_new(ERROR_KERNEL, "%s has no GNU build id", path);
}

static uint64_t field(const unsigned char *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/*
 * A kernel image carries whole little-endian ELF files (the vDSOs), each with a build id note of its own. The length of the
 * one that starts at `at`, up to the end of its section headers, which linkers put last; 0 when none starts there.
 */
static size_t embedded_elf_length(const unsigned char *at, size_t len)
{
	if (len < sizeof(Elf32_Ehdr) || memcmp(at, ELFMAG, SELFMAG) || at[EI_DATA] != ELFDATA2LSB)
		return 0;
	uint64_t section_offset, section_size, sections;
	if (at[EI_CLASS] == ELFCLASS64 && len >= sizeof(Elf64_Ehdr)) {
		section_offset = field(at + offsetof(Elf64_Ehdr, e_shoff), 8);
		section_size = field(at + offsetof(Elf64_Ehdr, e_shentsize), 2);
		sections = field(at + offsetof(Elf64_Ehdr, e_shnum), 2);
	} else if (at[EI_CLASS] == ELFCLASS32) {
		section_offset = field(at + offsetof(Elf32_Ehdr, e_shoff), 4);
		section_size = field(at + offsetof(Elf32_Ehdr, e_shentsize), 2);
		sections = field(at + offsetof(Elf32_Ehdr, e_shnum), 2);
	} else {
		return 0;
	}
	/* Headers that overlap are no linker's work. */
	if (!sections || section_offset < sizeof(Elf32_Ehdr) || section_offset > len ||
	    section_size * sections > len - section_offset)
		return 0;
	return (size_t)(section_offset + section_size * sections);
}

bool build_id_in_bytes(const void *data, size_t len, char hex_out[BUILD_ID_HEX_SIZE])
{
	const unsigned char *bytes = data;
	const size_t head = sizeof(Elf32_Nhdr) + sizeof(ELF_NOTE_GNU);

	/* Notes and embedded files are at least 4-aligned in the image. */
	for (size_t i = 0; i + head < len; i += 4) {
		size_t skip = i ? embedded_elf_length(bytes + i, len - i) : 0;
		if (skip) {
			i += (skip & ~(size_t)3) - 4;
			continue;
		}
		uint64_t size = field(bytes + i + offsetof(Elf32_Nhdr, n_descsz), 4);
		if (field(bytes + i, 4) != sizeof(ELF_NOTE_GNU) ||
		    field(bytes + i + offsetof(Elf32_Nhdr, n_type), 4) != NT_GNU_BUILD_ID ||
		    memcmp(bytes + i + sizeof(Elf32_Nhdr), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		if (size < 8 || size > BUILD_ID_MAX || size > len - i - head)
			continue;
		hex_text(bytes + i + head, (size_t)size, hex_out);
		return true;
	}
	return false;
}

struct error *elf_sizes(const char *path, struct elf_sizes *sizes_out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);
	CLEANUP(cleanup_elf) Elf *elf = NULL;
	struct error *err = open_elf(path, fd, &elf);
	if (err)
		return err;

	struct elf_sizes sizes = { 0, 0, 0 };
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			return error_new(ERROR_KERNEL, "cannot read %s: %s", path, elf_errmsg(-1));
		if (!(header.sh_flags & SHF_ALLOC))
			continue;
		if ((header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_WRITE))
			sizes.text += header.sh_size;
		else if (header.sh_type == SHT_NOBITS)
			sizes.bss += header.sh_size;
		else
			sizes.data += header.sh_size;
	}
	*sizes_out = sizes;
	return NULL;
}
