/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JUnit XML: a suite a target; in it a case a row and a case a gate. A kernel that is worse, does not build or does not boot is
 * a failure, a lab that could not tell is an error, a gate that is not resolved is skipped. Class names hold the matrix' name
 * and not the run's folder, so that a consumer can follow a case over runs.
 */
#include <string.h>

#include "report/report.h"
#include "report/words.h"
#include "report/xml.h"

enum outcome { OUTCOME_PASSED, OUTCOME_FAILURE, OUTCOME_ERROR, OUTCOME_SKIPPED, N_OUTCOMES };

static enum outcome row_outcome(const struct report_row *row)
{
	static const enum outcome outcomes[] = {
		[ROW_OK] = OUTCOME_PASSED,	     [ROW_BUILD_FAILED] = OUTCOME_FAILURE,
		[ROW_BOOT_FAILED] = OUTCOME_FAILURE, [ROW_VOID] = OUTCOME_ERROR,
		[ROW_LAB] = OUTCOME_ERROR,
	};

	return outcomes[row->status];
}

static enum outcome gate_outcome(const struct report_gate *gate)
{
	static const enum outcome outcomes[] = {
		[VERDICT_PASS] = OUTCOME_PASSED,
		[VERDICT_FAIL] = OUTCOME_FAILURE,
		[VERDICT_NOT_RESOLVED] = OUTCOME_SKIPPED,
		[VERDICT_INVALID] = OUTCOME_ERROR,
	};

	return outcomes[gate->verdict];
}

/* A case with its outcome; `type` and `message` say why it did not pass, `said` is its output (or NULL). */
static void write_case(struct strbuf *out, const char *class, const char *name, enum outcome outcome, const char *type,
		       const char *message, const char *said)
{
	static const char *const elements[N_OUTCOMES] = {
		[OUTCOME_FAILURE] = "failure", [OUTCOME_ERROR] = "error", [OUTCOME_SKIPPED] = "skipped"
	};

	strbuf_adds(out, "    <testcase");
	xml_add_attribute(out, "classname", class);
	xml_add_attribute(out, "name", name);
	strbuf_adds(out, ">\n");
	if (outcome != OUTCOME_PASSED) {
		strbuf_addf(out, "      <%s", elements[outcome]);
		xml_add_attribute(out, "message", message);
		xml_add_attribute(out, "type", outcome == OUTCOME_SKIPPED ? NULL : type);
		strbuf_adds(out, "/>\n");
	}
	if (said) {
		strbuf_adds(out, "      <system-out>");
		xml_add_text(out, said);
		strbuf_adds(out, "</system-out>\n");
	}
	strbuf_adds(out, "    </testcase>\n");
}

static void write_row(struct strbuf *out, const char *class, const struct report_row *row)
{
	AUTO_FREE char *name = xasprintf("boots of %s", row->variant);
	const char *status = row_status_name(row->status);
	AUTO_FREE char *message = xasprintf("%s: %s", status, row->reason ? row->reason : "no reason was recorded");
	AUTO_FREE char *said = xasprintf("%zu boots, %zu more lost; %zu of %zu samples left out", row->boots, row->lost,
					 row->dropped, row->samples);

	write_case(out, class, name, row_outcome(row), status, message, row->status == ROW_OK ? said : NULL);
}

/* What a case is called stays the same when its limit or its value changes. */
static char *gate_name(const struct report *report, const struct report_gate *gate)
{
	return xasprintf("%s of %s %s %s", gate->metric, report->rows[gate->row].variant, gate->equivalence ? "as" : "against",
			 gate->against);
}

static void write_gate(struct strbuf *out, const char *class, const struct report *report, const struct report_gate *gate)
{
	AUTO_FREE char *name = gate_name(report, gate);
	AUTO_FREE char *claim = words_gate(report, gate);
	AUTO_FREE char *value = words_gate_value(gate);
	AUTO_FREE char *reason = words_gate_reason(gate);
	AUTO_STRBUF message = STRBUF_INIT;

	strbuf_addf(&message, "%s: %s", words_verdict(gate->verdict), claim);
	if (*value)
		strbuf_addf(&message, ": %s", value);
	if (reason)
		strbuf_addf(&message, "; %s", reason);
	AUTO_FREE char *aa = words_control(report, report_row_target(&report->rows[gate->row]), CONTROL_AA, gate->metric);
	AUTO_FREE char *said = aa ? xasprintf("%s\nA/A: %s", strbuf_str(&message), aa) : xstrdup(strbuf_str(&message));
	write_case(out, class, name, gate_outcome(gate), verdict_name(gate->verdict), strbuf_str(&message), said);
}

