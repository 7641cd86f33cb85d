/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the kernel's make is run: the arguments and the environment that every configuration and build of ours shares. */
#ifndef KERNEL_KMAKE_H
#define KERNEL_KMAKE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "kernel/toolchain.h"

/*
 * The recipe: raised when what is below (or build.c) begins to make other kernels from the same inputs. Part of every image's key
 * and of a build folder's identity.
 */
#define KMAKE_RECIPE 1

/*
 * Adds the settings under which a kernel is a function of its tree, config and compiler: fixed KBUILD_BUILD_*, LOCALVERSION=, and
 * no path of `src` or `obj` in the objects, nor in their debug information, which the build id covers. The entries are for
 * proc_spec.env; make's own variables (MAKEFLAGS ...) are unset, since we may run below another make.
 */
void kmake_settings(const char *src, const char *obj, struct strlist *env);
/* Unsets everything by which the user's environment could change a kernel or where it is built. Goes before kmake_settings. */
void kmake_isolate(struct strlist *env);
/* "make -C src O=obj ARCH=... CROSS_COMPILE=..."; `src` and `obj` are absolute. */
void kmake_command(const char *src, const char *obj, const char *arch, const struct toolchain_info *toolchain, unsigned jobs,
		   struct strlist *argv);
/* Where make leaves the kernel below obj ("arch/arm64/boot/Image"); NULL for an architecture that we do not build. */
const char *kmake_image_path(const char *arch);

#endif
