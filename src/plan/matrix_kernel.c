/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/matrix_parts.h"
#include "plan/matrix_rows.h"

static const char *const arch_words[] = { "arm64", NULL };

/* A kernel as it is written. */
struct kernel_entry {
	const struct yaml_node *source, *toolchain, *base_config, *prebuilt, *outputs;
	char *command;
	int arch;
};

static const struct bind_field kernel_fields[] = {
	BIND("source", BIND_ANY, struct kernel_entry, source),
	BIND("arch", BIND_WORD, struct kernel_entry, arch, .words = arch_words),
	BIND("toolchain", BIND_ANY, struct kernel_entry, toolchain),
	BIND("base_config", BIND_ANY, struct kernel_entry, base_config),
	BIND("command", BIND_TEXT, struct kernel_entry, command),
	BIND("outputs", BIND_ANY, struct kernel_entry, outputs),
	BIND("prebuilt", BIND_MAPPING, struct kernel_entry, prebuilt),
};
const struct bind_table kernel_keys = { "kernel", kernel_fields, ARRAY_SIZE(kernel_fields), false };

struct prebuilt_entry {
	const struct yaml_node *image, *vmlinux, *config;
};

static const struct bind_field prebuilt_fields[] = {
	BIND("image", BIND_ANY, struct prebuilt_entry, image, .required = true),
	BIND("vmlinux", BIND_ANY, struct prebuilt_entry, vmlinux),
	BIND("config", BIND_ANY, struct prebuilt_entry, config),
};
const struct bind_table prebuilt_keys = { "prebuilt", prebuilt_fields, ARRAY_SIZE(prebuilt_fields), false };

void matrix_free_kernel(struct kernel *kernel)
{
	free(kernel->name);
	free(kernel->sources);
	free(kernel->arch);
	free(kernel->base_config);
	free(kernel->command);
	strlist_deinit(&kernel->outputs);
	free(kernel->prebuilt_image);
	free(kernel->prebuilt_vmlinux);
	free(kernel->prebuilt_config);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool matrix_same_kernel(const struct kernel *a, const struct kernel *b)
{
	if (a->kind != b->kind || a->n_sources != b->n_sources || a->toolchain != b->toolchain || a->outputs.n != b->outputs.n)
		return false;
	for (size_t i = 0; i < a->n_sources; i++) {
		if (a->sources[i] != b->sources[i])
			return false;
	}
	for (size_t i = 0; i < a->outputs.n; i++) {
		if (strcmp(a->outputs.items[i], b->outputs.items[i]) != 0)
			return false;
	}
	return same_text(a->arch, b->arch) && same_text(a->base_config, b->base_config) && same_text(a->command, b->command) &&
	       same_text(a->prebuilt_image, b->prebuilt_image) && same_text(a->prebuilt_vmlinux, b->prebuilt_vmlinux) &&
	       same_text(a->prebuilt_config, b->prebuilt_config);
}

char *matrix_existing_file(struct matrix_loader *loader, const struct yaml_node *node, const char *what)
{
	if (!bind_expect_text(node, what, &loader->errors))
		return NULL;
	AUTO_FREE char *path = search_path(node);
	if (file_is_regular(path))
		return path_absolute(path);
	error_join(&loader->errors, error_at(node->pos, "%s: there is no file %s", what, path));
	return NULL;
}

static void read_source(struct matrix_loader *loader, struct kernel *kernel, const struct yaml_node *node)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, "'source'", &items, &n, &loader->errors) || !loader->lab)
		return;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < loader->lab->n_sources; i++)
		bind_names_add(&names, loader->lab->sources[i].name, loader->lab->sources[i].pos);
	kernel->sources = xcalloc(n, sizeof(*kernel->sources));
	for (size_t i = 0; i < n; i++) {
		const struct source *source = lab_source(loader->lab, items[i]->text);
		if (source)
			kernel->sources[kernel->n_sources++] = source;
		else
			error_join(&loader->errors, bind_unknown_name(items[i]->pos, "source", items[i]->text, &names,
								      "the lab file declares none (`sources:`)"));
	}
}

