/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/selftests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "kernel/entry.h"
#include "kernel/kmake.h"
#include "kernel/worktree.h"

/* Raised when what is below makes other programs from the same inputs. */
#define RECIPE 1
#define FOLDER "tools/testing/selftests/cgroup"
#define INSTALLED "memcg-ab/selftests"
#define ARCHIVE "selftests.cpio"
#define VERSION_MS 10000

/*
 * kselftest prints with stdio, which keeps what goes to a pipe until the end: of a program that hangs all would be lost. Compiled
 * into each program beside its own files.
 */
static const char line_by_line[] = "#include <stdio.h>\n"
				   "static __attribute__((constructor)) void line_by_line(void)\n"
				   "{\n"
				   "\tsetvbuf(stdout, NULL, _IOLBF, 0);\n"
				   "}\n";

bool selftests_wants(const char *path)
{
	/* What `make headers` reads, and the tests themselves. */
	static const char *const folders[] = {
		"scripts/", "include/uapi/asm-generic/",       "arch/arm64/include/",		"arch/arm64/tools/", "usr/",
		FOLDER "/", "tools/testing/selftests/clone3/", "tools/testing/selftests/pidfd/"
	};
	static const char *const files[] = { "Makefile", "Kbuild", "arch/arm64/Makefile", "tools/testing/selftests/lib.mk" };
	static const char selftests[] = "tools/testing/selftests/";
	static const char headers[] = "include/uapi/linux/";

	/* Each header costs several processes; those of devices and protocols no program of these includes. */
	if (str_starts(path, headers))
		return !strchr(path + strlen(headers), '/') || str_starts(path, "include/uapi/linux/sched/") ||
		       str_starts(path, "include/uapi/linux/byteorder/");
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (str_starts(path, folders[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(path, files[i]))
			return true;
	/* kselftest.h and the like, which all share. */
	return str_starts(path, selftests) && !strchr(path + strlen(selftests), '/') && str_ends(path, ".h");
}

static const char *objects_of(const struct image_input *input)
{
	return input->source ? input->source->objects : NULL;
}

/* "aarch64-linux-gnu-"; the caller frees. */
static char *cross_of(const struct image_input *input)
{
	static const char variable[] = "CROSS_COMPILE=";
	const struct toolchain_info *toolchain = input->toolchain;

	for (size_t i = 0; toolchain && i < toolchain->make_args.n; i++)
		if (str_starts(toolchain->make_args.items[i], variable))
			return xstrdup(toolchain->make_args.items[i] + strlen(variable));
	return xstrdup(SELFTESTS_CROSS);
}

/* The first line of --version. */
static struct error *compiler_version(const char *compiler, struct guard guard, char **version_out)
{
	const char *const argv[] = { compiler, "--version", NULL };
	const struct proc_spec spec = { .argv = argv, .deadline_ms = clock_deadline(VERSION_MS), .guard = guard };
	AUTO_STRBUF out = STRBUF_INIT;
	struct error *error = proc_run_ok(&spec, ERROR_LAB, &out);

	if (error)
		return error_wrap(error, "selftests are compiled with %s", compiler);
	*version_out = xasprintf("%.*s", (int)strcspn(strbuf_str(&out), "\r\n"), strbuf_str(&out));
	return NULL;
}

struct error *selftests_key(const struct cache *cache, const struct image_input *input, const struct strlist *programs,
			    struct guard guard, char key_out[65])
{
	AUTO_FREE char *cross = cross_of(input);
	AUTO_FREE char *compiler = xasprintf("%sgcc", cross);
	AUTO_FREE char *recipe = xasprintf("%d", RECIPE);
	AUTO_FREE char *version = NULL;
	char sources[HASH_HEX_SIZE];

	if (!input->tree)
		return error_place(
			error_new(ERROR_INPUT,
				  "%s: its selftests cannot be built: the kernel is prebuilt and comes without its source",
				  input->subject),
			input->kernel->pos);
	struct error *error = compiler_version(compiler, guard, &version);
	if (!error)
		error = worktree_digest(cache, objects_of(input), input->tree, selftests_wants, sources);
	if (error)
		return error;
	struct hash *hash = hash_new();
	hash_field(hash, "recipe", recipe);
	hash_field(hash, "sources", sources);
	hash_field(hash, "arch", input->kernel->arch);
	hash_field(hash, "compiler", version);
	for (size_t i = 0; i < programs->n; i++)
		hash_field(hash, "program", programs->items[i]);
	hash_finish(hash, key_out);
	return NULL;
}

char *selftests_path(const struct cache *cache, const char *key)
{
	AUTO_FREE char *relative = xasprintf("selftests/%s/" ARCHIVE, key);

	return cache_path(cache, relative);
}

char *selftests_lookup(const struct cache *cache, const char *key)
{
	AUTO_FREE char *archive = selftests_path(cache, key);
	AUTO_FREE char *dir = path_dirname(archive);

	if (!file_is_regular(archive))
		return NULL;
	entry_touch(dir);
	return take_ptr(archive);
}

/* What is being built, below a staged folder. */
struct workshop {
	const struct image_build *build;
	char *src, *obj, *out, *extra; /* work tree, headers, programs, the file of ours */
};

static void workshop_deinit(struct workshop *shop)
{
	free(shop->src);
	free(shop->obj);
	free(shop->out);
	free(shop->extra);
}

static struct error *make(const struct workshop *shop, struct strlist *argv)
{
	AUTO_STRLIST env = { NULL, 0 };
	AUTO_STRBUF log = STRBUF_INIT;

	kmake_isolate(&env);
	kmake_settings(shop->src, shop->obj, &env);
	AUTO_FREE const char **vector = strlist_vector(argv);
	AUTO_FREE const char **variables = strlist_vector(&env);
	const struct proc_spec spec = {
		.argv = vector, .env = variables, .deadline_ms = shop->build->deadline_ms, .guard = shop->build->guard
	};
	return proc_run_ok(&spec, ERROR_KERNEL, &log);
}

static struct error *make_headers(const struct workshop *shop, const char *cross)
{
	AUTO_STRLIST argv = { NULL, 0 };

	strlist_add(&argv, "make");
	strlist_addf(&argv, "-j%u", shop->build->jobs ? shop->build->jobs : 1);
	strlist_addf(&argv, "--directory=%s", shop->src);
	strlist_addf(&argv, "O=%s", shop->obj);
	strlist_addf(&argv, "ARCH=%s", shop->build->input->kernel->arch);
	strlist_addf(&argv, "CROSS_COMPILE=%s", cross);
	strlist_add(&argv, "headers");
	return error_wrap(make(shop, &argv), "the kernel's headers");
}

static struct error *make_program(const struct workshop *shop, const char *cross, const char *name)
{
	AUTO_STRLIST argv = { NULL, 0 };

	strlist_add(&argv, "make");
	strlist_addf(&argv, "--directory=%s/" FOLDER, shop->src);
	strlist_addf(&argv, "OUTPUT=%s", shop->out);
	strlist_addf(&argv, "ARCH=%s", shop->build->input->kernel->arch);
	strlist_addf(&argv, "CC=%sgcc", cross);
	strlist_addf(&argv, "KHDR_INCLUDES=-isystem %s/usr/include", shop->obj);
	strlist_addf(&argv, "CPPFLAGS=-isystem %s/usr/include", shop->obj);
	strlist_addf(&argv, "LDFLAGS=-static -s -Wl,--build-id=none %s", shop->extra);
	strlist_addf(&argv, "%s/test_%s", shop->out, name);
	return error_wrap(make(shop, &argv), "test_%s", name);
}

static bool has_program(const struct workshop *shop, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/" FOLDER "/test_%s.c", shop->src, name);

	return file_is_regular(path);
}

static struct error *make_programs(const struct workshop *shop, const struct strlist *programs)
{
	AUTO_FREE char *cross = cross_of(shop->build->input);
	struct error *error = file_mkdirs(shop->out);

	if (!error)
		error = file_mkdirs(shop->obj);
	if (!error)
		error = file_write_atomic(shop->extra, line_by_line, strlen(line_by_line), 0644);
	if (!error)
		error = make_headers(shop, cross);
	for (size_t i = 0; !error && i < programs->n; i++)
		if (has_program(shop, programs->items[i]))
			error = make_program(shop, cross, programs->items[i]);
	return error;
}

static struct error *pack(const struct workshop *shop, const struct strlist *programs, const char *path)
{
	AUTO_STRBUF archive = STRBUF_INIT;
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_FREE struct strbuf *contents = xcalloc(programs->n + 1, sizeof(*contents));
	AUTO_FREE struct cpio_entry *entries = xcalloc(programs->n + 2, sizeof(*entries));
	struct error *error = NULL;
	size_t n = 0;

	entries[n++] = (struct cpio_entry){ .path = "memcg-ab", .mode = S_IFDIR | 0755 };
	entries[n++] = (struct cpio_entry){ .path = INSTALLED, .mode = S_IFDIR | 0755 };
	for (size_t i = 0; i < programs->n; i++)
		strlist_addf(&names, INSTALLED "/test_%s", programs->items[i]);
	for (size_t i = 0; !error && i < programs->n; i++) {
		AUTO_FREE char *from = xasprintf("%s/test_%s", shop->out, programs->items[i]);
		if (!has_program(shop, programs->items[i]))
			continue;
		error = file_read(from, &contents[i]);
		entries[n++] = (struct cpio_entry){
			.path = names.items[i], .mode = S_IFREG | 0755, .data = contents[i].data, .size = contents[i].len
		};
	}
	if (!error)
		error = cpio_write(entries, n, &archive);
	if (!error)
		error = file_write_atomic(path, archive.data, archive.len, 0644);
	for (size_t i = 0; i < programs->n; i++)
		strbuf_deinit(&contents[i]);
	return error;
}

static struct error *build_in(const struct workshop *shop, const struct strlist *programs, const char *stage)
{
	const struct image_build *build = shop->build;
	AUTO_FREE char *archive = path_join(stage, ARCHIVE);
	AUTO_FREE char *state = xasprintf("%s.state", shop->src);
	struct error *error = worktree_update(build->cache, objects_of(build->input), build->input->tree, shop->src,
					      selftests_wants, build->guard, NULL);

	if (!error)
		error = make_programs(shop, programs);
	if (!error)
		error = pack(shop, programs, archive);
	const char *const done[] = { shop->src, shop->obj, shop->out, shop->extra, state };
	for (size_t i = 0; !error && i < ARRAY_SIZE(done); i++)
		error = file_remove_tree(done[i]);
	return error;
}

struct error *selftests_build(const struct image_build *build, const char *key, const struct strlist *programs)
{
	AUTO_FREE char *present = selftests_lookup(build->cache, key);
	AUTO_FREE char *stage = NULL;

	if (present)
		return NULL;
	struct error *error = entry_stage(build->cache, "selftests", key, &stage);
	if (error)
		return error;
	CLEANUP(workshop_deinit)
	struct workshop shop = { build, path_join(stage, "src"), path_join(stage, "obj"), path_join(stage, "out"),
				 path_join(stage, "line-by-line.c") };
	if (build->progress)
		build->progress(build->arg, &(struct build_progress){ .what = "building selftests" });
	error = build_in(&shop, programs, stage);
	if (error) {
		struct error *left = file_remove_tree(stage);
		error_free(left);
		return error_wrap(error, "selftests of %s", build->input->subject);
	}
	return entry_publish(build->cache, "selftests", key, stage);
}
