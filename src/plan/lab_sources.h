/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `sources` of the lab. */
#ifndef PLAN_LAB_SOURCES_H
#define PLAN_LAB_SOURCES_H

#include "base/yaml.h"
#include "plan/lab.h"

/* Reads the mapping into the lab; joins what is wrong. */
void lab_read_sources(struct lab *lab, const struct yaml_node *sources, struct error **errors);
/* Frees what the source holds. */
void lab_free_source(struct source *source);

#endif
