/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/keys.h"
#include "plan/profile_digest.h"
#include "plan/search.h"

#define MIB (1024.0 * 1024)
#define GIB (1024 * MIB)
#define HOUR_MS 3600000.0

/* The profile while its file and the lab's settings are laid over each other. */
struct layers {
	struct profile profile;
	int kind; /* -1 = not given yet */
	int image; /* index in image_words, -1 = by kind */
	char *base; /* device: the profile's name, looked up by lab.c */
	const struct yaml_node *config, *nuisances, *timeouts, *qemu, *sim; /* of the present layer */
	struct pos noise_pos; /* of the last layer that has it */
	const struct search *search;
	struct error *errors;
};

static const char *const kind_words[] = { "qemu", "sim", NULL };
static const char *const image_words[] = { "kernel", "none", NULL };
static const char *const fault_words[] = { "drop-bytes",   "split-lines", "hang",      "panic",	      "die",	   "power-off",
					   "lie-build-id", "lie-cmdline", "lie-memcg", "lie-boot-id", "no-device", NULL };

/* What a device may say anew of its profile. */
#define SETTINGS                                                                                                                 \
	BIND("config", BIND_ANY, struct layers, config), BIND("cmdline", BIND_TEXT, struct layers, profile.cmdline),             \
		BIND("image", BIND_WORD, struct layers, image, .words = image_words),                                            \
		BIND("nuisances", BIND_LIST, struct layers, nuisances), BIND("timeouts", BIND_MAPPING, struct layers, timeouts), \
		BIND("retries", BIND_COUNT, struct layers, profile.retries, .max = 100),                                         \
		BIND("qemu", BIND_MAPPING, struct layers, qemu), BIND("sim", BIND_MAPPING, struct layers, sim)

static const struct bind_field profile_fields[] = {
	BIND("kind", BIND_WORD, struct layers, kind, .words = kind_words, .required = true),
	SETTINGS,
};
const struct bind_table profile_keys = { "profile", profile_fields, ARRAY_SIZE(profile_fields), false };

static const struct bind_field device_fields[] = {
	BIND("profile", BIND_TEXT, struct layers, base),
	SETTINGS,
};
const struct bind_table device_keys = { "device", device_fields, ARRAY_SIZE(device_fields), false };

static const struct bind_field qemu_fields[] = {
	BIND("program", BIND_TEXT, struct qemu_settings, program),
	BIND("machine", BIND_TEXT, struct qemu_settings, machine),
	BIND("cpu", BIND_TEXT, struct qemu_settings, cpu),
	BIND("icount", BIND_TEXT, struct qemu_settings, icount),
	BIND("memory", BIND_SIZE, struct qemu_settings, memory, .min = 64 * MIB, .max = 1024 * GIB),
	BIND("smp", BIND_COUNT, struct qemu_settings, smp, .min = 1, .max = 512),
};
const struct bind_table qemu_keys = { "qemu", qemu_fields, ARRAY_SIZE(qemu_fields), false };

struct sim_layer {
	struct sim_settings sim;
	const struct yaml_node *noise, *models, *faults;
};

static const struct bind_field sim_fields[] = {
	BIND("exact", BIND_BOOL, struct sim_layer, sim.exact),
	BIND("noise", BIND_MAPPING, struct sim_layer, noise),
	BIND("boot", BIND_TIME, struct sim_layer, sim.boot_ms, .max = HOUR_MS),
	BIND("models", BIND_LIST, struct sim_layer, models),
	BIND("faults", BIND_LIST, struct sim_layer, faults),
};
const struct bind_table sim_keys = { "sim", sim_fields, ARRAY_SIZE(sim_fields), false };

struct noise_layer {
	struct sim_noise noise;
	const struct yaml_node *outliers, *throttle, *modes;
};

static const struct bind_field noise_fields[] = {
	BIND("seed", BIND_COUNT, struct noise_layer, noise.seed),
	BIND("boot", BIND_RATIO, struct noise_layer, noise.sd_boot, .max = 0.5),
	BIND("iteration", BIND_RATIO, struct noise_layer, noise.sd_iteration, .max = 0.5),
	BIND("drift", BIND_RATIO, struct noise_layer, noise.drift, .min = -0.5, .max = 10),
	BIND("outliers", BIND_MAPPING, struct noise_layer, outliers),
	BIND("throttle", BIND_MAPPING, struct noise_layer, throttle),
	BIND("modes", BIND_MAPPING, struct noise_layer, modes),
};
const struct bind_table noise_keys = { "noise", noise_fields, ARRAY_SIZE(noise_fields), false };

static const struct bind_field outliers_fields[] = {
	BIND("share", BIND_RATIO, struct sim_noise, outlier_share, .max = 1),
	BIND("size", BIND_RATIO, struct sim_noise, outlier_size, .max = 100),
};
const struct bind_table outliers_keys = { "outliers", outliers_fields, ARRAY_SIZE(outliers_fields), false };

