/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output.h"
#include "report/history.h"
#include "report/section.h"
#include "report/summary.h"
#include "run/folder.h"

struct options {
	const char *run; /* RUN, or with --history NAME */
	const char *format, *runs, *metric, *summary, *section;
	bool arithmetic, history;
};

static struct error *find_writer(const char *name, const struct report_writer **writer_out)
{
	const struct report_writer *writer = report_writer_find(name);
	AUTO_STRBUF known = STRBUF_INIT;

	for (size_t i = 0; !writer && report_writers()[i]; i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", report_writers()[i]->name);
	if (!writer)
		return error_new(ERROR_INPUT, "unknown format '%s': there are %s", name, strbuf_str(&known));
	*writer_out = writer;
	return NULL;
}

static struct error *show_run(const struct options *options, int *status_out)
{
	const struct report_options request = { .arithmetic = options->arithmetic, .runs_dir = options->runs };
	const struct report_writer *writer = NULL;
	AUTO_FREE char *dir = NULL;
	struct error *error = find_writer(options->format, &writer);

	if (!error)
		error = run_folder_resolve(options->runs, options->run, &dir);
	return error ? error : print_report(dir, &request, writer, status_out);
}

static struct error *find_section(const char *name, const struct report_section **section_out)
{
	const struct report_section *section = report_section_find(name);
	AUTO_STRBUF known = STRBUF_INIT;

	for (size_t i = 0; !section && report_sections()[i]; i++)
		strbuf_addf(&known, "%s%s (%s)", i ? ", " : "", report_sections()[i]->name, report_sections()[i]->description);
	if (!section)
		return error_new(ERROR_INPUT, "unknown section '%s': there are %s", name, strbuf_str(&known));
	*section_out = section;
	return NULL;
}

static struct error *show_section(const struct options *options, int *status_out)
{
	const struct report_options request = { .arithmetic = options->arithmetic, .runs_dir = options->runs };
	const struct report_section *section = NULL;
	AUTO_REPORT report = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *dir = NULL;
	struct error *error = find_section(options->section, &section);

	if (!error)
		error = run_folder_resolve(options->runs, options->run, &dir);
	if (!error)
		error = report_load(dir, &request, &report);
	if (error)
		return error;
	if (!section_write(report, section, options->format, &text))
		return error_new(ERROR_INPUT, "a section has no format '%s': there are text, markdown, csv and json",
				 options->format);
	*status_out = report->exit_status;
	return print_text(strbuf_str(&text), text.len);
}

static struct error *show_history(const struct options *options)
{
	const struct history_request request = { options->runs, options->run, options->metric, options->arithmetic };
	struct history history = { NULL, 0 };
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = history_load(&request, &history);

	if (!error)
		error = history_write(&history, options->format, &text);
	history_deinit(&history);
	return error ? error : print_text(strbuf_str(&text), text.len);
}

static struct error *show_summary(const struct options *options)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = summary_write(options->summary, &text);

	return error ? error : print_text(strbuf_str(&text), text.len);
}

static bool parse_mean(const char *word, bool *arithmetic_out)
{
	*arithmetic_out = !strncmp(word, "arith", strlen("arith"));
	return *arithmetic_out || !strcmp(word, "harmonic");
}

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "format", required_argument, NULL, 'f' },  { "runs", required_argument, NULL, 'r' },
		{ "mean", required_argument, NULL, 'm' },    { "history", required_argument, NULL, 'h' },
		{ "metric", required_argument, NULL, 'M' },  { "from-summary", required_argument, NULL, 's' },
		{ "section", required_argument, NULL, 'S' }, { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'f':
			options->format = optarg;
			break;
		case 'r':
			options->runs = optarg;
			break;
		case 'm':
			if (!parse_mean(optarg, &options->arithmetic))
				return false;
			break;
		case 'h':
			options->history = true;
			options->run = optarg;
			break;
		case 'M':
			options->metric = optarg;
			break;
		case 's':
			options->summary = optarg;
			break;
		case 'S':
			options->section = optarg;
			break;
		default:
			return false;
		}
	}
	if (options->history || options->summary)
		return argc == optind && !(options->history && options->summary) && !options->section;
	options->run = argv[optind];
	return argc - optind == 1 && !options->metric;
}

static int run(int argc, char **argv)
{
	struct options options = { .format = "text", .runs = "memcg-ab-runs" };
	struct error *error;
	int status = 0;

	if (!parse(argc, argv, &options))
		return command_usage(&command_report);
	if (options.summary)
		error = show_summary(&options);
	else if (options.history)
		error = show_history(&options);
	else if (options.section)
		error = show_section(&options, &status);
	else
		error = show_run(&options, &status);
	return error ? command_fail(error) : status;
}

const struct command command_report = {
	.name = "report",
	.usage = "RUN [--format NAME] [--section NAME] [--mean harmonic|arith] [--runs DIR]\n"
		 "       memcg-ab report --history NAME [--metric LABEL.PHASE.UNIT] [--format text|csv|json] [--runs DIR]\n"
		 "       memcg-ab report --from-summary FILE",
	.summary = "print a run's results; RUN is a run folder, or a matrix' name for its latest run",
	.help = "  --format NAME        text (default), markdown, lkml, mmtests, json, csv, junit\n"
		"  --section NAME       another table of the run, as text, markdown, csv or json: sizes (of vmlinux, objects, "
		"functions), profile (instructions by function, on exact QEMU devices),\n"
		"                       times (User / System / Elapsed)\n"
		"  --mean KIND          of rates: harmonic (default, work over time), or arith as the 2021 thread has it\n"
		"  --history NAME       a metric over all runs of a matrix, each against its baseline and the run before it\n"
		"  --metric NAME        which one (default: those that have gates, else the first)\n"
		"  --from-summary FILE  ratios, intervals and verdicts from a published table of means, deviations and counts\n"
		"  --runs DIR           where runs are kept (default memcg-ab-runs)\n"
		"The exit status is the run's.\n",
	.run = run,
};
