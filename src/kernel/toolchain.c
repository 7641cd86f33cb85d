/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/toolchain.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_TIMEOUT_MS 30000

/* What a kernel build runs besides the compiler. */
static const char *const host_tools[] = { "make", "flex", "bison", "bc" };

/* Debian's names where the package is not named as the program is. */
static const struct {
	const char *program, *package;
} packages[] = {
	{ "ld.lld", "lld" },
	{ "llvm-ar", "llvm" },
	{ "llvm-nm", "llvm" },
	{ "llvm-objcopy", "llvm" },
	{ "llvm-objdump", "llvm" },
	{ "llvm-readelf", "llvm" },
	{ "llvm-strip", "llvm" },
	{ "ld", "binutils" },
	{ "as", "binutils" },
	{ "ar", "binutils" },
	{ "cc", "gcc" },
	{ "pahole", "pahole" },
	{ "openssl/opensslv.h", "libssl-dev" },
	{ "libelf.h", "libelf-dev" },
	{ "gelf.h", "libelf-dev" },
};

static char *known_package(const char *program)
{
	static const char *const same_name[] = { "make",   "flex",  "bison", "bc",   "gcc",	"clang", "ccache",
						 "distcc", "rsync", "cpio",  "perl", "python3", "xz",	 "kmod" };

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
		if (!strcmp(program, packages[i].program))
			return xstrdup(packages[i].package);
	for (size_t i = 0; i < ARRAY_SIZE(same_name); i++)
		if (!strcmp(program, same_name[i]))
			return xstrdup(same_name[i]);
	return NULL;
}

char *toolchain_package(const char *program)
{
	char *package = known_package(program);
	if (package)
		return package;

	/* clang-14, ld.lld-14: the package carries the suffix too. */
	const char *dash = strrchr(program, '-');
	if (!dash || dash == program)
		return NULL;
	AUTO_FREE char *base = xstrndup(program, (size_t)(dash - program));
	if (isdigit((unsigned char)dash[1])) {
		AUTO_FREE char *plain = known_package(base);
		return plain ? xasprintf("%s%s", plain, dash) : NULL;
	}

	/* aarch64-linux-gnu-gcc: gcc-aarch64-linux-gnu. */
	if (!strchr(base, '-'))
		return NULL;
	const char *tool = dash + 1;
	if (!strcmp(tool, "gcc"))
		return xasprintf("gcc-%s", base);
	static const char *const binutils[] = { "ld", "as", "ar", "nm", "objcopy", "objdump", "readelf", "strip" };
	for (size_t i = 0; i < ARRAY_SIZE(binutils); i++)
		if (!strcmp(tool, binutils[i]))
			return xasprintf("binutils-%s", base);
	return NULL;
}

char *toolchain_summary(const char *version_line)
{
	const char *clang = strstr(version_line, "clang version ");
	if (clang) {
		const char *version = clang + strlen("clang version ");
		return xasprintf("clang %.*s", (int)strcspn(version, " \t\n-+"), version);
	}

	/* "x-gcc (packager's text (with version 1.2)) 12.2.0 ...": the first number outside the parentheses. */
	int depth = 0;
	for (const char *at = version_line; *at; at++) {
		if (*at == '(')
			depth++;
		else if (*at == ')')
			depth--;
		else if (!depth && isdigit((unsigned char)*at) && at > version_line && at[-1] == ' ')
			return xasprintf("gcc %.*s", (int)strcspn(at, " \t\n"), at);
	}
	return xstrdup(version_line);
}

static struct error *missing_tool(const struct toolchain *toolchain, const char *program)
{
	AUTO_FREE char *package = toolchain_package(program);
	struct error *err = package ? error_new(ERROR_LAB, "toolchain '%s': no program '%s'; install it (Debian: apt install %s)",
						toolchain->name, program, package)
				    : error_new(ERROR_LAB, "toolchain '%s': no program '%s' in PATH", toolchain->name, program);

	return error_place(err, toolchain->pos);
}

static void require(struct error **list, const struct toolchain *toolchain, const char *program)
{
	if (!proc_find(program))
		error_join(list, missing_tool(toolchain, program));
}

static struct error *first_version_line(const char *program, struct guard guard, char **line_out)
{
	AUTO_STRBUF out = STRBUF_INIT;
	const char *const argv[] = { program, "--version", NULL };
	const char *const env[] = { "LC_ALL=C", NULL };
	const struct proc_spec spec = {
		.argv = argv, .env = env, .deadline_ms = clock_deadline(VERSION_TIMEOUT_MS), .guard = guard
	};
	struct error *err = proc_run_ok(&spec, ERROR_LAB, &out);
	if (err)
		return err;

	AUTO_FREE char *line = xstrndup(strbuf_str(&out), strcspn(strbuf_str(&out), "\n"));
	*line_out = xstrdup(str_trim(line));
	return NULL;
}

/*
 * make's LLVM=1 means the plain names, LLVM=-14 those with the suffix, LLVM=/path/bin/ those in a folder. Kernels before 5.18 know
 * only the first, so for the others each tool is named.
 */
static char *llvm_tool(const char *llvm, const char *tool)
{
	if (llvm[0] == '-')
		return xasprintf("%s%s", tool, llvm);
	if (llvm[0] == '/')
		return xasprintf("%s%s%s", llvm, str_ends(llvm, "/") ? "" : "/", tool);
	return xstrdup(tool);
}