static const struct bind_field throttle_fields[] = {
	BIND("share", BIND_RATIO, struct sim_noise, throttle_share, .max = 1),
	BIND("size", BIND_RATIO, struct sim_noise, throttle_size, .max = 100),
};
const struct bind_table throttle_keys = { "throttle", throttle_fields, ARRAY_SIZE(throttle_fields), false };

static const struct bind_field modes_fields[] = {
	BIND("share", BIND_RATIO, struct sim_noise, mode_share, .max = 1),
	BIND("shift", BIND_RATIO, struct sim_noise, mode_shift, .min = -0.5, .max = 10),
};
const struct bind_table modes_keys = { "modes", modes_fields, ARRAY_SIZE(modes_fields), false };

struct model_entry {
	char *variant;
	const struct yaml_node *metrics;
};

static const struct bind_field model_fields[] = {
	BIND("variant", BIND_TEXT, struct model_entry, variant, .required = true),
	BIND("metrics", BIND_MAPPING, struct model_entry, metrics, .required = true),
};
const struct bind_table model_keys = { "model", model_fields, ARRAY_SIZE(model_fields), false };

struct fault_entry {
	char *variant;
	int block, attempt, what;
};

static const struct bind_field fault_fields[] = {
	BIND("variant", BIND_TEXT, struct fault_entry, variant, .required = true),
	BIND("block", BIND_COUNT, struct fault_entry, block, .max = 1000000),
	BIND("attempt", BIND_COUNT, struct fault_entry, attempt, .max = 1000000),
	BIND("what", BIND_WORD, struct fault_entry, what, .words = fault_words, .required = true),
};
const struct bind_table fault_keys = { "fault", fault_fields, ARRAY_SIZE(fault_fields), false };

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

static void free_models(struct sim_settings *sim)
{
	for (size_t i = 0; i < sim->n_models; i++) {
		free(sim->models[i].variant);
		free(sim->models[i].metric);
	}
	free(sim->models);
	sim->models = NULL;
	sim->n_models = 0;
}

static void free_faults(struct sim_settings *sim)
{
	for (size_t i = 0; i < sim->n_faults; i++) {
		free(sim->faults[i].variant);
		free(sim->faults[i].what);
	}
	free(sim->faults);
	sim->faults = NULL;
	sim->n_faults = 0;
}

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
	free_models(&profile->sim);
	free_faults(&profile->sim);
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
			.boot_timeout_ms = 60000,
			.silence_timeout_ms = 60000,
			.run_timeout_ms = 600000,
			.retries = 2,
			.qemu = {
				.program = xstrdup("qemu-system-aarch64"),
				.machine = xstrdup("virt"),
				.memory = (uint64_t)(512 * MIB),
				.smp = 1,
			},
			.sim = { .noise = { .seed = 1 }, .exact = true },
		},
		.kind = -1,
		.image = -1,
		.search = search,
	};
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

/* LABEL.PHASE.UNIT */
static bool is_metric_name(const char *name)
{
	size_t parts = 1;
	for (const char *c = name; *c; c++) {
		if (*c != '.')
			continue;
		if (c == name || c[1] == '.' || !c[1])
			return false;
		parts++;
	}
	return parts == 3;
}

static void read_model(struct layers *layers, const struct yaml_node *node)
{
	static const struct bind_field number = { .type = BIND_REAL, .size = sizeof(double), .min = 0 };
	struct sim_settings *sim = &layers->profile.sim;
	struct model_entry entry = { NULL, NULL };
	bool fine = bind_mapping(node, &model_keys, "this model", &entry, &layers->errors);
	AUTO_FREE char *variant = entry.variant;
	for (size_t i = 0; fine && i < entry.metrics->n; i++) {
		const struct yaml_pair *pair = &entry.metrics->pairs[i];
		double value;
		if (!is_metric_name(pair->key)) {
			error_join(&layers->errors,
				   error_at(pair->key_pos, "'%s' is no metric: LABEL.PHASE.UNIT, such as pft.fault.insn_k",
					    pair->key));
			continue;
		}
		if (!bind_value(pair->value, &number, pair->key, &value, &layers->errors))
			continue;
		sim->models = array_grow(sim->models, sim->n_models, sizeof(*sim->models));
		sim->models[sim->n_models++] = (struct sim_model){ xstrdup(variant), xstrdup(pair->key), value };
	}
}

static void read_fault(struct layers *layers, const struct yaml_node *node)
{
	struct sim_settings *sim = &layers->profile.sim;
	struct fault_entry entry = { NULL, -1, -1, 0 };
	if (!bind_mapping(node, &fault_keys, "this fault", &entry, &layers->errors)) {
		free(entry.variant);
		return;
	}
	sim->faults = array_grow(sim->faults, sim->n_faults, sizeof(*sim->faults));
	sim->faults[sim->n_faults++] =
		(struct sim_fault){ entry.variant, entry.block, entry.attempt, xstrdup(fault_words[entry.what]), node->pos };
}

