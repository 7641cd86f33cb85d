/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/measure.h"

#include <stdlib.h>

#include "base/file.h"
#include "report/collect.h"
#include "report/difference.h"
#include "report/findings.h"
#include "report/rows.h"
#include "report/selftests.h"

static size_t most_blocks(const struct report *report)
{
	size_t n = jnode_size(jnode_get(report->run, "targets")), most = n ? 0 : (size_t)jnode_int(report->run, "blocks", 0);

	for (size_t i = 0; i < n; i++)
		if (report_target_blocks(report, i) > most)
			most = report_target_blocks(report, i);
	return most;
}

static size_t declared_looks(const struct report *report)
{
	int64_t looks = jnode_int(jnode_get(report->run, "measure"), "looks", 0);

	return looks > 1 ? (size_t)looks : 1;
}

/*
 * What was decided on the way stands with its target: a list `stages`, and as its `blocks` how many are wanted by now. Number 0 is the
 * first stage and no look at the data.
 */
static struct error *take_look(void *arg, const struct stored_look *look)
{
	struct report *report = arg;
	struct jnode *target = jnode_item(jnode_get(report->run, "targets"), (size_t)look->target);
	struct jnode *stages = jnode_get(target, "stages");

	if (!target)
		return NULL;
	struct jnode *item = jnode_object();
	if (!stages)
		jnode_set(target, "stages", stages = jnode_array());
	jnode_set_int(item, "number", look->number);
	jnode_set_int(item, "seen", look->seen);
	jnode_set_int(item, "blocks", look->blocks);
	jnode_set_string(item, "reason", look->reason);
	jnode_append(stages, item);
	jnode_set_int(target, "blocks", look->blocks);
	if (look->number > (int64_t)report->looks_taken)
		report->looks_taken = (size_t)look->number;
	return NULL;
}

/* Writers read it with the target's other properties. */
static void note_frequencies(struct report *report, const struct evidence *evidence)
{
	for (size_t i = 0; i < evidence->n_targets; i++) {
		const struct target_evidence *target = &evidence->targets[i];
		if (!target->n_frequency)
			continue;
		AUTO_FREE char *text = xasprintf("%.0f MHz", target->frequency_sum / (double)target->n_frequency / 1000);
		jnode_set_string(jnode_item(jnode_get(report->run, "targets"), i), "frequency", text);
	}
}

static struct error *fill(struct report *report, struct store *store)
{
	int ignored;
	struct error *error = store_get_run(store, &report->run);

	if (!error && !report->run)
		error = error_new(ERROR_LAB, "run %s: nothing is in its database yet", report->run_id);
	if (!error)
		error = store_get_finished(store, &report->finished, &ignored);
	if (!error)
		error = store_each_look(store, take_look, report);
	if (error)
		return error;
	report->n_blocks = most_blocks(report);
	report->alpha = REPORT_ALPHA / (double)declared_looks(report);
	error = rows_describe(report);
	if (error)
		return error;
	AUTO_EVIDENCE evidence;
	evidence_init(&evidence, report);
	error = collect_boots(report, store, &evidence);
	if (error)
		return error;
	rows_settle(report, &evidence);
	note_frequencies(report, &evidence);
	differences_compute(report, &evidence);
	findings_compute(report, &evidence);
	return NULL;
}

struct error *report_measure(const char *dir, const struct report_options *options, struct report **report_out)
{
	struct report *report = xcalloc(1, sizeof(*report));
	AUTO_FREE char *path = path_join(dir, "run.db");
	AUTO_FREE char *absolute = path_absolute(dir);
	AUTO_FREE char *parent = path_dirname(absolute);
	AUTO_STORE store = NULL;

	report->run_id = xasprintf("%s/%s", path_basename(parent), path_basename(absolute));
	report->runs_dir = options && options->runs_dir ? xstrdup(options->runs_dir) : path_dirname(parent);
	report->arithmetic = options && options->arithmetic;
	struct error *error = store_open_readonly(path, &store);
	if (!error)
		error = fill(report, store);
	if (error) {
		report_free(report);
		return error;
	}
	*report_out = report;
	return NULL;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	selftests_free(report);
	rows_free(report);
	floors_free(report);
	findings_free(report);
	for (size_t i = 0; i < report->n_gates; i++) {
		free(report->gates[i].against);
		free(report->gates[i].reason);
	}
	free(report->gates);
	free(report->run_id);
	free(report->runs_dir);
	jnode_free(report->run);
	free(report);
}

void cleanup_report(struct report **report)
{
	report_free(*report);
}
