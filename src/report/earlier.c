/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/difference.h"
#include "report/findings.h"
#include "report/measure.h"
#include "run/folder.h"

/* True for a folder of the report's own name that is the report's or younger. */
static bool not_before(const struct report *report, const char *dir)
{
	AUTO_FREE char *parent = path_dirname(dir);
	AUTO_FREE char *id = xasprintf("%s/%s", path_basename(parent), path_basename(dir));
	const char *own = strrchr(report->run_id, '/');
	size_t name = (size_t)(own - report->run_id) + 1;

	return !strncmp(id, report->run_id, name) && strcmp(id, report->run_id) >= 0;
}

static struct error *newest_finished(const struct report *report, const char *name, const struct report_options *options,
				     struct report **earlier_out)
{
	AUTO_STRLIST dirs = { NULL, 0 };

	run_folders(report->runs_dir, name, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		struct report *earlier = NULL;
		if (not_before(report, dirs.items[i]))
			continue;
		struct error *error = report_measure(dirs.items[i], options, &earlier);
		if (error)
			return error;
		if (earlier->finished) {
			*earlier_out = earlier;
			return NULL;
		}
		report_free(earlier);
	}
	return error_new(ERROR_INPUT, "there is no finished earlier run of '%s' in %s", name, report->runs_dir);
}

struct error *earlier_load(const struct report *report, const char *run, struct report **earlier_out)
{
	const struct report_options options = { .arithmetic = report->arithmetic, .runs_dir = report->runs_dir };
	AUTO_FREE char *dir = NULL;

	if (!strchr(run, '/'))
		return newest_finished(report, run, &options, earlier_out);
	struct error *error = run_folder_resolve(report->runs_dir, run, &dir);
	return error ? error : report_measure(dir, &options, earlier_out);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static const struct report_row *find_row(const struct report *report, const struct jnode *target, const char *variant)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		if (!strcmp(row->variant, variant) &&
		    same_text(jnode_string(row->target, "device", NULL), jnode_string(target, "device", NULL)) &&
		    same_text(jnode_string(row->target, "cores", "all"), jnode_string(target, "cores", "all")))
			return row;
	}
	return NULL;
}

static const char *config_of(const struct report_row *row)
{
	return jnode_string(row->image, "config_sha256", jnode_string(row->description, "config_sha256", NULL));
}

static char *workload_text(const struct report *report, const char *label)
{
	const struct jnode *workloads = jnode_get(report->run, "workloads");
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < jnode_size(workloads); i++)
		if (!strcmp(jnode_string(jnode_item(workloads, i), "label", ""), label))
			jnode_write(jnode_item(workloads, i), 0, &text);
	return strbuf_steal(&text);
}

static void compare_texts(const char *what, const char *now, const char *then, struct strbuf *out)
{
	if (same_text(now, then))
		return;
	strbuf_addf(out, "%s%s (%.60s, was %.60s)", out->len ? ", " : "", what, now ? now : "none", then ? then : "none");
}

/* What of that which an exact number depends on is not the same; NULL when all is. */
static char *what_differs(const struct report *report, const struct report_row *row, const struct report *earlier,
			  const struct report_row *then, const char *label)
{
	AUTO_FREE char *settings = workload_text(report, label);
	AUTO_FREE char *then_settings = workload_text(earlier, label);
	AUTO_STRBUF list = STRBUF_INIT;

	compare_texts("toolchain", jnode_string(row->description, "toolchain", NULL),
		      jnode_string(then->description, "toolchain", NULL), &list);
	compare_texts(".config", config_of(row), config_of(then), &list);
	compare_texts("device version", jnode_string(row->target, "version", NULL), jnode_string(then->target, "version", NULL),
		      &list);
	compare_texts("device profile", jnode_string(row->target, "profile_digest", NULL),
		      jnode_string(then->target, "profile_digest", NULL), &list);
	compare_texts("command line", jnode_string(row->description, "booted_cmdline", NULL),
		      jnode_string(then->description, "booted_cmdline", NULL), &list);
	if (strcmp(settings, then_settings))
		strbuf_addf(&list, "%sworkload settings", list.len ? ", " : "");
	if (!list.len)
		return NULL;
	return xasprintf("exact numbers of %s do not compare: different %s", earlier->run_id, strbuf_str(&list));
}

