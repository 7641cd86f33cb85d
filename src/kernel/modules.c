/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/file.h"

/*
 * struct modversion_info of include/linux/module.h: an unsigned long, of which 32 bits are the CRC, and the name fill
 * 64 bytes.
 */
#define VERSION_ENTRY 64
#define VERSION_NAME_AT 8

/* What a kernel or a module offers to others. */
struct exports {
	/*
	 * __ksymtab_strings: names of exported symbols and of their namespaces, each with a NUL; ld lets "bar" be the
	 * end of "foobar".
	 */
	struct strbuf names;
	/*
	 * __crc_NAME: an absolute symbol up to 5.18 (behind MODULE_REL_CRCS a word in .rodata), since then a word in
	 * __kcrctab*. The kernel's own are never stripped; a module that lost its local symbols has none, and the
	 * loader does not ask for them there either.
	 */
	struct elf_words crcs;
};

struct kernel_side {
	char *vermagic;
	struct exports own;
	struct exports *modules; /* one a module */
	size_t n_modules;
};

static void exports_deinit(struct exports *exports)
{
	strbuf_deinit(&exports->names);
	elf_words_deinit(&exports->crcs);
}

static void kernel_side_deinit(struct kernel_side *kernel)
{
	free(kernel->vermagic);
	exports_deinit(&kernel->own);
	for (size_t i = 0; i < kernel->n_modules; i++)
		exports_deinit(&kernel->modules[i]);
	free(kernel->modules);
}

/* Whatever is wrong with a file here says nothing about how a kernel runs. */
static struct error *as_lab(struct error *error)
{
	AUTO_ERROR original = error;

	return error ? error_new(ERROR_LAB, "%s", error_message(original)) : NULL;
}

static struct error *read_exports(const char *path, struct exports *exports)
{
	struct error *error = elf_section(path, "__ksymtab_strings", &exports->names);

	if (!error)
		error = elf_words(path, "__crc_", &exports->crcs);
	return as_lab(error);
}

static bool exports_name(const struct exports *exports, const char *name)
{
	return elf_words_find(&exports->crcs, name) ||
	       (exports->names.len && memmem(exports->names.data, exports->names.len, name, strlen(name) + 1));
}

static struct error *read_kernel(const char *vmlinux, struct kernel_side *kernel)
{
	AUTO_STRBUF vermagic = STRBUF_INIT;
	AUTO_STRBUF symtab = STRBUF_INIT;
	struct error *error = as_lab(elf_section(vmlinux, ".symtab", &symtab));

	if (error)
		return error;
	if (!symtab.len)
		return error_new(ERROR_LAB, "%s has no symbols: modules are compared with a vmlinux that was not stripped",
				 vmlinux);
	/* kernel/module.c, since 5.19 kernel/module/main.c: static const char vermagic[]. */
	error = as_lab(elf_object(vmlinux, "vermagic", &vermagic));
	if (error)
		return error;
	if (!vermagic.len)
		return error_new(ERROR_LAB, "%s was built without modules (no symbol vermagic)", vmlinux);
	kernel->vermagic = strbuf_steal(&vermagic);
	return read_exports(vmlinux, &kernel->own);
}

/* "folder/sub/x.ko" for all below, sorted within each folder. */
static struct error *find_modules(const char *folder, struct strlist *paths)
{
	CLEANUP(strlist_deinit) struct strlist names = { NULL, 0 };
	struct error *error = file_list(folder, &names);

	for (size_t i = 0; !error && i < names.n; i++) {
		AUTO_FREE char *path = path_join(folder, names.items[i]);
		if (str_ends(path, ".ko") && file_is_regular(path))
			strlist_add(paths, path);
		else if (file_is_dir(path))
			error = find_modules(path, paths);
	}
	return error;
}

static char *module_vermagic(const struct strbuf *modinfo)
{
	static const char key[] = "vermagic=";
	const char *at = strbuf_str(modinfo), *end = at + modinfo->len;

	for (; at < end; at += strlen(at) + 1)
		if (str_starts(at, key))
			return xstrdup(at + sizeof(key) - 1);
	return NULL;
}

/* With CRCs to go by, the loader takes another release: the first word is not compared. */
static bool same_magic(const char *a, const char *b, bool crcs)
{
	return !strcmp(crcs ? a + strcspn(a, " ") : a, crcs ? b + strcspn(b, " ") : b);
}

