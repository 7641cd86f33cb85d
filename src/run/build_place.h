/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which build folder of the cache an image is built in. */
#ifndef RUN_BUILD_PLACE_H
#define RUN_BUILD_PLACE_H

#include "run/prepare.h"

/*
 * The folder's name, for the caller to free. Steps of one ladder have one, and a kernel that is a ladder of its own, such as the
 * baseline, shares that of the last ladder after it of the same source and toolchain, unless builds run side by side. Uses the
 * prepared kernels' sources and toolchains.
 */
char *build_place(const struct prepared *prepared, size_t image);

#endif