static const struct {
	const char *variable, *tool;
} llvm_tools[] = {
	{ "LD", "ld.lld" },
	{ "AR", "llvm-ar" },
	{ "NM", "llvm-nm" },
	{ "OBJCOPY", "llvm-objcopy" },
	{ "OBJDUMP", "llvm-objdump" },
	{ "READELF", "llvm-readelf" },
	{ "STRIP", "llvm-strip" },
};

static void add_llvm_args(const struct toolchain *toolchain, const char *arch, struct strlist *args)
{
	const char *cross = toolchain->cross;

	strlist_add(args, "LLVM=1");
	/* clang's own assembler, as Android builds; the default only since 5.15. */
	strlist_add(args, "LLVM_IAS=1");
	/* Before 5.15 clang's --target comes from CROSS_COMPILE alone. */
	if (!cross && !strcmp(arch, "arm64"))
		cross = "aarch64-linux-gnu-";
	if (cross)
		strlist_addf(args, "CROSS_COMPILE=%s", cross);
	if (toolchain->llvm[0] != '-' && toolchain->llvm[0] != '/')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(llvm_tools); i++) {
		AUTO_FREE char *tool = llvm_tool(toolchain->llvm, llvm_tools[i].tool);
		strlist_addf(args, "%s=%s", llvm_tools[i].variable, tool);
	}
	AUTO_FREE char *clang = llvm_tool(toolchain->llvm, "clang");
	AUTO_FREE char *clang_cxx = llvm_tool(toolchain->llvm, "clang++");
	AUTO_FREE char *ar = llvm_tool(toolchain->llvm, "llvm-ar");
	AUTO_FREE char *lld = llvm_tool(toolchain->llvm, "ld.lld");
	strlist_addf(args, "HOSTCC=%s", clang);
	strlist_addf(args, "HOSTCXX=%s", clang_cxx);
	strlist_addf(args, "HOSTAR=%s", ar);
	strlist_addf(args, "HOSTLD=%s", lld);
	if (!toolchain->wrapper)
		strlist_addf(args, "CC=%s", clang);
}

static struct error *require_all(const struct toolchain *toolchain, const char *compiler, const char *linker)
{
	struct error *list = NULL;

	require(&list, toolchain, compiler);
	require(&list, toolchain, linker);
	if (toolchain->wrapper)
		require(&list, toolchain, toolchain->wrapper);
	if (toolchain->llvm) {
		for (size_t i = 1; i < ARRAY_SIZE(llvm_tools); i++) {
			AUTO_FREE char *tool = llvm_tool(toolchain->llvm, llvm_tools[i].tool);
			require(&list, toolchain, tool);
		}
	} else {
		require(&list, toolchain, "gcc"); /* the host's own, for scripts/ */
	}
	for (size_t i = 0; i < ARRAY_SIZE(host_tools); i++)
		require(&list, toolchain, host_tools[i]);
	return list;
}

/* Their answers end up in .config. */
static struct error *ask_config_tools(struct guard guard, struct strbuf *out)
{
	static const char *const tools[] = { "pahole", "rustc", "bindgen" };

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		AUTO_STRBUF answer = STRBUF_INIT;
		const char *const argv[] = { tools[i], "--version", NULL };
		const struct proc_spec spec = {
			.argv = argv, .out = &answer, .deadline_ms = clock_deadline(VERSION_TIMEOUT_MS), .guard = guard
		};
		struct proc_result result;
		bool there = proc_find(tools[i]);
		struct error *err = there ? proc_run(&spec, &result) : NULL;
		if (err)
			return err;
		if (there)
			strbuf_addf(out, "%s: %s\n", tools[i], strbuf_str(&answer));
	}
	return NULL;
}

struct error *toolchain_probe(const struct toolchain *toolchain, const char *arch, struct guard guard,
			      struct toolchain_info **info_out)
{
	const char *cross = toolchain->cross ? toolchain->cross : "";
	AUTO_FREE char *compiler = toolchain->llvm ? llvm_tool(toolchain->llvm, "clang") : xasprintf("%sgcc", cross);
	AUTO_FREE char *linker = toolchain->llvm ? llvm_tool(toolchain->llvm, "ld.lld") : xasprintf("%sld", cross);
	struct error *err = require_all(toolchain, compiler, linker);
	if (err)
		return err;

	AUTO_FREE char *compiler_line = NULL;
	AUTO_FREE char *linker_line = NULL;
	AUTO_STRBUF config_tools = STRBUF_INIT;
	err = first_version_line(compiler, guard, &compiler_line);
	if (!err)
		err = first_version_line(linker, guard, &linker_line);
	if (!err)
		err = ask_config_tools(guard, &config_tools);
	if (err)
		return error_place(error_wrap(err, "toolchain '%s'", toolchain->name), toolchain->pos);

	struct toolchain_info *info = xcalloc(1, sizeof(*info));
	info->summary = toolchain_summary(compiler_line);
	info->compiler = take_ptr(compiler_line);
	info->linker = take_ptr(linker_line);
	info->config_tools = config_tools.len ? strbuf_steal(&config_tools) : xstrdup("");
	if (toolchain->llvm)
		add_llvm_args(toolchain, arch, &info->make_args);
	else
		strlist_addf(&info->make_args, "CROSS_COMPILE=%s", cross);
	if (toolchain->wrapper)
		strlist_addf(&info->make_args, "CC=%s %s", toolchain->wrapper, compiler);
	*info_out = info;
	return NULL;
}

void toolchain_info_free(struct toolchain_info *info)
{
	if (!info)
		return;
	free(info->compiler);
	free(info->linker);
	free(info->summary);
	free(info->config_tools);
	strlist_deinit(&info->make_args);
	free(info);
}
