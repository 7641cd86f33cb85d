/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the plan share: the lab of tests/data/matrix, series of three made-up patches, error texts to compare. */
#ifndef TESTS_PLAN_DATA_H
#define TESTS_PLAN_DATA_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/plan.h"

#define TEST_LAB "tests/data/matrix/memcg-ab.yaml"
#define TEST_SHARE "tests/data/none"
/* Test binaries may run side by side. */
#ifndef TEST_DIR
#define TEST_DIR "/tmp/memcg-ab-test-plan"
#endif

static inline void check_error(struct error *error, const char *want)
{
	char *got = error ? error_text(error) : xstrdup("");
	assert_string_equal(got, want);
	free(got);
	error_free(error);
}

static inline struct lab *load_lab(const char *path, const char *share_dir)
{
	struct lab *lab = NULL;
	struct error *error = lab_load(path, share_dir, &lab);
	check_error(error, "");
	assert_non_null(lab);
	return lab;
}

static inline struct series_summary *three_patches(const struct matrix *matrix)
{
	struct series_summary *series = xcalloc(matrix->n_patches + 1, sizeof(*series));
	for (size_t i = 0; i < matrix->n_patches; i++) {
		series[i].n = 3;
		series[i].subjects = xcalloc(3, sizeof(char *));
		for (int k = 0; k < 3; k++)
			series[i].subjects[k] = xasprintf("%s %d", matrix->patches[i].name, k + 1);
	}
	return series;
}

static inline struct matrix *load_matrix(const char *path, const struct lab *lab)
{
	struct matrix *matrix = NULL;
	struct error *error = matrix_load(path, lab, &matrix);
	check_error(error, "");
	assert_non_null(matrix);
	return matrix;
}

static inline struct plan *expand(const struct matrix *matrix, const char *only)
{
	struct plan *plan = NULL;
	struct error *error = plan_expand(matrix, three_patches(matrix), only, &plan);
	check_error(error, "");
	assert_non_null(plan);
	return plan;
}

/* The file is removed by the next call. Its name is TEST_DIR/NAME. */
static inline char *write_file(const char *name, const char *text)
{
	char *path = path_join(TEST_DIR, name);
	char *dir = path_dirname(path);
	assert_null(file_mkdirs(dir));
	assert_null(file_write_atomic(path, text, strlen(text), 0644));
	free(dir);
	return path;
}

static inline int enter_root(void)
{
	const char *root = getenv("MEMCG_AB_ROOT");
	return root ? chdir(root) : 0;
}

#endif