static void count(const struct report *report, const struct jnode *target, size_t counts[N_OUTCOMES], size_t *n_out)
{
	*n_out = 0;
	for (size_t i = 0; i < N_OUTCOMES; i++)
		counts[i] = 0;
	for (size_t i = 0; i < report->n_rows; i++)
		if (!target || report->rows[i].target == target) {
			counts[row_outcome(&report->rows[i])]++;
			++*n_out;
		}
	for (size_t i = 0; i < report->n_gates; i++)
		if (!target || report->rows[report->gates[i].row].target == target) {
			counts[gate_outcome(&report->gates[i])]++;
			++*n_out;
		}
}

/* `target` NULL: of all suites. */
static void write_counts(struct strbuf *out, const struct report *report, const struct jnode *target)
{
	size_t counts[N_OUTCOMES], n;

	count(report, target, counts, &n);
	strbuf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", n, counts[OUTCOME_FAILURE],
		    counts[OUTCOME_ERROR], counts[OUTCOME_SKIPPED]);
}

static void write_property(struct strbuf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_adds(out, "      <property");
	xml_add_attribute(out, "name", name);
	xml_add_attribute(out, "value", value);
	strbuf_adds(out, "/>\n");
}

/* What the numbers hold for. */
static void write_properties(struct strbuf *out, const struct report *report, size_t index)
{
	const struct jnode *target = jnode_item(jnode_get(report->run, "targets"), index);
	const struct jnode *measure = jnode_get(report->run, "measure"), *workloads = jnode_get(report->run, "workloads");
	AUTO_FREE char *seed = xasprintf("%lld", (long long)jnode_int(measure, "seed", jnode_int(report->run, "seed", 0)));
	AUTO_FREE char *machine = words_device(target);
	AUTO_FREE char *frequency = words_frequency(target);

	strbuf_adds(out, "    <properties>\n");
	write_property(out, "run", report->run_id);
	write_property(out, "tool", jnode_string(report->run, "tool", NULL));
	write_property(out, "baseline", jnode_string(report->run, "baseline", NULL));
	write_property(out, "seed", seed);
	write_property(out, "device", jnode_string(target, "device", NULL));
	write_property(out, "cores", jnode_string(target, "cores", "all"));
	write_property(out, "machine", machine);
	write_property(out, "frequency", frequency);
	write_property(out, "cmdline", jnode_string(target, "cmdline", NULL));
	write_property(out, "A/A", words_no_aa(report, index));
	for (size_t i = 0; i < report->n_rows; i++) {
		if (report->rows[i].target != target)
			continue;
		AUTO_FREE char *kernel = words_kernel(&report->rows[i]);
		AUTO_FREE char *facts = words_row_facts(report, &report->rows[i]);
		if (words_first_of_kernel(report, i))
			write_property(out, "kernel", kernel);
		write_property(out, "row", facts);
	}
	for (size_t i = 0; i < jnode_size(workloads); i++) {
		AUTO_FREE char *options = words_options(jnode_item(workloads, i));
		AUTO_FREE char *words = words_measure(report, index, jnode_item(workloads, i));
		AUTO_FREE char *text =
			xasprintf("%s: %s; %s", jnode_string(jnode_item(workloads, i), "label", ""), options, words);
		write_property(out, "workload", text);
	}
	write_property(out, "command", jnode_string(report->run, "command", NULL));
	strbuf_adds(out, "    </properties>\n");
}

static void write_findings(struct strbuf *out, const struct report *report, size_t target)
{
	bool any = false;

	for (size_t i = 0; i < report->n_findings; i++) {
		if (report->findings[i].target != target)
			continue;
		AUTO_FREE char *line = words_finding(report, &report->findings[i]);
		strbuf_adds(out, any ? "\n" : "    <system-out>");
		xml_add_text(out, line);
		any = true;
	}
	if (any)
		strbuf_adds(out, "</system-out>\n");
}

static void write_suite(struct strbuf *out, const struct report *report, size_t index)
{
	const struct jnode *target = jnode_item(jnode_get(report->run, "targets"), index);
	AUTO_FREE char *name = words_target(target);
	AUTO_FREE char *class = xasprintf("%s/%s", jnode_string(report->run, "name", ""), name);

	strbuf_adds(out, "  <testsuite");
	xml_add_attribute(out, "name", class);
	write_counts(out, report, target);
	write_properties(out, report, index);
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].target == target)
			write_row(out, class, &report->rows[i]);
	for (size_t i = 0; i < report->n_gates; i++)
		if (report->rows[report->gates[i].row].target == target)
			write_gate(out, class, report, &report->gates[i]);
	write_findings(out, report, index);
	strbuf_adds(out, "  </testsuite>\n");
}

static void write(const struct report *report, struct strbuf *out)
{
	strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	xml_add_attribute(out, "name", report->run_id);
	write_counts(out, report, NULL);
	for (size_t i = 0; i < jnode_size(jnode_get(report->run, "targets")); i++)
		write_suite(out, report, i);
	strbuf_adds(out, "</testsuites>\n");
}

const struct report_writer report_writer_junit = { "junit", "JUnit XML, a case a gate and a row", write };