static void compare_exact(const struct report *report, const struct report_row *row, const struct report *earlier,
			  const struct report_row *then, const char *name, struct earlier_difference *out)
{
	const struct report_metric *metric = report_find_metric(row, name), *before = report_find_metric(then, name);
	size_t blocks = report->n_blocks < earlier->n_blocks ? report->n_blocks : earlier->n_blocks;

	out->reason = what_differs(report, row, earlier, then, metric->label);
	if (!out->reason)
		exact_difference(before->boots, metric->boots, blocks, &out->exact);
}

/* Row over anchor within one run; why not, as a string to free, or NULL. */
static char *anchored(const struct report *report, const struct report_row *row, const char *anchor, const char *name,
		      struct comparison *out)
{
	const struct report_row *reference = find_row(report, row->target, anchor);
	const struct report_metric *metric = report_find_metric(row, name);
	const struct report_metric *other = reference ? report_find_metric(reference, name) : NULL;
	const struct report_finding *invalid = findings_invalid(report, report_row_target(row));

	if (reference == row)
		return xasprintf("%s is its own anchor: name another row that both runs measure", row->variant);
	if (!other)
		return xasprintf("the anchor %s has no %s in %s", anchor, name, report->run_id);
	if (invalid)
		return xasprintf("the data of %s are invalid: %s", report->run_id, invalid->text);
	differences_compare(report, row, other, metric, out);
	return out->method == COMPARE_NONE ? xasprintf("%s has too few boots in %s", name, report->run_id) : NULL;
}

static void compare_random(const struct report *report, const struct report_row *row, const struct report *earlier,
			   const struct report_row *then, const char *name, const char *anchor, struct earlier_difference *out)
{
	struct comparison now, before;

	if (!anchor)
		anchor = row->baseline >= 0 ? report->rows[row->baseline].variant : "";
	AUTO_FREE char *settings = workload_text(report, report_find_metric(row, name)->label);
	AUTO_FREE char *then_settings = workload_text(earlier, report_find_metric(then, name)->label);
	if (strcmp(settings, then_settings)) {
		out->reason = xasprintf("%s had other workload settings", earlier->run_id);
		return;
	}
	out->reason = anchored(report, row, anchor, name, &now);
	if (!out->reason)
		out->reason = anchored(earlier, then, anchor, name, &before);
	if (!out->reason)
		compare_quotient(&now, &before, &out->random);
}

void earlier_compare(const struct report *report, size_t index, const char *metric, const struct report *earlier,
		     const char *anchor, struct earlier_difference *out)
{
	const struct report_row *row = &report->rows[index], *then = find_row(earlier, row->target, row->variant);

	*out = (struct earlier_difference){ .reason = NULL };
	if (!then)
		out->reason = xasprintf("%s has no row %s on %s", earlier->run_id, row->variant,
					jnode_string(row->target, "device", ""));
	else if (!report_find_metric(row, metric))
		out->reason = xasprintf("%s has no %s%s%s", row->variant, metric, row->reason ? ": " : "",
					row->reason ? row->reason : "");
	else if (!report_find_metric(then, metric))
		out->reason = xasprintf("%s of %s has no %s%s%s", row->variant, earlier->run_id, metric, then->reason ? ": " : "",
					then->reason ? then->reason : "");
	else if (report_row_exact(row) != report_row_exact(then))
		out->reason = xasprintf("the device was of another kind in %s", earlier->run_id);
	else if (report_row_exact(row))
		compare_exact(report, row, earlier, then, metric, out);
	else
		compare_random(report, row, earlier, then, metric, anchor, out);
}
