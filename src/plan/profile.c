/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/keys.h"
#include "plan/profile_digest.h"
#include "plan/profile_parts.h"
#include "plan/search.h"

#define MIB (1024.0 * 1024)
#define GIB (1024 * MIB)
#define HOUR_MS 3600000.0

#define N_KINDS 4

/* The profile while its file and the lab's settings are laid over each other. */
struct layers {
	struct profile profile;
	int kind; /* -1 = not given yet */
	int image; /* index in image_words, -1 = by kind */
	int match; /* enum cmdline_match, -1 = by kind */
	char *base; /* device: the profile's name, looked up by lab.c */
	const struct yaml_node *units; /* device: read by lab.c */
	/* Of the present layer. */
	const struct yaml_node *config, *nuisances, *timeouts, *environment, *events, *sections[N_KINDS];
	struct pos section_pos; /* of the last layer that has its kind's section */
	struct pos noise_pos; /* likewise of sim's noise */
	struct pos verified_pos, image_pos, events_pos; /* likewise of `verified`, `image` and `events` */
	const struct search *search;
	struct error *errors;
};

static const char *const kind_words[] = {
	[DEVICE_QEMU] = "qemu", [DEVICE_SIM] = "sim", [DEVICE_FASTBOOT] = "fastboot", [DEVICE_COMMAND] = "command", NULL
};
enum image_word { IMAGE_KERNEL, IMAGE_NONE, IMAGE_STOCK };
static const char *const image_words[] = { "kernel", "none", "stock", NULL };
static const char *const match_words[] = { "exact", "contains", "words", NULL };

/* What a device may say anew of its profile. */
#define SETTINGS                                                                                                                 \
	BIND("config", BIND_ANY, struct layers, config), BIND("cmdline", BIND_TEXT, struct layers, profile.cmdline),             \
		BIND("cmdline_match", BIND_WORD, struct layers, match, .words = match_words),                                    \
		BIND("image", BIND_WORD, struct layers, image, .words = image_words),                                            \
		BIND("verified", BIND_TEXT, struct layers, profile.verified),                                                    \
		BIND("nuisances", BIND_LIST, struct layers, nuisances), BIND("timeouts", BIND_MAPPING, struct layers, timeouts), \
		BIND("retries", BIND_COUNT, struct layers, profile.retries, .max = 100),                                         \
		BIND("environment", BIND_MAPPING, struct layers, environment), BIND("events", BIND_LIST, struct layers, events), \
		BIND("qemu", BIND_MAPPING, struct layers, sections[DEVICE_QEMU]),                                                \
		BIND("sim", BIND_MAPPING, struct layers, sections[DEVICE_SIM]),                                                  \
		BIND("fastboot", BIND_MAPPING, struct layers, sections[DEVICE_FASTBOOT]),                                        \
		BIND("command", BIND_MAPPING, struct layers, sections[DEVICE_COMMAND])

static const struct bind_field profile_fields[] = {
	BIND("kind", BIND_WORD, struct layers, kind, .words = kind_words, .required = true),
	SETTINGS,
};
const struct bind_table profile_keys = { "profile", profile_fields, ARRAY_SIZE(profile_fields), false };

static const struct bind_field device_fields[] = {
	BIND("profile", BIND_TEXT, struct layers, base),
	BIND("units", BIND_MAPPING, struct layers, units),
	SETTINGS,
};
const struct bind_table device_keys = { "device", device_fields, ARRAY_SIZE(device_fields), false };

static const struct bind_field unit_fields[] = {
	SETTINGS,
};
const struct bind_table unit_keys = { "unit", unit_fields, ARRAY_SIZE(unit_fields), false };

static const struct bind_field qemu_fields[] = {
	BIND("program", BIND_TEXT, struct qemu_settings, program),
	BIND("machine", BIND_TEXT, struct qemu_settings, machine),
	BIND("cpu", BIND_TEXT, struct qemu_settings, cpu),
	BIND("icount", BIND_TEXT, struct qemu_settings, icount),
	BIND("memory", BIND_SIZE, struct qemu_settings, memory, .min = 64 * MIB, .max = 1024 * GIB),
	BIND("smp", BIND_COUNT, struct qemu_settings, smp, .min = 1, .max = 512),
	BIND("disk", BIND_SIZE, struct qemu_settings, disk, .max = 1024 * GIB),
};
const struct bind_table qemu_keys = { "qemu", qemu_fields, ARRAY_SIZE(qemu_fields), false };

