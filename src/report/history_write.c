/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/floor.h"
#include "report/history.h"
#include "report/words.h"

#define N_COLUMNS 7

static double before_ratio(const struct history_line *line)
{
	return line->exact ? line->before.exact.ratio : compare_ratio(&line->before.random);
}

/* "better", "worse", "same" (not resolved), "not-comparable", "anchor", "first" */
static const char *before_verdict(const struct history_line *line)
{
	if (line->anchor)
		return "anchor";
	if (!line->has_before)
		return "first";
	if (line->before.reason)
		return "not-comparable";
	bool resolved = line->exact ? line->before.exact.resolved : line->before.random.p <= REPORT_ALPHA;
	if (!resolved)
		return "same";
	return (before_ratio(line) > 0) == line->higher_is_better ? "better" : "worse";
}

static char *baseline_text(const struct history_line *line)
{
	const struct report_difference *difference = &line->baseline;

	if (!difference->present)
		return xstrdup("-");
	const char *mark = words_mark(difference);
	if (line->exact)
		return xasprintf("%+.1f +-%.1f %+.2f%% %s", difference->exact.delta, difference->exact.spread,
				 100 * difference->ratio, mark);
	return xasprintf("%+.2f%% [%+.2f, %+.2f] %s", 100 * difference->ratio, 100 * difference->ci95.lo,
			 100 * difference->ci95.hi, mark);
}

static char *before_text(const struct history_line *line)
{
	const char *verdict = before_verdict(line);

	if (!line->has_before)
		return xstrdup(line->anchor ? "(anchor)" : "-");
	if (line->before.reason)
		return xasprintf("not comparable: %s", line->before.reason);
	if (line->exact)
		return xasprintf("%+.1f +-%.1f %+.2f%% %s", line->before.exact.delta, line->before.exact.spread,
				 100 * line->before.exact.ratio, verdict);
	struct interval interval = compare_interval(&line->before.random, REPORT_ALPHA, 1);
	return xasprintf("%+.2f%% [%+.2f, %+.2f] %s", 100 * before_ratio(line), 100 * interval.lo, 100 * interval.hi, verdict);
}

struct cells {
	char *texts[N_COLUMNS];
};

static struct cells cells_of(const struct history_line *line)
{
	AUTO_FREE char *value = words_level(line->value);

	return (struct cells){ { xstrdup(line->date), xstrdup(line->run), xstrdup(line->kernel), xstrdup(line->variant),
				 xasprintf("%s %s", value, line->unit), baseline_text(line), before_text(line) } };
}

static void write_cells(const struct cells *cells, const size_t *widths, struct strbuf *out)
{
	for (size_t i = 0; i < N_COLUMNS; i++)
		strbuf_addf(out, "%-*s", i + 1 < N_COLUMNS ? (int)widths[i] + 2 : 0, cells->texts[i]);
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

static void widen(const struct cells *cells, size_t *widths)
{
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (strlen(cells->texts[i]) > widths[i])
			widths[i] = strlen(cells->texts[i]);
}

static bool same_table(const struct history_line *a, const struct history_line *b)
{
	return !strcmp(a->metric, b->metric) && !strcmp(a->device, b->device);
}

/* A table: lines of one metric and device. */
static void write_table(const struct history *history, size_t first, struct strbuf *out)
{
	const struct history_line *head = &history->lines[first];
	struct cells names = { { "date", "run", "kernel", "row", "value", "vs baseline", "vs the run before" } };
	AUTO_FREE struct cells *rows = xcalloc(history->n, sizeof(*rows));
	size_t widths[N_COLUMNS] = { 0 }, n = 0;

	for (size_t i = first; i < history->n; i++)
		if (same_table(head, &history->lines[i]))
			rows[n++] = cells_of(&history->lines[i]);
	widen(&names, widths);
	for (size_t i = 0; i < n; i++)
		widen(&rows[i], widths);
	strbuf_addf(out, "%s on %s, %s is better\n", head->metric, head->device, head->higher_is_better ? "higher" : "lower");
	write_cells(&names, widths, out);
	for (size_t i = 0; i < n; i++) {
		write_cells(&rows[i], widths, out);
		for (size_t k = 0; k < N_COLUMNS; k++)
			free(rows[i].texts[k]);
	}
}

static bool begins_table(const struct history *history, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same_table(&history->lines[i], &history->lines[index]))
			return false;
	return true;
}