static void read_noise(struct layers *layers, const struct yaml_node *node)
{
	struct noise_layer layer = { .noise = layers->profile.sim.noise };
	bind_mapping(node, &noise_keys, "'noise'", &layer, &layers->errors);
	if (layer.outliers)
		bind_mapping(layer.outliers, &outliers_keys, "'outliers'", &layer.noise, &layers->errors);
	if (layer.throttle)
		bind_mapping(layer.throttle, &throttle_keys, "'throttle'", &layer.noise, &layers->errors);
	if (layer.modes)
		bind_mapping(layer.modes, &modes_keys, "'modes'", &layer.noise, &layers->errors);
	layers->profile.sim.noise = layer.noise;
	layers->noise_pos = node->pos;
}

static void read_sim(struct layers *layers)
{
	struct sim_layer layer = { .sim = layers->profile.sim };
	bind_mapping(layers->sim, &sim_keys, "'sim'", &layer, &layers->errors);
	layers->profile.sim = layer.sim;
	if (layer.noise)
		read_noise(layers, layer.noise);
	if (layer.models) {
		free_models(&layers->profile.sim);
		for (size_t i = 0; i < layer.models->n; i++)
			read_model(layers, layer.models->items[i]);
	}
	if (layer.faults) {
		free_faults(&layers->profile.sim);
		for (size_t i = 0; i < layer.faults->n; i++)
			read_fault(layers, layer.faults->items[i]);
	}
}

static void wrong_section(struct layers *layers, const struct yaml_node *node, const char *section)
{
	if (node && layers->kind >= 0 && strcmp(kind_words[layers->kind], section) != 0)
		error_join(&layers->errors, error_at(node->pos, "'%s' has no meaning for a device of kind '%s'", section,
						     kind_words[layers->kind]));
}

static void read_layer(struct layers *layers, const struct yaml_node *node, const struct bind_table *table, const char *where)
{
	layers->config = layers->nuisances = layers->timeouts = layers->qemu = layers->sim = NULL;
	bind_mapping(node, table, where, layers, &layers->errors);
	wrong_section(layers, layers->qemu, "qemu");
	wrong_section(layers, layers->sim, "sim");
	if (layers->config)
		read_config(layers, where);
	if (layers->nuisances)
		read_nuisances(layers);
	if (layers->timeouts)
		bind_mapping(layers->timeouts, &timeouts_keys, "'timeouts'", &layers->profile, &layers->errors);
	if (layers->qemu)
		bind_mapping(layers->qemu, &qemu_keys, "'qemu'", &layers->profile.qemu, &layers->errors);
	if (layers->sim)
		read_sim(layers);
}

/* What follows from the settings. */
static void complete(struct layers *layers)
{
	struct profile *profile = &layers->profile;
	profile->kind = layers->kind == 1 ? DEVICE_SIM : DEVICE_QEMU;
	profile->needs_image = layers->image < 0 ? profile->kind != DEVICE_SIM : layers->image == 0;
	if (profile->qemu.icount && !*profile->qemu.icount) {
		free(profile->qemu.icount);
		profile->qemu.icount = NULL;
	}
	profile->exact = profile->kind == DEVICE_SIM ? profile->sim.exact : profile->qemu.icount && profile->qemu.smp == 1;
	if (!profile->exact) {
		profile->n_nuisances = 0;
	} else if (!profile->n_nuisances) {
		free(profile->nuisances);
		profile->nuisances = xcalloc(1, sizeof(*profile->nuisances));
		profile->n_nuisances = 1;
	}
	profile->digest = profile_digest(profile);
}

static bool is_noisy(const struct sim_noise *noise)
{
	return noise->sd_boot != 0 || noise->sd_iteration != 0 || noise->drift != 0 || noise->outlier_share != 0 ||
	       noise->outlier_size != 0 || noise->throttle_share != 0 || noise->throttle_size != 0 || noise->mode_share != 0 ||
	       noise->mode_shift != 0;
}

static void check(struct layers *layers, struct pos pos)
{
	const struct profile *profile = &layers->profile;
	if (layers->kind == 0 && !profile->qemu.cpu)
		error_join(&layers->errors, error_at(pos, "a device of kind 'qemu' needs 'cpu' in 'qemu'"));
	if (layers->kind == 0 && layers->image == 1)
		error_join(&layers->errors, error_at(pos, "a device of kind 'qemu' boots a kernel: 'image' cannot be 'none'"));
	if (layers->kind == 1 && profile->sim.exact && is_noisy(&profile->sim.noise))
		error_join(&layers->errors, error_at(layers->noise_pos, "an exact device has no noise: leave it out, or say "
									"'exact: false' in 'sim'"));
	if (strpbrk(profile->cmdline, "\n\r\t"))
		error_join(&layers->errors, error_at(pos, "'cmdline' must be one line without tabs"));
}

struct error *profile_load(const char *path, const struct search *search, const struct yaml_node *settings, const char *where,
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
