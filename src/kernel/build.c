/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of ours: one tree, one resolved config, one toolchain, through kbuild. */
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/file.h"
#include "kernel/build_run.h"
#include "kernel/image_parts.h"
#include "kernel/kmake.h"

/* What a folder's objects depend on besides tree and .config, which kbuild itself follows. */
static char *folder_identity(const struct toolchain_info *toolchain)
{
	AUTO_STRBUF text = STRBUF_INIT;

	strbuf_addf(&text, "recipe %d\n%s\n%s\n", KMAKE_RECIPE, toolchain->compiler, toolchain->linker);
	for (size_t i = 0; i < toolchain->make_args.n; i++)
		strbuf_addf(&text, "%s\n", toolchain->make_args.items[i]);
	return strbuf_steal(&text);
}

/* Left alone when it is the same, so that make sees no change. */
static struct error *write_config(const struct build_folder *folder, const char *text)
{
	AUTO_FREE char *path = path_join(folder->obj, ".config");
	AUTO_STRBUF present = STRBUF_INIT;
	struct error *err = file_exists(path) ? file_read(path, &present) : NULL;

	if (err || !strcmp(strbuf_str(&present), text))
		return err;
	return file_write_atomic(path, text, strlen(text), 0644);
}

static struct error *run_make(const struct build_run *base, struct strbuf *log_out, unsigned *objects_out)
{
	const struct image_input *input = base->build->input;
	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRLIST env = { NULL, 0 };

	kmake_command(base->folder->src, base->folder->obj, input->kernel->arch, input->toolchain, base->build->jobs, &argv);
	strlist_add(&argv, path_basename(kmake_image_path(input->kernel->arch)));
	kmake_isolate(&env);
	kmake_settings(base->folder->src, base->folder->obj, &env);
	struct build_run run = *base;
	run.argv = &argv;
	run.env = &env;
	return build_run(&run, log_out, objects_out);
}

/* The config that was built is the one that was resolved and read back. */
static struct error *check_config(const struct build_folder *folder, const struct image_input *input)
{
	AUTO_FREE char *path = path_join(folder->obj, ".config");
	AUTO_STRBUF built = STRBUF_INIT;
	struct error *err = file_read(path, &built);
	if (err || !strcmp(strbuf_str(&built), input->config->text))
		return err;

	AUTO_STRLIST options = { NULL, 0 };
	AUTO_STRBUF shown = STRBUF_INIT;
	config_difference(input->config->text, strbuf_str(&built), &options);
	for (size_t i = 0; i < options.n && i < 5; i++)
		strbuf_addf(&shown, "%s%s", i ? "; " : "", options.items[i]);
	if (options.n > 5)
		strbuf_addf(&shown, "; and %zu more", options.n - 5);
	return error_place(error_new(ERROR_INPUT, "%s: make changed the config that was resolved for it: %s", input->subject,
				     options.n ? strbuf_str(&shown) : "its comments or order"),
			   input->kernel->pos);
}

/* The id that the running kernel will show is in the Image, and is vmlinux' own. */
static struct error *check_build_id(const struct image_input *input, const char *vmlinux, const char *image,
				    char build_id_out[BUILD_ID_HEX_SIZE])
{
	char of_image[BUILD_ID_HEX_SIZE], of_vmlinux[BUILD_ID_HEX_SIZE];
	AUTO_STRBUF bytes = STRBUF_INIT;

	struct error *err = elf_build_id(vmlinux, of_vmlinux);
	if (!err)
		err = image_read(image, &bytes);
	if (err)
		return error_wrap(err, "%s", input->subject);
	if (!build_id_in_bytes(bytes.data, bytes.len, of_image) || strcmp(of_image, of_vmlinux))
		return error_new(ERROR_KERNEL,
				 "%s: the Image does not carry vmlinux' build id %s, so that a running kernel could not be told",
				 input->subject, of_vmlinux);
	memcpy(build_id_out, of_vmlinux, sizeof(of_vmlinux));
	return NULL;
}

static char *read_release(const struct build_folder *folder)
{
	AUTO_FREE char *path = path_join(folder->obj, "include/config/kernel.release");
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR err = file_read(path, &text);

	return err ? NULL : xstrdup(str_trim(text.data));
}

static struct error *store(const struct build_run *run, const char *log, unsigned objects, struct image **image_out)
{
	const struct image_input *input = run->build->input;
	const struct build_folder *folder = run->folder;
	AUTO_FREE char *image = path_join(folder->obj, kmake_image_path(input->kernel->arch));
	AUTO_FREE char *vmlinux = path_join(folder->obj, "vmlinux");
	AUTO_FREE char *system_map = path_join(folder->obj, "System.map");
	AUTO_FREE char *release = read_release(folder);
	char build_id[BUILD_ID_HEX_SIZE];

	struct error *err = check_config(folder, input);
	if (!err)
		err = check_build_id(input, vmlinux, image, build_id);
	if (err)
		return err;
	build_report(run->build, objects, objects, "storing");
	const struct image_parts parts = { .kernel_file = image,
					   .vmlinux = vmlinux,
					   .system_map = system_map,
					   .config_text = input->config->text,
					   .build_id = build_id,
					   .toolchain = input->toolchain->summary,
					   .release = release,
					   .log = log,
					   .obj = folder->obj,
					   .compiled = objects,
					   .from_nothing = folder->from_nothing };
	return image_store(run->build->cache, input, run->key, &parts, image_build_is_private(run->build), image_out);
}

/* Builds in the folder at hand and stores the kernel. */
static struct error *build_in(const struct build_run *run, struct image **image_out)
{
	const struct image_build *build = run->build;
	const struct image_input *input = build->input;
	AUTO_STRBUF log = STRBUF_INIT;
	unsigned objects = 0;

	struct error *err = build_checkout(run);
	if (!err)
		err = write_config(run->folder, input->config->text);
	if (!err)
		err = run_make(run, &log, &objects);
	if (!err)
		err = build_folder_finish(run->folder);
	if (!err)
		err = store(run, strbuf_str(&log), objects, image_out);
	if (!err && run->folder->from_nothing)
		build_remember_objects(build, objects);
	return err;
}

struct error *image_build_kbuild(const struct image_build *build, const char *key, struct image **image_out)
{
	AUTO_FREE char *identity = folder_identity(build->input->toolchain);
	AUTO_BUILD_FOLDER folder = { NULL, NULL, NULL, NULL, false };
	struct error *err = build_folder_open(build, key, identity, UNFINISHED_MEND, &folder);
	if (err)
		return err;

	/* Another run may have built it while we waited for the folder. */
	if (!image_build_is_private(build)) {
		struct image *image = NULL;
		err = image_lookup(build->cache, key, &image);
		if (err)
			return err;
		if (image) {
			*image_out = image;
			return build_folder_finish(&folder);
		}
	}
	const struct build_run run = { .build = build, .folder = &folder, .key = key };
	return build_in(&run, image_out);
}
