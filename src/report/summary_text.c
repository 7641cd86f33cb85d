/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary_parts.h"
#include "stats/compare.h"

#define ALPHA 0.05
#define POWER 0.8
#define GAP 1

/* A table; the first column is flush left, the others right. */
struct grid {
	size_t columns;
	struct strlist cells;
};

static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void write_grid(struct grid *grid, struct strbuf *out)
{
	AUTO_FREE size_t *widths = xcalloc(grid->columns, sizeof(*widths));

	for (size_t i = 0; i < grid->cells.n; i++) {
		size_t width = width_of(grid->cells.items[i]), *widest = &widths[i % grid->columns];
		*widest = width > *widest ? width : *widest;
	}
	for (size_t i = 0; i < grid->cells.n; i++) {
		size_t column = i % grid->columns;
		int padding = (int)(widths[column] - width_of(grid->cells.items[i]));
		bool last = column + 1 == grid->columns;
		if (column)
			strbuf_addf(out, "%*s%s", padding + GAP, "", grid->cells.items[i]);
		else
			strbuf_addf(out, "%s%*s", grid->cells.items[i], padding, "");
		if (last)
			strbuf_addch(out, '\n');
	}
	strlist_deinit(&grid->cells);
}

/* One row against another. */
struct pair {
	const struct summary_row *row, *reference;
	struct comparison comparison;
	double p_adjusted;
	double weight; /* variance of the log ratio by the variance of boots; 0 = boots are all in the sds */
	double largest; /* sd of boots up to which it is resolved */
};

struct family {
	struct pair *pairs;
	size_t n;
};

static double boot_weight(const struct summary_row *row)
{
	return row->boots && row->boots < row->n ? 1 / (double)row->boots : 0;
}

static void adjust(struct family *family)
{
	AUTO_FREE double *p = xcalloc(family->n, sizeof(*p));
	AUTO_FREE double *adjusted = xcalloc(family->n, sizeof(*adjusted));
	AUTO_FREE double *weights = xcalloc(family->n, sizeof(*weights));
	AUTO_FREE struct comparison *comparisons = xcalloc(family->n, sizeof(*comparisons));

	for (size_t i = 0; i < family->n; i++) {
		comparisons[i] = family->pairs[i].comparison;
		p[i] = comparisons[i].p;
		weights[i] = family->pairs[i].weight;
	}
	holm_adjust(p, family->n, adjusted);
	for (size_t i = 0; i < family->n; i++) {
		family->pairs[i].p_adjusted = adjusted[i];
		family->pairs[i].largest = holm_largest_sd(comparisons, weights, family->n, i, ALPHA);
	}
}

/* The `nth` comparison of each row that has so many; its pairs are the caller's. */
static struct family make_family(const struct summary *summary, size_t nth)
{
	struct family family = { xcalloc(summary->n_rows, sizeof(*family.pairs)), 0 };

	for (size_t i = 0; i < summary->n_rows; i++) {
		const struct summary_row *row = &summary->rows[i];
		if (row->n_against <= nth)
			continue;
		struct pair *pair = &family.pairs[family.n++];
		const struct summary_row *reference = &summary->rows[row->against[nth]];
		*pair = (struct pair){ .row = row, .reference = reference, .weight = boot_weight(row) + boot_weight(reference) };
		compare_summary(reference->mean, reference->sd, reference->n, row->mean, row->sd, row->n, &pair->comparison);
	}
	adjust(&family);
	return family;
}

static void add_p(struct grid *grid, double p)
{
	if (p < 0.0001)
		strlist_add(&grid->cells, "<0.0001");
	else
		strlist_addf(&grid->cells, "%.4f", p);
}

static void add_percent(struct grid *grid, double ratio)
{
	strlist_addf(&grid->cells, "%+.2f%%", 100 * ratio);
}

/* Of the published means as they are; the interval is that of the logarithms. */
static double change_of(const struct pair *pair)
{
	return pair->row->mean / pair->reference->mean - 1;
}

