/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of the agent: a folder that stands for a machine's root. */
#ifndef TESTS_AGENT_ROOT_H
#define TESTS_AGENT_ROOT_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static inline char *root_new(void)
{
	char path[] = "/tmp/memcg-ab-root-XXXXXX";

	assert_non_null(mkdtemp(path));
	return strdup(path);
}

static inline void root_add_bytes(const char *root, const char *path, const void *data, size_t len)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}

	FILE *file = fopen(full, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static inline void root_add(const char *root, const char *path, const char *text)
{
	root_add_bytes(root, path, text, strlen(text));
}

static inline void root_free(char *root)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
	free(root);
}

#endif
