/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lab file (memcg-ab.yaml): kernel sources, toolchains, devices, cache and build settings. */
#ifndef PLAN_LAB_H
#define PLAN_LAB_H

#include "base/error.h"
#include "base/strbuf.h"
#include "plan/profile.h"

enum source_kind { SOURCE_GIT, SOURCE_FOLDER, SOURCE_TARBALL, SOURCE_DEB };

/* One way to get a kernel source; a source has several, tried in order. */
struct source_alternative {
	enum source_kind kind;
	char *path; /* git, folder, tarball: absolute */
	char *rev; /* git */
	char *package; /* deb */
	char *suite; /* deb: NULL = this machine's own */
	char *version; /* deb: NULL = the newest */
	char *sha256; /* tarball, deb: pinned digest of the file, or NULL */
	struct pos pos;
};

struct source {
	char *name;
	struct source_alternative *alternatives;
	size_t n;
	struct pos pos;
};

struct toolchain {
	char *name;
	char *cross; /* CROSS_COMPILE, e.g. "aarch64-linux-gnu-"; with llvm it may be NULL */
	char *llvm; /* LLVM=: "1" or "-14"; NULL = gcc */
	char *wrapper; /* "ccache" or "distcc"; NULL = none */
	struct pos pos;
};

/* One piece of hardware. */
struct unit {
	char *name; /* "" where a device has one that is not named */
	struct profile *profile; /* the device's, with the unit's own settings (serial, console, hooks) laid over it */
	struct pos pos;
};

/* What a matrix names. Its units are equal: they share its blocks, and a block stays on one of them. */
struct device {
	char *name;
	struct profile *profile; /* with the device's own settings laid over it */
	struct unit *units; /* at least one */
	size_t n_units;
	struct pos pos;
};

struct lab {
	char *path; /* as it was given; NULL when there is no lab file */
	char *share_dir; /* PREFIX/share/memcg-ab */
	struct source *sources;
	size_t n_sources;
	struct toolchain *toolchains;
	size_t n_toolchains;
	struct device *devices;
	size_t n_devices;
	char *cache_dir; /* absolute; default $XDG_CACHE_HOME/memcg-ab */
	uint64_t cache_max; /* bytes; default 40G */
	unsigned build_parallel; /* builds at once; default 1 */
	unsigned build_jobs; /* make -j each; default the number of cores / parallel, and one more */
	int64_t build_timeout_ms; /* one kernel; default 4h */
};

/* Finds memcg-ab.yaml from `start_dir` upwards: a path the caller frees, or NULL. */
char *lab_find(const char *start_dir);
/*
 * Loads and validates the lab and the profiles its devices name. `share_dir`: PREFIX/share/memcg-ab, holds profiles/. All errors at once.
 * `path` NULL: the lab of a machine without a lab file, which has the toolchains gcc and clang and a device for each installed profile.
 */
struct error *lab_load(const char *path, const char *share_dir, struct lab **lab_out) MUST_CHECK;
void lab_free(struct lab *lab);
const struct source *lab_source(const struct lab *lab, const char *name);
const struct toolchain *lab_toolchain(const struct lab *lab, const char *name);
const struct device *lab_device(const struct lab *lab, const char *name);
/* Where files are looked up that a matrix of this lab names (plan/search.h); borrows the lab's strings. */
struct search;
void lab_search(const struct lab *lab, struct search *search_out);

#endif
