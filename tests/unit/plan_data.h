/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of labs, matrices and plans share: a folder of their own (the group's state), the lab of tests/data/matrix, series of
 * three made-up patches, error texts to compare.
 */
#ifndef UNIT_PLAN_DATA_H
#define UNIT_PLAN_DATA_H

#include "unit.h"
#include "workdir.h"

#include "plan/plan.h"

#define TEST_LAB "tests/data/matrix/memcg-ab.yaml"
#define TEST_SHARE "tests/data/none"

/* The tests run in the root of the repository. */
static inline int plan_setup(void **state)
{
	const char *root = getenv("MEMCG_AB_ROOT");

	if (root && chdir(root))
		return -1;
	return workdir_setup(state);
}

/* A file in the test's folder: its path, which the caller frees. */
static inline char *write_file(void **state, const char *name, const char *text)
{
	workdir_write(*state, name, text);
	return workdir_path(*state, name);
}

/* "DIR/a: DIR/b" with the test's folder for each DIR; the caller frees it. */
static inline char *in_folder(void **state, const char *text)
{
	const struct workdir *dir = *state;
	struct strbuf out = STRBUF_INIT;

	for (const char *found; (found = strstr(text, "DIR/")); text = found + strlen("DIR")) {
		strbuf_add(&out, text, (size_t)(found - text));
		strbuf_adds(&out, dir->path);
	}
	strbuf_adds(&out, text);
	return strbuf_steal(&out);
}

#define assert_path(state, got, want)                                                                                            \
	do {                                                                                                                     \
		char *wanted_ = in_folder(state, want);                                                                          \
		assert_string_equal(got, wanted_);                                                                               \
		free(wanted_);                                                                                                   \
	} while (0)

/* assert_error with the test's folder for each "DIR/" in `want`. */
#define assert_error_in(state, error, want)                                                                                      \
	do {                                                                                                                     \
		char *wanted_ = in_folder(state, want);                                                                          \
		assert_error(error, wanted_);                                                                                    \
		free(wanted_);                                                                                                   \
	} while (0)

static inline struct lab *load_lab(const char *path, const char *share_dir)
{
	struct lab *lab = NULL;

	assert_ok(lab_load(path, share_dir, &lab));
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

	assert_ok(matrix_load(path, lab, &matrix));
	assert_non_null(matrix);
	return matrix;
}

static inline struct plan *expand(const struct matrix *matrix, const char *only)
{
	struct plan *plan = NULL;

	assert_ok(plan_expand(matrix, three_patches(matrix), only, &plan));
	assert_non_null(plan);
	return plan;
}

/* A matrix that a test writes, with two empty series beside it. */
struct fixture {
	struct lab *lab;
	struct matrix *matrix;
};

static inline struct fixture load_text(void **state, const char *text)
{
	struct fixture fixture = { .lab = load_lab(TEST_LAB, TEST_SHARE) };

	free(write_file(state, "series/series", ""));
	free(write_file(state, "base/series", ""));
	AUTO_FREE char *path = write_file(state, "m.yaml", text);
	fixture.matrix = load_matrix(path, fixture.lab);
	return fixture;
}

static inline void unload(struct fixture *fixture)
{
	matrix_free(fixture->matrix);
	lab_free(fixture->lab);
}

#endif
