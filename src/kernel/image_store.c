/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels put into images/KEY, and read back. */
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/clock.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "kernel/build_log.h"
#include "kernel/entry.h"
#include "kernel/image_parts.h"
#include "kernel/kmake.h"

#define MANIFEST "manifest.json"
#define MANIFEST_SCHEMA "memcg-ab/image/1"

static const char *const kind_names[] = {
	[KERNEL_KBUILD] = "kbuild", [KERNEL_COMMAND] = "command", [KERNEL_PREBUILT] = "prebuilt"
};

static void set_toolchain(struct jnode *manifest, const struct toolchain_info *toolchain)
{
	struct jnode *node = jnode_object();
	struct jnode *args = jnode_array();

	jnode_set_string(node, "compiler", toolchain->compiler);
	jnode_set_string(node, "linker", toolchain->linker);
	for (size_t i = 0; i < toolchain->make_args.n; i++)
		jnode_append_string(args, toolchain->make_args.items[i]);
	jnode_set(node, "make", args);
	jnode_set(manifest, "compilers", node);
}

static struct jnode *make_manifest(const struct image_input *input, const char *key, const struct image_parts *parts)
{
	struct jnode *manifest = jnode_object();

	jnode_set_string(manifest, "schema", MANIFEST_SCHEMA);
	jnode_set_string(manifest, "key", key);
	jnode_set_int(manifest, "recipe", KMAKE_RECIPE);
	jnode_set_string(manifest, "kind", kind_names[input->kernel->kind]);
	jnode_set_string(manifest, "subject", input->subject);
	jnode_set_string(manifest, "ladder", input->build_folder);
	jnode_set_string(manifest, "arch", input->kernel->arch);
	jnode_set_string(manifest, "tree", input->tree);
	jnode_set_string(manifest, "source", input->source ? input->source->origin : NULL);
	jnode_set_string(manifest, "command", input->kernel->command);
	jnode_set_string(manifest, "toolchain", parts->toolchain);
	if (input->toolchain)
		set_toolchain(manifest, input->toolchain);
	jnode_set_string(manifest, "release", parts->release);
	jnode_set_string(manifest, "build_id", parts->build_id);
	jnode_set_int(manifest, "compiled", parts->compiled);
	jnode_set_bool(manifest, "from_nothing", parts->from_nothing);
	jnode_set_int(manifest, "warnings", parts->log ? build_log_warnings(parts->log) : 0);
	AUTO_FREE char *made = clock_utc_text(clock_utc_s());
	jnode_set_string(manifest, "made", made);
	return manifest;
}

static struct error *copy_as(const char *from, const char *dir, const char *name)
{
	AUTO_FREE char *to = path_join(dir, name);

	return from ? file_copy(from, to) : NULL;
}

static struct error *write_text(const char *dir, const char *name, const char *text, size_t len)
{
	AUTO_FREE char *path = path_join(dir, name);

	return file_write_atomic(path, text, len, 0644);
}

static struct error *store_files(const struct image_parts *parts, const char *arch, const char *dir, struct jnode *manifest)
{
	struct error *err = copy_as(parts->kernel_file, dir, "Image");
	if (!err)
		err = copy_as(parts->vmlinux, dir, "vmlinux");
	if (!err)
		err = copy_as(parts->system_map, dir, "System.map");
	for (size_t i = 0; !err && parts->others && i < parts->others->n; i++)
		err = copy_as(parts->others->items[i], dir, path_basename(parts->others->items[i]));
	if (!err && parts->config_text)
		err = write_text(dir, ".config", parts->config_text, strlen(parts->config_text));
	if (!err && parts->log) {
		AUTO_FREE char *path = path_join(dir, "build.log.zst");
		err = zstd_write_file(path, parts->log, strlen(parts->log));
	}
	if (!err && parts->obj) {
		AUTO_STRBUF sizes = STRBUF_INIT;
		size_t objects;
		err = image_object_sizes(parts->obj, arch, &sizes, &objects);
		if (!err)
			err = write_text(dir, "sizes.tsv", sizes.data, sizes.len);
		if (!err)
			jnode_set_int(manifest, "objects", (int64_t)objects);
	}
	return err;
}

static struct error *store_manifest(const struct image_parts *parts, const char *dir, struct jnode *manifest)
{
	char digest[HASH_HEX_SIZE];
	AUTO_FREE char *image = path_join(dir, "Image");
	struct error *err = hash_file(image, digest);
	if (err)
		return err;
	jnode_set_string(manifest, "image_sha256", digest);
	if (parts->config_text)
		hash_bytes(parts->config_text, strlen(parts->config_text), digest);
	jnode_set_string(manifest, "config_sha256", parts->config_text ? digest : NULL);

