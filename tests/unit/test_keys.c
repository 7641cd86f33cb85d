/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema files say what the binder's tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/events.h"
#include "base/json.h"
#include "plan/keys.h"

static bool refers_to(const struct jnode *property, const char *definition)
{
	const char *ref = jnode_string(property, "$ref", "");
	return str_starts(ref, "#/$defs/") && strcmp(ref + strlen("#/$defs/"), definition) == 0;
}

static bool has_type(const struct jnode *property, const char *type)
{
	const struct jnode *types = jnode_get(property, "type");
	bool found = strcmp(jnode_string(property, "type", ""), type) == 0;
	for (size_t i = 0; i < jnode_size(types); i++)
		found |= strcmp(jnode_item_string(types, i), type) == 0;
	return found;
}

static bool has_words(const struct jnode *property, const char *const *words)
{
	const struct jnode *list = jnode_get(property, "enum");
	size_t n = 0;
	for (; words[n]; n++) {
		const char *item = n < jnode_size(list) ? jnode_item_string(list, n) : NULL;
		if (!item || strcmp(item, words[n]) != 0)
			return false;
	}
	return jnode_size(list) == n;
}

static bool agrees(const struct bind_field *field, const struct jnode *property)
{
	switch (field->type) {
	case BIND_TEXT:
		return has_type(property, "string");
	case BIND_NAME:
		return refers_to(property, "name");
	case BIND_BOOL:
		return has_type(property, "boolean");
	case BIND_COUNT:
		return has_type(property, "integer") && jnode_real(property, "minimum", -1) == field->min &&
		       jnode_real(property, "maximum", 0) == field->max;
	case BIND_SIZE:
		return refers_to(property, "size");
	case BIND_TIME:
		return refers_to(property, "time");
	case BIND_RATIO:
		return refers_to(property, "ratio");
	case BIND_REAL:
		return has_type(property, "number");
	case BIND_WORD:
		return has_words(property, field->words);
	case BIND_TEXTS:
		return refers_to(property, "texts");
	case BIND_MAPPING:
		return has_type(property, "object") || jnode_get(property, "$ref");
	case BIND_LIST:
		return has_type(property, "array");
	case BIND_ANY:
		return true;
	}
	return false;
}

static bool is_required(const struct jnode *definition, const char *key)
{
	const struct jnode *required = jnode_get(definition, "required");
	for (size_t i = 0; i < jnode_size(required); i++) {
		if (strcmp(jnode_item_string(required, i), key) == 0)
			return true;
	}
	return false;
}

static void check_table(const struct jnode *schema, const struct bind_table *table)
{
	const struct jnode *definition = jnode_get(jnode_get(schema, "$defs"), table->name);
	const struct jnode *properties = jnode_get(definition, "properties");
	if (!properties)
		fail_msg("no definition %s", table->name);
	size_t known = 0;
	for (size_t i = 0; i < table->n; i++) {
		const struct bind_field *field = &table->fields[i];
		const struct jnode *property = jnode_get(properties, field->key);
		if (!property)
			fail_msg("%s: the schema lacks %s", table->name, field->key);
		if (!agrees(field, property))
			fail_msg("%s: %s is something else in the schema", table->name, field->key);
		if (is_required(definition, field->key) != field->required)
			fail_msg("%s: 'required' of %s differs", table->name, field->key);
		if (!*jnode_string(property, "description", ""))
			fail_msg("%s: %s is not described", table->name, field->key);
		known++;
	}
	for (const char *key = NULL; (key = jnode_next_key(properties, key));)
		known--;
	if (known)
		fail_msg("%s: the schema has other keys too", table->name);
	const struct jnode *more = jnode_get(definition, "additionalProperties");
	if ((jnode_is_object(more) || jnode_bool(definition, "additionalProperties", true)) != table->open)
		fail_msg("%s: additionalProperties differs", table->name);
}

static void check_tables(const char *path, const struct bind_table *const *tables, size_t n)
{
	struct jnode *schema = NULL;
	assert_null(jnode_load(path, &schema));
	for (size_t i = 0; i < n; i++)
		check_table(schema, tables[i]);
	jnode_free(schema);
}

static void lab_schema_agrees(void **state)
{
	static const struct bind_table *const tables[] = {
		&lab_keys,	&alternative_keys, &toolchain_keys,    &cache_keys,
		&build_keys,	&profile_keys,	   &device_keys,       &qemu_keys,
		&sim_keys,	&model_keys,	   &fault_keys,	       &timeouts_keys,
		&nuisance_keys, &noise_keys,	   &outliers_keys,     &throttle_keys,
		&modes_keys,	&unit_keys,	   &environment_keys,  &thermal_keys,
		&fastboot_keys, &usb_keys,	   &layout_keys,       &stock_keys,
		&hooks_keys,	&module_set_keys,  &module_image_keys, &fastboot_timeouts_keys,
		&command_keys,
	};
	(void)state;
	check_tables("schemas/lab.schema.json", tables, ARRAY_SIZE(tables));
}

static void schema_knows_the_events(void **state)
{
	struct jnode *schema = NULL;
	(void)state;
	assert_null(jnode_load("schemas/lab.schema.json", &schema));
	assert_true(has_words(jnode_get(jnode_get(schema, "$defs"), "event"), event_names));
	jnode_free(schema);
}

static void matrix_schema_agrees(void **state)
{
	static const struct bind_table *const tables[] = {
		&matrix_keys, &kernel_keys,   &prebuilt_keys, &config_keys,  &option_keys, &patches_keys,  &line_keys,
		&target_keys, &workload_keys, &payload_keys,  &measure_keys, &gate_keys,   &controls_keys, &reference_keys,
	};
	(void)state;
	check_tables("schemas/matrix.schema.json", tables, ARRAY_SIZE(tables));
}

int main(void)
{
	const char *root = getenv("MEMCG_AB_ROOT");
	if (root && chdir(root) != 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lab_schema_agrees),
		cmocka_unit_test(schema_knows_the_events),
		cmocka_unit_test(matrix_schema_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
