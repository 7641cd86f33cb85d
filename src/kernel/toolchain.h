/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compilers: what they are, and the make variables that choose them. */
#ifndef KERNEL_TOOLCHAIN_H
#define KERNEL_TOOLCHAIN_H

#include "base/proc.h"
#include "plan/lab.h"

struct toolchain_info {
	char *compiler; /* first line of --version */
	char *linker; /* first line of --version */
	char *summary; /* "gcc 12.2.0", "clang 14.0.6" */
	char *config_tools; /* what Kconfig files ask for besides the compiler: "NAME: --version" lines of pahole, rustc and bindgen where they are */
	struct strlist make_args; /* "CROSS_COMPILE=aarch64-linux-gnu-", "LLVM=1", "CC=ccache aarch64-linux-gnu-gcc" */
};

/*
 * Asks the tools; ERROR_LAB at the toolchain's position for each one that is missing (the host's make, flex, bison and bc among
 * them), naming the Debian package that has it where known.
 */
struct error *toolchain_probe(const struct toolchain *toolchain, const char *arch, struct guard guard,
			      struct toolchain_info **info_out) MUST_CHECK;
void toolchain_info_free(struct toolchain_info *info);
/* "gcc 12.2.0" from the first line of a compiler's --version (what CONFIG_CC_VERSION_TEXT holds); the caller frees. */
char *toolchain_summary(const char *version_line);
/* The Debian package that has a build tool ("flex", "aarch64-linux-gnu-gcc", "clang-14"); NULL when not known. The caller frees. */
char *toolchain_package(const char *program);

#endif
