/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>

#include "command.h"
#include "setup.h"

static int run(int argc, char **argv)
{
	static const struct option known[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "lab", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	struct setup_options options = { NULL, NULL, NULL };
	struct setup setup;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'o')
			options.only = optarg;
		else if (option == 'l')
			options.lab = optarg;
		else
			return command_usage(&command_check);
	}
	if (argc - optind != 1)
		return command_usage(&command_check);
	options.matrix = argv[optind];
	struct error *error = setup_open(&setup, &options);
	if (!error)
		printf("%s: %zu images, %zu variants, %zu boots: no errors\n", options.matrix, setup.plan->n_images,
		       setup.plan->n_variants, setup.plan->n_boots);
	setup_close(&setup);
	return error ? command_fail(error) : 0;
}

const struct command command_check = {
	.name = "check",
	.usage = "MATRIX [--only GLOB] [--lab FILE]",
	.summary = "read everything, import sources, apply every patch, resolve every config; touches no device",
	.help = "",
	.run = run,
};
