/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two reports made in memory, for tests of writers: one of an exact device, one of two random ones, with names that need
 * escaping.
 */
#ifndef REPORT_SAMPLE_H
#define REPORT_SAMPLE_H

#include <math.h>
#include <string.h>

#include "report/report.h"
#include "unit.h"

#define SAMPLE_WORKLOADS                                                                                                         \
	"'workloads':[{'label':'pft','kind':'pft','options':{'size':'67108864','threads':'1','processes':'0','cachelines':'1',"  \
	"'compat':'none','iterations':'5','warmup':'2','cgroup':'auto'}}],"

static const char sample_exact_description[] =
	"{'schema':1,'tool':'0.1.0','name':'m','seed':1,'blocks':3,'baseline':'off/plain/0',"
	"'command':'memcg-ab run kernel-patches/disabled-overhead/matrix.yaml --only */disabled/* --runs runs/of/last/night "
	"--lab lab.yaml',"
	"'measure':{'blocks':3,'seed':1,'order':'random','half_width':0,'pilot':8,'looks':0,'aa':true,'layout':true},"
	"'kernels':[{'name':'','kind':'kbuild','source':'linux-5.10','wanted':'linux-5.10','version':'5.10.262','arch':'arm64',"
	"'origin':'deb linux-source-5.10 5.10.262-1','toolchain':'gcc 12.2.0','base_config':'allnoconfig'}],"
	"'configs':[{'name':'off','options':['CONFIG_SWAP=y','CONFIG_MEMCG=n']},{'name':'on','options':['CONFIG_SWAP=y','CONFIG_"
	"MEMCG=y']}],"
	"'targets':[{'device':'qemu-virt','cores':'all','kind':'qemu','exact':true,'summary':'cortex-a57 icount','blocks':3,"
	"'version':'QEMU 7.2.22','cmdline':'console=ttyAMA0 nokaslr'}]," SAMPLE_WORKLOADS "'rows':["
	"{'variant':'off/plain/"
	"0','target':0,'config':'off','cmdline':'plain','step':0,'steps':0,'image':'k0','previous':-1,'baseline':0,"
	"'booted_cmdline':'console=ttyAMA0 nokaslr'},"
	"{'variant':'on/dis/"
	"0','target':0,'config':'on','cmdline':'dis','step':0,'steps':3,'image':'k1','previous':-1,'baseline':0,"
	"'booted_cmdline':'console=ttyAMA0 nokaslr cgroup_disable=memory'},"
	"{'variant':'on/dis/"
	"1','target':0,'config':'on','cmdline':'dis','step':1,'steps':3,'image':'k2','previous':1,'baseline':0,"
	"'booted_cmdline':'console=ttyAMA0 nokaslr cgroup_disable=memory','patch':'mm: memcg: early checks, \\u201cone | "
	"two\\u201d <&>'},"
	"{'variant':'on/dis/"
	"2','target':0,'config':'on','cmdline':'dis','step':2,'steps':3,'image':'k3','previous':2,'baseline':0,"
	"'booted_cmdline':'console=ttyAMA0 nokaslr cgroup_disable=memory','patch':'mm: memcg: inline charge'},"
	"{'variant':'on/dis/"
	"3','target':0,'config':'on','cmdline':'dis','step':3,'steps':3,'image':'k4','previous':3,'baseline':0,"
	"'booted_cmdline':'console=ttyAMA0 nokaslr cgroup_disable=memory','patch':'mm: memcg: inline swap'}]}";