static const struct bind_field timeouts_fields[] = {
	BIND("boot", BIND_TIME, struct profile, boot_timeout_ms, .min = 1, .max = 24 * HOUR_MS),
	BIND("silence", BIND_TIME, struct profile, silence_timeout_ms, .min = 1, .max = 24 * HOUR_MS),
	BIND("run", BIND_TIME, struct profile, run_timeout_ms, .min = 1, .max = 240 * HOUR_MS),
};
const struct bind_table timeouts_keys = { "timeouts", timeouts_fields, ARRAY_SIZE(timeouts_fields), false };

static const struct bind_field nuisance_fields[] = {
	BIND("pad", BIND_COUNT, struct nuisance, pad, .max = 1024),
	BIND("memory", BIND_SIZE, struct nuisance, memory, .min = 64 * MIB, .max = 1024 * GIB),
	BIND("region_offset", BIND_SIZE, struct nuisance, region_offset, .max = GIB),
};
const struct bind_table nuisance_keys = { "nuisance", nuisance_fields, ARRAY_SIZE(nuisance_fields), false };

static void profile_deinit(struct profile *profile)
{
	free(profile->name);
	free(profile->path);
	fragment_free(profile->fragment);
	free(profile->cmdline);
	free(profile->nuisances);
	free(profile->qemu.program);
	free(profile->qemu.machine);
	free(profile->qemu.cpu);
	free(profile->qemu.icount);
	profile_sim_deinit(&profile->sim);
	profile_fastboot_deinit(&profile->fastboot);
	profile_command_deinit(&profile->command);
	profile_environment_deinit(&profile->environment);
	free(profile->verified);
	free(profile->digest);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile_deinit(profile);
	free(profile);
}

static void layers_init(struct layers *layers, const char *path, const struct search *search)
{
	const char *name = path_basename(path);
	size_t len = strlen(name);
	*layers = (struct layers){
		.profile = {
			.name = xstrndup(name, str_ends(name, ".yaml") ? len - strlen(".yaml") : len),
			.path = path_absolute(path),
			.cmdline = xstrdup(""),
			.verified = xstrdup("never"),
			.retries = 2,
			.qemu = {
				.program = xstrdup("qemu-system-aarch64"),
				.machine = xstrdup("virt"),
				.memory = (uint64_t)(512 * MIB),
				.smp = 1,
			},
		},
		.kind = -1,
		.image = -1,
		.match = -1,
		.search = search,
	};
	profile_sim_init(&layers->profile.sim);
	profile_fastboot_init(&layers->profile.fastboot);
	profile_command_init(&layers->profile.command);
	profile_environment_init(&layers->profile.environment);
}

static void read_config(struct layers *layers, const char *where)
{
	AUTO_FREE char *what = xasprintf("'config' of %s", where);
	if (!bind_expect_text(layers->config, what, &layers->errors))
		return;
	AUTO_FREE char *path = NULL;
	struct error *error = search_file(layers->search, layers->config, "fragment", "", &path);
	struct fragment *fragment = NULL;
	if (!error)
		error = fragment_load(path, &fragment);
	error_join(&layers->errors, error);
	if (error)
		return;
	fragment_free(layers->profile.fragment);
	layers->profile.fragment = fragment;
}

static void read_nuisances(struct layers *layers)
{
	struct profile *profile = &layers->profile;
	const uint64_t grain = (uint64_t)(2 * MIB);
	free(profile->nuisances);
	profile->nuisances = xcalloc(layers->nuisances->n + 1, sizeof(*profile->nuisances));
	profile->n_nuisances = layers->nuisances->n;
	for (size_t i = 0; i < profile->n_nuisances; i++) {
		const struct yaml_node *node = layers->nuisances->items[i];
		struct nuisance *nuisance = &profile->nuisances[i];
		if (bind_mapping(node, &nuisance_keys, "this nuisance", nuisance, &layers->errors) &&
		    nuisance->region_offset % grain)
			error_join(&layers->errors, error_at(yaml_get(node, "region_offset")->pos,
							     "'region_offset' of this nuisance must be a multiple of 2M"));
	}
}

