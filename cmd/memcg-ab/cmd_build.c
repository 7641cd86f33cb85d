/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command.h"
#include "run/run.h"
#include "setup.h"

/* Copies an image's files to OUT/NAME, where NAME is the build's subject with blanks and slashes as dashes. */
static struct error *copy_out(const struct session *session, size_t index, const char *out)
{
	AUTO_FREE char *name = xstrdup(session->prepared->images[index].subject);
	AUTO_STRLIST files = { NULL, 0 };

	for (char *c = name; *c; c++)
		if (*c == ' ' || *c == '/')
			*c = '-';
	AUTO_FREE char *dir = path_join(out, name);
	const struct image *image = session->images[index].image;
	struct error *error = file_mkdirs(dir);
	if (!error)
		error = file_list(image->dir, &files);
	for (size_t i = 0; !error && i < files.n; i++) {
		AUTO_FREE char *from = path_join(image->dir, files.items[i]);
		AUTO_FREE char *to = path_join(dir, files.items[i]);
		error = file_copy(from, to);
	}
	return error;
}

static struct error *build(const struct setup *setup, const char *out, enum verify verify)
{
	struct session session;
	struct error *failed = NULL;
	struct error *error = session_init(&session, setup->plan, setup->prepared, &setup->install, setup->guard);

	if (error)
		return error;
	struct run_request request = { .session = &session, .verify = verify, .guard = setup->guard };
	error = run_all(&request, &failed);
	for (size_t i = 0; !error && i < setup->plan->n_images; i++) {
		if (session.images[i].state != IMAGE_READY)
			continue;
		printf("%s  %s  %s%s\n", session.images[i].image->key, session.images[i].image->build_id,
		       setup->prepared->images[i].subject,
		       verify && setup->prepared->images[i].image ? "  built again: the same Image" : "");
		if (out)
			error = copy_out(&session, i, out);
	}
	session_deinit(&session);
	error_join(&error, failed);
	return error;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "out", required_argument, NULL, 'O' },
		{ "verify", optional_argument, NULL, 'v' },
		{ "lab", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	struct setup_options options = { NULL, NULL, NULL };
	const char *out = NULL;
	enum verify verify = VERIFY_NOTHING;
	struct setup setup;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'o')
			options.only = optarg;
		else if (option == 'O')
			out = optarg;
		else if (option == 'v' && (!optarg || !strcmp(optarg, "clean")))
			verify = optarg ? VERIFY_CLEAN : VERIFY_AGAIN;
		else if (option == 'l')
			options.lab = optarg;
		else
			return command_usage(&command_build);
	}
	if (argc - optind != 1)
		return command_usage(&command_build);
	options.matrix = argv[optind];
	struct error *error = setup_open(&setup, &options);
	if (!error)
		error = build(&setup, out, verify);
	setup_close(&setup);
	return error ? command_fail(error) : 0;
}

const struct command command_build = {
	.name = "build",
	.usage = "MATRIX [--out DIR] [--verify[=clean]] [--only GLOB] [--lab FILE]",
	.summary = "build the images of a matrix into the cache; prints key, build id and name of each",
	.help = "  --out DIR      copy each image's files to DIR/NAME\n"
		"  --verify       build what the cache has again, in the build folder: another Image than the cached one is an "
		"error\n"
		"  --verify=clean the same from an empty folder\n"
		"  --only GLOB    only variants whose name matches (the baseline stays)\n",
	.run = run,
};
