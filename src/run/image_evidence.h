/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an image itself is evidence of, beside what its boots measure: its size. */
#ifndef RUN_IMAGE_EVIDENCE_H
#define RUN_IMAGE_EVIDENCE_H

#include "base/json.h"
#include "run/session.h"

/*
 * Adds to the stored image's detail: "sizes" (image_sizes), and, for a step of a ladder whose lowest step is there too, "growth"
 * (image_growth, against that step) with that one's key as "growth_of".
 */
struct error *image_evidence(const struct session *session, size_t image, struct jnode *detail) MUST_CHECK;

#endif