/* The section of the device's own kind; another kind's is an error. */
static void read_section(struct layers *layers, int kind, const struct yaml_node *node)
{
	struct profile *profile = &layers->profile;
	if (layers->kind >= 0 && kind != layers->kind) {
		error_join(&layers->errors, error_at(node->pos, "'%s' has no meaning for a device of kind '%s'", kind_words[kind],
						     kind_words[layers->kind]));
		return;
	}
	layers->section_pos = node->pos;
	switch ((enum device_kind)kind) {
	case DEVICE_QEMU:
		bind_mapping(node, &qemu_keys, "'qemu'", &profile->qemu, &layers->errors);
		break;
	case DEVICE_SIM:
		profile_sim_read(&profile->sim, node, &layers->errors);
		if (yaml_get(node, "noise"))
			layers->noise_pos = yaml_get(node, "noise")->pos;
		break;
	case DEVICE_FASTBOOT:
		profile_fastboot_read(&profile->fastboot, node, &layers->errors);
		break;
	case DEVICE_COMMAND:
		profile_command_read(&profile->command, node, &layers->errors);
		break;
	}
}

static void read_layer(struct layers *layers, const struct yaml_node *node, const struct bind_table *table, const char *where)
{
	layers->config = layers->nuisances = layers->timeouts = layers->environment = layers->events = NULL;
	memset(layers->sections, 0, sizeof(layers->sections));
	bind_mapping(node, table, where, layers, &layers->errors);
	for (int kind = 0; kind < N_KINDS; kind++)
		if (layers->sections[kind])
			read_section(layers, kind, layers->sections[kind]);
	if (yaml_get(node, "verified"))
		layers->verified_pos = yaml_get(node, "verified")->pos;
	if (yaml_get(node, "image"))
		layers->image_pos = yaml_get(node, "image")->pos;
	if (layers->events) {
		layers->events_pos = layers->events->pos;
		layers->profile.events = profile_events_read(layers->events, &layers->errors);
	}
	if (layers->config)
		read_config(layers, where);
	if (layers->nuisances)
		read_nuisances(layers);
	if (layers->timeouts)
		bind_mapping(layers->timeouts, &timeouts_keys, "'timeouts'", &layers->profile, &layers->errors);
	if (layers->environment)
		profile_environment_read(&layers->profile.environment, layers->environment, &layers->errors);
}

/* A phone takes minutes where an emulator takes seconds; and one whose records are read at the end is silent until then. */
static void default_timeouts(struct profile *profile)
{
	bool own_machine = profile->kind == DEVICE_QEMU || profile->kind == DEVICE_SIM;
	if (!profile->boot_timeout_ms)
		profile->boot_timeout_ms = own_machine ? 60000 : 300000;
	if (!profile->silence_timeout_ms)
		profile->silence_timeout_ms = own_machine ? 60000 : 300000;
	if (!profile->run_timeout_ms)
		profile->run_timeout_ms = own_machine ? 600000 : 3600000;
}

static bool is_exact(const struct profile *profile)
{
	switch (profile->kind) {
	case DEVICE_QEMU:
		return profile->qemu.icount && profile->qemu.smp == 1;
	case DEVICE_SIM:
		return profile->sim.exact;
	case DEVICE_FASTBOOT:
		return profile->fastboot.exact;
	case DEVICE_COMMAND:
		break;
	}
	return profile->command.exact;
}

/* What follows from the settings. */
static void complete(struct layers *layers)
{
	struct profile *profile = &layers->profile;
	bool own_machine = profile->kind == DEVICE_QEMU || profile->kind == DEVICE_SIM;
	profile->needs_image = layers->image < 0 ? profile->kind != DEVICE_SIM : layers->image == IMAGE_KERNEL;
	profile->cmdline_match = layers->match >= 0 ? (enum cmdline_match)layers->match
				 : own_machine	    ? CMDLINE_EXACT
						    : CMDLINE_CONTAINS;
	if (profile->qemu.icount && !*profile->qemu.icount) {
		free(profile->qemu.icount);
		profile->qemu.icount = NULL;
	}
	default_timeouts(profile);
	profile->exact = is_exact(profile);
	if (!profile->exact) {
		profile->n_nuisances = 0;
	} else if (!profile->n_nuisances) {
		free(profile->nuisances);
		profile->nuisances = xcalloc(1, sizeof(*profile->nuisances));
		profile->n_nuisances = 1;
	}
	profile->digest = profile_digest(profile);
}

