/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections `devices` and `measure`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/matrix_parts.h"
#include "plan/profile_parts.h"

#define BLOCKS_MAX 1000
/* On random devices, where the matrix does not say how many. */
#define BLOCKS_DEFAULT 12
#define BLOCKS_DEFAULT_STAGED 100
#define PILOT_DEFAULT 8

struct target_entry {
	const struct yaml_node *device;
	char *cores;
};

static const struct bind_field target_fields[] = {
	BIND("device", BIND_ANY, struct target_entry, device, .required = true),
	BIND("cores", BIND_TEXT, struct target_entry, cores),
};
const struct bind_table target_keys = { "target", target_fields, ARRAY_SIZE(target_fields), false };

static const char *const order_words[] = {
	[ORDER_RANDOM] = "random", [ORDER_ABBA] = "abba", [ORDER_SEQUENTIAL] = "sequential", NULL
};

/* The section while it is read; controls are laid over the defaults. */
struct measure_entry {
	struct measure measure;
	const struct yaml_node *controls;
};

static const struct bind_field measure_fields[] = {
	BIND("blocks", BIND_COUNT, struct measure_entry, measure.blocks, .min = 1, .max = BLOCKS_MAX),
	BIND("seed", BIND_COUNT, struct measure_entry, measure.seed),
	BIND("order", BIND_WORD, struct measure_entry, measure.order, .words = order_words),
	BIND("half_width", BIND_RATIO, struct measure_entry, measure.half_width, .max = 0.5),
	BIND("pilot", BIND_COUNT, struct measure_entry, measure.pilot, .min = 3, .max = BLOCKS_MAX),
	BIND("looks", BIND_COUNT, struct measure_entry, measure.looks, .min = 2, .max = BLOCKS_MAX),
	BIND("controls", BIND_MAPPING, struct measure_entry, controls),
};
const struct bind_table measure_keys = { "measure", measure_fields, ARRAY_SIZE(measure_fields), false };

static const struct bind_field controls_fields[] = {
	BIND("aa", BIND_BOOL, struct measure, aa),
	BIND("layout", BIND_BOOL, struct measure, layout),
};
const struct bind_table controls_keys = { "controls", controls_fields, ARRAY_SIZE(controls_fields), false };

static const struct device *find_device(struct matrix_loader *loader, const struct yaml_node *node)
{
	if (!bind_expect_text(node, "a device", &loader->errors) || !loader->lab)
		return NULL;
	const struct device *device = lab_device(loader->lab, node->text);
	if (device)
		return device;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < loader->lab->n_devices; i++)
		bind_names_add(&names, loader->lab->devices[i].name, loader->lab->devices[i].pos);
	error_join(&loader->errors,
		   bind_unknown_name(node->pos, "device", node->text, &names, "the lab file declares none (`devices:`)"));
	return NULL;
}

/* all, big, mid, little, or a list as the kernel writes it: 4-7, 0,2-3. */
static bool is_cores(const char *cores)
{
	static const char *const classes[] = { "all", "big", "mid", "little" };
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (!strcmp(cores, classes[i]))
			return true;
	char before = ',';
	bool range = false;
	for (const char *c = cores; *c; before = *c++) {
		bool digit = *c >= '0' && *c <= '9';
		bool after_digit = before >= '0' && before <= '9';
		if (!digit && (!after_digit || (*c != ',' && *c != '-') || (*c == '-' && range)))
			return false;
		range = *c == '-' || (range && *c != ',');
	}
	return before >= '0' && before <= '9';
}

/* sim has cores of one kind, and so has QEMU's machine, of which only a part can be used where it has several. */
static bool check_cores(struct matrix_loader *loader, const struct yaml_node *node, const char *cores,
			const struct device *device)
{
	const struct profile *profile = device->profile;
	struct pos pos = yaml_get(node, "cores") ? yaml_get(node, "cores")->pos : node->pos;
	bool one_kind = profile->kind == DEVICE_SIM || (profile->kind == DEVICE_QEMU && profile->qemu.smp == 1);
	if (!is_cores(cores)) {
		error_join(&loader->errors,
			   error_at(pos, "'cores' must be all, big, mid, little or a list such as 4-7, not '%s'", cores));
		return false;
	}
	if (!one_kind || !strcmp(cores, "all"))
		return true;
	error_join(&loader->errors, error_at(pos, "device '%s' has cores of one kind: 'cores' can only be 'all'", device->name));
	return false;
}

/* A device is used: now it must be told where each unit is, and its files must be there. */
static bool check_place(struct matrix_loader *loader, const struct yaml_node *node, const struct device *device)
{
	bool good = true;
	for (size_t i = 0; i < device->n_units; i++) {
		const struct unit *unit = &device->units[i];
		if (unit->profile->kind != DEVICE_FASTBOOT)
			continue;
		if (unit->profile->fastboot.serial) {
			AUTO_FREE char *where = xasprintf("device '%s'%s%s%s", device->name, *unit->name ? ", unit '" : "",
							  unit->name, *unit->name ? "'" : "");
			size_t before = error_count(loader->errors);
			profile_images_find(&unit->profile->fastboot, unit->pos.file ? unit->pos : node->pos, where,
					    &loader->errors);
			good &= error_count(loader->errors) == before;
			continue;
		}
		struct error *error =
			error_at(node->pos,
				 "device '%s'%s%s%s has no 'serial' in 'fastboot': say in the lab file which one it is",
				 device->name, *unit->name ? ", unit '" : "", unit->name, *unit->name ? "'" : "");
		error_note(error, unit->pos, "declared here");
		error_join(&loader->errors, error);
		good = false;
	}
	return good;
}

