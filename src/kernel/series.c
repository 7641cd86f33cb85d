/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kernel/series_internal.h"

struct series {
	struct series_part *parts;
	size_t n; /* the last has the steps */
};

static const struct series_part *measured(const struct series *series)
{
	return &series->parts[series->n - 1];
}

struct error *series_load(const struct patches *patches, struct series **series_out)
{
	struct series *series = xcalloc(1, sizeof(*series));
	struct error *errors = NULL;

	series->parts = xcalloc(patches->n_stack ? patches->n_stack : 1, sizeof(*series->parts));
	for (size_t i = 0; i < patches->n_stack; i++) {
		error_join(&errors, series_read_part(&patches->stack[i], &series->parts[i]));
		series->n++;
	}
	if (!errors && !series->n)
		errors = error_at(patches->pos, "patches '%s' name no series", patches->name);
	if (errors)
		series_free(series);
	else
		*series_out = series;
	return errors;
}

void series_free(struct series *series)
{
	if (!series)
		return;
	for (size_t i = 0; i < series->n; i++)
		series_part_deinit(&series->parts[i]);
	free(series->parts);
	free(series);
}

size_t series_steps(const struct series *series)
{
	return measured(series)->n;
}

const char *series_subject(const struct series *series, size_t step)
{
	const struct series_part *part = measured(series);

	return part->range ? part->range->commits[step - 1].subject : part->patches[step - 1].subject;
}

void series_summarise(const struct series *series, struct series_summary *summary_out)
{
	size_t n = series_steps(series);
	struct series_summary summary = { .subjects = xcalloc(n ? n : 1, sizeof(char *)), .n = n };

	for (size_t i = 0; i < n; i++)
		summary.subjects[i] = xstrdup(series_subject(series, i + 1));
	*summary_out = summary;
}

void series_steps_free(struct series_step *steps, size_t n)
{
	if (!steps)
		return;
	for (size_t i = 0; i < n; i++)
		free(steps[i].note);
	free(steps);
}

/* A stack being applied. */
struct stacking {
	struct patching patching;
	char commit[OID_HEX_SIZE];
	struct series_step *steps;
	size_t n_steps; /* filled so far */
	struct strlist notes; /* of the step at hand */
	struct error *errors;
};

static void end_step(struct stacking *stacking)
{
	struct series_step *step = &stacking->steps[stacking->n_steps++];
	AUTO_STRBUF note = STRBUF_INIT;

	memcpy(step->tree, stacking->patching.tree, sizeof(step->tree));
	memcpy(step->commit, stacking->commit, sizeof(step->commit));
	for (size_t i = 0; i < stacking->notes.n; i++)
		strbuf_addf(&note, "%s%s", i ? "; " : "", stacking->notes.items[i]);
	step->note = note.len ? strbuf_steal(&note) : NULL;
	strlist_deinit(&stacking->notes);
}

static struct error *apply_and_commit(struct stacking *stacking, const struct patch *patch)
{
	struct error *error = patch_apply(&stacking->patching, patch, &stacking->notes);

	if (error || stacking->errors)
		return error;
	AUTO_FREE char *parent = xstrdup(stacking->commit);
	struct gitdb_commit commit = {
		.tree = stacking->patching.tree,
		.parent = parent,
		.author = patch->author,
		.email = patch->email,
		.time_s = patch->time_s,
		.offset_min = patch->offset_min,
		.message = patch->message,
	};
	return gitdb_write_commit(stacking->patching.db, &commit, stacking->commit);
}

/* A commit of a range as a patch, for a base that is not the range's own. */
static struct error *patch_of_commit(const struct git_range *range, size_t i, struct patch *patch_out)
{
	const struct git_range_commit *commit = &range->commits[i];
	AUTO_FREE char *name = xasprintf("commit %.12s", commit->commit);
	AUTO_STRBUF text = STRBUF_INIT;
	struct patch patch = { .file = intern(name) };
	struct error *error = git_range_patch(range, i, &text);

	if (!error)
		error = diff_parse(strbuf_str(&text), text.len, 1, (struct diff_origin){ patch.file, 0 }, &patch.diff);
	if (error)
		return error;
	patch.subject = xstrdup(commit->subject);
	patch.message = xstrdup(commit->message);
	patch.author = xstrdup(commit->author);
	patch.email = xstrdup(commit->email);
	patch.time_s = commit->time_s;
	patch.offset_min = commit->offset_min;
	*patch_out = patch;
	return NULL;
}

static struct error *take_own_tree(struct stacking *stacking, const struct git_range *range, size_t i)
{
	struct error *error = git_range_copy(range, i, stacking->patching.db);

	if (error)
		return error;
	memcpy(stacking->patching.tree, range->commits[i].tree, sizeof(stacking->patching.tree));
	memcpy(stacking->commit, range->commits[i].commit, sizeof(stacking->commit));
	return NULL;
}

static struct error *apply_commit(struct stacking *stacking, const struct git_range *range, size_t i)
{
	struct patch patch;
	struct error *error = patch_of_commit(range, i, &patch);

	if (error)
		return error;
	error = apply_and_commit(stacking, &patch);
	patch_deinit(&patch);
	return error;
}

static void apply_part(struct stacking *stacking, const struct series_part *part, bool is_measured)
{
	bool own_trees = part->range && !strcmp(part->range->start_tree, stacking->patching.tree);

	if (part->range && !own_trees)
		strlist_addf(&stacking->notes, "the range's commits are applied as patches: they stand on another tree");
	if (is_measured)
		end_step(stacking);
	for (size_t i = 0; i < part->n; i++) {
		struct error *error = !part->range ? apply_and_commit(stacking, &part->patches[i])
				      : own_trees  ? take_own_tree(stacking, part->range, i)
						   : apply_commit(stacking, part->range, i);
		error_join(&stacking->errors, error);
		if (is_measured)
			end_step(stacking);
	}
}

/* Says so when the series was made on a commit that the objects hold and whose tree is not the base's. */
static struct error *compare_base(struct stacking *stacking, const struct source_tree *base, const char *base_commit)
{
	char tree[OID_HEX_SIZE];

	if (!base_commit || !strcmp(base_commit, base->commit) || !gitdb_has(stacking->patching.db, base_commit))
		return NULL;
	struct error *error = gitdb_commit_tree(stacking->patching.db, base_commit, tree);
	if (!error && strcmp(tree, base->tree))
		strlist_addf(&stacking->notes, "the series was made on commit %.12s (base-commit), the source is at %.12s",
			     base_commit, base->commit);
	return error;
}

struct error *series_apply(const struct cache *cache, const struct source_tree *base, const struct series *series,
			   struct series_step **steps_out)
{
	AUTO_GITDB db = NULL;
	size_t n = series_steps(series) + 1;
	struct error *error = gitdb_open(cache, base->objects, &db);

	if (error)
		return error;
	struct stacking stacking = { .patching = { .db = db }, .steps = xcalloc(n, sizeof(*stacking.steps)) };
	memcpy(stacking.patching.tree, base->tree, sizeof(stacking.patching.tree));
	memcpy(stacking.commit, base->commit, sizeof(stacking.commit));
	stacking.errors = compare_base(&stacking, base, series->parts[0].base_commit);
	for (size_t i = 0; i < series->n; i++)
		apply_part(&stacking, &series->parts[i], i + 1 == series->n);
	strlist_deinit(&stacking.notes);
	strlist_deinit(&stacking.patching.tainted);
	if (stacking.errors)
		series_steps_free(stacking.steps, n);
	else
		*steps_out = stacking.steps;
	return stacking.errors;
}
