/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What image.c, build.c and their parts share with each other alone. */
#ifndef KERNEL_IMAGE_PARTS_H
#define KERNEL_IMAGE_PARTS_H

#include "kernel/image.h"

/* A kernel that was made, before it is put into the cache. NULL: not there. */
struct image_parts {
	const char *kernel_file; /* path; stored as "Image" */
	const char *vmlinux; /* path */
	const char *system_map; /* path */
	const struct strlist *others; /* more files of the kernel's, stored under their last name */
	const char *config_text;
	const char *build_id;
	const char *toolchain; /* "gcc 12.2.0" */
	const char *release;
	const char *log; /* all that the build printed */
	const char *obj; /* build folder whose objects are measured */
	unsigned compiled; /* objects that this build compiled or linked */
	bool from_nothing; /* `compiled` is all there is to compile */
};

/*
 * Stores the kernel under images/KEY, whole or not at all; `keep_private`: in a temporary folder that the caller removes instead.
 */
struct error *image_store(const struct cache *cache, const struct image_input *input, const char *key,
			  const struct image_parts *parts, bool keep_private, struct image **image_out) MUST_CHECK;
/* Reads images/KEY's manifest and files back; the Image is checked against the manifest. */
struct error *image_load(const char *dir, struct image **image_out) MUST_CHECK;

/* Sizes of every built-in object below obj, as "object<tab>text<tab>data<tab>bss" lines with a head line; *n_out objects. */
struct error *image_object_sizes(const char *obj, const char *arch, struct strbuf *out, size_t *n_out) MUST_CHECK;

/* The whole kernel in bytes: a compressed Image (gzip, lz4) is unpacked. ERROR_INPUT when it is no arm64 Image. */
struct error *image_read(const char *path, struct strbuf *out) MUST_CHECK;
/* The same in place, of the bytes of the file at `path`. */
struct error *image_unpack(const char *path, struct strbuf *bytes) MUST_CHECK;
/* "5.10.262" out of the kernel's own banner; NULL when it has none. The caller frees. */
char *image_release(const void *data, size_t len);
/* "gcc 12.2.0" out of CONFIG_CC_VERSION_TEXT; NULL when the text has none. The caller frees. */
char *image_compiler(const char *config_text);

/* What is made is not for the cache. */
bool image_build_is_private(const struct image_build *build);

/* The three kinds of kernels. Each stores what it made. */
struct error *image_build_kbuild(const struct image_build *build, const char *key, struct image **image_out) MUST_CHECK;
struct error *image_build_command(const struct image_build *build, const char *key, struct image **image_out) MUST_CHECK;
struct error *image_take_prebuilt(const struct image_build *build, const char *key, struct image **image_out) MUST_CHECK;

#endif
