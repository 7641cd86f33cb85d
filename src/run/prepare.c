/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kernel/salt.h"
#include "plan/needs.h"
#include "run/build_place.h"

/* Copying and hashing a few files. */
#define PREBUILT_TIMEOUT_MS 120000

void series_set_deinit(struct series_set *series)
{
	for (size_t i = 0; i < series->n; i++)
		series_free(series->items[i]);
	free(series->items);
	*series = (struct series_set){ NULL, 0 };
}

struct error *prepare_plan(const struct matrix *matrix, const char *only, struct series_set *series_out, struct plan **plan_out)
{
	struct series_set series = { xcalloc(matrix->n_patches, sizeof(struct series *)), matrix->n_patches };
	struct error *errors = NULL;

	for (size_t i = 0; i < series.n; i++)
		error_join(&errors, series_load(&matrix->patches[i], &series.items[i]));
	struct series_summary *summaries = xcalloc(series.n, sizeof(*summaries));
	for (size_t i = 0; i < series.n; i++) {
		summaries[i].missing = !series.items[i];
		if (series.items[i])
			series_summarise(series.items[i], &summaries[i]);
	}
	struct plan *plan = NULL;
	error_join(&errors, plan_expand(matrix, summaries, only, &plan));
	if (errors) {
		plan_free(plan);
		series_set_deinit(&series);
		return errors;
	}
	*series_out = series;
	*plan_out = plan;
	return NULL;
}

static size_t kernel_index(const struct matrix *matrix, const struct kernel *kernel)
{
	return (size_t)(kernel - matrix->kernels);
}

static bool kernel_has_images(const struct plan *plan, const struct kernel *kernel)
{
	for (size_t i = 0; i < plan->n_images; i++)
		if (plan->images[i].kernel == kernel)
			return true;
	return false;
}

static void say_progress(void *arg, const char *what)
{
	(void)arg;
	log_info("%s", what);
}

static struct error *prepare_kernel(struct prepared *prepared, const struct kernel *kernel, struct guard guard)
{
	struct prepared_kernel *entry = &prepared->kernels[kernel_index(prepared->plan->matrix, kernel)];
	struct error *errors = NULL;

	if (kernel->kind != KERNEL_PREBUILT)
		error_join(&errors, error_place(source_import(prepared->cache, kernel->sources, kernel->n_sources, guard,
							      say_progress, NULL, &entry->source),
						kernel->pos));
	if (kernel->kind == KERNEL_KBUILD)
		error_join(&errors, toolchain_probe(kernel->toolchain, kernel->arch, guard, &entry->toolchain));
	return errors;
}

/* Applies a series to a kernel, once. */
static struct error *prepare_steps(struct prepared *prepared, const struct plan_image *image)
{
	const struct matrix *matrix = prepared->plan->matrix;
	struct prepared_kernel *kernel = &prepared->kernels[kernel_index(matrix, image->kernel)];

	if (!image->patches)
		return NULL;
	size_t at = (size_t)(image->patches - matrix->patches);
	if (!kernel->steps)
		kernel->steps = xcalloc(matrix->n_patches, sizeof(*kernel->steps));
	if (kernel->steps[at])
		return NULL;
	return series_apply(prepared->cache, kernel->source, prepared->series->items[at], &kernel->steps[at]);
}

/* "memcg step 2"; "memcg overhead step 2" where the matrix names several patches. */
static char *image_subject(const struct matrix *matrix, const struct plan_image *image)
{
	AUTO_STRBUF text = STRBUF_INIT;

	if (*image->kernel->name)
		strbuf_addf(&text, "%s/", image->kernel->name);
	strbuf_adds(&text, image->config->name);
	if (image->patches && matrix->n_patches > 1)
		strbuf_addf(&text, " %s", image->patches->name);
	if (image->patches)
		strbuf_addf(&text, " step %u", image->step);
	if (image->salted)
		strbuf_adds(&text, " salted");
	return strbuf_steal(&text);
}

static struct error *prepare_selftests(struct prepared *prepared, struct prepared_image *entry, struct guard guard)
{
	struct error *error = selftests_key(prepared->cache, &entry->input, &prepared->selftests, guard, entry->selftests_key);

	if (!error)
		entry->selftests = selftests_lookup(prepared->cache, entry->selftests_key);
	return error;
}

static struct error *prepare_image(struct prepared *prepared, size_t index, struct guard guard)
{
	const struct plan_image *image = &prepared->plan->images[index];
	struct prepared_image *entry = &prepared->images[index];
	const struct prepared_kernel *kernel = &prepared->kernels[kernel_index(prepared->plan->matrix, image->kernel)];
	const struct series_step *step = NULL;

