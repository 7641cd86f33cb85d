/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images, rows and controls. */
#include <stdlib.h>

#include "plan/matrix_rows.h"
#include "plan/plan_parts.h"

/* From so many variants beside the baseline on, it is booted twice a block: every comparison has it (Dunnett 1955). */
#define REPLICATE_VARIANTS 3

/* While images are collected: in which order they came, and what row wants which. */
struct wanted {
	struct plan_image image;
	const struct profile *profile; /* the first that wants it */
	size_t order;
	size_t patches_order; /* 0 = vanilla */
};

struct collection {
	const struct plan *plan;
	struct wanted *items;
	size_t n;
	size_t n_ladders;
};

/* Prebuilt kernels are what they are: no device's fragment goes into them. */
static const struct fragment *device_fragment(const struct plan_variant *variant, const struct profile *profile)
{
	return variant->kernel->kind == KERNEL_PREBUILT ? NULL : profile->fragment;
}

static bool same_ladder(const struct plan_image *image, const struct plan_variant *variant, const struct fragment *fragment)
{
	return matrix_same_kernel(image->kernel, variant->kernel) && matrix_same_config(image->config, variant->config) &&
	       fragment_equal(image->device_fragment, fragment);
}

static bool is_image(const struct plan_image *image, const struct plan_variant *variant, const struct fragment *fragment,
		     bool salted)
{
	if (!same_ladder(image, variant, fragment) || image->step != variant->step || image->salted != salted)
		return false;
	if (matrix_is_vanilla(image->patches, image->step))
		return matrix_is_vanilla(variant->patches, variant->step);
	return image->patches == variant->patches;
}

static void want(struct collection *collection, const struct plan_variant *variant, const struct profile *profile, bool salted)
{
	const struct fragment *fragment = device_fragment(variant, profile);
	size_t ladder = collection->n_ladders;
	for (size_t i = 0; i < collection->n; i++) {
		if (is_image(&collection->items[i].image, variant, fragment, salted))
			return;
		if (same_ladder(&collection->items[i].image, variant, fragment))
			ladder = collection->items[i].image.ladder;
	}
	if (ladder == collection->n_ladders)
		collection->n_ladders++;
	bool vanilla = matrix_is_vanilla(variant->patches, variant->step);
	const struct matrix *matrix = collection->plan->matrix;
	collection->items = array_grow(collection->items, collection->n, sizeof(*collection->items));
	collection->items[collection->n] = (struct wanted){
		.image = {
			.kernel = variant->kernel,
			.config = variant->config,
			.device_fragment = fragment,
			.patches = vanilla ? NULL : variant->patches,
			.step = variant->step,
			.salted = salted,
			.ladder = ladder,
			.pos = variant->pos,
		},
		.profile = profile,
		.order = collection->n,
		.patches_order = vanilla ? 0 : (size_t)(variant->patches - matrix->patches) + 1,
	};
	collection->n++;
}

static int compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int by_ladder(const void *a, const void *b)
{
	const struct wanted *x = a;
	const struct wanted *y = b;
	int order = compare(x->image.ladder, y->image.ladder);
	if (!order)
		order = compare(x->patches_order, y->patches_order);
	if (!order)
		order = compare(x->image.step, y->image.step);
	if (!order)
		order = compare(x->image.salted, y->image.salted);
	return order ? order : compare(x->order, y->order);
}

/* Prebuilt kernels, which have none, do not count. */
static bool fragments_differ(const struct collection *collection)
{
	const struct plan_image *first = NULL;
	for (size_t i = 0; i < collection->n; i++) {
		const struct plan_image *image = &collection->items[i].image;
		if (image->kernel->kind == KERNEL_PREBUILT)
			continue;
		if (first && !fragment_equal(first->device_fragment, image->device_fragment))
			return true;
		first = image;
	}
	return false;
}