/* Two digits, rounded down: a limit that is not promised too high. */
static char *limit_text(double sd)
{
	int decimals = 1 - (int)floor(log10(100 * sd));
	double unit = pow(10, -decimals);

	return xasprintf("%.*f%%", decimals > 0 ? decimals : 0, floor(100 * sd / unit * (1 + 1e-9)) * unit);
}

static const char *direction(const struct summary *summary, const struct pair *pair)
{
	bool higher = pair->comparison.log_ratio > 0;

	return higher == (summary->better == 1) ? "better" : "worse";
}

static void add_verdict(const struct summary *summary, const struct pair *pair, struct grid *grid)
{
	if (!(pair->p_adjusted <= ALPHA && pair->largest > 0)) {
		strlist_add(&grid->cells, pair->comparison.p <= ALPHA ? "?" : "~");
	} else if (isinf(pair->largest)) {
		strlist_add(&grid->cells, direction(summary, pair));
	} else {
		AUTO_FREE char *limit = limit_text(pair->largest);
		strlist_addf(&grid->cells, "%s below %s", direction(summary, pair), limit);
	}
}

static void write_family(const struct summary *summary, const struct family *family, struct strbuf *out)
{
	struct grid grid = { 7, { NULL, 0 } };
	AUTO_FREE char *title = family->n == 1 ? xstrdup("one comparison") : xasprintf("%zu comparisons together", family->n);
	const char *const heads[] = { "change", "95% interval %", "p", "Holm", "detects", "verdict" };

	strlist_add(&grid.cells, title);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		strlist_add(&grid.cells, heads[i]);
	for (size_t i = 0; i < family->n; i++) {
		const struct pair *pair = &family->pairs[i];
		struct interval interval = compare_interval(&pair->comparison, ALPHA, 1);
		strlist_addf(&grid.cells, "%s vs %s", pair->row->name, pair->reference->name);
		add_percent(&grid, change_of(pair));
		strlist_addf(&grid.cells, "[%+.2f, %+.2f]", 100 * interval.lo, 100 * interval.hi);
		add_p(&grid, pair->comparison.p);
		add_p(&grid, pair->p_adjusted);
		strlist_addf(&grid.cells, "%.2f%%", 100 * compare_detectable(&pair->comparison, ALPHA, POWER));
		add_verdict(summary, pair, &grid);
	}
	strbuf_addch(out, '\n');
	write_grid(&grid, out);
}

static void write_printed(const struct pair *pair, struct strbuf *out)
{
	double printed = pair->row->printed, change = change_of(pair);
	struct interval interval = compare_interval(&pair->comparison, ALPHA, 1);

	if (isnan(printed) || fabs(change - printed) < 0.00005)
		return;
	strbuf_addf(out, "%s: %+.2f%% was printed, the means give %+.2f%%; the interval %s\n", pair->row->name, 100 * printed,
		    100 * change, printed >= interval.lo && printed <= interval.hi ? "holds both" : "leaves it out");
}

/* Arithmetic means of unequally spread numbers are farther apart, or closer, than their logarithms. */
static void write_unequal(const struct pair *pair, struct strbuf *out)
{
	struct interval interval = compare_interval(&pair->comparison, ALPHA, 1);
	double own = compare_ratio(&pair->comparison);

	if (fabs(change_of(pair) - own) > fmax(0.00005, (interval.hi - interval.lo) / 8))
		strbuf_addf(out,
			    "%s vs %s: the sds are so unequal that logarithms, of which the interval is, differ by %+.2f%%\n",
			    pair->row->name, pair->reference->name, 100 * own);
}

static void write_remarks(const struct family *family, struct strbuf *out)
{
	for (size_t i = 0; i < family->n; i++) {
		write_printed(&family->pairs[i], out);
		write_unequal(&family->pairs[i], out);
	}
}

static bool is_resolved_at(const struct family *family, size_t member, double sd)
{
	return sd <= family->pairs[member].largest && family->pairs[member].p_adjusted <= ALPHA;
}

