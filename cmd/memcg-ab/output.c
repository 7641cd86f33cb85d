/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "run/progress.h"

/* Measured on two cores: a whole kernel, a next step in the same folder, a boot with pft (CONTRIBUTING.md, Times). */
#define FULL_BUILD_MS 400000
#define STEP_BUILD_MS 75000
#define BOOT_MS 4000
#define NEW_FOLDER_BYTES (1600ULL << 20)
#define IMAGE_BYTES (60ULL << 20)

struct error *print_text(const char *text, size_t len)
{
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout))
		return error_os(errno, "cannot write to standard output");
	return NULL;
}

struct error *print_report(const char *dir, const struct report_options *options, const struct report_writer *writer,
			   int *status_out)
{
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = report_load(dir, options, &report);

	if (error)
		return error;
	writer->write(report, &text);
	error = print_text(strbuf_str(&text), text.len);
	if (!error)
		*status_out = report->exit_status;
	return error;
}

static bool folder_is_new(const struct session *session, size_t image)
{
	const struct prepared_image *prepared = &session->prepared->images[image];
	AUTO_FREE char *relative = xasprintf("builds/%s/obj/vmlinux", prepared->build_folder);
	AUTO_FREE char *path = cache_path(session->prepared->cache, relative);

	if (file_exists(path))
		return false;
	for (size_t i = 0; i < image; i++)
		if (!strcmp(session->prepared->images[i].build_folder, prepared->build_folder) &&
		    !session->prepared->images[i].image)
			return false;
	return true;
}

struct estimate {
	uint64_t bytes;
	int64_t ms;
};

static void print_image(const struct session *session, size_t index, struct strbuf *out, struct estimate *estimate)
{
	const struct prepared_image *image = &session->prepared->images[index];

	strbuf_addf(out, "  %.12s  %-28s ", image->key, image->subject);
	if (image->image) {
		strbuf_adds(out, "cached\n");
		return;
	}
	AUTO_FREE char *why = image_explain_missing(session->prepared->cache, &image->input);
	bool full = folder_is_new(session, index);
	strbuf_addf(out, "to build%s: %s\n", full ? "" : " on the step before", why);
	estimate->bytes += IMAGE_BYTES + (full ? NEW_FOLDER_BYTES : 0);
	estimate->ms += full ? FULL_BUILD_MS : STEP_BUILD_MS;
}

static const char *row_remark(const struct plan *plan, const struct plan_row *row)
{
	static const char *const controls[] = {
		[CONTROL_AA] = "  (control: the baseline as one more variant)",
		[CONTROL_REPLICATE] = "  (the baseline's second boot in each block)",
		[CONTROL_LAYOUT] = "  (control: the baseline with its code moved)",
	};

	if (row->control)
		return controls[row->control];
	return row->variant == plan->baseline ? "  (baseline)" : "";
}

static void print_rows(const struct session *session, struct strbuf *out)
{
	const struct plan *plan = session->plan;

	for (size_t i = 0; i < plan->n_rows; i++) {
		const struct plan_row *row = &plan->rows[i];
		const struct target *target = &plan->matrix->targets[row->target];
		size_t boots = 0, done = 0;
		for (size_t b = 0; b < plan->n_boots; b++) {
			boots += plan->boots[b].row == i;
			done += plan->boots[b].row == i && session->boots[b].state == BOOT_DONE;
		}
		strbuf_addf(out, "  %-28s on %s/%s  %zu boots, %zu stored  \"%s\"%s\n", row->name, target->device->name,
			    target->cores, boots, done, row->booted_cmdline, row_remark(plan, row));
	}
}

/* A random device's run may end before its last block. */
static bool may_stop(const struct matrix *matrix, size_t target)
{
	return !matrix->targets[target].device->profile->exact && (matrix->measure.half_width > 0 || matrix->measure.looks);
}

static void print_looks(const struct measure *measure, struct strbuf *out)
{
	strbuf_addf(out, "; %u looks at ", measure->looks);
	for (unsigned i = 1; i <= measure->looks; i++)
		strbuf_addf(out, "%s%u", i > 1 ? ", " : "", plan_look(measure, i));
	strbuf_adds(out, " blocks");
}

static void print_target(const struct matrix *matrix, size_t index, struct strbuf *out)
{
	const struct measure *measure = &matrix->measure;
	const struct target *target = &matrix->targets[index];
	unsigned blocks = plan_blocks(matrix, index);
	bool exact = target->device->profile->exact;
	bool staged = !exact && measure->half_width > 0;

	strbuf_addf(out, "%s/%s: ", target->device->name, target->cores);
	if (target->device->profile->stock)
		strbuf_adds(out, "the device's own kernel (image: stock), nothing is built; ");
	if (!staged)
		strbuf_addf(out, "%u ", blocks);
	strbuf_addf(out, "block%s in %s order, seed %" PRIu64, blocks == 1 ? "" : "s", measure_order_name(measure->order),
		    measure->seed);
	if (exact && measure->blocks_given && measure->blocks > blocks)
		strbuf_addf(out, " (of %u: an exact device has one a nuisance, for a second identical boot proves nothing)",
			    measure->blocks);
	if (staged)
		strbuf_addf(out, "; first stage %u blocks, then as many as +-%g%% takes, at most %u", measure->pilot,
			    measure->half_width * 100, blocks);
	if (!exact && measure->looks)
		print_looks(measure, out);
	strbuf_addch(out, '\n');
}

void warn_of_order(const struct matrix *matrix)
{
	if (matrix->measure.order == ORDER_SEQUENTIAL)
		log_warning("order: sequential boots one variant after the other: whatever drifts meanwhile (temperature, a "
			    "neighbour) "
			    "looks like a difference between them; order: random takes no more boots");
}

struct error *print_plan(const struct session *session)
{
	AUTO_STRBUF out = STRBUF_INIT;
	struct estimate estimate = { 0, 0 };
	uint64_t used = 0;

	strbuf_addf(&out, "%zu images:\n", session->plan->n_images);
	for (size_t i = 0; i < session->plan->n_images; i++)
		print_image(session, i, &out, &estimate);
	strbuf_addf(&out, "%zu variants, %zu rows:\n", session->plan->n_variants, session->plan->n_rows);
	print_rows(session, &out);
	for (size_t i = 0; i < session->plan->matrix->n_targets; i++)
		print_target(session->plan->matrix, i, &out);
	estimate.ms += (int64_t)session_owed(session) * BOOT_MS;
	struct error *error = file_tree_size(session->prepared->cache->dir, &used);
	if (error)
		return error;
	AUTO_FREE char *time = duration_text(estimate.ms);
	bool less = false;
	for (size_t i = 0; i < session->plan->matrix->n_targets; i++)
		less = less || may_stop(session->plan->matrix, i);
	strbuf_addf(&out, "%s%zu boots to do; the cache has %.1f GB, about %.1f GB more are needed; about %s on two idle cores\n",
		    less ? "at most " : "", session_owed(session), (double)used / 1e9, (double)estimate.bytes / 1e9, time);
	return print_text(strbuf_str(&out), out.len);
}