	AUTO_STRBUF text = STRBUF_INIT;
	jnode_write(manifest, 2, &text);
	strbuf_addch(&text, '\n');
	return write_text(dir, MANIFEST, text.data, text.len);
}

struct error *image_store(const struct cache *cache, const struct image_input *input, const char *key,
			  const struct image_parts *parts, bool keep_private, struct image **image_out)
{
	AUTO_FREE char *name = xasprintf("%s%s", keep_private ? "private-" : "", key);
	AUTO_FREE char *stage = NULL;
	struct error *err = entry_stage(cache, "images", name, &stage);
	if (err)
		return err;

	AUTO_JNODE manifest = make_manifest(input, key, parts);
	err = store_files(parts, input->kernel->arch, stage, manifest);
	if (!err)
		err = store_manifest(parts, stage, manifest);
	if (!err && !keep_private)
		err = entry_publish(cache, "images", key, stage);
	if (err) {
		error_free(file_remove_tree(stage));
		return error_wrap(err, "storing %s", input->subject);
	}
	AUTO_FREE char *relative = xasprintf("images/%s", key);
	AUTO_FREE char *published = cache_path(cache, relative);
	return image_load(keep_private ? stage : published, image_out);
}

static char *optional_copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static struct error *swapped(const char *dir, const char *what, const char *found, const char *recorded)
{
	return error_new(ERROR_LAB,
			 "%s/Image was swapped: its %s is %s, and that of the kernel that was put there is %s; remove the folder "
			 "to have it made again",
			 dir, what, found, recorded);
}

/* The Image is the one that the manifest was written for. */
static struct error *check_image(const char *dir, const char *path, const struct jnode *manifest)
{
	char digest[HASH_HEX_SIZE], build_id[BUILD_ID_HEX_SIZE];
	const char *recorded = jnode_string(manifest, "image_sha256", "");
	AUTO_STRBUF bytes = STRBUF_INIT;
	struct error *err = file_read(path, &bytes);
	if (err)
		return err;
	hash_bytes(bytes.data, bytes.len, digest);
	if (strcmp(digest, recorded))
		return swapped(dir, "sha256", digest, recorded);
	err = image_unpack(path, &bytes);
	if (err)
		return err;
	recorded = jnode_string(manifest, "build_id", "");
	bool found = build_id_in_bytes(bytes.data, bytes.len, build_id);
	return found && !strcmp(build_id, recorded) ? NULL : swapped(dir, "build id", found ? build_id : "not there", recorded);
}

static struct error *load_config(const char *dir, const struct jnode *manifest, char **text_out)
{
	const char *recorded = jnode_string(manifest, "config_sha256", NULL);
	char digest[HASH_HEX_SIZE];
	if (!recorded)
		return NULL;

	AUTO_FREE char *path = path_join(dir, ".config");
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *err = file_read(path, &text);
	if (err)
		return err;
	hash_bytes(strbuf_str(&text), text.len, digest);
	if (strcmp(digest, recorded))
		return error_new(ERROR_LAB,
				 "%s is not the one that belongs to the kernel: remove the folder to have it made again", path);
	*text_out = strbuf_steal(&text);
	return NULL;
}

struct error *image_load(const char *dir, struct image **image_out)
{
	AUTO_FREE char *manifest_path = path_join(dir, MANIFEST);
	AUTO_FREE char *kernel_file = path_join(dir, "Image");
	AUTO_FREE char *config_text = NULL;
	AUTO_JNODE manifest = NULL;

	struct error *err = jnode_load(manifest_path, &manifest);
	if (err) {
		AUTO_ERROR cause = err;
		return error_new(ERROR_LAB, "%s cannot be read (%s): remove the folder to have the kernel made again",
				 manifest_path, error_message(cause));
	}
	err = check_image(dir, kernel_file, manifest);
	if (!err)
		err = load_config(dir, manifest, &config_text);
	if (err)
		return err;

	struct image *image = xcalloc(1, sizeof(*image));
	snprintf(image->key, sizeof(image->key), "%s", jnode_string(manifest, "key", ""));
	snprintf(image->image_sha256, sizeof(image->image_sha256), "%s", jnode_string(manifest, "image_sha256", ""));
	snprintf(image->build_id, sizeof(image->build_id), "%s", jnode_string(manifest, "build_id", ""));
	snprintf(image->config_sha256, sizeof(image->config_sha256), "%s", jnode_string(manifest, "config_sha256", ""));
	image->dir = xstrdup(dir);
	image->kernel_file = take_ptr(kernel_file);
	image->config_text = take_ptr(config_text);
	image->toolchain = xstrdup(jnode_string(manifest, "toolchain", "unknown compiler"));
	image->tree = optional_copy(jnode_string(manifest, "tree", NULL));
	image->release = optional_copy(jnode_string(manifest, "release", NULL));
	entry_touch(dir);
	*image_out = image;
	return NULL;
}
