/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the images of a fastboot device are made of: the layout of boot images, its own good images, modules built with a kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/keys.h"
#include "plan/profile_parts.h"

#define NEWEST_HEADER 4

static const char *const compression_words[] = { "raw", "gzip", "lz4", NULL };

struct layout_layer {
	struct boot_layout layout;
	const struct yaml_node *dtb;
};

#define OFFSET_MAX ((double)UINT32_MAX)
static const struct bind_field layout_fields[] = {
	BIND("header_version", BIND_COUNT, struct layout_layer, layout.header_version, .max = NEWEST_HEADER),
	BIND("page_size", BIND_SIZE, struct layout_layer, layout.page_size, .min = 2048, .max = 16384),
	BIND("base", BIND_SIZE, struct layout_layer, layout.base, .max = OFFSET_MAX),
	BIND("kernel_offset", BIND_SIZE, struct layout_layer, layout.kernel_offset, .max = OFFSET_MAX),
	BIND("ramdisk_offset", BIND_SIZE, struct layout_layer, layout.ramdisk_offset, .max = OFFSET_MAX),
	BIND("second_offset", BIND_SIZE, struct layout_layer, layout.second_offset, .max = OFFSET_MAX),
	BIND("tags_offset", BIND_SIZE, struct layout_layer, layout.tags_offset, .max = OFFSET_MAX),
	BIND("dtb_offset", BIND_SIZE, struct layout_layer, layout.dtb_offset, .max = OFFSET_MAX),
	BIND("dtb", BIND_ANY, struct layout_layer, dtb),
	BIND("os_version", BIND_TEXT, struct layout_layer, layout.os_version),
	BIND("os_patch_level", BIND_TEXT, struct layout_layer, layout.os_patch_level),
	BIND("kernel", BIND_WORD, struct layout_layer, layout.kernel, .words = compression_words),
	BIND("init_boot", BIND_BOOL, struct layout_layer, layout.init_boot),
};
const struct bind_table layout_keys = { "layout", layout_fields, ARRAY_SIZE(layout_fields), false };

struct files_layer {
	const struct yaml_node *boot, *vendor_boot, *init_boot, *vbmeta;
};

static const struct bind_field stock_fields[] = {
	BIND("boot", BIND_ANY, struct files_layer, boot),
	BIND("vendor_boot", BIND_ANY, struct files_layer, vendor_boot),
	BIND("init_boot", BIND_ANY, struct files_layer, init_boot),
	BIND("vbmeta", BIND_ANY, struct files_layer, vbmeta),
};
const struct bind_table stock_keys = { "stock", stock_fields, ARRAY_SIZE(stock_fields), false };

struct module_layer {
	const struct yaml_node *modules, *images;
};

static const struct bind_field module_set_fields[] = {
	BIND("modules", BIND_ANY, struct module_layer, modules, .required = true),
	BIND("images", BIND_MAPPING, struct module_layer, images, .required = true),
};
const struct bind_table module_set_keys = { "module_set", module_set_fields, ARRAY_SIZE(module_set_fields), false };

struct module_image_layer {
	const struct yaml_node *file;
	bool logical;
};

static const struct bind_field module_image_fields[] = {
	BIND("file", BIND_ANY, struct module_image_layer, file, .required = true),
	BIND("logical", BIND_BOOL, struct module_image_layer, logical),
};
const struct bind_table module_image_keys = { "module_image", module_image_fields, ARRAY_SIZE(module_image_fields), false };

void profile_modules_free(struct fastboot_settings *fastboot)
{
	for (size_t i = 0; i < fastboot->n_modules; i++) {
		struct module_set *set = &fastboot->modules[i];
		for (size_t k = 0; k < set->n_images; k++) {
			free(set->images[k].partition);
			free(set->images[k].file);
		}
		free(set->images);
		free(set->config);
		free(set->modules);
	}
	free(fastboot->modules);
	fastboot->modules = NULL;
	fastboot->n_modules = 0;
}

void profile_layout_read(struct boot_layout *layout, const struct yaml_node *node, struct error **errors)
{
	struct layout_layer layer = { .layout = *layout };
	bind_mapping(node, &layout_keys, "'layout'", &layer, errors);
	*layout = layer.layout;
	profile_read_path(layer.dtb, "'dtb' of 'layout'", &layout->dtb, errors);
	if (layout->page_size & (layout->page_size - 1))
		error_join(errors, error_at(node->pos, "'page_size' of 'layout' must be 2048, 4096, 8192 or 16384"));
	if (layout->dtb && layout->header_version != 2)
		error_join(errors, error_at(layer.dtb ? layer.dtb->pos : node->pos,
					    "a 'dtb' stands in boot images of header version 2 alone, not in version %u",
					    layout->header_version));
}

void profile_stock_read(struct stock_images *stock, const struct yaml_node *node, struct error **errors)
{
	struct files_layer layer = { NULL, NULL, NULL, NULL };
	bind_mapping(node, &stock_keys, "'stock'", &layer, errors);
	profile_read_path(layer.boot, "'boot' of 'stock'", &stock->boot, errors);
	profile_read_path(layer.vendor_boot, "'vendor_boot' of 'stock'", &stock->vendor_boot, errors);
	profile_read_path(layer.init_boot, "'init_boot' of 'stock'", &stock->init_boot, errors);
	profile_read_path(layer.vbmeta, "'vbmeta' of 'stock'", &stock->vbmeta, errors);
}

