/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/keys.h"
#include "plan/profile_parts.h"
#include "plan/search.h"

#define HOUR_MS 3600000.0
#define THERMAL_WAIT_MS 600000
#define HOTTEST_C 150

struct environment_layer {
	struct environment environment;
	const struct yaml_node *thermal;
};

static const struct bind_field environment_fields[] = {
	BIND("governor", BIND_TEXT, struct environment_layer, environment.governor),
	BIND("frequency", BIND_TEXT, struct environment_layer, environment.frequency),
	BIND("offline", BIND_BOOL, struct environment_layer, environment.offline),
	BIND("thermal", BIND_MAPPING, struct environment_layer, thermal),
	BIND("stop", BIND_TEXTS, struct environment_layer, environment.stop),
	BIND("set", BIND_TEXTS, struct environment_layer, environment.set),
	BIND("setprop", BIND_TEXTS, struct environment_layer, environment.setprop),
	BIND("swap", BIND_BOOL, struct environment_layer, environment.swap),
};
const struct bind_table environment_keys = { "environment", environment_fields, ARRAY_SIZE(environment_fields), false };

static const struct bind_field thermal_fields[] = {
	BIND("below", BIND_REAL, struct environment, thermal_below, .min = 0, .max = HOTTEST_C),
	BIND("wait", BIND_TIME, struct environment, thermal_wait_ms, .min = 1, .max = 24 * HOUR_MS),
};
const struct bind_table thermal_keys = { "thermal", thermal_fields, ARRAY_SIZE(thermal_fields), false };

void profile_environment_init(struct environment *environment)
{
	*environment = (struct environment){ .offline = true, .thermal_wait_ms = THERMAL_WAIT_MS, .swap = true };
}

void profile_environment_deinit(struct environment *environment)
{
	free(environment->governor);
	free(environment->frequency);
	strlist_deinit(&environment->stop);
	strlist_deinit(&environment->set);
	strlist_deinit(&environment->setprop);
}

bool environment_asks(const struct environment *environment)
{
	return environment->governor || environment->frequency || environment->thermal_below > 0 || environment->stop.n ||
	       environment->set.n || environment->setprop.n || !environment->swap;
}

static bool is_frequency(const char *text)
{
	return !strcmp(text, "max") || !strcmp(text, "mid") || !strcmp(text, "min") ||
	       (*text && strspn(text, "0123456789") == strlen(text));
}

/* Each is NAME=VALUE; `path`: the name is one of a file in /proc, /sys or /dev. */
static void check_pairs(const struct strlist *pairs, const struct yaml_node *node, const char *key, bool path,
			struct error **errors)
{
	for (size_t i = 0; i < pairs->n; i++) {
		const char *pair = pairs->items[i];
		const char *equals = strchr(pair, '=');
		bool good = equals && equals > pair && !strpbrk(pair, "\n\r");
		if (good && path)
			good = str_starts(pair, "/proc/") || str_starts(pair, "/sys/") || str_starts(pair, "/dev/");
		if (!good)
			error_join(errors, error_at(node->pos, "'%s' in '%s' of 'environment' must be %s", pair, key,
						    path ? "PATH=VALUE, with a path in /proc, /sys or /dev" : "NAME=VALUE"));
	}
}

static void check_services(const struct strlist *services, const struct yaml_node *node, struct error **errors)
{
	for (size_t i = 0; i < services->n; i++)
		if (!*services->items[i] || strpbrk(services->items[i], " ,\t\n\r'\"\\$`;&|<>"))
			error_join(errors, error_at(node->pos, "'%s' in 'stop' of 'environment' is no name of a service",
						    services->items[i]));
}

void profile_environment_read(struct environment *environment, const struct yaml_node *node, struct error **errors)
{
	struct environment_layer layer = { .environment = *environment };
	bind_mapping(node, &environment_keys, "'environment'", &layer, errors);
	if (layer.thermal)
		bind_mapping(layer.thermal, &thermal_keys, "'thermal'", &layer.environment, errors);
	*environment = layer.environment;
	const struct yaml_node *frequency = yaml_get(node, "frequency");
	if (frequency && environment->frequency && !is_frequency(environment->frequency))
		error_join(errors,
			   error_at(frequency->pos, "'frequency' of 'environment' must be max, mid, min or a number of kHz"));
	const struct yaml_node *list = yaml_get(node, "stop");
	if (list)
		check_services(&environment->stop, list, errors);
	list = yaml_get(node, "set");
	if (list)
		check_pairs(&environment->set, list, "set", true, errors);
	list = yaml_get(node, "setprop");
	if (list)
		check_pairs(&environment->setprop, list, "setprop", false, errors);
}

static void hash_list(struct hash *hash, const char *label, const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		hash_field(hash, label, list->items[i]);
}

void profile_environment_hash(const struct environment *environment, struct hash *hash)
{
	AUTO_FREE char *thermal = xasprintf("%.17g", environment->thermal_below);
	hash_field(hash, "governor", environment->governor);
	hash_field(hash, "frequency", environment->frequency);
	hash_field(hash, "offline", environment->offline ? "1" : "0");
	hash_field(hash, "thermal", thermal);
	hash_list(hash, "stop", &environment->stop);
	hash_list(hash, "set", &environment->set);
	hash_list(hash, "setprop", &environment->setprop);
	hash_field(hash, "swap", environment->swap ? "1" : "0");
}

void profile_read_hook(const struct yaml_node *node, const char *what, char **command_out, char **dir_out, struct error **errors)
{
	if (!node || !bind_expect_text(node, what, errors))
		return;
	AUTO_FREE char *file = path_absolute(node->pos.file);
	free(*command_out);
	free(*dir_out);
	*command_out = xstrdup(node->text);
	*dir_out = path_dirname(file);
}

void profile_read_path(const struct yaml_node *node, const char *what, char **path_out, struct error **errors)
{
	if (!node || !bind_expect_text(node, what, errors))
		return;
	free(*path_out);
	*path_out = search_absolute(node);
}
