/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "command.h"
#include "output.h"
#include "report/stopping.h"
#include "run/folder.h"
#include "run/run.h"
#include "setup.h"

/* How long to wait for another run of the same matrix name, or for what a killed one left. */
#define RUN_LOCK_TIMEOUT_MS 60000

struct options {
	struct setup_options setup;
	const char *runs;
	const struct report_writer *writer;
	bool dry_run, no_build, start_new, bisect;
	char *command; /* as typed, for the report */
};

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "dry-run", no_argument, NULL, 'd' },
		{ "only", required_argument, NULL, 'o' },
		{ "no-build", no_argument, NULL, 'b' },
		{ "new", no_argument, NULL, 'n' },
		{ "runs", required_argument, NULL, 'r' },
		{ "lab", required_argument, NULL, 'l' },
		{ "format", required_argument, NULL, 'f' },
		{ "bisect", no_argument, NULL, 'B' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->dry_run = true;
			break;
		case 'o':
			options->setup.only = optarg;
			break;
		case 'b':
			options->no_build = true;
			break;
		case 'n':
			options->start_new = true;
			break;
		case 'r':
			options->runs = optarg;
			break;
		case 'l':
			options->setup.lab = optarg;
			break;
		case 'B':
			options->bisect = true;
			break;
		case 'f':
			options->writer = report_writer_find(optarg);
			if (!options->writer)
				return false;
			break;
		default:
			return false;
		}
	}
	if (argc - optind != 1)
		return false;
	options->setup.matrix = argv[optind];
	return true;
}

/* As a shell takes it. */
static void add_argument(struct strbuf *text, const char *argument)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=:,@%+";

	strbuf_addch(text, ' ');
	if (*argument && !argument[strspn(argument, plain)]) {
		strbuf_adds(text, argument);
		return;
	}
	strbuf_addch(text, '\'');
	for (; *argument; argument++) {
		if (*argument == '\'')
			strbuf_adds(text, "'\\'");
		strbuf_addch(text, *argument);
	}
	strbuf_addch(text, '\'');
}

static char *command_text(int argc, char **argv)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "memcg-ab");
	for (int i = 0; i < argc; i++)
		add_argument(&text, argv[i]);
	return strbuf_steal(&text);
}

/* The run to go on with, or a new one. */
static struct error *choose_folder(const struct options *options, struct session *session)
{
	const char *name = session->plan->matrix->name;

	if (!options->start_new)
		session->dir = run_folder_find(options->runs, name, session->digest);
	if (session->dir)
		return NULL;
	return run_folder_create(options->runs, name, session->digest, &session->dir);
}

/* What a run would do: boots that an earlier one has are not owed. */
static struct error *show_plan(const struct options *options, struct session *session)
{
	AUTO_STRLIST earlier = { NULL, 0 };

	if (!options->start_new)
		run_folders(options->runs, session->plan->matrix->name, &earlier);
	struct error *error = session_adopt(session, NULL, &earlier);
	return error ? error : print_plan(session);
}

/* A run that is gone on with, or only reported again, keeps when and how it was started. */
static struct error *keep_start(struct store *store, struct jnode *description)
{
	static const char *const kept[] = { "started", "command" };
	AUTO_JNODE present = NULL;
	struct error *error = store_get_run(store, &present);

	for (size_t i = 0; !error && present && i < ARRAY_SIZE(kept); i++)
		jnode_set_string(description, kept[i], jnode_string(present, kept[i], NULL));
	return error;
}

static struct error *fill_store(const struct options *options, struct session *session, struct store *store)
{
	AUTO_STRLIST earlier = { NULL, 0 };
	AUTO_JNODE description = session_describe(session);
	struct error *error = keep_start(store, description);

	if (!error)
		error = store_set_run(store, description);

	if (!error)
		error = run_folder_set_latest(session->dir);
	if (!error)
		error = stages_open(session, store);
	if (!error)
		error = session_mark_stored(session, store);
	if (error || options->start_new)
		return error;
	run_folders(options->runs, session->plan->matrix->name, &earlier);
	return session_adopt(session, store, &earlier);
}

