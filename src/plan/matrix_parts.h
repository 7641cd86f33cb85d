/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files matrix*.c share while a matrix is loaded. */
#ifndef PLAN_MATRIX_PARTS_H
#define PLAN_MATRIX_PARTS_H

#include "plan/keys.h"
#include "plan/matrix.h"
#include "plan/search.h"

#define MATRIX_ROWS_MAX 10000

/* The sections of the file, NULL where it has none. */
struct matrix_loader {
	struct matrix *matrix;
	const struct lab *lab; /* or NULL */
	struct search search;
	struct error *errors;
	bool sound; /* kernels, configs and command lines are without error, so that equal ones can be told */
	const struct yaml_node *root;
	const struct yaml_node *kernel, *kernels, *config, *cmdline, *patches, *lines, *devices, *workloads, *payload, *measure,
		*gates;
};

/* Each reads its section into the matrix and joins what is wrong; in this order. */
void matrix_read_targets(struct matrix_loader *loader);
void matrix_read_kernels(struct matrix_loader *loader);
void matrix_read_configs(struct matrix_loader *loader);
void matrix_read_cmdlines(struct matrix_loader *loader);
void matrix_read_patches(struct matrix_loader *loader);
void matrix_read_lines(struct matrix_loader *loader);
/* What a device that boots its own kernel cannot be asked for. */
void matrix_check_stock(struct matrix_loader *loader);
/* Rows that are equal, and a baseline that cannot be a row: what can be said before the series are read. */
void matrix_check_rows(struct matrix_loader *loader);
void matrix_read_workloads(struct matrix_loader *loader);
void matrix_read_payload(struct matrix_loader *loader);
void matrix_read_measure(struct matrix_loader *loader);
void matrix_read_gates(struct matrix_loader *loader);

/* Some device boots a kernel that has to be made or taken (or it is not known): after matrix_read_targets. */
bool matrix_needs_kernel(const struct matrix_loader *loader);

void matrix_free_kernel(struct kernel *kernel);
void matrix_free_patches(struct patches *patches);
void matrix_free_payload(struct payload_item *item);
void matrix_free_gate(struct gate *gate);

/* A file that must be there, at the path in the text `node`: its absolute path, or NULL with an error. */
char *matrix_existing_file(struct matrix_loader *loader, const struct yaml_node *node, const char *what);

#endif
