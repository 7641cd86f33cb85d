/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/image_evidence.h"

/* The lowest step of the image's ladder that is there; NULL when it is this one, or none is. */
static const struct session_image *lowest_step(const struct session *session, size_t index, size_t *at_out)
{
	const struct plan *plan = session->plan;
	size_t lowest = index;

	for (size_t i = 0; i < plan->n_images; i++)
		if (plan->images[i].ladder == plan->images[index].ladder && plan->images[i].step < plan->images[lowest].step &&
		    session->images[i].image)
			lowest = i;
	*at_out = lowest;
	return lowest == index ? NULL : &session->images[lowest];
}

struct error *image_evidence(const struct session *session, size_t image, struct jnode *detail)
{
	const struct image *own = session->images[image].image;
	struct jnode *sizes = NULL, *growth = NULL;
	size_t at;
	const struct session_image *reference = lowest_step(session, image, &at);

	struct error *error = image_sizes(own, &sizes);
	if (!error && sizes)
		jnode_set(detail, "sizes", sizes);
	if (!error && reference)
		error = image_growth(own, reference->image, &growth);
	if (error || !growth)
		return error;
	jnode_set_string(detail, "growth_of", session->prepared->images[at].key);
	jnode_set(detail, "growth", growth);
	return NULL;
}