static char *check_vermagic(const struct kernel_side *kernel, const struct strbuf *modinfo, bool crcs)
{
	AUTO_FREE char *vermagic = module_vermagic(modinfo);

	if (!vermagic)
		return xstrdup("has no vermagic");
	if (!same_magic(vermagic, kernel->vermagic, crcs))
		return xasprintf("vermagic is '%s', the kernel's is '%s'", vermagic, kernel->vermagic);
	return NULL;
}

/* Who exports it: the kernel, else a module; NULL = nobody. */
static const struct exports *exporter(const struct kernel_side *kernel, const char *name)
{
	if (exports_name(&kernel->own, name))
		return &kernel->own;
	for (size_t i = 0; i < kernel->n_modules; i++)
		if (exports_name(&kernel->modules[i], name))
			return &kernel->modules[i];
	return NULL;
}

static char *check_version(const struct kernel_side *kernel, const char *name, uint32_t crc)
{
	const struct exports *from = exporter(kernel, name);
	const struct elf_word *word = from ? elf_words_find(&from->crcs, name) : NULL;

	if (!from)
		return xasprintf("needs symbol %s, which neither kernel nor modules have", name);
	/* The loader takes a symbol whose exporter has no CRC. */
	if (word && word->value != crc)
		return xasprintf("disagrees about the version of symbol %s", name);
	return NULL;
}

static char *check_versions(const struct kernel_side *kernel, const struct strbuf *versions)
{
	for (size_t at = 0; at + VERSION_ENTRY <= versions->len; at += VERSION_ENTRY) {
		const unsigned char *entry = (const unsigned char *)versions->data + at;
		AUTO_FREE char *name = xstrndup((const char *)entry + VERSION_NAME_AT, VERSION_ENTRY - VERSION_NAME_AT);
		uint32_t crc = (uint32_t)entry[0] | (uint32_t)entry[1] << 8 | (uint32_t)entry[2] << 16 | (uint32_t)entry[3] << 24;
		char *wrong = check_version(kernel, name, crc);
		if (wrong)
			return wrong;
	}
	return NULL;
}

/* *wrong_out stays NULL when the kernel would load it. */
static struct error *check_module(const struct kernel_side *kernel, const char *path, char **wrong_out)
{
	AUTO_STRBUF modinfo = STRBUF_INIT, versions = STRBUF_INIT;
	struct error *error = elf_section(path, ".modinfo", &modinfo);

	if (!error)
		error = elf_section(path, "__versions", &versions);
	if (error)
		return as_lab(error);
	bool crcs = kernel->own.crcs.n && versions.len;
	char *wrong = check_vermagic(kernel, &modinfo, crcs);
	if (!wrong && crcs)
		wrong = check_versions(kernel, &versions);
	*wrong_out = wrong;
	return NULL;
}

static struct error *compare_all(const struct kernel_side *kernel, const char *folder, const struct strlist *paths,
				 struct modules_report *report)
{
	for (size_t i = 0; i < paths->n; i++) {
		AUTO_FREE char *wrong = NULL;
		struct error *error = check_module(kernel, paths->items[i], &wrong);
		if (error)
			return error;
		report->n_modules++;
		if (!wrong)
			continue;
		if (!report->n_mismatches++)
			report->mismatch = xasprintf("%s: %s", paths->items[i] + strlen(folder) + 1, wrong);
	}
	return NULL;
}

struct error *modules_compare(const char *folder, const char *vmlinux, struct modules_report *report_out)
{
	CLEANUP(kernel_side_deinit) struct kernel_side kernel = { 0 };
	CLEANUP(strlist_deinit) struct strlist paths = { NULL, 0 };
	struct modules_report report = { 0 };
	struct error *error = find_modules(folder, &paths);

	if (!error && !paths.n)
		error = error_new(ERROR_LAB, "there is no *.ko below %s", folder);
	if (!error)
		error = read_kernel(vmlinux, &kernel);
	if (error)
		return error;
	kernel.modules = xcalloc(paths.n, sizeof(*kernel.modules));
	kernel.n_modules = paths.n;
	for (size_t i = 0; !error && i < paths.n; i++)
		error = read_exports(paths.items[i], &kernel.modules[i]);
	if (!error)
		error = compare_all(&kernel, folder, &paths, &report);
	if (error) {
		modules_report_deinit(&report);
		return error;
	}
	*report_out = report;
	return NULL;
}

void modules_report_deinit(struct modules_report *report)
{
	free(report->mismatch);
	*report = (struct modules_report){ 0 };
}
