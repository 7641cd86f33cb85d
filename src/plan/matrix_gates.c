/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `gate`. */
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "base/file.h"
#include "plan/matrix_parts.h"
#include "plan/plan.h"

static const char *const against_words[] = { [GATE_BASELINE] = "baseline", [GATE_PREVIOUS] = "previous", NULL };
static const char *const gate_steps_words[] = { [GATE_STEPS_ALL] = "all", [GATE_STEPS_LAST] = "last", NULL };

struct gate_entry {
	char *metric;
	const struct yaml_node *against;
	int steps;
	double worse_by, within;
};

static const struct bind_field gate_fields[] = {
	BIND("metric", BIND_TEXT, struct gate_entry, metric, .required = true),
	BIND("steps", BIND_WORD, struct gate_entry, steps, .words = gate_steps_words),
	BIND("vs", BIND_ANY, struct gate_entry, against),
	BIND("worse_by", BIND_RATIO, struct gate_entry, worse_by, .max = 100),
	BIND("within", BIND_RATIO, struct gate_entry, within, .max = 0.5),
};
const struct bind_table gate_keys = { "gate", gate_fields, ARRAY_SIZE(gate_fields), false };

struct reference_entry {
	char *row, *run, *anchor;
};

static const struct bind_field reference_fields[] = {
	BIND("row", BIND_TEXT, struct reference_entry, row),
	BIND("run", BIND_TEXT, struct reference_entry, run),
	BIND("anchor", BIND_TEXT, struct reference_entry, anchor),
};
const struct bind_table reference_keys = { "reference", reference_fields, ARRAY_SIZE(reference_fields), false };

void matrix_free_gate(struct gate *gate)
{
	free(gate->metric);
	free(gate->row);
	free(gate->run);
	free(gate->anchor);
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

/* Is it counted on some device? A model may tell of any. */
static bool is_counted(const struct matrix *matrix, enum event event)
{
	for (size_t i = 0; i < matrix->n_targets; i++) {
		const struct device *device = matrix->targets[i].device;
		if (!device || device->profile->kind == DEVICE_SIM || device->profile->events & 1u << event)
			return true;
	}
	return false;
}

/* Of an event of which no device says that it counts it there will be no number. */
static void check_event(struct matrix_loader *loader, const char *metric, struct pos pos)
{
	const enum event event = event_of_unit(strrchr(metric, '.') + 1);
	if (event < N_EVENTS && !is_counted(loader->matrix, event))
		error_join(&loader->errors, error_at(pos, "no device counts '%s': add %s to 'events' of the device", metric,
						     event_infos[event].name));
}

static void check_metric(struct matrix_loader *loader, const char *metric, struct pos pos)
{
	const struct matrix *matrix = loader->matrix;
	if (plan_metric(matrix, metric, NULL)) {
		check_event(loader, metric, pos);
		return;
	}
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

/* A run's NAME, or with a '/' the folder of one, which is made absolute. */
static char *read_run(struct matrix_loader *loader, const struct yaml_node *node)
{
	if (!strchr(node->text, '/'))
		return bind_check_name(node->text, node->pos, "'run' of this gate", &loader->errors) ? xstrdup(node->text) : NULL;
	AUTO_FREE char *path = search_path(node);
	if (file_is_dir(path))
		return path_absolute(path);
	error_join(&loader->errors, error_at(node->pos, "there is no run folder %s", path));
	return NULL;
}

/* {row: ROW} or {run: RUN, anchor: ROW} */
static void read_reference(struct matrix_loader *loader, const struct yaml_node *node, struct gate *gate)
{
	struct reference_entry entry = { NULL, NULL, NULL };
	bool fine = bind_mapping(node, &reference_keys, "'vs'", &entry, &loader->errors);
	const struct yaml_pair *row = yaml_pair(node, "row"), *run = yaml_pair(node, "run"), *anchor = yaml_pair(node, "anchor");
	gate->row = entry.row;
	gate->anchor = entry.anchor;
	if (row && run)
		error_join(&loader->errors, error_at(run->key_pos, "'vs' has 'row' or 'run', not both"));
	else if (anchor && !run)
		error_join(&loader->errors, error_at(anchor->key_pos, "'anchor' has no meaning without 'run'"));
	else if (fine && !row && !run)
		error_join(&loader->errors, error_at(node->pos, "'vs' needs 'row' or 'run'"));
	else if (run && entry.run)
		gate->run = read_run(loader, run->value);
	free(entry.run);
	if (row || run) {
		gate->against = run ? GATE_RUN : GATE_ROW;
		gate->against_pos = (run && anchor ? anchor : run ? run : row)->value->pos;
	}
}

static void read_against(struct matrix_loader *loader, const struct yaml_node *node, struct gate *gate)
{
	static const struct bind_field word = { .type = BIND_WORD, .words = against_words };
	int against;
	gate->against_pos = node->pos;
	if (node->kind == YAML_MAPPING)
		read_reference(loader, node, gate);
	else if (node->kind == YAML_SEQUENCE)
		error_join(&loader->errors,
			   error_at(node->pos, "'vs' of this gate must be baseline, previous, {row: ROW} or {run: RUN, "
					       "anchor: ROW}, not a list"));
	else if (bind_value(node, &word, "'vs' of this gate", &against, &loader->errors))
		gate->against = (enum gate_against)against;
}

/* Exactly one of the two limits; a misspelt one has been named. */
static void check_limits(struct matrix_loader *loader, const struct yaml_node *node)
{
	const struct yaml_pair *within = yaml_pair(node, "within");
	if (within && yaml_get(node, "worse_by"))
		error_join(&loader->errors, error_at(within->key_pos, "a gate has 'worse_by' or 'within', not both"));
	else if (!bind_has(node, &gate_keys, "worse_by") && !bind_has(node, &gate_keys, "within"))
		error_join(&loader->errors, error_at(node->pos, "this gate needs 'worse_by' or 'within'"));
}

static void read_gate(struct matrix_loader *loader, const struct yaml_node *node)
{
	struct matrix *matrix = loader->matrix;
	struct gate_entry entry = { 0 };
	bind_mapping(node, &gate_keys, "this gate", &entry, &loader->errors);
	if (node->kind != YAML_MAPPING)
		return;
	check_limits(loader, node);
	struct gate *gate = &matrix->gates[matrix->n_gates++];
	*gate = (struct gate){
		.metric = entry.metric,
		.against_pos = node->pos,
		.kind = yaml_get(node, "within") ? GATE_WITHIN : GATE_WORSE_BY,
		.steps = entry.steps,
		.pos = node->pos,
	};
	gate->limit = gate->kind == GATE_WITHIN ? entry.within : entry.worse_by;
	if (entry.metric)
		check_metric(loader, entry.metric, yaml_get(node, "metric")->pos);
	if (entry.against)
		read_against(loader, entry.against, gate);
}

void matrix_read_gates(struct matrix_loader *loader)
{
	size_t n = loader->gates ? loader->gates->n : 0;
	loader->matrix->gates = xcalloc(n + 1, sizeof(*loader->matrix->gates));
	for (size_t i = 0; i < n; i++)
		read_gate(loader, loader->gates->items[i]);
}
