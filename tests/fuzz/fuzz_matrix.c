/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole matrices, with the lab of the tests, and what they expand to; run in the root of the repository. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/plan.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct lab *lab;
static char folder[] = "/tmp/memcg-ab-fuzz-XXXXXX";
static char *matrix_path;

static void remove_folder(void)
{
	error_free(file_remove_tree(folder));
}

static void must(struct error *error)
{
	if (!error)
		return;
	error_print(error, stderr);
	abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	/* What the seeds name is found beside them. */
	static const char *const files[] = { "series", "base", "Image", "Image.config", "swap.config" };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = path_join(folder, files[i]);
		must(file_write_atomic(path, "CONFIG_A=y\n", 11, 0644));
	}
	matrix_path = path_join(folder, "m.yaml");
	must(lab_load("tests/data/matrix/memcg-ab.yaml", "tests/data/none", &lab));
	return 0;
}

static struct series_summary *three_patches(const struct matrix *matrix)
{
	struct series_summary *series = xcalloc(matrix->n_patches + 1, sizeof(*series));
	for (size_t i = 0; i < matrix->n_patches; i++) {
		series[i].n = 3;
		series[i].subjects = xcalloc(3, sizeof(char *));
		for (int k = 0; k < 3; k++)
			series[i].subjects[k] = xasprintf("patch %d", k + 1);
	}
	return series;
}

/* In the order of each target, every row once a block. */
static void check_boots(const struct plan *plan)
{
	size_t next = 0;
	for (size_t t = 0; t < plan->matrix->n_targets; t++) {
		size_t n = plan_target_boots(plan, t);
		for (size_t i = 0; i < n; i++, next++) {
			const struct plan_boot *boot = &plan->boots[next];
			bool exact = plan->matrix->targets[t].device->profile->exact;
			if (plan->rows[boot->row].target != t || boot->ordinal != i || (boot->nuisance != NULL) != exact ||
			    boot->block >= plan_blocks(plan->matrix, t))
				abort();
		}
	}
	if (next != plan->n_boots)
		abort();
}

static void check_plan(const struct plan *plan)
{
	if (!plan->n_variants || plan->baseline >= plan->n_variants || strlen(plan->digest) != 64)
		abort();
	for (size_t i = 0; i < plan->n_variants; i++) {
		if (plan->variants[i].previous >= (ssize_t)plan->n_variants)
			abort();
		for (size_t k = 0; k < i; k++) {
			if (strcmp(plan->variants[i].name, plan->variants[k].name) == 0)
				abort();
		}
	}
	for (size_t i = 0; i < plan->n_rows; i++) {
		const struct plan_row *row = &plan->rows[i];
		if (row->image >= (ssize_t)plan->n_images || (row->control && row->variant != plan->baseline))
			abort();
		if (row->image >= 0 && plan->images[row->image].salted != (row->control == CONTROL_LAYOUT))
			abort();
	}
	check_boots(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = fopen(matrix_path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	struct matrix *matrix = NULL;
	struct plan *plan = NULL;
	struct error *error = matrix_load(matrix_path, lab, &matrix);
	if (!error)
		error = plan_expand(matrix, three_patches(matrix), NULL, &plan);
	if (!error)
		check_plan(plan);
	else if (error_exit_status(error) != 2)
		abort();
	else
		free(error_text(error));
	error_free(error);
	plan_free(plan);
	matrix_free(matrix);
	return 0;
}
