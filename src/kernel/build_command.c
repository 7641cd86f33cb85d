/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that the user's own command builds, from a tree and a fragment of ours. */
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/file.h"
#include "kernel/build_run.h"
#include "kernel/image_parts.h"
#include "kernel/kmake.h"

static const char *find_output(const struct kernel *kernel, const char *name)
{
	for (size_t i = 0; i < kernel->outputs.n; i++)
		if (!strcmp(path_basename(kernel->outputs.items[i]), name))
			return kernel->outputs.items[i];
	return NULL;
}

/* The kernel among the outputs, compressed or not. */
static const char *find_kernel(const struct kernel *kernel)
{
	static const char *const names[] = { "Image", "Image.gz", "Image.lz4" };
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !found; i++)
		found = find_output(kernel, names[i]);
	return found;
}

static struct error *check_outputs(const struct kernel *kernel)
{
	static const char *const required[] = { "vmlinux", ".config" };
	struct error *list = NULL;

	if (!find_kernel(kernel))
		error_join(&list, error_at(kernel->pos, "outputs: the kernel itself is not among them (a path that ends in "
							"Image, Image.gz or Image.lz4)"));
	for (size_t i = 0; i < ARRAY_SIZE(required); i++)
		if (!find_output(kernel, required[i]))
			error_join(&list, error_at(kernel->pos, "outputs: %s is not among them", required[i]));
	return list;
}

static char *command_identity(const struct image_input *input, const char *fragment)
{
	return xasprintf("recipe %d\n%s\n%s\n", KMAKE_RECIPE, input->kernel->command, fragment);
}

/* The file for MEMCG_AB_FRAGMENT: .config lines, the device's first. */
static char *fragment_text(const struct image_input *input)
{
	AUTO_STRBUF text = STRBUF_INIT;

	if (input->device_fragment)
		fragment_write(input->device_fragment, &text);
	if (input->fragment)
		fragment_write(input->fragment, &text);
	return strbuf_steal(&text);
}

/* What the last build left must not be taken for this one's. */
static struct error *remove_outputs(const struct kernel *kernel, const char *out)
{
	struct error *err = NULL;

	for (size_t i = 0; i < kernel->outputs.n && !err; i++) {
		AUTO_FREE char *path = path_join(out, kernel->outputs.items[i]);
		err = file_remove_tree(path);
	}
	return err;
}

static struct error *run_command(const struct build_run *base, const char *fragment_path, struct strbuf *log_out,
				 unsigned *objects_out)
{
	const struct build_folder *folder = base->folder;
	const struct kernel *kernel = base->build->input->kernel;
	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRLIST env = { NULL, 0 };

	strlist_add(&argv, "/bin/sh");
	strlist_add(&argv, "-c");
	strlist_add(&argv, kernel->command);
	kmake_settings(folder->src, folder->obj, &env);
	strlist_addf(&env, "ARCH=%s", kernel->arch);
	strlist_addf(&env, "MEMCG_AB_TREE=%s", folder->src);
	strlist_addf(&env, "MEMCG_AB_FRAGMENT=%s", fragment_path);
	strlist_addf(&env, "MEMCG_AB_OUT=%s", folder->obj);
	strlist_addf(&env, "MEMCG_AB_JOBS=%u", base->build->jobs);
	struct build_run run = *base;
	run.argv = &argv;
	run.env = &env;
	run.cwd = folder->src;
	return build_run(&run, log_out, objects_out);
}

/* Every named output is a file; their paths, but those that an image stores under names of its own, go to `others_out`. */
static struct error *collect_outputs(const struct build_run *run, const char *log, struct strlist *others_out)
{
	const struct kernel *kernel = run->build->input->kernel;
	const char *const own[] = { find_kernel(kernel), find_output(kernel, "vmlinux"), find_output(kernel, ".config"),
				    find_output(kernel, "System.map") };
	struct error *list = NULL;

	for (size_t i = 0; i < kernel->outputs.n; i++) {
		const char *output = kernel->outputs.items[i];
		AUTO_FREE char *path = path_join(run->folder->obj, output);
		bool special = false;
		if (!file_is_regular(path)) {
			AUTO_FREE char *message = xasprintf("the command succeeded but left no file %s in MEMCG_AB_OUT", output);
			error_join(&list, error_place(build_failed(run, ERROR_KERNEL, log, message), kernel->pos));
			continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(own); k++)
			special |= output == own[k];
		if (!special)
			strlist_add(others_out, path);
	}
	return list;
}

