/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections `devices`, `workloads`, `measure` and `gate`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/matrix_parts.h"
#include "plan/plan.h"

static const char *const cores_words[] = { "all", "big", "little", NULL };

struct target_entry {
	const struct yaml_node *device;
	int cores;
};

static const struct bind_field target_fields[] = {
	BIND("device", BIND_ANY, struct target_entry, device, .required = true),
	BIND("cores", BIND_WORD, struct target_entry, cores, .words = cores_words),
};
const struct bind_table target_keys = { "target", target_fields, ARRAY_SIZE(target_fields), false };

struct workload_entry {
	const struct yaml_node *run;
};

/* Its other keys are options of the workload's kind. */
static const struct bind_field workload_fields[] = {
	BIND("run", BIND_ANY, struct workload_entry, run),
};
const struct bind_table workload_keys = { "workload", workload_fields, ARRAY_SIZE(workload_fields), true };

static const struct bind_field measure_fields[] = {
	BIND("blocks", BIND_COUNT, struct measure, blocks, .min = 1, .max = 1000),
	BIND("seed", BIND_COUNT, struct measure, seed),
};
const struct bind_table measure_keys = { "measure", measure_fields, ARRAY_SIZE(measure_fields), false };

static const char *const against_words[] = { "baseline", "previous", NULL };
static const char *const gate_steps_words[] = { "all", "last", NULL };

struct gate_entry {
	char *metric;
	int against, steps;
	double worse_by;
};

static const struct bind_field gate_fields[] = {
	BIND("metric", BIND_TEXT, struct gate_entry, metric, .required = true),
	BIND("steps", BIND_WORD, struct gate_entry, steps, .words = gate_steps_words),
	BIND("vs", BIND_WORD, struct gate_entry, against, .words = against_words),
	BIND("worse_by", BIND_RATIO, struct gate_entry, worse_by, .max = 100, .required = true),
};
const struct bind_table gate_keys = { "gate", gate_fields, ARRAY_SIZE(gate_fields), false };

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

/* qemu and sim have cores of one kind. */
static bool check_cores(struct matrix_loader *loader, const struct yaml_node *node, const struct target_entry *entry,
			const struct device *device)
{
	if (!entry->cores)
		return true;
	error_join(&loader->errors, error_at(yaml_get(node, "cores")->pos,
					     "device '%s' has cores of one kind: 'cores' can only be 'all'", device->name));
	return false;
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
	struct target_entry entry = { node, 0 };
	if (node->kind == YAML_MAPPING && !bind_mapping(node, &target_keys, "this device", &entry, &loader->errors))
		return;
	const struct device *device = find_device(loader, entry.device);
	if (!device || !check_cores(loader, node, &entry, device))
		return;
	const char *cores = cores_words[entry.cores];
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

/* All options that a workload of this kind takes: option i. */
static const struct workload_option *kind_option(const struct workload_kind *kind, size_t i)
{
	return i < kind->n_options ? &kind->options[i] : &workload_common_options[i - kind->n_options];
}

static size_t kind_n_options(const struct workload_kind *kind)
{
	return kind->n_options + workload_n_common_options;
}

/* The value in the agent's canonical form, which the caller frees; NULL with an error. */
static char *option_value(struct matrix_loader *loader, const struct workload_option *option, const struct yaml_node *node,
			  const char *what)
{
	static const enum bind_type types[] = {
		[OPTION_SIZE] = BIND_SIZE,
		[OPTION_COUNT] = BIND_COUNT,
		[OPTION_WORD] = BIND_WORD,
		[OPTION_BOOL] = BIND_BOOL,
	};
	union {
		uint64_t number;
		int word;
		bool flag;
	} value;
	struct bind_field field = {
		.key = option->name,
		.type = types[option->type],
		.size = sizeof(value.number),
		.words = option->words,
		.min = (double)option->min,
		.max = (double)option->max,
	};
	if (!bind_value(node, &field, what, &value, &loader->errors))
		return NULL;
	if (option->type == OPTION_WORD)
		return xstrdup(option->words[value.word]);
	if (option->type == OPTION_BOOL)
		return xstrdup(value.flag ? "1" : "0");
	return xasprintf("%" PRIu64, value.number);
}

static struct error *unknown_option(const struct yaml_pair *pair, const struct workload_kind *kind, const char *where)
{
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < kind_n_options(kind); i++)
		bind_names_add(&names, kind_option(kind, i)->name, NO_POS);
	bind_names_add(&names, "run", NO_POS);
	const char *meant = str_suggest(pair->key, names.names, names.n);
	AUTO_FREE char *list = bind_list_text(names.names, names.n);
	if (meant)
		return error_at(pair->key_pos, "unknown key '%s' in %s (did you mean '%s'?)", pair->key, where, meant);
	return error_at(pair->key_pos, "unknown key '%s' in %s (known for %s: %s)", pair->key, where, kind->name, list);
}

