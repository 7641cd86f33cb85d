/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "command.h"
#include "setup.h"

static struct error *print_cache(const struct lab *lab)
{
	static const char *const parts[] = { "objects.git", "apt", "configs", "config-trees", "helpers", "images", "builds" };
	uint64_t total = 0;

	printf("%s\n", lab->cache_dir);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		AUTO_FREE char *path = path_join(lab->cache_dir, parts[i]);
		uint64_t bytes = 0;
		struct error *error = file_tree_size(path, &bytes);
		if (error)
			return error;
		total += bytes;
		printf("  %-14s %10.1f MB\n", parts[i], (double)bytes / 1e6);
	}
	printf("  %-14s %10.1f MB of at most %.1f GB\n", "together", (double)total / 1e6, (double)lab->cache_max / 1e9);
	return NULL;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = { { "lab", required_argument, NULL, 'l' }, { NULL, 0, NULL, 0 } };
	const char *lab = NULL;
	struct setup setup;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option != 'l')
			return command_usage(&command_cache);
		lab = optarg;
	}
	if (argc != optind)
		return command_usage(&command_cache);
	struct error *error = setup_lab(&setup, lab, NULL);
	if (!error)
		error = print_cache(setup.lab);
	setup_close(&setup);
	return error ? command_fail(error) : 0;
}

const struct command command_cache = {
	.name = "cache",
	.usage = "[--lab FILE]",
	.summary = "say where the cache is and what its parts take on the disk",
	.help = "",
	.run = run,
};
