/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands in an ELF file under a section's or a symbol's name. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/elf_internal.h"

static struct error *failure(const char *path)
{
	return error_new(ERROR_KERNEL, "cannot read %s: %s", path, elf_errmsg(-1));
}

/* Appends `n` bytes from `at` on; false when the section has not so many. */
static bool section_bytes(Elf_Scn *section, uint64_t at, uint64_t n, struct strbuf *out)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return false;
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || at > data->d_size || n > data->d_size - at)
		return false;
	strbuf_add(out, (const char *)data->d_buf + at, n);
	return true;
}

static struct error *find_section(Elf *elf, const char *path, const char *name, Elf_Scn **section_out)
{
	size_t names = 0;

	if (elf_getshdrstrndx(elf, &names))
		return failure(path);
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			return failure(path);
		const char *its = elf_strptr(elf, names, header.sh_name);
		if (its && !strcmp(its, name)) {
			*section_out = section;
			return NULL;
		}
	}
	*section_out = NULL;
	return NULL;
}

struct error *elf_section(const char *path, const char *section, struct strbuf *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);
	CLEANUP(cleanup_elf) Elf *elf = NULL;
	Elf_Scn *found = NULL;
	struct error *error = open_elf(path, fd, &elf);
	if (!error)
		error = find_section(elf, path, section, &found);
	if (error || !found)
		return error;
	GElf_Shdr header;
	if (!gelf_getshdr(found, &header))
		return failure(path);
	if (!section_bytes(found, 0, header.sh_size, out))
		return error_new(ERROR_KERNEL, "cannot read %s: section %s goes beyond the end", path, section);
	return NULL;
}

/*
 * Appends `n` bytes that the symbol stands before. In a linked file its value is an address, in an object an offset
 * into the section.
 */
static bool symbol_bytes(Elf *elf, const GElf_Sym *symbol, uint64_t n, struct strbuf *out)
{
	GElf_Ehdr file;
	GElf_Shdr header;
	Elf_Scn *section = symbol->st_shndx && symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;

	if (!section || !gelf_getshdr(section, &header) || !gelf_getehdr(elf, &file))
		return false;
	uint64_t start = file.e_type == ET_REL ? 0 : header.sh_addr;
	return symbol->st_value >= start && section_bytes(section, symbol->st_value - start, n, out);
}

typedef bool visit_symbol(Elf *elf, const char *name, const GElf_Sym *symbol, void *arg); /* false = enough */

static struct error *each_symbol(const char *path, visit_symbol *visit, void *arg)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);
	CLEANUP(cleanup_elf) Elf *elf = NULL;
	struct error *error = open_elf(path, fd, &elf);
	if (error)
		return error;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			return failure(path);
		if (header.sh_type != SHT_SYMTAB || !header.sh_entsize)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		int n = data ? (int)(data->d_size / header.sh_entsize) : 0;
		for (int i = 0; i < n; i++) {
			GElf_Sym symbol;
			const char *name = gelf_getsym(data, i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
			if (name && !visit(elf, name, &symbol, arg))
				return NULL;
		}
	}
	return NULL;
}

struct wanted_object {
	const char *name;
	struct strbuf *out;
};

static bool take_object(Elf *elf, const char *name, const GElf_Sym *symbol, void *arg)
{
	struct wanted_object *wanted = arg;
	size_t n = strlen(wanted->name);

	if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || strncmp(name, wanted->name, n) || (name[n] && name[n] != '.'))
		return true;
	return !symbol_bytes(elf, symbol, symbol->st_size, wanted->out);
}

struct error *elf_object(const char *path, const char *symbol, struct strbuf *out)
{
	struct wanted_object wanted = { symbol, out };

	return each_symbol(path, take_object, &wanted);
}

struct wanted_words {
	const char *prefix;
	struct elf_words words;
};

static bool take_word(Elf *elf, const char *name, const GElf_Sym *symbol, void *arg)
{
	struct wanted_words *wanted = arg;
	struct elf_words *words = &wanted->words;
	AUTO_STRBUF bytes = STRBUF_INIT;
	uint32_t value = (uint32_t)symbol->st_value;

	if (!str_starts(name, wanted->prefix))
		return true;
	if (symbol->st_shndx != SHN_ABS) {
		if (!symbol_bytes(elf, symbol, 4, &bytes))
			return true;
		const unsigned char *at = (const unsigned char *)bytes.data;
		value = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	}
	words->items = array_grow(words->items, words->n, sizeof(*words->items));
	words->items[words->n++] = (struct elf_word){ xstrdup(name + strlen(wanted->prefix)), value };
	return true;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(((const struct elf_word *)a)->name, ((const struct elf_word *)b)->name);
}

struct error *elf_words(const char *path, const char *prefix, struct elf_words *words_out)
{
	struct wanted_words wanted = { prefix, { NULL, 0 } };
	struct error *error = each_symbol(path, take_word, &wanted);

	if (error) {
		elf_words_deinit(&wanted.words);
		return error;
	}
	if (wanted.words.n)
		qsort(wanted.words.items, wanted.words.n, sizeof(*wanted.words.items), compare_words);
	*words_out = wanted.words;
	return NULL;
}

const struct elf_word *elf_words_find(const struct elf_words *words, const char *name)
{
	struct elf_word key = { .name = (char *)(uintptr_t)name };

	return words->n ? bsearch(&key, words->items, words->n, sizeof(*words->items), compare_words) : NULL;
}

void elf_words_deinit(struct elf_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->items[i].name);
	free(words->items);
	*words = (struct elf_words){ NULL, 0 };
}