static bool is_equal_target(struct matrix_loader *loader, const struct device *device, const char *cores, struct pos pos)
{
	for (size_t i = 0; i < loader->matrix->n_targets; i++) {
		const struct target *target = &loader->matrix->targets[i];
		if (target->device != device || strcmp(target->cores, cores) != 0)
			continue;
		struct error *error = error_at(pos, "rows are equal: device '%s' is named twice", device->name);
		error_note(error, target->pos, "the first is here");
		error_join(&loader->errors, error);
		return true;
	}
	return false;
}

static void read_target(struct matrix_loader *loader, const struct yaml_node *node)
{
	struct matrix *matrix = loader->matrix;
	struct target_entry entry = { node, xstrdup("all") };
	bool good = node->kind != YAML_MAPPING || bind_mapping(node, &target_keys, "this device", &entry, &loader->errors);
	AUTO_FREE char *cores = entry.cores;
	const struct device *device = good ? find_device(loader, entry.device) : NULL;
	if (!device || !check_cores(loader, node, cores, device) || !check_place(loader, node, device))
		return;
	if (!is_equal_target(loader, device, cores, node->pos))
		matrix->targets[matrix->n_targets++] = (struct target){ device, xstrdup(cores), node->pos };
}

void matrix_read_targets(struct matrix_loader *loader)
{
	const struct yaml_node *node = loader->devices;
	if (!node)
		return;
	bool list = node->kind == YAML_SEQUENCE;
	size_t n = list ? node->n : 1;
	if (!n)
		error_join(&loader->errors, error_at(node->pos, "'devices' names none"));
	loader->matrix->targets = xcalloc(n + 1, sizeof(*loader->matrix->targets));
	for (size_t i = 0; i < n; i++)
		read_target(loader, list ? node->items[i] : node);
}

const char *measure_order_name(enum measure_order order)
{
	return order_words[order];
}

static void exclude(struct matrix_loader *loader, const char *key, const char *other, const char *why)
{
	const struct yaml_pair *pair = yaml_pair(loader->measure, key);
	const struct yaml_pair *first = yaml_pair(loader->measure, other);
	if (!pair || !first)
		return;
	struct error *error = error_at(pair->key_pos, "'%s' and '%s' exclude each other: %s", key, other, why);
	error_note(error, first->key_pos, "'%s' is here", other);
	error_join(&loader->errors, error);
}

/* What can be said of keys, whatever their values. */
static void check_measure_keys(struct matrix_loader *loader)
{
	exclude(loader, "looks", "half_width", "a run stops on its precision or on its gates' verdicts");
	const struct yaml_pair *pilot = yaml_pair(loader->measure, "pilot");
	if (pilot && !yaml_pair(loader->measure, "half_width"))
		error_join(&loader->errors,
			   error_at(pilot->key_pos,
				    "'pilot' has no meaning without 'half_width': it is the first stage on the way there"));
	const struct yaml_pair *looks = yaml_pair(loader->measure, "looks");
	if (looks && !(loader->gates && loader->gates->n))
		error_join(&loader->errors,
			   error_at(looks->key_pos, "'looks' needs a gate: a look stops the run when every gate has its "
						    "verdict"));
}

/* The value's own node, or that of the key that makes the default count. */
static struct pos value_pos(const struct yaml_node *mapping, const char *key, const char *otherwise)
{
	const struct yaml_node *node = yaml_get(mapping, key);
	return node ? node->pos : yaml_get(mapping, otherwise)->pos;
}

static void check_stages(struct matrix_loader *loader, const struct measure *measure)
{
	const struct yaml_node *node = loader->measure;
	const struct yaml_node *half_width = yaml_get(node, "half_width");
	if (half_width && measure->half_width <= 0)
		error_join(&loader->errors, error_at(half_width->pos, "'half_width' of 'measure' must be above 0"));
	if (half_width && measure->pilot > measure->blocks)
		error_join(&loader->errors,
			   error_at(value_pos(node, "pilot", "half_width"),
				    "the first stage has %u blocks, yet 'blocks' allows %u in all: lower 'pilot' "
				    "or raise 'blocks'",
				    measure->pilot, measure->blocks));
	if (measure->looks > measure->blocks)
		error_join(&loader->errors,
			   error_at(yaml_get(node, "looks")->pos, "%u looks need as many blocks, and there are %u",
				    measure->looks, measure->blocks));
	if (measure->order == ORDER_SEQUENTIAL && (half_width || measure->looks))
		error_join(&loader->errors,
			   error_at(yaml_get(node, "order")->pos,
				    "'order: sequential' has no blocks that a run could stop between: leave '%s' "
				    "out, or take another order",
				    half_width ? "half_width" : "looks"));
}

void matrix_read_measure(struct matrix_loader *loader)
{
	const struct yaml_node *node = loader->measure;
	struct measure_entry entry = { .measure = { .seed = 1, .pilot = PILOT_DEFAULT, .aa = true, .layout = true } };
	struct measure *measure = &entry.measure;
	measure->pos = node ? node->pos : loader->root->pos;
	bool fine = !node || bind_mapping(node, &measure_keys, "'measure'", &entry, &loader->errors);
	if (entry.controls) {
		bind_mapping(entry.controls, &controls_keys, "'controls'", measure, &loader->errors);
		measure->layout_given = yaml_get(entry.controls, "layout") != NULL;
	}
	measure->blocks_given = node && yaml_get(node, "blocks");
	if (!measure->blocks_given)
		measure->blocks = measure->half_width > 0 ? BLOCKS_DEFAULT_STAGED : BLOCKS_DEFAULT;
	if (node)
		check_measure_keys(loader);
	if (node && fine)
		check_stages(loader, measure);
	loader->matrix->measure = *measure;
}
