/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/instructions_inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/elf_inlines.h"
#include "base/file.h"
#include "kernel/symbols.h"

struct insn_names {
	struct elf_inlines *inlines;
	struct symbols *symbols;
};

static struct error *read_both(const char *dir, const char *variant, struct insn_names *names)
{
	AUTO_FREE char *vmlinux = path_join(dir, "vmlinux");
	AUTO_FREE char *map = path_join(dir, "System.map");

	if (!file_exists(vmlinux) || !file_exists(map))
		return error_new(ERROR_INPUT, "the kernel of %s is not in the cache any more (%s)", variant, dir);
	struct error *error = symbols_read(map, &names->symbols);
	if (!error)
		error = elf_inlines_read(vmlinux, &names->inlines);
	if (!error && !elf_inlines_any(names->inlines))
		error = error_new(
			ERROR_INPUT,
			"the kernel of %s does not say what was inlined: its config needs DEBUG_INFO (and DEBUG_KERNEL)",
			variant);
	return error;
}

struct error *insn_names_read(const char *images, const char *key, const char *variant, struct insn_names **names_out)
{
	AUTO_FREE char *dir = path_join(images, key);
	struct insn_names *names = xcalloc(1, sizeof(*names));
	struct error *error = read_both(dir, variant, names);

	if (error)
		insn_names_free(names);
	else
		*names_out = names;
	return error;
}

char *insn_names_at(const struct insn_names *names, uint64_t address)
{
	const char *function = symbols_find(names->symbols, address), *inner = NULL;

	if (!*function)
		return xstrdup("(no function)");
	return elf_inlines_at(names->inlines, address, &inner, 1) ? xasprintf("%s in %s", inner, function) : xstrdup(function);
}

void insn_names_free(struct insn_names *names)
{
	if (!names)
		return;
	elf_inlines_free(names->inlines);
	symbols_free(names->symbols);
	free(names);
}