static void read_toolchain(struct matrix_loader *loader, struct kernel *kernel, const struct yaml_node *kernel_node,
			   const struct yaml_node *node, const char *where)
{
	const struct lab *lab = loader->lab;
	if (node && !bind_expect_text(node, "'toolchain'", &loader->errors))
		return;
	if (!lab)
		return;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < lab->n_toolchains; i++)
		bind_names_add(&names, lab->toolchains[i].name, lab->toolchains[i].pos);
	if (node) {
		kernel->toolchain = lab_toolchain(lab, node->text);
		if (!kernel->toolchain)
			error_join(&loader->errors, bind_unknown_name(node->pos, "toolchain", node->text, &names,
								      "the lab file declares none (`toolchains:`)"));
		return;
	}
	if (lab->n_toolchains == 1) {
		kernel->toolchain = &lab->toolchains[0];
		return;
	}
	if (bind_has(kernel_node, &kernel_keys, "toolchain"))
		return;
	AUTO_FREE char *list = bind_list_text(names.names, names.n);
	error_join(&loader->errors, error_at(kernel_node->pos, "%s needs 'toolchain': one of the lab's (%s)", where,
					     lab->n_toolchains ? list : "it has none"));
}

/* Names of make targets; whether the tree has one of that name only make knows. */
static bool is_make_target(const char *text)
{
	if (strchr(text, '/'))
		return false;
	return str_ends(text, "defconfig") || strcmp(text, "allnoconfig") == 0 || strcmp(text, "tinyconfig") == 0;
}

static void read_base_config(struct matrix_loader *loader, struct kernel *kernel, const struct yaml_node *node)
{
	if (!bind_expect_text(node, "'base_config'", &loader->errors))
		return;
	kernel->base_is_target = is_make_target(node->text);
	if (kernel->base_is_target) {
		kernel->base_config = xstrdup(node->text);
		return;
	}
	if (!loader->lab && !strchr(node->text, '/'))
		return;
	AUTO_FREE char *path = NULL;
	struct error *error = search_file(&loader->search, node, "base config", "", &path);
	if (error)
		error_note(error, NO_POS, "allnoconfig, tinyconfig and names that end with defconfig are the kernel's own");
	else
		kernel->base_config = path_absolute(path);
	error_join(&loader->errors, error);
}

static bool output_named(const struct strlist *outputs, const char *prefix)
{
	for (size_t i = 0; i < outputs->n; i++) {
		if (str_starts(path_basename(outputs->items[i]), prefix))
			return true;
	}
	return false;
}

static void read_outputs(struct matrix_loader *loader, struct kernel *kernel, const struct yaml_node *node)
{
	AUTO_FREE const struct yaml_node **items = NULL;
	size_t n;
	if (!bind_one_or_list(node, "'outputs'", &items, &n, &loader->errors))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = items[i]->text;
		if (*path == '/' || str_starts(path, "../") || strstr(path, "/../"))
			error_join(&loader->errors,
				   error_at(items[i]->pos, "an output is a path below the output folder (MEMCG_AB_OUT), not '%s'",
					    path));
		strlist_add(&kernel->outputs, path);
	}
	static const char *const needed[] = { "vmlinux", ".config", "Image" };
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!output_named(&kernel->outputs, needed[i]))
			error_join(&loader->errors,
				   error_at(node->pos, "'outputs' lacks %s: vmlinux, .config and the Image are always needed",
					    needed[i]));
	}
}

static void read_prebuilt(struct matrix_loader *loader, struct kernel *kernel, const struct yaml_node *node)
{
	struct prebuilt_entry entry = { 0 };
	bind_mapping(node, &prebuilt_keys, "'prebuilt'", &entry, &loader->errors);
	if (entry.image)
		kernel->prebuilt_image = matrix_existing_file(loader, entry.image, "'image' of 'prebuilt'");
	if (entry.vmlinux)
		kernel->prebuilt_vmlinux = matrix_existing_file(loader, entry.vmlinux, "'vmlinux' of 'prebuilt'");
	if (entry.config)
		kernel->prebuilt_config = matrix_existing_file(loader, entry.config, "'config' of 'prebuilt'");
}

/* Keys that say nothing about a kernel of this kind. */
static void refuse_keys(struct matrix_loader *loader, const struct yaml_node *node, const char *kind, const char *const *keys)
{
	for (; *keys; keys++) {
		const struct yaml_pair *pair = yaml_pair(node, *keys);
		if (pair)
			error_join(&loader->errors,
				   error_at(pair->key_pos, "'%s' has no meaning for a kernel with '%s'", *keys, kind));
	}
}

static void require(struct matrix_loader *loader, const struct yaml_node *node, const char *where, const char *key,
		    const char *advice)
{
	if (!bind_has(node, &kernel_keys, key))
		error_join(&loader->errors, error_at(node->pos, "%s needs '%s': %s", where, key, advice));
}