static void read_option(struct matrix_loader *loader, struct workload *workload, const struct yaml_pair *pair, const char *where)
{
	for (size_t i = 0; i < kind_n_options(workload->kind); i++) {
		const struct workload_option *option = kind_option(workload->kind, i);
		if (strcmp(option->name, pair->key) != 0)
			continue;
		AUTO_FREE char *what = xasprintf("'%s' of %s", pair->key, where);
		char *value = option_value(loader, option, pair->value, what);
		if (value) {
			free(workload->values[i]);
			workload->values[i] = value;
		}
		return;
	}
	error_join(&loader->errors, unknown_option(pair, workload->kind, where));
}

static const struct workload_kind *find_kind(struct matrix_loader *loader, const struct yaml_node *node)
{
	if (!node)
		return workload_find("pft");
	if (!bind_expect_text(node, "'run'", &loader->errors))
		return NULL;
	const struct workload_kind *kind = workload_find(node->text);
	if (kind)
		return kind;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < workload_n_kinds; i++)
		bind_names_add(&names, workload_kinds[i]->name, NO_POS);
	error_join(&loader->errors, bind_unknown_name(node->pos, "workload", node->text, &names, "none is known"));
	return NULL;
}

/* Labels are the first part of a metric's name, in records of the agent too. */
static void check_label(struct matrix_loader *loader, const struct yaml_pair *pair, size_t index)
{
	if (!bind_check_name(pair->key, pair->key_pos, "the name of a workload", &loader->errors))
		return;
	if (strchr(pair->key, '.') || strlen(pair->key) > 32)
		error_join(&loader->errors,
			   error_at(pair->key_pos, "the label of a workload has no '.' and at most 32 characters"));
	for (size_t i = 0; i < index; i++) {
		const struct yaml_pair *other = &loader->workloads->pairs[i];
		if (strcasecmp(other->key, pair->key) != 0 || strcmp(other->key, pair->key) == 0)
			continue;
		struct error *error =
			error_at(pair->key_pos, "labels '%s' and '%s' collide: they differ in case alone", other->key, pair->key);
		error_note(error, other->key_pos, "the other is here");
		error_join(&loader->errors, error);
		return;
	}
}

static void read_workload(struct matrix_loader *loader, const struct yaml_pair *pair)
{
	struct matrix *matrix = loader->matrix;
	AUTO_FREE char *where = xasprintf("workload '%s'", pair->key);
	struct workload_entry entry = { NULL };
	if (!bind_mapping(pair->value, &workload_keys, where, &entry, &loader->errors))
		return;
	const struct workload_kind *kind = find_kind(loader, entry.run);
	if (!kind)
		return;
	size_t n = kind_n_options(kind);
	struct workload *workload = &matrix->workloads[matrix->n_workloads++];
	*workload = (struct workload){
		.label = xstrdup(pair->key), .kind = kind, .values = xcalloc(n + 1, sizeof(char *)), .pos = pair->key_pos
	};
	for (size_t i = 0; i < n; i++)
		workload->values[i] = xstrdup(kind_option(kind, i)->fallback);
	for (size_t i = 0; i < pair->value->n; i++) {
		if (strcmp(pair->value->pairs[i].key, "run") != 0)
			read_option(loader, workload, &pair->value->pairs[i], where);
	}
	const char *conflict = kind->conflict ? kind->conflict((const char *const *)workload->values) : NULL;
	if (conflict)
		error_join(&loader->errors, error_at(pair->value->pos, "%s: %s", where, conflict));
}

