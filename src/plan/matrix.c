/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/matrix.h"

#include <stdlib.h>

#include "plan/matrix_parts.h"

/* The file, while its sections are collected. */
struct top {
	char *name, *baseline;
	struct matrix_loader loader;
};

static const struct bind_field matrix_fields[] = {
	BIND("name", BIND_NAME, struct top, name, .required = true),
	BIND("kernel", BIND_MAPPING, struct top, loader.kernel),
	BIND("kernels", BIND_MAPPING, struct top, loader.kernels),
	BIND("config", BIND_MAPPING, struct top, loader.config),
	BIND("cmdline", BIND_MAPPING, struct top, loader.cmdline),
	BIND("patches", BIND_MAPPING, struct top, loader.patches),
	BIND("matrix", BIND_LIST, struct top, loader.lines, .required = true),
	BIND("devices", BIND_ANY, struct top, loader.devices, .required = true),
	BIND("workloads", BIND_MAPPING, struct top, loader.workloads, .required = true),
	BIND("payload", BIND_LIST, struct top, loader.payload),
	BIND("measure", BIND_MAPPING, struct top, loader.measure),
	BIND("baseline", BIND_TEXT, struct top, baseline),
	BIND("gate", BIND_LIST, struct top, loader.gates),
};
const struct bind_table matrix_keys = { "matrix", matrix_fields, ARRAY_SIZE(matrix_fields), false };

static void free_workload(struct workload *workload)
{
	for (char **value = workload->values; *value; value++)
		free(*value);
	free(workload->values);
	free(workload->label);
}

static void free_names(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n_configs; i++) {
		free(matrix->configs[i].name);
		fragment_free(matrix->configs[i].fragment);
	}
	for (size_t i = 0; i < matrix->n_cmdlines; i++) {
		free(matrix->cmdlines[i].name);
		free(matrix->cmdlines[i].text);
	}
	free(matrix->configs);
	free(matrix->cmdlines);
}

void matrix_free(struct matrix *matrix)
{
	if (!matrix)
		return;
	for (size_t i = 0; i < matrix->n_kernels; i++)
		matrix_free_kernel(&matrix->kernels[i]);
	free_names(matrix);
	for (size_t i = 0; i < matrix->n_patches; i++)
		matrix_free_patches(&matrix->patches[i]);
	for (size_t i = 0; i < matrix->n_lines; i++) {
		free(matrix->lines[i].kernels);
		free(matrix->lines[i].configs);
		free(matrix->lines[i].cmdlines);
		free(matrix->lines[i].steps.list);
	}
	for (size_t i = 0; i < matrix->n_targets; i++)
		free(matrix->targets[i].cores);
	for (size_t i = 0; i < matrix->n_workloads; i++)
		free_workload(&matrix->workloads[i]);
	for (size_t i = 0; i < matrix->n_payload; i++)
		matrix_free_payload(&matrix->payload[i]);
	for (size_t i = 0; i < matrix->n_gates; i++)
		matrix_free_gate(&matrix->gates[i]);
	free(matrix->kernels);
	free(matrix->patches);
	free(matrix->lines);
	free(matrix->targets);
	free(matrix->workloads);
	free(matrix->payload);
	free(matrix->gates);
	free(matrix->baseline);
	free(matrix->name);
	free(matrix->path);
	free(matrix);
}

static void read_sections(struct top *top)
{
	struct matrix_loader *loader = &top->loader;
	loader->matrix->name = top->name;
	loader->matrix->baseline = top->baseline;
	if (top->baseline)
		loader->matrix->baseline_pos = yaml_get(loader->root, "baseline")->pos;
	matrix_read_targets(loader);
	size_t errors = error_count(loader->errors);
	matrix_read_kernels(loader);
	matrix_read_configs(loader);
	matrix_read_cmdlines(loader);
	loader->sound = error_count(loader->errors) == errors;
	matrix_read_patches(loader);
	matrix_read_lines(loader);
	matrix_check_stock(loader);
	matrix_check_rows(loader);
	matrix_read_workloads(loader);
	matrix_read_payload(loader);
	matrix_read_measure(loader);
	matrix_read_gates(loader);
}

struct error *matrix_load(const char *path, const struct lab *lab, struct matrix **matrix_out)
{
	struct yaml_node *root = NULL;
	struct error *error = yaml_load_partial(path, &root);
	if (!root)
		return error;
	struct top top = { .loader = { .lab = lab, .root = root, .errors = error, .matrix = xcalloc(1, sizeof(struct matrix)) } };
	struct matrix *matrix = top.loader.matrix;
	matrix->path = xstrdup(path);
	matrix->lab = lab;
	if (lab)
		lab_search(lab, &top.loader.search);
	bind_mapping(root, &matrix_keys, "the matrix", &top, &top.loader.errors);
	if (root->kind == YAML_MAPPING)
		read_sections(&top);
	yaml_node_free(root);
	if (top.loader.errors || !lab) {
		matrix_free(matrix);
		return top.loader.errors;
	}
	*matrix_out = matrix;
	return NULL;
}
