/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/instructions_inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/elf_inlines.h"
#include "base/file.h"
#include "kernel/symbols.h"

struct insn_names {
	struct elf_inlines *inlines;
	struct symbols *symbols;
};

/* A kernel that was built again since, by another compiler, has its code elsewhere. */
static struct error *check_build(const char *vmlinux, const struct insn_kernel *kernel)
{
	char id[BUILD_ID_HEX_SIZE];
	struct error *error = elf_build_id(vmlinux, id);

	if (error || !strcmp(id, kernel->build_id))
		return error;
	return error_new(ERROR_INPUT, "%s of %s is not the one that was measured: its build id is %s, and that was %s", vmlinux,
			 kernel->variant, id, *kernel->build_id ? kernel->build_id : "not kept");
}

static struct error *read_both(const struct insn_kernel *kernel, struct insn_names *names)
{
	AUTO_FREE char *dir = path_join(kernel->images, kernel->key);
	AUTO_FREE char *vmlinux = path_join(dir, "vmlinux");
	AUTO_FREE char *map = path_join(dir, "System.map");

	if (!file_exists(vmlinux) || !file_exists(map))
		return error_new(ERROR_INPUT, "the kernel of %s is not in the cache any more (%s)", kernel->variant, dir);
	struct error *error = check_build(vmlinux, kernel);
	if (!error)
		error = symbols_read(map, &names->symbols);
	if (!error)
		error = elf_inlines_read(vmlinux, &names->inlines);
	if (!error && !elf_inlines_any(names->inlines))
		error = error_new(
			ERROR_INPUT,
			"the kernel of %s does not say what was inlined: its config needs DEBUG_INFO (and DEBUG_KERNEL)",
			kernel->variant);
	return error;
}

struct error *insn_names_read(const struct insn_kernel *kernel, struct insn_names **names_out)
{
	struct insn_names *names = xcalloc(1, sizeof(*names));
	struct error *error = read_both(kernel, names);

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