/* The names of the second target's rows are as bad as a matrix may have them. */
static const char sample_random_description[] =
	"{'schema':1,'tool':'0.1.0','name':'a|b','seed':7,'blocks':12,'baseline':'off/plain/0','command':'memcg-ab run m.yaml',"
	"'measure':{'blocks':12,'seed':7,'order':'abba','half_width':0.005,'pilot':8,'looks':0,'aa':true,'layout':true},"
	"'kernels':[{'name':'','kind':'kbuild','source':'x','version':'6.12.9','arch':'arm64','toolchain':'clang "
	"19','base_config':'defconfig'}],"
	"'configs':[{'name':'off','options':['CONFIG_MEMCG=n']},{'name':'on','options':['CONFIG_MEMCG=y']},{'name':'a|*b*','"
	"options':[]}],"
	"'targets':[{'device':'phone','cores':'big','kind':'fastboot','exact':false,'summary':'2x "
	"Cortex-A78','blocks':12,'cmdline':'',"
	"'frequency':'2.25 GHz fixed'},"
	"{'device':'sim "
	"<2>','cores':'all','kind':'sim','exact':false,'summary':'simulated','blocks':12,'cmdline':''}]," SAMPLE_WORKLOADS
	"'rows':["
	"{'variant':'off/plain/0','target':0,'config':'off','cmdline':'plain','step':0,'image':'k','previous':-1,'baseline':0},"
	"{'variant':'on/dis/"
	"0','target':0,'config':'on','cmdline':'dis','step':0,'steps':3,'image':'k','previous':-1,'baseline':0,"
	"'booted_cmdline':'cgroup_disable=memory'},"
	"{'variant':'on/dis/1','target':0,'config':'on','cmdline':'dis','step':1,'steps':3,'image':'k','previous':1,'baseline':0,"
	"'patch':'mm: early checks','booted_cmdline':'cgroup_disable=memory'},"
	"{'variant':'on/dis/2','target':0,'config':'on','cmdline':'dis','step':2,'steps':3,'image':'k','previous':2,'baseline':0,"
	"'patch':'mm: inline charge','booted_cmdline':'cgroup_disable=memory'},"
	"{'variant':'on/dis/3','target':0,'config':'on','cmdline':'dis','step':3,'steps':3,'image':'k','previous':3,'baseline':0,"
	"'patch':'mm: inline swap','booted_cmdline':'cgroup_disable=memory'},"
	"{'variant':'off/plain/"
	"0#aa','control':'aa','target':0,'config':'off','cmdline':'plain','step':0,'image':'k','previous':-1,'baseline':0},"
	"{'variant':'off/plain/"
	"0#replicate','control':'replicate','target':0,'config':'off','cmdline':'plain','image':'k','previous':-1,'baseline':0},"
	"{'variant':'off/plain/"
	"0#layout','control':'layout','target':0,'config':'off','cmdline':'plain','image':'k','previous':-1,'baseline':0},"
	"{'variant':'off/plain/0','target':1,'config':'off','cmdline':'plain','step':0,'image':'k','previous':-1,'baseline':8},"
	"{'variant':'a|*b*/\\\"q\\\", x/0','target':1,'config':'a|*b*','cmdline':'\\\"q\\\", "
	"x','step':0,'image':'k','previous':-1,'baseline':8,"
	"'booted_cmdline':'root=<x>&y|z `w`'},"
	"{'variant':'on/dis/0','target':1,'config':'on','cmdline':'dis','step':0,'image':'k','previous':-1,'baseline':8}]}";

/* A row's control by its description. */
static enum row_control sample_control(const struct jnode *description)
{
	const char *name = jnode_string(description, "control", "none");

	return !strcmp(name, "aa")	    ? CONTROL_AA
	       : !strcmp(name, "replicate") ? CONTROL_REPLICATE
	       : !strcmp(name, "layout")    ? CONTROL_LAYOUT
					    : CONTROL_NONE;
}

/* `text` is JSON with ' for ". */
static struct report *sample_new(const char *text, const char *run_id, size_t blocks)
{
	struct report *report = xcalloc(1, sizeof(*report));
	AUTO_FREE char *json = xstrdup(text);

	for (char *at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	assert_ok(jnode_parse(json, strlen(json), "sample", &report->run));
	report->run_id = xstrdup(run_id);
	report->n_blocks = blocks;
	report->finished = true;
	report->alpha = 0.05;
	report->n_rows = jnode_size(jnode_get(report->run, "rows"));
	report->rows = xcalloc(report->n_rows, sizeof(*report->rows));
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct jnode *description = jnode_item(jnode_get(report->run, "rows"), i);
		report->rows[i] = (struct report_row){
			.description = description,
			.target = jnode_item(jnode_get(report->run, "targets"), (size_t)jnode_int(description, "target", 0)),
			.kernel = jnode_item(jnode_get(report->run, "kernels"), 0),
			.variant = jnode_string(description, "variant", ""),
			.baseline = (ssize_t)jnode_int(description, "baseline", -1),
			.previous = (ssize_t)jnode_int(description, "previous", -1),
			.control = sample_control(description),
			.boots = blocks,
			.samples = 5 * blocks,
		};
	}
	return report;
}

