/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "kernel/entry.h"
#include "kernel/image_parts.h"
#include "kernel/kmake.h"

static void add_fragment(struct hash *hash, const char *label, const struct fragment *fragment)
{
	AUTO_STRBUF text = STRBUF_INIT;

	if (fragment)
		fragment_write(fragment, &text);
	hash_field(hash, label, strbuf_str(&text));
}

/* The wrapper (CC=ccache gcc) does not decide what is made. */
static bool is_wrapper_choice(const char *make_arg)
{
	return str_starts(make_arg, "CC=");
}

static void add_kbuild(struct hash *hash, const struct image_input *input)
{
	const struct toolchain_info *toolchain = input->toolchain;

	hash_field(hash, "tree", input->tree);
	hash_field(hash, "config", input->config->sha256);
	hash_field(hash, "compiler", toolchain->compiler);
	hash_field(hash, "linker", toolchain->linker);
	for (size_t i = 0; i < toolchain->make_args.n; i++)
		if (!is_wrapper_choice(toolchain->make_args.items[i]))
			hash_field(hash, "make", toolchain->make_args.items[i]);
}

static void add_command(struct hash *hash, const struct image_input *input)
{
	hash_field(hash, "tree", input->tree);
	hash_field(hash, "command", input->kernel->command);
	for (size_t i = 0; i < input->kernel->outputs.n; i++)
		hash_field(hash, "output", input->kernel->outputs.items[i]);
	add_fragment(hash, "device", input->device_fragment);
	add_fragment(hash, "matrix", input->fragment);
}

static struct error *add_file(struct hash *hash, const char *label, const char *path, struct pos pos)
{
	char digest[HASH_HEX_SIZE];
	struct error *err = path ? hash_file(path, digest) : NULL;

	if (!err)
		hash_field(hash, label, path ? digest : NULL);
	return error_place(err, pos);
}

static struct error *add_prebuilt(struct hash *hash, const struct image_input *input)
{
	const struct kernel *kernel = input->kernel;

	/* They are checked when the files are taken in: other requests, another check. */
	add_fragment(hash, "matrix", input->fragment);
	struct error *list = add_file(hash, "image", kernel->prebuilt_image, kernel->pos);

	error_join(&list, add_file(hash, "vmlinux", kernel->prebuilt_vmlinux, kernel->pos));
	error_join(&list, add_file(hash, "config", kernel->prebuilt_config, kernel->pos));
	return list;
}

struct error *image_key(const struct image_input *input, char key_out[65])
{
	static const char *const kinds[] = {
		[KERNEL_KBUILD] = "kbuild", [KERNEL_COMMAND] = "command", [KERNEL_PREBUILT] = "prebuilt"
	};
	AUTO_FREE char *recipe = xasprintf("%d", KMAKE_RECIPE);
	char key[HASH_HEX_SIZE];
	struct hash *hash = hash_new();
	struct error *err = NULL;

	hash_field(hash, "recipe", recipe);
	hash_field(hash, "kind", kinds[input->kernel->kind]);
	hash_field(hash, "arch", input->kernel->arch);
	if (input->kernel->kind == KERNEL_KBUILD)
		add_kbuild(hash, input);
	else if (input->kernel->kind == KERNEL_COMMAND)
		add_command(hash, input);
	else
		err = add_prebuilt(hash, input);
	hash_finish(hash, key);
	if (!err)
		memcpy(key_out, key, sizeof(key));
	return err;
}

struct error *image_lookup(const struct cache *cache, const char *key, struct image **image_out)
{
	AUTO_FREE char *relative = xasprintf("images/%s", key);
	AUTO_FREE char *dir = cache_path(cache, relative);

	if (!file_is_dir(dir)) {
		*image_out = NULL;
		return NULL;
	}
	return image_load(dir, image_out);
}

void image_free(struct image *image)
{
	if (!image)
		return;
	free(image->dir);
	free(image->kernel_file);
	free(image->config_text);
	free(image->toolchain);
	free(image->tree);
	free(image->release);
	free(image);
}

bool image_build_is_private(const struct image_build *build)
{
	return build->again || build->clean;
}

