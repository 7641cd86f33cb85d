/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests that need files: a temporary folder, and shell commands run in it. Include after unit.h. */
#ifndef UNIT_WORKDIR_H
#define UNIT_WORKDIR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"

struct workdir {
	char path[64];
};

static inline int workdir_setup(void **state)
{
	struct workdir *dir = xcalloc(1, sizeof(*dir));

	strcpy(dir->path, "/tmp/memcg-ab-unit-XXXXXX");
	*state = dir;
	return mkdtemp(dir->path) ? 0 : -1;
}

static inline int workdir_teardown(void **state)
{
	struct workdir *dir = *state;

	error_free(file_remove_tree(dir->path));
	free(dir);
	return 0;
}

/* Runs a script with sh -e in the folder; what it prints, without the last newline, is the caller's to free. */
static inline char *workdir_run(const struct workdir *dir, const char *script)
{
	const char *const argv[] = { "sh", "-ec", script, NULL };
	const char *const env[] = { "GIT_CONFIG_NOSYSTEM=1",
				    "GIT_CONFIG_GLOBAL=/dev/null",
				    "GIT_AUTHOR_NAME=Ann",
				    "GIT_AUTHOR_EMAIL=ann@x.org",
				    "GIT_COMMITTER_NAME=Com",
				    "GIT_COMMITTER_EMAIL=com@x.org",
				    "GIT_AUTHOR_DATE=1700000000 +0100",
				    "GIT_COMMITTER_DATE=1700000000 +0100",
				    "LC_ALL=C",
				    NULL };
	AUTO_STRBUF out = STRBUF_INIT;
	struct proc_spec spec = {
		.argv = argv, .env = env, .cwd = dir->path, .deadline_ms = clock_deadline(60000), .guard = NO_GUARD
	};

	assert_ok(proc_run_ok(&spec, ERROR_LAB, &out));
	if (out.len && out.data[out.len - 1] == '\n')
		out.data[--out.len] = '\0';
	return strbuf_steal(&out);
}

static inline void workdir_do(const struct workdir *dir, const char *script)
{
	free(workdir_run(dir, script));
}

static inline char *workdir_path(const struct workdir *dir, const char *name)
{
	return path_join(dir->path, name);
}

static inline void workdir_write(const struct workdir *dir, const char *name, const char *text)
{
	AUTO_FREE char *path = workdir_path(dir, name);
	AUTO_FREE char *parent = path_dirname(path);

	assert_ok(file_mkdirs(parent));
	assert_ok(file_write_atomic(path, text, strlen(text), 0644));
}

static inline char *workdir_read(const struct workdir *dir, const char *name)
{
	AUTO_FREE char *path = workdir_path(dir, name);
	struct strbuf text = STRBUF_INIT;

	assert_ok(file_read(path, &text));
	return strbuf_steal(&text);
}

#endif