static char *image_name(const struct plan *plan, const struct wanted *wanted, bool fragments)
{
	const struct plan_image *image = &wanted->image;
	bool with_profile = fragments && image->kernel->kind != KERNEL_PREBUILT;
	AUTO_FREE char *step = plan->matrix->n_patches > 1 && image->patches
				       ? xasprintf("%s.%u", image->patches->name, image->step)
				       : xasprintf("%u", image->step);
	return xasprintf("%s%s%s/%s%s%s%s", image->kernel->name, *image->kernel->name ? "/" : "", image->config->name, step,
			 with_profile ? "@" : "", with_profile ? wanted->profile->name : "", image->salted ? "+salt" : "");
}

/* An exact device's spread over nuisances has the layout in it already: there it must be asked for. Only our own build can move code. */
static bool has_layout(const struct plan *plan, const struct profile *profile)
{
	const struct measure *measure = &plan->matrix->measure;
	return measure->layout && profile->needs_image && plan->variants[plan->baseline].kernel->kind == KERNEL_KBUILD &&
	       (!profile->exact || measure->layout_given);
}

static void collect_images(struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	struct collection collection = { .plan = plan };
	for (size_t t = 0; t < matrix->n_targets; t++) {
		const struct profile *profile = matrix->targets[t].device->profile;
		for (size_t v = 0; profile->needs_image && v < plan->n_variants; v++)
			want(&collection, &plan->variants[v], profile, false);
		if (has_layout(plan, profile))
			want(&collection, &plan->variants[plan->baseline], profile, true);
	}
	if (collection.n)
		qsort(collection.items, collection.n, sizeof(*collection.items), by_ladder);
	bool fragments = fragments_differ(&collection);
	plan->images = xcalloc(collection.n + 1, sizeof(*plan->images));
	for (size_t i = 0; i < collection.n; i++) {
		plan->images[i] = collection.items[i].image;
		plan->images[i].name = image_name(plan, &collection.items[i], fragments);
	}
	plan->n_images = collection.n;
	free(collection.items);
}

static ssize_t find_image(const struct plan *plan, const struct plan_variant *variant, const struct profile *profile, bool salted)
{
	if (!profile->needs_image)
		return -1;
	size_t i = 0;
	while (!is_image(&plan->images[i], variant, device_fragment(variant, profile), salted))
		i++;
	return (ssize_t)i;
}

static char *join_cmdlines(const char *device, const char *variant)
{
	return xasprintf("%s%s%s", device, *device && *variant ? " " : "", variant);
}

const char *row_control_name(enum row_control control)
{
	static const char *const names[] = {
		[CONTROL_NONE] = "none",
		[CONTROL_AA] = "aa",
		[CONTROL_REPLICATE] = "replicate",
		[CONTROL_LAYOUT] = "layout",
	};
	return names[control];
}

static void add_row(struct plan *plan, size_t target, size_t variant_index, enum row_control control)
{
	const struct profile *profile = plan->matrix->targets[target].device->profile;
	const struct plan_variant *variant = &plan->variants[variant_index];
	plan->rows = array_grow(plan->rows, plan->n_rows, sizeof(*plan->rows));
	plan->rows[plan->n_rows++] = (struct plan_row){
		.name = control ? xasprintf("%s#%s", variant->name, row_control_name(control)) : xstrdup(variant->name),
		.control = control,
		.variant = variant_index,
		.target = target,
		.image = find_image(plan, variant, profile, control == CONTROL_LAYOUT),
		.booted_cmdline = join_cmdlines(profile->cmdline, variant->cmdline->text),
	};
}

void plan_add_rows(struct plan *plan)
{
	const struct matrix *matrix = plan->matrix;
	collect_images(plan);
	for (size_t t = 0; t < matrix->n_targets; t++) {
		const struct profile *profile = matrix->targets[t].device->profile;
		for (size_t v = 0; v < plan->n_variants; v++)
			add_row(plan, t, v, CONTROL_NONE);
		if (!profile->exact && matrix->measure.aa)
			add_row(plan, t, plan->baseline, CONTROL_AA);
		if (!profile->exact && plan->n_variants > REPLICATE_VARIANTS)
			add_row(plan, t, plan->baseline, CONTROL_REPLICATE);
		if (has_layout(plan, profile))
			add_row(plan, t, plan->baseline, CONTROL_LAYOUT);
	}
}