static void write_text(const struct history *history, struct strbuf *out)
{
	for (size_t i = 0; i < history->n; i++)
		if (begins_table(history, i))
			write_table(history, i, out);
	strbuf_adds(out, "~ not resolved; ? resolved alone, not after Holm; ^ below the floor of the controls\n");
}

static struct jnode *line_document(const struct history_line *line)
{
	struct jnode *item = jnode_object();
	bool comparable = line->has_before && !line->before.reason;
	struct interval interval = { NAN, NAN };

	if (comparable && !line->exact)
		interval = compare_interval(&line->before.random, REPORT_ALPHA, 1);
	jnode_set_string(item, "date", line->date);
	jnode_set_string(item, "run", line->run);
	jnode_set_string(item, "kernel", line->kernel);
	jnode_set_string(item, "variant", line->variant);
	jnode_set_string(item, "device", line->device);
	jnode_set_string(item, "metric", line->metric);
	jnode_set_string(item, "unit", line->unit);
	jnode_set_real(item, "value", line->value);
	jnode_set_int(item, "boots", (int64_t)line->boots);
	jnode_set_real(item, "vs_baseline", line->baseline.present ? line->baseline.ratio : NAN);
	jnode_set_real(item, "vs_baseline_lo", line->baseline.present ? line->baseline.ci95.lo : NAN);
	jnode_set_real(item, "vs_baseline_hi", line->baseline.present ? line->baseline.ci95.hi : NAN);
	jnode_set_real(item, "vs_before", comparable ? before_ratio(line) : NAN);
	jnode_set_real(item, "vs_before_lo", interval.lo);
	jnode_set_real(item, "vs_before_hi", interval.hi);
	jnode_set_string(item, "verdict", before_verdict(line));
	jnode_set_string(item, "reason", line->before.reason);
	return item;
}

static void write_json(const struct history *history, struct strbuf *out)
{
	AUTO_JNODE list = jnode_array();

	for (size_t i = 0; i < history->n; i++)
		jnode_append(list, line_document(&history->lines[i]));
	jnode_write(list, 1, out);
	strbuf_addch(out, '\n');
}

static void write_quoted(const char *text, struct strbuf *out)
{
	if (!strpbrk(text, ",\"\n\r")) {
		strbuf_adds(out, text);
		return;
	}
	strbuf_addch(out, '"');
	for (; *text; text++)
		strbuf_addf(out, "%s%c", *text == '"' ? "\"" : "", *text);
	strbuf_addch(out, '"');
}

/* The keys and values of the JSON form, as columns. */
static void write_csv(const struct history *history, struct strbuf *out)
{
	for (size_t i = 0; i < history->n; i++) {
		AUTO_JNODE document = line_document(&history->lines[i]);
		for (const char *key = jnode_next_key(document, NULL); !i && key; key = jnode_next_key(document, key))
			strbuf_addf(out, "%s%s", out->len ? "," : "", key);
		if (!i)
			strbuf_addch(out, '\n');
		size_t start = out->len;
		for (const char *key = jnode_next_key(document, NULL); key; key = jnode_next_key(document, key)) {
			const char *text = jnode_string(document, key, NULL);
			double number = jnode_real(document, key, NAN);
			if (out->len > start)
				strbuf_addch(out, ',');
			if (text)
				write_quoted(text, out);
			else if (!isnan(number))
				strbuf_addf(out, "%.15g", number);
		}
		strbuf_addch(out, '\n');
	}
}

struct error *history_write(const struct history *history, const char *format, struct strbuf *out)
{
	static const struct {
		const char *name;
		void (*write)(const struct history *history, struct strbuf *out);
	} formats[] = { { "text", write_text }, { "csv", write_csv }, { "json", write_json } };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, format)) {
			formats[i].write(history, out);
			return NULL;
		}
	return error_new(ERROR_INPUT, "a history has no format '%s': there are text, csv and json", format);
}