static void write_spreads(const struct summary *summary, const struct family *families, size_t n, struct strbuf *out)
{
	struct grid grid = { summary->n_spreads + 3, { NULL, 0 } };

	strlist_add(&grid.cells, "if boots differ by an sd of");
	strlist_add(&grid.cells, "0");
	for (size_t i = 0; i < summary->n_spreads; i++)
		strlist_addf(&grid.cells, "%g%%", 100 * summary->spreads[i]);
	strlist_add(&grid.cells, "at most");
	for (size_t f = 0; f < n; f++) {
		for (size_t i = 0; i < families[f].n; i++) {
			const struct pair *pair = &families[f].pairs[i];
			AUTO_FREE char *limit = pair->largest > 0 && !isinf(pair->largest)
							? limit_text(pair->largest)
							: xstrdup(pair->largest > 0 ? "any" : "-");
			strlist_addf(&grid.cells, "%s vs %s", pair->row->name, pair->reference->name);
			strlist_add(&grid.cells, is_resolved_at(&families[f], i, 0) ? "yes" : "~");
			for (size_t k = 0; k < summary->n_spreads; k++)
				strlist_add(&grid.cells, is_resolved_at(&families[f], i, summary->spreads[k]) ? "yes" : "~");
			strlist_add(&grid.cells, limit);
		}
	}
	strbuf_addch(out, '\n');
	write_grid(&grid, out);
}

static bool boots_unknown(const struct summary *summary)
{
	for (size_t i = 0; i < summary->n_rows; i++)
		if (boot_weight(&summary->rows[i]) > 0)
			return true;
	return false;
}

static void write_levels(const struct summary *summary, struct strbuf *out)
{
	struct grid grid = { 6, { NULL, 0 } };
	AUTO_FREE char *metric = xasprintf("%s, %s is better", summary->metric, summary->better == 1 ? "higher" : "lower");
	const char *const heads[] = { metric, "mean", "unit", "sd", "runs", "boots" };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		strlist_add(&grid.cells, heads[i]);
	for (size_t i = 0; i < summary->n_rows; i++) {
		const struct summary_row *row = &summary->rows[i];
		strlist_add(&grid.cells, row->name);
		strlist_addf(&grid.cells, "%.9g", row->mean);
		strlist_add(&grid.cells, row->unit ? row->unit : summary->unit);
		strlist_addf(&grid.cells, "%.2f%%", 100 * row->sd / row->mean);
		strlist_addf(&grid.cells, "%llu", (unsigned long long)row->n);
		strlist_add(&grid.cells, "not said");
		if (!row->boots)
			continue;
		free(grid.cells.items[grid.cells.n - 1]);
		grid.cells.items[grid.cells.n - 1] = xasprintf("%llu", (unsigned long long)row->boots);
	}
	write_grid(&grid, out);
}

static void write_notes(bool unknown, struct strbuf *out)
{
	strbuf_adds(out, "\nWelch on logarithms at 5%, Holm among those together; detects: at 80%. ~ is not resolved, ? is\n"
			 "resolved alone, but not after Holm.\n");
	if (unknown)
		strbuf_adds(out,
			    "\"below 1%\" is resolved if boot means differ by an sd of less than that. Intervals and p hold if\n"
			    "boots do not differ at all; runs of one boot cannot show whether they do.\n");
	else
		strbuf_adds(out, "Runs count as independent: if several came from one boot, say so (boots: 1).\n");
}

void summary_text(const struct summary *summary, struct strbuf *out)
{
	struct family families[SUMMARY_AGAINST_MAX];
	size_t n = 0;

	strbuf_addf(out, "%s\n\n", summary->title);
	write_levels(summary, out);
	for (; n < SUMMARY_AGAINST_MAX; n++) {
		families[n] = make_family(summary, n);
		if (!families[n].n)
			continue;
		write_family(summary, &families[n], out);
		write_remarks(&families[n], out);
	}
	bool unknown = boots_unknown(summary);
	if (unknown)
		write_spreads(summary, families, n, out);
	write_notes(unknown, out);
	for (size_t i = 0; i < n; i++)
		free(families[i].pairs);
}
