/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Section `times`: User / System / Elapsed of an iteration, as time(1) has them. An exact device has no time that means anything: there the
 * same is told in instructions, of user space and of the kernel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/section.h"

#define NS_PER_S 1e9

static const char *const time_units[] = { "user_ns", "system_ns", "elapsed_ns" };

static const struct report_metric *find(const struct report_row *row, const char *label, const char *phase, const char *unit)
{
	AUTO_FREE char *name = xasprintf("%s.%s.%s", label, phase, unit);

	return report_find_metric(row, name);
}

static void add_number(struct section_table *table, int decimals, const struct report_metric *metric, double scale)
{
	AUTO_FREE char *text = metric && !isnan(metric->mean) ? xasprintf("%.*f", decimals, metric->mean / scale) : xstrdup("");

	strlist_add(&table->cells, text);
}

static void add_percent(struct section_table *table, bool present, double ratio)
{
	if (present && isfinite(ratio))
		strlist_addf(&table->cells, "%+.2f", 100 * ratio);
	else
		strlist_add(&table->cells, "");
}

static bool has_times(const struct report_row *row, const char *label)
{
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (!find(row, label, "all", time_units[i]))
			return false;
	return true;
}

static void add_times(const struct report_row *row, const char *label, struct section_table *table)
{
	const struct report_metric *system = find(row, label, "all", "system_ns");
	const struct report_difference *elapsed = &find(row, label, "all", "elapsed_ns")->baseline;

	strlist_add(&table->cells, row->variant);
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		add_number(table, 4, find(row, label, "all", time_units[i]), NS_PER_S);
	add_percent(table, system->baseline.present, system->baseline.ratio);
	add_percent(table, elapsed->present, elapsed->ratio);
	add_percent(table, elapsed->present, elapsed->ci95.lo);
	add_percent(table, elapsed->present, elapsed->ci95.hi);
}

static struct section_table *start(struct section *out, char *title, const char *const *columns, size_t n)
{
	struct section_table *table = section_add(out, title);

	for (size_t i = 0; i < n; i++)
		strlist_add(&table->columns, columns[i]);
	return table;
}

static bool is_listed(const struct report *report, size_t row, size_t target)
{
	return report->rows[row].status == ROW_OK && report->rows[row].control == CONTROL_NONE &&
	       report_row_target(&report->rows[row]) == target;
}

static void fill_times(const struct report *report, size_t target, const char *label, char *title, struct section *out)
{
	static const char *const columns[] = {
		"variant", "User s", "System s", "Elapsed s", "System vs baseline %", "Elapsed vs baseline %", "95% from", "to"
	};
	struct section_table *table = start(out, title, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < report->n_rows; i++)
		if (is_listed(report, i, target) && has_times(&report->rows[i], label))
			add_times(&report->rows[i], label, table);
	strlist_add(&table->notes,
		    table->cells.n
			    ? "of one iteration, means of boots; how CPU time falls into user and system is sampled at ticks "
			      "unless the kernel has CONFIG_VIRT_CPU_ACCOUNTING_GEN"
			    : "this workload told no times on this device");
}

static void add_counts(const struct report_row *row, const char *label, const char *phase, struct section_table *table)
{
	static const char *const units[] = { "insn_u", "insn_k", "insn" };
	const struct report_metric *sum = find(row, label, phase, "insn"), *kernel = find(row, label, phase, "insn_k");

	if (!sum || !kernel)
		return;
	strlist_add(&table->cells, row->variant);
	strlist_add(&table->cells, phase);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		add_number(table, 1, find(row, label, phase, units[i]), 1);
	add_percent(table, kernel->baseline.present, kernel->baseline.ratio);
	add_percent(table, sum->baseline.present, sum->baseline.ratio);
}

static void fill_counts(const struct report *report, size_t target, const struct jnode *workload, char *title,
			struct section *out)
{
	static const char *const columns[] = { "variant",	    "phase", "insn:u", "insn:k", "insn", "insn:k vs baseline %",
					       "insn vs baseline %" };
	const struct workload_kind *kind = workload_find(jnode_string(workload, "kind", ""));
	struct section_table *table = start(out, title, columns, ARRAY_SIZE(columns));

	for (size_t k = 0; kind && k < kind->n_metrics; k++)
		for (size_t i = 0; !strcmp(kind->metrics[k].unit, "insn") && i < report->n_rows; i++)
			if (is_listed(report, i, target))
				add_counts(&report->rows[i], jnode_string(workload, "label", ""), kind->metrics[k].phase, table);
	strlist_add(
		&table->notes,
		table->cells.n
			? "instructions of an operation stand for the times: this device counts exactly, and its clock, which "
			  "follows that count, is no measure of time"
			: "this workload counted no instructions on this device");
}

static void fill(const struct report *report, struct section *out)
{
	const struct jnode *targets = jnode_get(report->run, "targets"), *workloads = jnode_get(report->run, "workloads");

	for (size_t target = 0; target < jnode_size(targets); target++)
		for (size_t i = 0; i < jnode_size(workloads); i++) {
			const struct jnode *workload = jnode_item(workloads, i), *own = jnode_item(targets, target);
			bool exact = jnode_bool(own, "exact", false);
			char *title = xasprintf("%s of %s on %s %s", exact ? "Instructions" : "User / System / Elapsed",
						jnode_string(workload, "label", ""), jnode_string(own, "device", ""),
						jnode_string(own, "cores", ""));
			if (exact)
				fill_counts(report, target, workload, title, out);
			else
				fill_times(report, target, jnode_string(workload, "label", ""), title, out);
		}
}

const struct report_section report_section_times = { "times", "User / System / Elapsed, or instructions on exact devices", fill };
