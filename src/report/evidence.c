/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/evidence.h"

#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT "env."
#define FAILED ENVIRONMENT "failed."
#define CHANGED ENVIRONMENT "changed."

void evidence_init(struct evidence *evidence, const struct report *report)
{
	*evidence = (struct evidence){
		.n_metrics = report->n_rows ? report->rows[0].n_metrics : 0,
		.n_rows = report->n_rows,
		.n_targets = jnode_size(jnode_get(report->run, "targets")),
	};
	evidence->rows = xcalloc(evidence->n_rows, sizeof(*evidence->rows));
	evidence->targets = xcalloc(evidence->n_targets, sizeof(*evidence->targets));
	evidence->told = xcalloc(evidence->n_targets, sizeof(*evidence->told));
	evidence->series = xcalloc(evidence->n_targets * evidence->n_metrics, sizeof(*evidence->series));
}

void evidence_deinit(struct evidence *evidence)
{
	for (size_t i = 0; i < evidence->n_rows; i++)
		free(evidence->rows[i].missing_reason);
	for (size_t i = 0; i < evidence->n_targets * evidence->n_metrics; i++) {
		free(evidence->series[i].shifts);
		free(evidence->series[i].correlations);
	}
	for (size_t i = 0; i < evidence->n_drops; i++)
		free(evidence->drops[i].cause);
	for (size_t i = 0; i < evidence->n_targets; i++) {
		for (size_t k = 0; k < evidence->targets[i].n_units; k++) {
			free(evidence->targets[i].units[k].name);
			free(evidence->targets[i].units[k].blocks);
		}
		free(evidence->targets[i].units);
	}
	for (size_t i = 0; i < evidence->n_unquiet; i++) {
		free(evidence->unquiet[i].key);
		free(evidence->unquiet[i].reason);
	}
	free(evidence->unquiet);
	free(evidence->told);
	free(evidence->rows);
	free(evidence->targets);
	free(evidence->series);
	free(evidence->drops);
}

struct series_evidence *evidence_series(const struct evidence *evidence, size_t target, size_t metric)
{
	return &evidence->series[target * evidence->n_metrics + metric];
}

static struct unit_evidence *find_unit(struct target_evidence *target, const char *name, size_t n_blocks)
{
	for (size_t i = 0; i < target->n_units; i++)
		if (!strcmp(target->units[i].name, name))
			return &target->units[i];
	target->units = array_grow(target->units, target->n_units, sizeof(*target->units));
	target->units[target->n_units] =
		(struct unit_evidence){ .name = xstrdup(name), .blocks = xcalloc(n_blocks + 1, sizeof(bool)) };
	return &target->units[target->n_units++];
}

bool evidence_unit(struct target_evidence *target, const char *unit, size_t block, size_t n_blocks)
{
	struct unit_evidence *own = find_unit(target, unit, n_blocks);

	for (size_t i = 0; i < target->n_units; i++)
		if (&target->units[i] != own && target->units[i].blocks[block])
			return false;
	own->blocks[block] = true;
	own->boots++;
	return true;
}

void evidence_drop(struct evidence *evidence, size_t row, const char *cause)
{
	for (size_t i = 0; i < evidence->n_drops; i++)
		if (evidence->drops[i].row == row && !strcmp(evidence->drops[i].cause, cause)) {
			evidence->drops[i].samples++;
			return;
		}
	evidence->drops = array_grow(evidence->drops, evidence->n_drops, sizeof(*evidence->drops));
	evidence->drops[evidence->n_drops++] = (struct drop_evidence){ row, xstrdup(cause), 1 };
}

static void note_unquiet(struct evidence *evidence, size_t target, bool changed, const char *key, const char *reason)
{
	for (size_t i = 0; i < evidence->n_unquiet; i++) {
		struct unquiet_evidence *known = &evidence->unquiet[i];
		if (known->target == target && known->changed == changed && !strcmp(known->key, key)) {
			known->boots++;
			return;
		}
	}
	evidence->unquiet = array_grow(evidence->unquiet, evidence->n_unquiet, sizeof(*evidence->unquiet));
	evidence->unquiet[evidence->n_unquiet++] = (struct unquiet_evidence){ target, changed, xstrdup(key), xstrdup(reason), 1 };
}

struct error *evidence_environment(struct evidence *evidence, size_t target, const char *identity)
{
	AUTO_JNODE all = NULL;

	/* Most boots have nothing of the kind, and there may be very many. */
	if (!identity || !strstr(identity, "\"" ENVIRONMENT))
		return NULL;
	struct error *error = jnode_parse(identity, strlen(identity), "a boot's identity", &all);
	for (const char *key = error ? NULL : jnode_next_key(all, NULL); key; key = jnode_next_key(all, key)) {
		const char *reason = jnode_string(all, key, "");
		if (str_starts(key, FAILED))
			note_unquiet(evidence, target, false, key + strlen(FAILED), reason);
		else if (str_starts(key, CHANGED))
			note_unquiet(evidence, target, true, key + strlen(CHANGED), reason);
	}
	evidence->told[target] += !error;
	return error;
}