/* never, or "2026-12-01 BUILD" */
static bool is_verified(const char *text)
{
	static const char form[] = "dddd-dd-dd ";
	if (strcmp(text, "never") == 0)
		return true;
	size_t i = 0;
	while (form[i] && (form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
		i++;
	return !form[i] && text[i] && !strpbrk(text, "\n\r\t");
}

static void check(struct layers *layers, struct pos pos)
{
	struct profile *profile = &layers->profile;
	struct pos section = layers->section_pos.file ? layers->section_pos : pos;
	if (strpbrk(profile->cmdline, "\n\r\t"))
		error_join(&layers->errors, error_at(pos, "'cmdline' must be one line without tabs"));
	if (!is_verified(profile->verified))
		error_join(&layers->errors,
			   error_at(layers->verified_pos.file ? layers->verified_pos : pos,
				    "'verified' must be never, or the date and the build with which the profile was seen to work "
				    "(2026-12-01 memcg-ab 0.1.0), not '%s'",
				    profile->verified));
	if (layers->kind < 0)
		return;
	profile->kind = (enum device_kind)layers->kind;
	profile->stock = layers->image == IMAGE_STOCK;
	if (profile->kind == DEVICE_QEMU && !profile->qemu.cpu)
		error_join(&layers->errors, error_at(pos, "a device of kind 'qemu' needs 'cpu' in 'qemu'"));
	if (profile->kind != DEVICE_SIM && layers->image == IMAGE_NONE)
		error_join(&layers->errors,
			   error_at(layers->image_pos, "a device of kind '%s' boots a kernel: 'image' cannot be 'none'",
				    kind_words[layers->kind]));
	if (profile->kind != DEVICE_FASTBOOT && profile->stock)
		error_join(&layers->errors,
			   error_at(layers->image_pos,
				    "'image: stock' is for devices of kind 'fastboot', whose own kernel is measured"));
	profile_events_check(profile, layers->events_pos, &layers->errors);
	if (profile->kind == DEVICE_SIM)
		profile_sim_check(profile, layers->noise_pos, &layers->errors);
	if (profile->kind == DEVICE_FASTBOOT)
		profile_fastboot_check(profile, section, &layers->errors);
	if (profile->kind == DEVICE_COMMAND)
		profile_command_check(profile, section, &layers->errors);
}

const char *device_kind_name(enum device_kind kind)
{
	return kind_words[kind];
}

struct error *profile_load_unit(const char *path, const struct search *search, const struct yaml_node *settings,
				const char *where, const struct yaml_node *unit, const char *unit_where,
				struct profile **profile_out)
{
	struct yaml_node *root = NULL;
	struct error *error = yaml_load_partial(path, &root);
	if (!root)
		return error;
	struct layers layers;
	layers_init(&layers, path, search);
	layers.errors = error;
	AUTO_FREE char *what = xasprintf("profile '%s'", layers.profile.name);
	read_layer(&layers, root, &profile_keys, what);
	if (settings)
		read_layer(&layers, settings, &device_keys, where);
	if (unit)
		read_layer(&layers, unit, &unit_keys, unit_where);
	check(&layers, root->pos);
	free(layers.base);
	yaml_node_free(root);
	if (layers.errors) {
		profile_deinit(&layers.profile);
		return layers.errors;
	}
	complete(&layers);
	*profile_out = xmemdup(&layers.profile, sizeof(layers.profile));
	return NULL;
}

struct error *profile_load(const char *path, const struct search *search, const struct yaml_node *settings, const char *where,
			   struct profile **profile_out)
{
	return profile_load_unit(path, search, settings, where, NULL, NULL, profile_out);
}
