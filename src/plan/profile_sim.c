/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "plan/keys.h"
#include "plan/profile_parts.h"

#define HOUR_MS 3600000.0

static const char *const fault_words[] = { "drop-bytes", "split-lines",	 "hang",	"panic",     "die",
					   "power-off",	 "lie-build-id", "lie-cmdline", "lie-memcg", "lie-boot-id",
					   "no-device",	 "gone",	 NULL };

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

static void read_model(struct sim_settings *sim, const struct yaml_node *node, struct error **errors)
{
	static const struct bind_field number = { .type = BIND_REAL, .size = sizeof(double), .min = 0 };
	struct model_entry entry = { NULL, NULL };
	bool fine = bind_mapping(node, &model_keys, "this model", &entry, errors);
	AUTO_FREE char *variant = entry.variant;
	for (size_t i = 0; fine && i < entry.metrics->n; i++) {
		const struct yaml_pair *pair = &entry.metrics->pairs[i];
		double value;
		if (!is_metric_name(pair->key)) {
			error_join(errors, error_at(pair->key_pos,
						    "'%s' is no metric: LABEL.PHASE.UNIT, such as pft.fault.insn_k", pair->key));
			continue;
		}
		if (!bind_value(pair->value, &number, pair->key, &value, errors))
			continue;
		sim->models = array_grow(sim->models, sim->n_models, sizeof(*sim->models));
		sim->models[sim->n_models++] = (struct sim_model){ xstrdup(variant), xstrdup(pair->key), value };
	}
}

static void read_fault(struct sim_settings *sim, const struct yaml_node *node, struct error **errors)
{
	struct fault_entry entry = { NULL, -1, -1, 0 };
	if (!bind_mapping(node, &fault_keys, "this fault", &entry, errors)) {
		free(entry.variant);
		return;
	}
	sim->faults = array_grow(sim->faults, sim->n_faults, sizeof(*sim->faults));
	sim->faults[sim->n_faults++] =
		(struct sim_fault){ entry.variant, entry.block, entry.attempt, xstrdup(fault_words[entry.what]), node->pos };
}

static void read_noise(struct sim_settings *sim, const struct yaml_node *node, struct error **errors)
{
	struct noise_layer layer = { .noise = sim->noise };
	bind_mapping(node, &noise_keys, "'noise'", &layer, errors);
	if (layer.outliers)
		bind_mapping(layer.outliers, &outliers_keys, "'outliers'", &layer.noise, errors);
	if (layer.throttle)
		bind_mapping(layer.throttle, &throttle_keys, "'throttle'", &layer.noise, errors);
	if (layer.modes)
		bind_mapping(layer.modes, &modes_keys, "'modes'", &layer.noise, errors);
	sim->noise = layer.noise;
}

void profile_sim_read(struct sim_settings *sim, const struct yaml_node *node, struct error **errors)
{
	struct sim_layer layer = { .sim = *sim };
	bind_mapping(node, &sim_keys, "'sim'", &layer, errors);
	*sim = layer.sim;
	if (layer.noise)
		read_noise(sim, layer.noise, errors);
	if (layer.models) {
		free_models(sim);
		for (size_t i = 0; i < layer.models->n; i++)
			read_model(sim, layer.models->items[i], errors);
	}
	if (layer.faults) {
		free_faults(sim);
		for (size_t i = 0; i < layer.faults->n; i++)
			read_fault(sim, layer.faults->items[i], errors);
	}
}

static bool is_noisy(const struct sim_noise *noise)
{
	return noise->sd_boot != 0 || noise->sd_iteration != 0 || noise->drift != 0 || noise->outlier_share != 0 ||
	       noise->outlier_size != 0 || noise->throttle_share != 0 || noise->throttle_size != 0 || noise->mode_share != 0 ||
	       noise->mode_shift != 0;
}

void profile_sim_init(struct sim_settings *sim)
{
	*sim = (struct sim_settings){ .noise = { .seed = 1 }, .exact = true };
}

void profile_sim_deinit(struct sim_settings *sim)
{
	free_models(sim);
	free_faults(sim);
}

void profile_sim_check(const struct profile *profile, struct pos noise_pos, struct error **errors)
{
	if (profile->sim.exact && is_noisy(&profile->sim.noise))
		error_join(errors,
			   error_at(noise_pos, "an exact device has no noise: leave it out, or say 'exact: false' in 'sim'"));
}