/* Adds a metric; for a random one `sd` is the boots' sd as a fraction, for an exact one its spread in its unit. */
static struct report_metric *sample_metric(struct report *report, size_t row, const char *name, double mean, double sd,
					   size_t boots)
{
	struct report_row *into = &report->rows[row];
	const struct workload_kind *kind = workload_find("pft");
	bool exact = jnode_bool(into->target, "exact", false);
	double unit_sd = exact ? sd : sd * mean;

	into->metrics = array_grow(into->metrics, into->n_metrics, sizeof(*into->metrics));
	struct report_metric *metric = &into->metrics[into->n_metrics++];
	*metric = (struct report_metric){
		.name = xstrdup(name),
		.label = "pft",
		.mean = mean,
		.sd_boot = exact ? NAN : sd,
		.sd_iteration = exact ? NAN : 4 * sd,
		.robust = NAN,
		.exact = { .boots = boots, .mean = mean, .spread = sd },
		.level = { .n = boots,
			   .mean = mean,
			   .sd = unit_sd,
			   .median = mean,
			   .min = mean - unit_sd,
			   .max = mean + unit_sd },
	};
	for (size_t i = 0; i < kind->n_metrics; i++) {
		AUTO_FREE char *full = xasprintf("pft.%s.%s", kind->metrics[i].phase, kind->metrics[i].unit);
		if (!strcmp(full, name))
			metric->info = &kind->metrics[i];
	}
	assert_non_null(metric->info);
	return metric;
}

static void sample_exact_difference(struct report_difference *difference, double delta, double spread, double ratio)
{
	*difference = (struct report_difference){
		.present = true,
		.exact = { .boots = 3, .delta = delta, .spread = spread, .ratio = ratio, .resolved = fabs(delta) > spread },
		.ratio = ratio,
		.resolved = fabs(delta) > spread,
		.ci95 = { NAN, NAN },
		.ci95_family = { NAN, NAN },
		.p_adjusted = NAN,
		.detectable = NAN,
	};
}

/* `mark`: ' ' resolved, '~', '?', '^'. */
static void sample_random_difference(struct report_difference *difference, double ratio, double half, char mark)
{
	double p = mark == ' ' || mark == '^' ? 0.001 : mark == '?' ? 0.03 : 0.6;

	*difference = (struct report_difference){
		.present = true,
		.random = { .method = COMPARE_WELCH,
			    .n = 12,
			    .n_reference = 24,
			    .log_ratio = log1p(ratio),
			    .se = half / 2,
			    .df = 20.5,
			    .p = p },
		.ratio = ratio,
		.ci95 = { ratio - half, ratio + half },
		.ci95_family = { ratio - 1.5 * half, ratio + 1.5 * half },
		.p_adjusted = mark == '?' ? 3 * p : p,
		.detectable = 1.4 * half,
		.resolved = mark == ' ' || mark == '^',
		.resolved_alone = mark == '?',
		.below_floor = mark == '^',
	};
}

static struct report_gate *sample_gate(struct report *report, size_t row, const char *metric, double limit, double value,
				       enum verdict verdict)
{
	report->gates = array_grow(report->gates, report->n_gates, sizeof(*report->gates));
	struct report_gate *gate = &report->gates[report->n_gates++];
	*gate = (struct report_gate){
		.metric = metric,
		.row = row,
		.against = xstrdup("baseline"),
		.limit = limit,
		.value = value,
		.spread = NAN,
		.ci95 = { NAN, NAN },
		.verdict = verdict,
	};
	return gate;
}

static void sample_finding(struct report *report, enum finding_kind kind, size_t target, const char *metric, bool invalid,
			   const char *text)
{
	report->findings = array_grow(report->findings, report->n_findings, sizeof(*report->findings));
	report->findings[report->n_findings++] = (struct report_finding){ .kind = kind,
									  .target = target,
									  .metric = metric ? xstrdup(metric) : NULL,
									  .invalid = invalid,
									  .text = xstrdup(text) };
}

static void sample_fail(struct report *report, size_t row, enum row_status status, const char *reason)
{
	report->rows[row].status = status;
	report->rows[row].reason = xstrdup(reason);
	report->rows[row].boots = 0;
}

/* The ladder of the trial by hand: the third step crashes, the last does not build. */
static struct report *sample_exact(void)
{
	struct report *report = sample_new(sample_exact_description, "m/20261201T101500Z-1a2b3c", 3);
	static const double fault[] = { 1587.9, 1711.0, 1675.6 }, teardown[] = { 903.3, 1001.5, 1001.8 };