void matrix_read_workloads(struct matrix_loader *loader)
{
	if (!loader->workloads)
		return;
	size_t n = loader->workloads->n;
	if (!n)
		error_join(&loader->errors, error_at(loader->workloads->pos, "'workloads' names none"));
	loader->matrix->workloads = xcalloc(n + 1, sizeof(*loader->matrix->workloads));
	for (size_t i = 0; i < n; i++) {
		check_label(loader, &loader->workloads->pairs[i], i);
		read_workload(loader, &loader->workloads->pairs[i]);
	}
}

void matrix_read_measure(struct matrix_loader *loader)
{
	struct measure *measure = &loader->matrix->measure;
	*measure = (struct measure){ .blocks = 3, .seed = 1, .pos = loader->measure ? loader->measure->pos : loader->root->pos };
	if (loader->measure)
		bind_mapping(loader->measure, &measure_keys, "'measure'", measure, &loader->errors);
}

/* True when a workload has the metric's label. */
static bool has_label(const struct matrix *matrix, const char *metric)
{
	for (size_t i = 0; i < matrix->n_workloads; i++) {
		size_t len = strlen(matrix->workloads[i].label);
		if (strncmp(metric, matrix->workloads[i].label, len) == 0 && metric[len] == '.')
			return true;
	}
	return false;
}

static void check_metric(struct matrix_loader *loader, const char *metric, struct pos pos)
{
	const struct matrix *matrix = loader->matrix;
	if (plan_metric(matrix, metric, NULL))
		return;
	/* It may be a metric of a workload that is itself in error. */
	if (!loader->workloads || (matrix->n_workloads != loader->workloads->n && !has_label(matrix, metric)))
		return;
	AUTO_STRLIST all = { NULL, 0 };
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < matrix->n_workloads; i++) {
		const struct workload *workload = &matrix->workloads[i];
		for (size_t k = 0; k < workload->kind->n_metrics; k++)
			strlist_addf(&all, "%s.%s.%s", workload->label, workload->kind->metrics[k].phase,
				     workload->kind->metrics[k].unit);
	}
	size_t next = 0;
	for (size_t i = 0; i < matrix->n_workloads; i++) {
		for (size_t k = 0; k < matrix->workloads[i].kind->n_metrics; k++)
			bind_names_add(&names, all.items[next++], matrix->workloads[i].pos);
	}
	error_join(&loader->errors, bind_unknown_name(pos, "metric", metric, &names, "the workloads have none"));
}

void matrix_read_gates(struct matrix_loader *loader)
{
	struct matrix *matrix = loader->matrix;
	size_t n = loader->gates ? loader->gates->n : 0;
	matrix->gates = xcalloc(n + 1, sizeof(*matrix->gates));
	for (size_t i = 0; i < n; i++) {
		const struct yaml_node *node = loader->gates->items[i];
		struct gate_entry entry = { 0 };
		bind_mapping(node, &gate_keys, "this gate", &entry, &loader->errors);
		if (!entry.metric)
			continue;
		check_metric(loader, entry.metric, yaml_get(node, "metric")->pos);
		matrix->gates[matrix->n_gates++] = (struct gate){
			.metric = entry.metric,
			.against = entry.against ? GATE_PREVIOUS : GATE_BASELINE,
			.limit = entry.worse_by,
			.steps = entry.steps ? GATE_STEPS_LAST : GATE_STEPS_ALL,
			.pos = node->pos,
		};
	}
}
