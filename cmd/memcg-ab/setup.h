/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What run, check and build begin with: phases 1 and 2 of design.md. */
#ifndef CMD_SETUP_H
#define CMD_SETUP_H

#include "run/session.h"

struct setup_options {
	const char *matrix;
	const char *lab; /* NULL: found from the working folder upwards, then from the matrix' folder upwards */
	const char *only; /* NULL, or a glob over variant names */
};

struct setup {
	struct guard guard; /* fires on SIGINT, SIGTERM and SIGHUP, which are blocked from then on */
	struct install install;
	struct lab *lab;
	struct matrix *matrix;
	struct series_set series;
	struct plan *plan;
	struct cache *cache;
	struct prepared *prepared;
};

/* The lab alone, for commands without a matrix. */
struct error *setup_lab(struct setup *setup, const char *lab, const char *matrix) MUST_CHECK;
/* Lab, matrix, series, plan (phase 1), then sources, steps, configs, keys (phase 2). */
struct error *setup_open(struct setup *setup, const struct setup_options *options) MUST_CHECK;
void setup_close(struct setup *setup);

#endif
