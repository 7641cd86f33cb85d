/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "run/progress.h"

/* Measured on two cores: a whole kernel, a next step in the same folder, a boot with pft (CONTRIBUTING.md, Times). */
#define FULL_BUILD_MS 270000
#define STEP_BUILD_MS 75000
#define BOOT_MS 4000
#define NEW_FOLDER_BYTES (1600ULL << 20)
#define IMAGE_BYTES (60ULL << 20)

static struct error *print_text(const char *text, size_t len)
{
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout))
		return error_os(errno, "cannot write to standard output");
	return NULL;
}

struct error *print_report(const char *dir, const struct report_writer *writer, int *status_out)
{
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = report_load(dir, &report);

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
		strbuf_addf(out, "  %-28s on %s/%s  %zu boots, %zu stored  \"%s\"%s\n", plan->variants[row->variant].name,
			    target->device->name, target->cores, boots, done, row->booted_cmdline,
			    row->variant == plan->baseline ? "  (baseline)" : "");
	}
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
	estimate.ms += (int64_t)session_owed(session) * BOOT_MS;
	struct error *error = file_tree_size(session->prepared->cache->dir, &used);
	if (error)
		return error;
	AUTO_FREE char *time = duration_text(estimate.ms);
	strbuf_addf(&out, "%zu boots to do; the cache has %.1f GB, about %.1f GB more are needed; about %s on two idle cores\n",
		    session_owed(session), (double)used / 1e9, (double)estimate.bytes / 1e9, time);
	return print_text(strbuf_str(&out), out.len);
}
