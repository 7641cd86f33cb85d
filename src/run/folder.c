/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/folder.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"

static bool is_run_folder(const char *dir)
{
	AUTO_FREE char *db = path_join(dir, "run.db");

	return file_is_regular(db);
}

void run_folders(const char *runs_dir, const char *name, struct strlist *dirs_out)
{
	AUTO_FREE char *base = path_join(runs_dir, name);
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_ERROR missing = file_list(base, &names);

	for (size_t i = names.n; i-- > 0;) {
		AUTO_FREE char *dir = path_join(base, names.items[i]);
		if (strcmp(names.items[i], "latest") && is_run_folder(dir))
			strlist_add(dirs_out, dir);
	}
}

char *run_folder_find(const char *runs_dir, const char *name, const char *hash)
{
	AUTO_STRLIST dirs = { NULL, 0 };
	AUTO_FREE char *suffix = xasprintf("-%s", hash);

	run_folders(runs_dir, name, &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		if (str_ends(dirs.items[i], suffix))
			return xstrdup(dirs.items[i]);
	return NULL;
}

struct error *run_folder_set_latest(const char *dir)
{
	AUTO_FREE char *base = path_dirname(dir);
	AUTO_FREE char *link = path_join(base, "latest");

	return file_symlink(path_basename(dir), link);
}

static bool stamp_is_taken(const struct strlist *names, const char *stamp)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_starts(names->items[i], stamp))
			return true;
	return false;
}

struct error *run_folder_create(const char *runs_dir, const char *name, const char *hash, char **dir_out)
{
	AUTO_FREE char *base = path_join(runs_dir, name);
	AUTO_STRLIST names = { NULL, 0 };
	AUTO_ERROR missing = file_list(base, &names);
	int64_t utc = clock_utc_s();
	AUTO_FREE char *stamp = clock_utc_text(utc);

	/* Names sort by age: of two runs begun within a second the later one takes the next second's name. */
	while (stamp_is_taken(&names, stamp)) {
		free(stamp);
		stamp = clock_utc_text(++utc);
	}
	char *dir = xasprintf("%s/%s-%s", base, stamp, hash);
	AUTO_FREE char *console = path_join(dir, "console");
	struct error *error = file_mkdirs(console);
	if (error) {
		free(dir);
		return error;
	}
	*dir_out = dir;
	return NULL;
}

struct error *run_folder_resolve(const char *runs_dir, const char *run, char **dir_out)
{
	if (is_run_folder(run)) {
		*dir_out = path_absolute(run);
		return NULL;
	}
	AUTO_FREE char *latest = xasprintf("%s/%s/latest", runs_dir, run);
	/* The link's target: the report names the run, not the link. */
	char *target = !strchr(run, '/') && is_run_folder(latest) ? realpath(latest, NULL) : NULL;
	if (target) {
		*dir_out = target;
		return NULL;
	}
	return error_new(ERROR_INPUT, "'%s' is neither a run folder nor the name of a matrix with runs in %s", run, runs_dir);
}
