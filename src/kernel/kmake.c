/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/kmake.h"

#include <string.h>

/* Variables that kbuild, scripts/kconfig or the compilers read from the environment. */
static const char *const isolated[] = {
	"ARCH",
	"SUBARCH",
	"SRCARCH",
	"UTS_MACHINE",
	"CROSS_COMPILE",
	"CROSS_COMPILE_COMPAT",
	"CROSS_COMPILE_ARM32",
	"LLVM",
	"LLVM_IAS",
	"CC",
	"CPP",
	"LD",
	"AR",
	"AS",
	"NM",
	"OBJCOPY",
	"OBJDUMP",
	"READELF",
	"STRIP",
	"OBJSIZE",
	"HOSTCC",
	"HOSTCXX",
	"HOSTLD",
	"HOSTAR",
	"HOSTCFLAGS",
	"HOSTCXXFLAGS",
	"HOSTLDFLAGS",
	"HOSTLDLIBS",
	"USERCFLAGS",
	"USERLDFLAGS",
	"CFLAGS",
	"CPPFLAGS",
	"LDFLAGS",
	"KCFLAGS",
	"KCPPFLAGS",
	"KAFLAGS",
	"KRUSTFLAGS",
	"EXTRA_CFLAGS",
	"EXTRA_AFLAGS",
	"CFLAGS_KERNEL",
	"AFLAGS_KERNEL",
	"LDFLAGS_vmlinux",
	"RUSTC",
	"BINDGEN",
	"PAHOLE",
	"CLANG_FLAGS",
	"srctree",
	"objtree",
	"KERNELRELEASE",
	"KERNELVERSION",
	"LOCALVERSION",
	"EXTRAVERSION",
	"O",
	"V",
	"W",
	"C",
	"M",
	"KBUILD_OUTPUT",
	"KBUILD_SRC",
	"KBUILD_EXTMOD",
	"KBUILD_VERBOSE",
	"KBUILD_KCONFIG",
	"KBUILD_DEFCONFIG",
	"KBUILD_CFLAGS",
	"KBUILD_CPPFLAGS",
	"KBUILD_AFLAGS",
	"KBUILD_ABS_SRCTREE",
	"KBUILD_BUILD_VERSION",
	"KBUILD_BUILD_TIMESTAMP",
	"KBUILD_BUILD_USER",
	"KBUILD_BUILD_HOST",
	"KBUILD_LDFLAGS",
	"KBUILD_CHECKSRC",
	"KBUILD_SYMTYPES",
	"KBUILD_MODPOST_WARN",
	"KCONFIG_CONFIG",
	"KCONFIG_ALLCONFIG",
	"KCONFIG_SEED",
	"KCONFIG_PROBABILITY",
	"KCONFIG_OVERWRITECONFIG",
	"KCONFIG_NOSILENTUPDATE",
	"KCONFIG_AUTOCONFIG",
	"KCONFIG_AUTOHEADER",
	"KCONFIG_TRISTATE",
	"KCONFIG_WARN_UNKNOWN_SYMBOLS",
	"KCONFIG_WERROR",
	"CONFIG_",
	"CONFIG_SHELL",
	"SOURCE_DATE_EPOCH",
	"CPATH",
	"C_INCLUDE_PATH",
	"LIBRARY_PATH",
	"COMPILER_PATH",
	"GCC_EXEC_PREFIX",
	"CCC_OVERRIDE_OPTIONS",
};

void kmake_isolate(struct strlist *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(isolated); i++)
		strlist_add(env, isolated[i]);
}

void kmake_settings(const char *src, const char *obj, struct strlist *env)
{
	static const char *const make_variables[] = { "MAKEFLAGS", "MFLAGS",	"GNUMAKEFLAGS",
						      "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES" };

	for (size_t i = 0; i < ARRAY_SIZE(make_variables); i++)
		strlist_add(env, make_variables[i]);
	strlist_add(env, "LC_ALL=C");
	strlist_add(env, "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970");
	strlist_add(env, "KBUILD_BUILD_USER=memcg-ab");
	strlist_add(env, "KBUILD_BUILD_HOST=memcg-ab");
	/* Without it .version counts the builds of the folder, and the count is in the kernel. */
	strlist_add(env, "KBUILD_BUILD_VERSION=1");
	/* Set, even to nothing, it keeps scripts/setlocalversion from adding "+". */
	strlist_add(env, "LOCALVERSION=");
	AUTO_FREE char *debug_maps = xasprintf("-fdebug-prefix-map=%s=/src -fdebug-prefix-map=%s=/obj", src, obj);
	strlist_addf(env, "KCFLAGS=%s", debug_maps);
	/* __FILE__ in assembly: 5.10 up to its stable updates maps the path in C alone. */
	strlist_addf(env, "KAFLAGS=-fmacro-prefix-map=%s/= %s", src, debug_maps);
}

void kmake_command(const char *src, const char *obj, const char *arch, const struct toolchain_info *toolchain, unsigned jobs,
		   struct strlist *argv)
{
	strlist_add(argv, "make");
	strlist_add(argv, "-C");
	strlist_add(argv, src);
	strlist_addf(argv, "-j%u", jobs);
	strlist_addf(argv, "O=%s", obj);
	strlist_addf(argv, "ARCH=%s", arch);
	for (size_t i = 0; i < toolchain->make_args.n; i++)
		strlist_add(argv, toolchain->make_args.items[i]);
}

const char *kmake_image_path(const char *arch)
{
	return strcmp(arch, "arm64") ? NULL : "arch/arm64/boot/Image";
}