static bool is_partition(const char *name)
{
	size_t len = strlen(name);
	return len && len <= 36 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == len;
}

void profile_expect_partition(const char *name, struct pos pos, struct error **errors)
{
	if (name && !is_partition(name))
		error_join(errors,
			   error_at(pos, "'%s' is no name of a partition: letters, digits, '_', '-' and '.', at most 36", name));
}

static void read_module_image(struct module_set *set, const struct yaml_pair *pair, struct error **errors)
{
	struct module_image_layer layer = { pair->value, false };
	struct module_image image = { .partition = xstrdup(pair->key) };
	if (pair->value->kind == YAML_MAPPING)
		bind_mapping(pair->value, &module_image_keys, "this image of modules", &layer, errors);
	profile_read_path(layer.file, "an image of modules", &image.file, errors);
	image.logical = layer.logical;
	profile_expect_partition(image.partition, pair->key_pos, errors);
	set->images = array_grow(set->images, set->n_images, sizeof(*set->images));
	set->images[set->n_images++] = image;
}

void profile_modules_read(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors)
{
	profile_modules_free(fastboot);
	fastboot->modules = xcalloc(node->n + 1, sizeof(*fastboot->modules));
	for (size_t i = 0; i < node->n; i++) {
		const struct yaml_pair *pair = &node->pairs[i];
		AUTO_FREE char *where = xasprintf("the module set of config '%s'", pair->key);
		struct module_layer layer = { NULL, NULL };
		if (!bind_expect_mapping(pair->value, where, errors) ||
		    !bind_mapping(pair->value, &module_set_keys, where, &layer, errors))
			continue;
		struct module_set *set = &fastboot->modules[fastboot->n_modules++];
		set->config = xstrdup(pair->key);
		profile_read_path(layer.modules, "'modules'", &set->modules, errors);
		for (size_t k = 0; k < layer.images->n; k++)
			read_module_image(set, &layer.images->pairs[k], errors);
	}
}

static void hash_file_of(struct hash *hash, const char *label, const char *path)
{
	char hex[HASH_HEX_SIZE];
	AUTO_ERROR error = path ? hash_file(path, hex) : NULL;
	hash_field(hash, label, path && !error ? hex : path);
}

static void hash_number(struct hash *hash, const char *label, uint64_t value)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64, value);
	hash_field(hash, label, text);
}

static void hash_layout(struct hash *hash, const struct boot_layout *layout)
{
	hash_number(hash, "header_version", layout->header_version);
	hash_number(hash, "page_size", layout->page_size);
	hash_number(hash, "base", layout->base);
	hash_number(hash, "kernel_offset", layout->kernel_offset);
	hash_number(hash, "ramdisk_offset", layout->ramdisk_offset);
	hash_number(hash, "second_offset", layout->second_offset);
	hash_number(hash, "tags_offset", layout->tags_offset);
	hash_number(hash, "dtb_offset", layout->dtb_offset);
	hash_file_of(hash, "dtb", layout->dtb);
	hash_number(hash, "kernel", layout->kernel);
	hash_number(hash, "generic_ramdisk", layout->init_boot);
}

void profile_images_hash(const struct fastboot_settings *fastboot, struct hash *hash)
{
	hash_layout(hash, &fastboot->layout);
	hash_file_of(hash, "stock", fastboot->stock.boot);
	hash_file_of(hash, "vendor_boot", fastboot->stock.vendor_boot);
	hash_file_of(hash, "init_boot", fastboot->stock.init_boot);
	for (size_t i = 0; i < fastboot->n_modules; i++) {
		const struct module_set *set = &fastboot->modules[i];
		hash_field(hash, "modules", set->config);
		for (size_t k = 0; k < set->n_images; k++) {
			hash_field(hash, "partition", set->images[k].partition);
			hash_file_of(hash, "file", set->images[k].file);
		}
	}
}

static void find_file(const char *path, const char *what, struct pos pos, const char *where, struct error **errors)
{
	if (path && access(path, R_OK) != 0)
		error_join(errors, error_at(pos, "%s: %s %s cannot be read: %s", where, what, path, strerror(errno)));
}

void profile_images_find(const struct fastboot_settings *fastboot, struct pos pos, const char *where, struct error **errors)
{
	find_file(fastboot->known_good, "'known_good'", pos, where, errors);
	find_file(fastboot->stock.boot, "'boot' of 'stock'", pos, where, errors);
	find_file(fastboot->stock.vendor_boot, "'vendor_boot' of 'stock'", pos, where, errors);
	find_file(fastboot->stock.init_boot, "'init_boot' of 'stock'", pos, where, errors);
	find_file(fastboot->stock.vbmeta, "'vbmeta' of 'stock'", pos, where, errors);
	find_file(fastboot->layout.dtb, "'dtb' of 'layout'", pos, where, errors);
	for (size_t i = 0; i < fastboot->n_modules; i++) {
		const struct module_set *set = &fastboot->modules[i];
		find_file(set->modules, "the folder of 'modules'", pos, where, errors);
		for (size_t k = 0; k < set->n_images; k++)
			find_file(set->images[k].file, "an image of modules", pos, where, errors);
	}
}