	for (size_t i = 0; i < 3; i++) {
		struct report_metric *metric = sample_metric(report, i, "pft.fault.insn", fault[i], 0.25, 3);
		if (i)
			sample_exact_difference(&metric->baseline, fault[i] - fault[0], 0.2, fault[i] / fault[0] - 1);
		if (i == 2)
			sample_exact_difference(&metric->previous, fault[2] - fault[1], 0.1, fault[2] / fault[1] - 1);
		metric = sample_metric(report, i, "pft.teardown.insn", teardown[i], 0.01, 3);
		if (i)
			sample_exact_difference(&metric->baseline, teardown[i] - teardown[0], 0.02,
						teardown[i] / teardown[0] - 1);
		if (i == 2)
			sample_exact_difference(&metric->previous, teardown[2] - teardown[1], 0.4, teardown[2] / teardown[1] - 1);
		sample_metric(report, i, "pft.fault.insn_k", fault[i] - 4, 0.25, 3);
	}
	sample_fail(report, 3, ROW_BOOT_FAILED, "block 1: kernel panic: \x1b[1mOops\x1b[0m at \xff|, \"memcg\" <NULL>");
	sample_fail(report, 4, ROW_BUILD_FAILED, "mm/memcontrol.c:12:1: error: \xe2\x80\x98x\xe2\x80\x99 undeclared");
	sample_gate(report, 2, "pft.fault.insn", 0.08, 0.0552, VERDICT_PASS)->spread = 0.0002;
	sample_gate(report, 1, "pft.fault.insn", 0.05, 0.0775, VERDICT_FAIL)->spread = 0.0001;
	sample_gate(report, 4, "pft.fault.insn", 0.08, NAN, VERDICT_INVALID)->reason = xstrdup("its kernel did not build");
	report->exit_status = 1;
	return report;
}

static void sample_random_rows(struct report *report)
{
	static const struct {
		size_t row;
		double rate, sd, baseline, previous;
		char baseline_mark, previous_mark;
	} rows[] = {
		{ 0, 512340, 0.0041, NAN, NAN, 0, 0 },
		{ 1, 481550, 0.0044, -0.0601, NAN, ' ', 0 },
		{ 2, 492510, 0.0040, -0.0387, 0.0228, ' ', ' ' },
		{ 3, 494460, 0.0043, -0.0349, 0.0040, ' ', '?' },
		{ 4, 499630, 0.0042, -0.0248, 0.0105, '^', '~' },
		{ 5, 512105, 0.0038, -0.0005, NAN, '~', 0 },
		{ 7, 510105, 0.0038, -0.0044, NAN, ' ', 0 },
		{ 8, 500000, 0.0050, NAN, NAN, 0, 0 },
		{ 9, 400000, 0.0051, -0.2, NAN, ' ', 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int time = 1; time >= 0; time--) {
			struct report_metric *metric =
				sample_metric(report, rows[i].row, time ? "pft.fault.ns" : "pft.fault.rate",
					      time ? 1e9 / rows[i].rate : rows[i].rate, rows[i].sd, rows[i].row ? 12 : 24);
			if (rows[i].baseline_mark)
				sample_random_difference(&metric->baseline,
							 time ? 1 / (1 + rows[i].baseline) - 1 : rows[i].baseline, 0.0035,
							 rows[i].baseline_mark);
			if (rows[i].previous_mark)
				sample_random_difference(&metric->previous,
							 time ? 1 / (1 + rows[i].previous) - 1 : rows[i].previous, 0.0034,
							 rows[i].previous_mark);
		}
}

/* A phone's big cores with all controls and all verdicts, and a device whose names are bad and whose lab is too. */
static struct report *sample_random(void)
{
	struct report *report = sample_new(sample_random_description, "a|b/20261201T101500Z-1a2b3c", 12);

	sample_random_rows(report);
	sample_fail(report, 10, ROW_LAB, "block 2: no device");
	sample_gate(report, 1, "pft.fault.rate", 0.02, 0.064, VERDICT_FAIL)->ci95 = (struct interval){ 0.06, 0.068 };
	sample_gate(report, 2, "pft.fault.rate", 0.08, 0.0403, VERDICT_PASS)->ci95 = (struct interval){ 0.037, 0.043 };
	struct report_gate *gate = sample_gate(report, 4, "pft.fault.rate", 0.025, 0.0254, VERDICT_NOT_RESOLVED);
	gate->ci95 = (struct interval){ 0.022, 0.0288 };
	gate->equivalence = true;
	gate->detectable = 0.0049;
	gate->boots_needed = 340;
	sample_gate(report, 10, "pft.fault.rate", 0.02, NAN, VERDICT_INVALID)->reason = xstrdup("block 2: no device");
	report->floors = xcalloc(1, sizeof(*report->floors));
	report->floors[report->n_floors++] = (struct report_floor){
		.target = 0,
		.metric = xstrdup("pft.fault.rate"),
		.floor = 0.0044,
		.components = { .sd_within = 0.02, .sd_between = 0.0041, .icc = 0.04, .iterations = 5, .best_iterations = 31 },
	};
	sample_finding(report, FINDING_FLOOR, 0, "pft.fault.rate", false,
		       "the baseline rebuilt with its code moved is 0.44% slower: smaller differences are not claimed");
	sample_finding(report, FINDING_AA, 1, NULL, true,
		       "the A/A pair differs by 1.2% (p = 0.0002): look for what changed between boots");
	report->exit_status = 1;
	return report;
}

#endif
