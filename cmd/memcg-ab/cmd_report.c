/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "output.h"
#include "run/folder.h"

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

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "runs", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	const char *format = "text", *runs = "memcg-ab-runs";
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'f')
			format = optarg;
		else if (option == 'r')
			runs = optarg;
		else
			return command_usage(&command_report);
	}
	if (argc - optind != 1)
		return command_usage(&command_report);

	const struct report_writer *writer = NULL;
	AUTO_FREE char *dir = NULL;
	int status = 0;
	struct error *error = find_writer(format, &writer);
	if (!error)
		error = run_folder_resolve(runs, argv[optind], &dir);
	if (!error)
		error = print_report(dir, writer, &status);
	return error ? command_fail(error) : status;
}

const struct command command_report = {
	.name = "report",
	.usage = "RUN [--format text|json] [--runs DIR]",
	.summary = "print a run's results; RUN is a run folder, or a matrix' name for its latest run",
	.help = "  --format NAME   text (default) or json\n"
		"  --runs DIR      where runs are kept (default memcg-ab-runs)\n"
		"The exit status is the run's.\n",
	.run = run,
};
