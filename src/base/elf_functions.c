/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of an ELF file and their sizes. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/elf_internal.h"
#include "base/file.h"
#include "base/mem.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct elf_function *)a)->name, ((const struct elf_function *)b)->name);
}

static void add_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct elf_functions *functions)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < n; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_size)
			continue;
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		functions->items = array_grow(functions->items, functions->n, sizeof(*functions->items));
		functions->items[functions->n++] = (struct elf_function){ xstrdup(name), symbol.st_size };
	}
}

/* Static functions of one name in several files count together. */
static void merge(struct elf_functions *functions)
{
	size_t n = 0;

	qsort(functions->items, functions->n, sizeof(*functions->items), compare_names);
	for (size_t i = 0; i < functions->n; i++) {
		if (n && !strcmp(functions->items[n - 1].name, functions->items[i].name)) {
			functions->items[n - 1].size += functions->items[i].size;
			free(functions->items[i].name);
		} else {
			functions->items[n++] = functions->items[i];
		}
	}
	functions->n = n;
}

struct error *elf_functions(const char *path, struct elf_functions *functions_out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);
	CLEANUP(cleanup_elf) Elf *elf = NULL;
	struct elf_functions functions = { NULL, 0 };
	struct error *error = open_elf(path, fd, &elf);
	if (error)
		return error;

	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			add_symbols(elf, section, &header, &functions);
	}
	if (functions.n)
		merge(&functions);
	*functions_out = functions;
	return NULL;
}

void elf_functions_deinit(struct elf_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++)
		free(functions->items[i].name);
	free(functions->items);
	*functions = (struct elf_functions){ NULL, 0 };
}
