/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images: kernels in the cache, found by key, built once. */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include "base/json.h"
#include "kernel/config.h"
#include "kernel/toolchain.h"

/*
 * Everything that decides what a kernel is, and where it comes from:
 * - kbuild: built by us from `tree` and `config`.
 * - command: the user's command, run by /bin/sh in a work tree of `tree` of its own (MEMCG_AB_TREE, which it may build in but must not
 *   edit), with the requests in the file MEMCG_AB_FRAGMENT, leaves kernel->outputs below MEMCG_AB_OUT, a folder that the steps of a ladder
 *   share. ARCH and the settings of kernel/kmake.h are in its environment too, and -j's number as MEMCG_AB_JOBS.
 * - prebuilt: the files that the kernel names.
 * The config of the last two is checked against the requests.
 */
struct image_input {
	const struct kernel *kernel;
	const struct source_tree *source; /* NULL for prebuilt */
	const char *tree; /* oid of the step's tree; NULL for prebuilt */
	const struct resolved_config *config; /* kbuild; for command and prebuilt NULL */
	const struct fragment *device_fragment; /* command: written into MEMCG_AB_FRAGMENT with `fragment` */
	const struct fragment *fragment;
	const struct toolchain_info *toolchain; /* kbuild */
	const char *subject; /* "memcg step 2: inline charge", for messages */
	const char *build_folder; /* name of the build folder that may walk to it: equal for all steps of one ladder */
};

/* A kernel in the cache: images/KEY/. */
struct image {
	char key[65];
	char *dir; /* holds Image, vmlinux, System.map, .config, sizes.tsv, build.log.zst, manifest.json */
	char *kernel_file; /* path of the Image */
	char image_sha256[65];
	char build_id[129];
	char config_sha256[65];
	char *config_text;
	char *toolchain; /* "gcc 12.2.0", for reports */
	char *tree; /* or NULL */
	char *release; /* UTS release as far as known ("5.10.262"), or NULL */
};

/* The key: sha256 of tree oid, .config, compiler and binutils versions, build settings, recipe number (or of the files and the requests, for prebuilt). */
struct error *image_key(const struct image_input *input, char key_out[65]) MUST_CHECK;
/* *image_out is NULL when the cache does not have it. Checks that the Image's sha256 and build id are those of its manifest: ERROR_LAB when not ("swapped"). */
struct error *image_lookup(const struct cache *cache, const char *key, struct image **image_out) MUST_CHECK;
void image_free(struct image *image);

struct build_progress {
	unsigned objects; /* compiled or linked so far */
	unsigned expected; /* from the last such build; 0 = not known */
	const char *what; /* "importing", "configuring", "building", "storing" */
};

/*
 * Has the image: from the cache, or by building it in its build folder (locked; an unfinished one is mended first) and publishing it
 * atomically. A build that fails is ERROR_KERNEL whose message has the first compiler error and whose note names the kept log.
 * `jobs`: make -j. `again`: build though the cache has it, in the build folder, and do not publish: image_out->dir is then a temporary folder the
 * caller removes. `clean`: the same from an empty folder of its own. Both are for checks that an Image comes out bit-identical.
 */
struct image_build {
	const struct cache *cache;
	const struct image_input *input;
	unsigned jobs;
	int64_t deadline_ms;
	bool again;
	bool clean;
	struct guard guard;
	void (*progress)(void *arg, const struct build_progress *progress);
	void *arg;
};
struct error *image_build(const struct image_build *build, struct image **image_out) MUST_CHECK;
/*
 * Bytes of text, data and bss of vmlinux and of every object it was linked from: {"vmlinux": [text, data, bss], "mm/memcontrol.o": ...}.
 * NULL where there is no vmlinux (prebuilt); vmlinux alone where objects have no sizes (link-time optimisation).
 */
struct error *image_sizes(const struct image *image, struct jnode **sizes_out) MUST_CHECK;
/* The functions whose sizes differ, in bytes: {"charge_memcg": [of reference, of image], ...}; 0 where there is none. NULL without vmlinux. */
struct error *image_growth(const struct image *image, const struct image *reference, struct jnode **functions_out) MUST_CHECK;
/* Why the cache has no image of this key though it has one of the same ladder: "the tree differs", "CONFIG_FOO: n -> y", "gcc 12.2.0 -> 12.3.0"; the caller frees. */
char *image_explain_missing(const struct cache *cache, const struct image_input *input);

#endif