	if (image->patches) {
		struct series_step *steps =
			kernel->steps ? kernel->steps[image->patches - prepared->plan->matrix->patches] : NULL;
		if (!steps)
			return NULL; /* its series did not apply: said already */
		step = &steps[image->step];
	}
	const char *tree = step ? step->tree : kernel->source ? kernel->source->tree : NULL;
	const char *objects = kernel->source ? kernel->source->objects : NULL;
	if (image->salted) {
		struct error *error = salt_tree(prepared->cache, objects, tree, entry->salted_tree);
		if (error)
			return error_place(error, image->pos);
		tree = entry->salted_tree;
	}
	entry->build_folder = build_place(prepared, index);
	entry->subject = image_subject(prepared->plan->matrix, image);
	entry->note = step ? step->note : NULL;
	entry->input = (struct image_input){
		.kernel = image->kernel,
		.source = kernel->source,
		.tree = tree,
		.device_fragment = image->device_fragment,
		.fragment = image->config->fragment,
		.toolchain = kernel->toolchain,
		.subject = entry->subject,
		.build_folder = entry->build_folder,
	};
	if (image->kernel->kind == KERNEL_KBUILD) {
		struct config_input config = {
			.tree = entry->input.tree,
			.objects = objects,
			.kernel = image->kernel,
			.toolchain = kernel->toolchain,
			.device_fragment = image->device_fragment,
			.fragment = image->config->fragment,
		};
		struct error *error = config_resolve(prepared->cache, &config, guard, &entry->config);
		if (error)
			return error;
		entry->input.config = entry->config;
	}
	struct error *error = image_key(&entry->input, entry->key);
	if (!error)
		error = image_lookup(prepared->cache, entry->key, &entry->image);
	if (!error && prepared->selftests.n)
		error = prepare_selftests(prepared, entry, guard);
	/* A prebuilt kernel is only copied, and its config must be known before a boot is planned. */
	if (!error && !entry->image && image->kernel->kind == KERNEL_PREBUILT) {
		struct image_build build = {
			.cache = prepared->cache,
			.input = &entry->input,
			.deadline_ms = clock_deadline(PREBUILT_TIMEOUT_MS),
			.guard = guard,
		};
		error = image_build(&build, &entry->image);
	}
	return error;
}

/* The same mismatch at the same line, asked for at several steps, is one mistake. */
static void join_once(struct error **errors, struct error *more)
{
	for (const struct error *have = *errors; more && have; have = error_next(have)) {
		struct pos a = error_pos(have), b = error_pos(more);
		if (a.file && a.file == b.file && a.line == b.line && !strcmp(error_message(have), error_message(more))) {
			error_free(more);
			return;
		}
	}
	error_join(errors, more);
}

struct error *prepare(const struct plan *plan, const struct series_set *series, struct cache *cache, struct guard guard,
		      struct prepared **prepared_out)
{
	const struct matrix *matrix = plan->matrix;
	struct prepared *prepared = xcalloc(1, sizeof(*prepared));
	struct error *errors = NULL;

	prepared->plan = plan;
	prepared->series = series;
	prepared->cache = cache;
	needs_selftests(matrix, &prepared->selftests);
	prepared->kernels = xcalloc(matrix->n_kernels, sizeof(*prepared->kernels));
	prepared->images = xcalloc(plan->n_images, sizeof(*prepared->images));
	for (size_t i = 0; i < matrix->n_kernels; i++)
		if (kernel_has_images(plan, &matrix->kernels[i]))
			error_join(&errors, prepare_kernel(prepared, &matrix->kernels[i], guard));
	if (matrix->n_payload)
		error_join(&errors, payload_prepare(cache, matrix->payload, matrix->n_payload, guard, say_progress, NULL,
						    &prepared->payload, prepared->payload_digest));
	if (!errors)
		for (size_t i = 0; i < plan->n_images; i++)
			join_once(&errors, prepare_steps(prepared, &plan->images[i]));
	bool sources_ready = true;
	for (size_t i = 0; i < matrix->n_kernels; i++)
		if (kernel_has_images(plan, &matrix->kernels[i]) && matrix->kernels[i].kind != KERNEL_PREBUILT)
			sources_ready = sources_ready && prepared->kernels[i].source &&
					(matrix->kernels[i].kind != KERNEL_KBUILD || prepared->kernels[i].toolchain);
	if (sources_ready)
		for (size_t i = 0; i < plan->n_images; i++)
			join_once(&errors, prepare_image(prepared, i, guard));
	if (errors) {
		prepared_free(prepared);
		return errors;
	}
	*prepared_out = prepared;
	return NULL;
}

static void free_kernel(const struct prepared *prepared, struct prepared_kernel *kernel)
{
	for (size_t i = 0; kernel->steps && i < prepared->plan->matrix->n_patches; i++)
		if (kernel->steps[i])
			series_steps_free(kernel->steps[i], series_steps(prepared->series->items[i]) + 1);
	free(kernel->steps);
	source_tree_free(kernel->source);
	toolchain_info_free(kernel->toolchain);
}

void prepared_free(struct prepared *prepared)
{
	if (!prepared)
		return;
	for (size_t i = 0; i < prepared->plan->n_images; i++) {
		free(prepared->images[i].build_folder);
		free(prepared->images[i].subject);
		free(prepared->images[i].selftests);
		resolved_config_free(prepared->images[i].config);
		image_free(prepared->images[i].image);
	}
	free(prepared->images);
	for (size_t i = 0; i < prepared->plan->matrix->n_kernels; i++)
		free_kernel(prepared, &prepared->kernels[i]);
	free(prepared->kernels);
	free(prepared->payload);
	strlist_deinit(&prepared->selftests);
	free(prepared);
}
