/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "command.h"
#include "run/install.h"

static const struct command *const commands[] = {
	&command_run, &command_check, &command_build, &command_report, &command_explain, &command_devices, &command_cache,
};

static void print_help(FILE *stream)
{
	fputs("usage: memcg-ab [-q | -v] COMMAND ...\n\n"
	      "Builds, boots and measures the kernels of a matrix, and says what memory cgroups cost.\n\n",
	      stream);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stream, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nmemcg-ab COMMAND --help tells more. -q prints errors and results alone, -v what is executed and why.\n"
	      "Exit status: 0 all measured, every gate passed; 1 a gate failed; 2 bad input; 3 lab; 4 not resolved; 5 a kernel "
	      "did not\n"
	      "build or boot; 130 interrupted.\n",
	      stream);
}

static void print_command_help(const struct command *command)
{
	printf("usage: memcg-ab %s %s\n\n%s\n", command->name, command->usage, command->summary);
	if (*command->help)
		printf("\n%s", command->help);
}

int command_usage(const struct command *command)
{
	fprintf(stderr, "usage: memcg-ab %s %s\n", command->name, command->usage);
	return 2;
}

int command_fail(struct error *error)
{
	int status = error_exit_status(error);

	error_print(error, stderr);
	error_free(error);
	return status;
}

static int run_command(const char *name, int argc, char **argv)
{
	const char *names[ARRAY_SIZE(commands)];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		names[i] = commands[i]->name;
		if (strcmp(commands[i]->name, name))
			continue;
		if (argc > 1 && !strcmp(argv[1], "--help")) {
			print_command_help(commands[i]);
			return 0;
		}
		return commands[i]->run(argc, argv);
	}
	const char *meant = str_suggest(name, names, ARRAY_SIZE(names));
	fprintf(stderr, "memcg-ab: error: unknown command '%s'%s%s%s\n", name, meant ? " (did you mean '" : "",
		meant ? meant : "", meant ? "'?)" : "");
	return 2;
}

int main(int argc, char **argv)
{
	int at = 1;

	signal(SIGPIPE, SIG_IGN);
	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "-q")) {
			log_set_level(LOG_ERROR);
		} else if (!strcmp(argv[at], "-v")) {
			log_set_level(LOG_DEBUG);
		} else if (!strcmp(argv[at], "--version")) {
			puts("memcg-ab " TOOL_VERSION);
			return 0;
		} else {
			bool asked = !strcmp(argv[at], "--help") || !strcmp(argv[at], "-h");
			print_help(asked ? stdout : stderr);
			return asked ? 0 : 2;
		}
	}
	if (at == argc) {
		print_help(stderr);
		return 2;
	}
	return run_command(argv[at], argc - at, argv + at);
}