static void read_kernel(struct matrix_loader *loader, const char *name, const struct yaml_node *node, struct pos pos)
{
	static const char *const not_prebuilt[] = { "source", "toolchain", "base_config", "command", "outputs", NULL };
	static const char *const not_command[] = { "toolchain", "base_config", NULL };
	static const char *const not_kbuild[] = { "outputs", NULL };
	struct kernel *kernel = &loader->matrix->kernels[loader->matrix->n_kernels++];
	AUTO_FREE char *where = *name ? xasprintf("kernel '%s'", name) : xstrdup("'kernel'");
	struct kernel_entry entry = { 0 };
	*kernel = (struct kernel){ .name = xstrdup(name), .arch = xstrdup(arch_words[0]), .pos = pos };
	bind_mapping(node, &kernel_keys, where, &entry, &loader->errors);
	kernel->command = entry.command;
	if (node->kind != YAML_MAPPING)
		return;

	if (yaml_get(node, "prebuilt")) {
		kernel->kind = KERNEL_PREBUILT;
		refuse_keys(loader, node, "prebuilt", not_prebuilt);
		if (entry.prebuilt)
			read_prebuilt(loader, kernel, entry.prebuilt);
		return;
	}
	require(loader, node, where, "source", "a source of the lab, or a list of which the first that can be had is taken");
	if (entry.source)
		read_source(loader, kernel, entry.source);
	if (yaml_get(node, "command")) {
		kernel->kind = KERNEL_COMMAND;
		refuse_keys(loader, node, "command", not_command);
		require(loader, node, where, "outputs", "the files that the command leaves (vmlinux, .config, the Image)");
		if (entry.outputs)
			read_outputs(loader, kernel, entry.outputs);
		return;
	}
	kernel->kind = KERNEL_KBUILD;
	refuse_keys(loader, node, "source", not_kbuild);
	require(loader, node, where, "base_config", "allnoconfig, defconfig, another make target, or a file");
	read_toolchain(loader, kernel, node, entry.toolchain, where);
	if (entry.base_config)
		read_base_config(loader, kernel, entry.base_config);
}

bool matrix_needs_kernel(const struct matrix_loader *loader)
{
	const struct matrix *matrix = loader->matrix;
	for (size_t i = 0; i < matrix->n_targets; i++) {
		if (!matrix->targets[i].device || matrix->targets[i].device->profile->needs_image)
			return true;
	}
	return !matrix->n_targets;
}

/* Neither `kernel` nor `kernels`. */
static void no_kernel(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	bool misspelt = bind_has(loader->root, &matrix_keys, "kernel") || bind_has(loader->root, &matrix_keys, "kernels");
	if (matrix_needs_kernel(loader) && loader->lab && !misspelt)
		error_join(&loader->errors,
			   error_at(loader->root->pos, "the matrix needs 'kernel' (or 'kernels', several by name)"));
	matrix->kernels = xcalloc(1, sizeof(*matrix->kernels));
	matrix->kernels[matrix->n_kernels++] =
		(struct kernel){ .name = xstrdup(""), .arch = xstrdup(arch_words[0]), .pos = loader->root->pos };
}

void matrix_read_kernels(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	if (loader->kernel && loader->kernels) {
		struct error *error =
			error_at(yaml_pair(loader->root, "kernels")->key_pos, "a matrix has 'kernel' or 'kernels', not both");
		error_note(error, yaml_pair(loader->root, "kernel")->key_pos, "the other is here");
		error_join(&loader->errors, error);
	}
	if (!yaml_get(loader->root, "kernel") && !yaml_get(loader->root, "kernels")) {
		no_kernel(loader);
		return;
	}
	size_t n = loader->kernels ? loader->kernels->n : 0;
	matrix->kernels = xcalloc(n + 1, sizeof(*matrix->kernels));
	for (size_t i = 0; i < n; i++) {
		const struct yaml_pair *pair = &loader->kernels->pairs[i];
		bind_check_name(pair->key, pair->key_pos, "the name of a kernel", &loader->errors);
		read_kernel(loader, pair->key, pair->value, pair->key_pos);
	}
	if (loader->kernels && !n)
		error_join(&loader->errors, error_at(loader->kernels->pos, "'kernels' names none"));
	if (loader->kernel && !loader->kernels)
		read_kernel(loader, "", loader->kernel, yaml_pair(loader->root, "kernel")->key_pos);
}