struct error *image_build(const struct image_build *build, struct image **image_out)
{
	const struct image_input *input = build->input;
	struct image *image = NULL;
	char key[HASH_HEX_SIZE];
	struct error *err = image_key(input, key);
	if (!err && !image_build_is_private(build))
		err = image_lookup(build->cache, key, &image);
	if (err)
		return err;
	if (!image && input->kernel->kind == KERNEL_KBUILD)
		err = image_build_kbuild(build, key, &image);
	else if (!image && input->kernel->kind == KERNEL_COMMAND)
		err = image_build_command(build, key, &image);
	else if (!image)
		err = image_take_prebuilt(build, key, &image);
	if (!err)
		*image_out = image;
	return err;
}

/* What differs between a stored kernel and the one that is wanted, in words; empty when nothing that we know of does. */
static void differences(const struct jnode *manifest, const char *dir, const struct image_input *input, struct strlist *out)
{
	const struct jnode *compilers = jnode_get(manifest, "compilers");
	const char *tree = jnode_string(manifest, "tree", "");

	if (jnode_int(manifest, "recipe", 0) != KMAKE_RECIPE)
		strlist_add(out, "it was made by another version of the build recipe");
	if (input->tree && strcmp(tree, input->tree))
		strlist_add(out, "the tree differs");
	if (input->kernel->kind == KERNEL_COMMAND && strcmp(jnode_string(manifest, "command", ""), input->kernel->command))
		strlist_add(out, "the command differs");
	if (input->toolchain && compilers) {
		const char *compiler = jnode_string(compilers, "compiler", "");
		const char *linker = jnode_string(compilers, "linker", "");
		if (strcmp(compiler, input->toolchain->compiler))
			strlist_addf(out, "%s -> %s", jnode_string(manifest, "toolchain", compiler), input->toolchain->summary);
		if (strcmp(linker, input->toolchain->linker))
			strlist_addf(out, "%s -> %s", linker, input->toolchain->linker);
	}
	if (!input->config)
		return;

	AUTO_FREE char *path = path_join(dir, ".config");
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRLIST options = { NULL, 0 };
	AUTO_ERROR err = file_read(path, &text);
	if (err)
		return;
	config_difference(strbuf_str(&text), input->config->text, &options);
	for (size_t i = 0; i < options.n; i++)
		strlist_addf(out, "CONFIG_%s", options.items[i]);
}

static char *join_differences(const struct strlist *list)
{
	const size_t shown_max = 4;
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < list->n && i < shown_max; i++)
		strbuf_addf(&text, "%s%s", i ? "; " : "", list->items[i]);
	if (list->n > shown_max)
		strbuf_addf(&text, "; and %zu more", list->n - shown_max);
	return list->n ? strbuf_steal(&text) : xstrdup("its build settings differ");
}

char *image_explain_missing(const struct cache *cache, const struct image_input *input)
{
	AUTO_FREE char *images = cache_path(cache, "images");
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_FREE char *best = NULL;
	/* The same subject beats another step of the ladder, then fewer differences. */
	bool best_same = false;
	size_t best_n = 0;

	if (file_is_dir(images))
		error_free(file_list(images, &names));
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *dir = path_join(images, names.items[i]);
		AUTO_FREE char *path = path_join(dir, "manifest.json");
		AUTO_JNODE manifest = NULL;
		AUTO_ERROR err = entry_stage_owner(names.items[i]) ? NULL : jnode_load(path, &manifest);
		if (err || !manifest || !input->build_folder || strcmp(jnode_string(manifest, "ladder", ""), input->build_folder))
			continue;
		AUTO_STRLIST list = { NULL, 0 };
		bool same = input->subject && !strcmp(jnode_string(manifest, "subject", ""), input->subject);
		differences(manifest, dir, input, &list);
		if (best && (best_same > same || (best_same == same && best_n <= list.n)))
			continue;
		free(best);
		best = join_differences(&list);
		best_same = same;
		best_n = list.n;
	}
	return best ? take_ptr(best) : xstrdup("it was never built");
}