static struct error *check_build_id(const struct image_input *input, const char *vmlinux, const struct strbuf *image,
				    char build_id[BUILD_ID_HEX_SIZE])
{
	char of_image[BUILD_ID_HEX_SIZE];
	struct error *err = elf_build_id(vmlinux, build_id);
	if (err)
		return error_place(error_wrap(err, "%s", input->subject), input->kernel->pos);
	if (build_id_in_bytes(image->data, image->len, of_image) && !strcmp(of_image, build_id))
		return NULL;
	return error_place(error_new(ERROR_KERNEL,
				     "%s: the kernel and the vmlinux that the command left do not belong together: only vmlinux "
				     "has the build id %s",
				     input->subject, build_id),
			   input->kernel->pos);
}

static struct error *store(const struct build_run *run, const char *log, unsigned objects, struct image **image_out)
{
	const struct image_input *input = run->build->input;
	const char *out = run->folder->obj;
	AUTO_STRLIST others = { NULL, 0 };
	AUTO_STRBUF image = STRBUF_INIT;
	AUTO_STRBUF config = STRBUF_INIT;
	char build_id[BUILD_ID_HEX_SIZE];

	struct error *err = collect_outputs(run, log, &others);
	if (err)
		return err;
	AUTO_FREE char *kernel_file = path_join(out, find_kernel(input->kernel));
	AUTO_FREE char *vmlinux = path_join(out, find_output(input->kernel, "vmlinux"));
	AUTO_FREE char *config_path = path_join(out, find_output(input->kernel, ".config"));
	const char *map = find_output(input->kernel, "System.map");
	AUTO_FREE char *system_map = map ? path_join(out, map) : NULL;
	err = file_read(config_path, &config);
	if (!err)
		err = config_check(strbuf_str(&config), input->device_fragment, input->fragment);
	if (!err)
		err = error_place(image_read(kernel_file, &image), input->kernel->pos);
	if (!err)
		err = check_build_id(input, vmlinux, &image, build_id);
	if (err)
		return err;

	AUTO_FREE char *release = image_release(image.data, image.len);
	AUTO_FREE char *compiler = image_compiler(strbuf_str(&config));
	build_report(run->build, objects, objects, "storing");
	const struct image_parts parts = { .kernel_file = kernel_file,
					   .vmlinux = vmlinux,
					   .system_map = system_map,
					   .others = &others,
					   .config_text = strbuf_str(&config),
					   .build_id = build_id,
					   .toolchain = compiler,
					   .release = release,
					   .log = log,
					   .obj = out,
					   .compiled = objects,
					   .from_nothing = run->folder->from_nothing };
	return image_store(run->build->cache, input, run->key, &parts, image_build_is_private(run->build), image_out);
}

static struct error *build_in(const struct build_run *run, const char *fragment, struct image **image_out)
{
	const struct image_build *build = run->build;
	const struct image_input *input = build->input;
	AUTO_FREE char *fragment_path = path_join(run->folder->root, "fragment");
	AUTO_STRBUF log = STRBUF_INIT;
	unsigned objects = 0;

	struct error *err = build_checkout(run);
	if (!err)
		err = remove_outputs(input->kernel, run->folder->obj);
	if (!err)
		err = file_write_atomic(fragment_path, fragment, strlen(fragment), 0644);
	if (!err)
		err = run_command(run, fragment_path, &log, &objects);
	if (!err)
		err = build_folder_finish(run->folder);
	return err ? err : store(run, strbuf_str(&log), objects, image_out);
}

struct error *image_build_command(const struct image_build *build, const char *key, struct image **image_out)
{
	AUTO_FREE char *fragment = fragment_text(build->input);
	AUTO_FREE char *identity = command_identity(build->input, fragment);
	AUTO_BUILD_FOLDER folder = { NULL, NULL, NULL, NULL, false };
	struct error *err = check_outputs(build->input->kernel);
	if (!err)
		err = build_folder_open(build, key, identity, UNFINISHED_REMOVE, &folder);
	if (err)
		return err;
	const struct build_run run = { .build = build, .folder = &folder, .key = key };
	return build_in(&run, fragment, image_out);
}
