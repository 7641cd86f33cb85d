/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command.h"
#include "output.h"
#include "report/instructions.h"
#include "run/folder.h"
#include "setup.h"

#define TOP 20
#define CHECK_FAILED 3 /* as for data that are invalid */

struct options {
	struct insn_request request;
	const char *run, *format, *runs, *lab;
	bool inlined;
};

static bool parse_top(const char *word, size_t *top_out)
{
	char *end = NULL;
	unsigned long top = strtoul(word, &end, 10);

	*top_out = top;
	return *word >= '0' && *word <= '9' && !*end;
}

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "runs", required_argument, NULL, 'r' },
		{ "device", required_argument, NULL, 'd' },
		{ "workload", required_argument, NULL, 'w' },
		{ "phase", required_argument, NULL, 'p' },
		{ "top", required_argument, NULL, 't' },
		{ "inlined", no_argument, NULL, 'i' },
		{ "lab", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
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
		case 'd':
			options->request.device = optarg;
			break;
		case 'w':
			options->request.workload = optarg;
			break;
		case 'p':
			options->request.phase = optarg;
			break;
		case 'i':
			options->inlined = true;
			break;
		case 'l':
			options->lab = optarg;
			break;
		case 't':
			if (!parse_top(optarg, &options->request.top))
				return false;
			break;
		default:
			return false;
		}
	}
	if (argc - optind < 2 || argc - optind > 3)
		return false;
	options->run = argv[optind];
	options->request.a = argv[optind + 1];
	options->request.b = argc - optind == 3 ? argv[optind + 2] : NULL;
	return true;
}

/* The folder of kernels in the cache that the lab of the run's matrix has; the caller frees. */
static struct error *find_images(const struct options *options, const struct report *report, char **images_out)
{
	struct setup setup;
	struct error *error = setup_lab(&setup, options->lab, jnode_string(report->run, "matrix", NULL));

	if (!error)
		*images_out = path_join(setup.lab->cache_dir, "images");
	setup_close(&setup);
	return error;
}

static struct error *show(const struct options *options, struct report *report, struct store *store, int *status_out)
{
	struct insn_table table = { .report = NULL };
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *images = NULL;
	struct error *error = options->inlined ? find_images(options, report, &images) : NULL;
	struct insn_request request = options->request;

	request.images = images;
	if (!error)
		error = insn_load(report, store, &request, &table);

	if (!error)
		error = insn_write(&table, options->format, &text);
	if (!error)
		error = print_text(strbuf_str(&text), text.len);
	*status_out = !error && !table.good ? CHECK_FAILED : 0;
	insn_table_deinit(&table);
	return error;
}

static struct error *explain(const struct options *options, int *status_out)
{
	const struct report_options request = { .runs_dir = options->runs };
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *db = NULL;
	AUTO_REPORT report = NULL;
	AUTO_STORE store = NULL;
	struct error *error = run_folder_resolve(options->runs, options->run, &dir);

	if (!error)
		error = report_load(dir, &request, &report);
	if (error)
		return error;
	db = path_join(dir, "run.db");
	error = store_open_readonly(db, &store);
	return error ? error : show(options, report, store, status_out);
}

static int run(int argc, char **argv)
{
	struct options options = { .format = "text", .runs = "memcg-ab-runs", .request.top = TOP };
	int status = 0;

	if (argc < 2 || strcmp(argv[1], "instructions") != 0 || !parse(argc - 1, argv + 1, &options))
		return command_usage(&command_explain);
	struct error *error = explain(&options, &status);
	return error ? command_fail(error) : status;
}

const struct command command_explain = {
	.name = "explain",
	.usage = "instructions RUN A [B] [--workload LABEL] [--phase NAME] [--device NAME] [--top N]\n"
		 "                [--inlined] [--lab FILE] [--format text|json] [--runs DIR]",
	.summary = "where instructions went: by function, of variant A, or what B has more than A; boots nothing",
	.help = "  RUN                  a run folder, or a matrix' name for its latest run\n"
		"  A, B                 variants, \"memcg/disabled/3\", or as much of their names as tells: \"nomemcg\"\n"
		"  --workload LABEL     default: the first that was counted\n"
		"  --phase NAME         default: all phases, and their sum\n"
		"  --device NAME        where the run has several\n"
		"  --top N              lines (default 20; 0: all)\n"
		"  --inlined            functions inlined into others by themselves, where the kernel has DEBUG_INFO and is in "
		"the cache\n"
		"  --lab FILE           whose cache that is (default: found from here, then from the run's matrix upwards)\n"
		"  --format NAME        text (default), json\n"
		"  --runs DIR           where runs are kept (default memcg-ab-runs)\n"
		"On exact QEMU devices the executed blocks of each variant's first boot are counted. The functions' sum has to "
		"be what the\n"
		"guest's own counter says, within half a per cent (or 0.05 instructions); the exit status is 3 where it is "
		"not.\n",
	.run = run,
};