static struct error *measure(const struct options *options, struct session *session, struct store *store, struct guard guard)
{
	struct error *failed = NULL;
	struct run_request request = {
		.session = session, .store = store, .decide = report_decide_stage, .no_build = options->no_build, .guard = guard
	};
	struct error *error = fill_store(options, session, store);

	if (!error)
		error = run_all(&request, &failed);
	/* Rows say it too; and the loop said it when it happened. */
	error_free(failed);
	if (error)
		return error;
	AUTO_REPORT report = NULL;
	const struct report_options report_options = { .runs_dir = options->runs };
	error = report_load(session->dir, &report_options, &report);
	return error ? error : store_set_finished(store, report->exit_status);
}

static struct error *run_locked(const struct options *options, struct session *session, struct guard guard, int *status_out)
{
	AUTO_STORE store = NULL;
	struct error *error = choose_folder(options, session);

	if (error)
		return error;
	AUTO_FREE char *path = path_join(session->dir, "run.db");
	error = store_open(path, &store);
	if (!error)
		error = measure(options, session, store, guard);
	const struct report_options report_options = { .runs_dir = options->runs };
	return error ? error : print_report(session->dir, &report_options, options->writer, status_out);
}

static struct error *run_session(const struct options *options, const struct setup *setup, int *status_out)
{
	struct session session;
	struct error *error = session_init(&session, setup->plan, setup->prepared, &setup->install, setup->guard);

	if (error)
		return error;
	session.command = options->command;
	warn_of_order(setup->matrix);
	AUTO_FREE char *name_dir = path_join(options->runs, setup->matrix->name);
	AUTO_FREE char *lock_path = path_join(name_dir, ".lock");
	AUTO_FREE char *holder = xasprintf("%s, process %ld", options->command, (long)getpid());
	AUTO_LOCK lock = NULL;
	if (options->dry_run)
		error = show_plan(options, &session);
	else
		error = lock_take(lock_path, holder, clock_deadline(RUN_LOCK_TIMEOUT_MS), &lock);
	if (!error && !options->dry_run)
		error = run_locked(options, &session, setup->guard, status_out);
	session_deinit(&session);
	return error;
}

static int run(int argc, char **argv)
{
	struct options options = { .runs = "memcg-ab-runs", .writer = &report_writer_text };
	AUTO_FREE char *command = command_text(argc, argv);
	struct setup setup;
	int status = 0;

	if (!parse(argc, argv, &options))
		return command_usage(&command_run);
	options.command = command;
	struct error *error = setup_open(&setup, &options.setup);
	if (!error)
		error = run_session(&options, &setup, &status);
	setup_close(&setup);
	if (error)
		status = command_fail(error);
	return options.bisect ? report_bisect_status(status) : status;
}

const struct command command_run = {
	.name = "run",
	.usage = "MATRIX [--dry-run] [--only GLOB] [--no-build] [--new] [--runs DIR] [--lab FILE] [--format NAME] [--bisect]",
	.summary = "build, boot, measure and report; goes on with the newest run of the same plan",
	.help = "  --dry-run      print images, variants, boots, what is cached and why something is not; build and boot "
		"nothing\n"
		"  --only GLOB    only variants whose name matches (the baseline stays)\n"
		"  --no-build     use what the cache has; rows without a kernel are reported so\n"
		"  --new          start another run instead of going on, and take nothing from earlier ones\n"
		"  --runs DIR     where runs are kept (default memcg-ab-runs)\n"
		"  --lab FILE     the lab (default: memcg-ab.yaml from here upwards)\n"
		"  --format NAME  of the report at the end (default text)\n"
		"  --bisect       exit as `git bisect run` wants it: 0 good, 1 a gate failed, 125 nothing can be said, 128 bad "
		"input\n",
	.run = run,
};
