/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a validated matrix to everything that building and booting need: series read (phase 1), sources imported, series applied,
 * configs resolved, keys known (phase 2). Writes only the cache.
 */
#ifndef RUN_PREPARE_H
#define RUN_PREPARE_H

#include "kernel/image.h"
#include "kernel/payload.h"
#include "kernel/selftests.h"
#include "kernel/series.h"
#include "plan/plan.h"

/* The matrix' series, read; entry i belongs to matrix->patches[i]. */
struct series_set {
	struct series **items;
	size_t n;
};

/* Phase 1's last part: reads the series and expands the plan. All errors at once. */
struct error *prepare_plan(const struct matrix *matrix, const char *only, struct series_set *series_out,
			   struct plan **plan_out) MUST_CHECK;
void series_set_deinit(struct series_set *series);

struct prepared_kernel {
	struct source_tree *source; /* NULL for a prebuilt kernel */
	struct toolchain_info *toolchain; /* kbuild */
	struct series_step **steps; /* by matrix->patches: its steps on this kernel, or NULL where no image needs them */
};

struct prepared_image {
	struct image_input input;
	struct resolved_config *config; /* kbuild */
	char *build_folder;
	char *subject;
	char salted_tree[OID_HEX_SIZE]; /* "" unless the image is a layout control */
	const char *note; /* what applying its step took besides (series_step.note), or NULL */
	char key[65];
	char selftests_key[65]; /* "" when no workload runs the kernel's own tests */
	char *selftests; /* the archive with them that the cache had; or NULL */
	struct image *image; /* that the cache had when it was prepared, checked; or NULL */
};

struct prepared {
	const struct plan *plan;
	const struct series_set *series;
	struct cache *cache;
	char *payload; /* the archive that goes with each boot; NULL = none */
	char payload_digest[65]; /* of its content; "" = none */
	struct strlist selftests; /* the names of those that workloads run */
	struct prepared_kernel *kernels; /* by matrix->kernels */
	struct prepared_image *images; /* by plan->images */
};

/* Phase 2. The plan, its matrix, the series and the cache must outlive the result. All errors at once as far as they are independent. */
struct error *prepare(const struct plan *plan, const struct series_set *series, struct cache *cache, struct guard guard,
		      struct prepared **prepared_out) MUST_CHECK;
void prepared_free(struct prepared *prepared);

#endif
